/*
 * inventory.c - counts records by hook id and by provider, for `info`.
 *
 * In: every record of a task. Out: counts and bytes in a record_inventory; those of tasks are
 * merged by addition.
 */
#include "inventory.h"

#include <stdlib.h>

static bool add_provider(record_inventory *inventory, const etlheap_provider_count *row);
static inventory_count *hook_slot(record_inventory *inventory, u16 hook);

bool inventory_add(record_inventory *inventory, const etl_record *record)
{
    inventory->records++;
    if (record->has_hook) {
        inventory_count *const slot = hook_slot(inventory, record->hook);
        if (slot == NULL)
            return false;
        slot->count++;
        slot->bytes += record->size;
        return true;
    }
    etlheap_provider_count row = { .is_message = record->header == ETL_HEADER_MESSAGE,
                                   .count = 1,
                                   .bytes = record->size };
    if (record->provider != NULL && !row.is_message)
        memcpy(row.guid.bytes, record->provider, sizeof row.guid.bytes);
    return add_provider(inventory, &row);
}

bool inventory_add_hook(record_inventory *inventory, u16 hook, const inventory_count *records)
{
    if (records->count == 0)
        return true;
    inventory_count *const slot = hook_slot(inventory, hook);
    if (slot == NULL)
        return false;
    inventory->records += records->count;
    slot->count += records->count;
    slot->bytes += records->bytes;
    return true;
}

static inventory_count *hook_slot(record_inventory *inventory, u16 hook)
{
    inventory_count **const page = &inventory->pages[hook >> 8];
    if (*page == NULL)
        *page = calloc(256, sizeof **page);
    return *page == NULL ? NULL : *page + (hook & 0xFF);
}

static bool same_provider(const void *owner, u32 id, const void *key)
{
    const record_inventory *const inventory = owner;
    const etlheap_provider_count *const a = &inventory->providers.at[id - 1], *const b = key;
    return a->is_message == b->is_message && memcmp(&a->guid, &b->guid, sizeof a->guid) == 0;
}

static bool add_provider(record_inventory *inventory, const etlheap_provider_count *row)
{
    u32 id = inventory->last_provider;
    if (id == 0 || !same_provider(inventory, id, row)) {
        u64 hash = etlheap_hash_bytes(&row->guid, sizeof row->guid);
        hash = row->is_message ? ~hash : hash;
        id = etlheap_index_find(&inventory->provider_index, hash, same_provider, inventory, row);
        if (id == 0) {
            etlheap_provider_count fresh = *row;
            fresh.count = fresh.bytes = 0;
            if (!ETLHEAP_PUSH(&inventory->providers, fresh))
                return false;
            id = (u32)inventory->providers.count;
            if (!etlheap_index_add(&inventory->provider_index, hash, id))
                return false;
        }
        inventory->last_provider = id;
    }
    inventory->providers.at[id - 1].count += row->count;
    inventory->providers.at[id - 1].bytes += row->bytes;
    return true;
}

bool inventory_merge(record_inventory *into, const record_inventory *from)
{
    into->records += from->records;
    into->stack_records += from->stack_records;
    into->key_records += from->key_records;
    into->stack_items += from->stack_items;
    for (u32 group = 0; group < 256; group++) {
        const inventory_count *const page = from->pages[group];
        for (u32 type = 0; page != NULL && type < 256; type++) {
            if (page[type].count == 0)
                continue;
            inventory_count *const slot = hook_slot(into, (u16)(group << 8 | type));
            if (slot == NULL)
                return false;
            slot->count += page[type].count;
            slot->bytes += page[type].bytes;
        }
    }
    for (size_t i = 0; i < from->providers.count; i++) {
        if (!add_provider(into, &from->providers.at[i]))
            return false;
    }
    return event_inventory_merge(&into->events, &from->events);
}

etl_diag_counts inventory_diagnostics(const etl_diag_counts *run,
                                      const etlheap_stack_counts *stacks)
{
    static const etl_diag of_pairing[] = {
        ETL_DIAG_alloc_without_stack,  ETL_DIAG_stack_wait_limited,    ETL_DIAG_free_without_alloc,
        ETL_DIAG_alloc_over_live,      ETL_DIAG_key_over_live,         ETL_DIAG_reserve_over_live,
        ETL_DIAG_rundown_size_differs, ETL_DIAG_rundown_range_unseen,  ETL_DIAG_realloc_synthesized,
        ETL_DIAG_pairing_guessed,      ETL_DIAG_heap_recreated,        ETL_DIAG_heap_size_differs,
        ETL_DIAG_ties_reordered,       ETL_DIAG_ties_limited,          ETL_DIAG_clock_set_back,
        ETL_DIAG_create_over_live,     ETL_DIAG_address_in_two_heaps,  ETL_DIAG_block_size_differs,
        ETL_DIAG_rundown_block_unseen, ETL_DIAG_rundown_block_missing,
    };
    etl_diag_counts inventory = *run;
    for (size_t i = 0; i < ETL_COUNT_OF(of_pairing); i++)
        inventory.of[of_pairing[i]] = 0;
    inventory.of[ETL_DIAG_stack_unmatched] = stacks->unmatched;
    inventory.of[ETL_DIAG_stack_key_unresolved] = stacks->keys_referenced - stacks->keys_resolved;
    return inventory;
}

void inventory_free(record_inventory *inventory)
{
    for (u32 group = 0; group < 256; group++)
        free(inventory->pages[group]);
    ETLHEAP_VECTOR_FREE(&inventory->providers);
    etlheap_index_free(&inventory->provider_index);
    event_inventory_free(&inventory->events);
    *inventory = (record_inventory){ 0 };
}
