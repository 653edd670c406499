/*
 * event_inventory.c - counts events of providers by id and version, and joins the counts with names
 * from MetaData records.
 *
 * In: records of all tasks. Out: rows of provider, event, count and bytes, with names where the
 * trace has them.
 *
 * TraceLogging events have no meaningful ids, so they are told apart by name. Invariant: counts
 * do not depend on where the names are in the trace, because both meet at the end.
 */
#include "event_inventory.h"

#include <stdlib.h>

#define NAME_BYTES_MAX 512u

static bool same_event(const void *owner, u32 id, const void *key)
{
    const event_inventory_row *const a = &((const event_inventory *)owner)->events.at[id - 1];
    const event_inventory_row *const b = key;
    return a->provider == b->provider && a->name == b->name &&
           memcmp(&a->id, &b->id, sizeof a->id) == 0;
}

static bool same_id(const void *owner, u32 id, const void *key)
{
    const event_inventory_row *const a = &((const event_inventory *)owner)->names.at[id - 1];
    return memcmp(&a->id, &((const event_inventory_row *)key)->id, sizeof a->id) == 0;
}

static u64 hash_of(const event_inventory_row *row)
{
    return etlheap_hash_bytes(&row->id, sizeof row->id) ^
           etlheap_hash_u64((u64)row->provider << 32 | row->name);
}

/* Adds to the row of the event, which is made if it is new. */
static bool count_event(event_inventory *inventory, const event_inventory_row *row)
{
    u32 id = inventory->last;
    if (id == 0 || !same_event(inventory, id, row)) {
        const u64 hash = hash_of(row);
        id = etlheap_index_find(&inventory->event_index, hash, same_event, inventory, row);
        if (id == 0) {
            event_inventory_row fresh = *row;
            fresh.count = fresh.bytes = 0;
            if (inventory->events.count >= EVENT_INVENTORY_ROWS_MAX)
                return true;
            if (!ETLHEAP_PUSH(&inventory->events, fresh))
                return false;
            id = (u32)inventory->events.count;
            if (!etlheap_index_add(&inventory->event_index, hash, id))
                return false;
        }
        inventory->last = id;
    }
    inventory->events.at[id - 1].count += row->count;
    inventory->events.at[id - 1].bytes += row->bytes;
    return true;
}

static const char *text_of(const event_inventory *inventory, u32 id)
{
    return etlheap_strings_get(&inventory->strings, id);
}

/* Which of two descriptions of an event counts? The answer does not depend on their order. */
static bool precedes(const event_inventory *inventory, const event_inventory_row *a,
                     const event_inventory_row *b)
{
    const int by_provider =
        strcmp(text_of(inventory, a->provider), text_of(inventory, b->provider));
    return by_provider != 0 ? by_provider < 0
                            : strcmp(text_of(inventory, a->name), text_of(inventory, b->name)) < 0;
}

static bool note_names(event_inventory *inventory, const event_inventory_row *row)
{
    const u64 hash = etlheap_hash_bytes(&row->id, sizeof row->id);
    const u32 id = etlheap_index_find(&inventory->name_index, hash, same_id, inventory, row);
    if (id != 0) {
        if (precedes(inventory, row, &inventory->names.at[id - 1]))
            inventory->names.at[id - 1] = *row;
        return true;
    }
    return inventory->names.count >= EVENT_INVENTORY_ROWS_MAX ||
           (ETLHEAP_PUSH(&inventory->names, *row) &&
            etlheap_index_add(&inventory->name_index, hash, (u32)inventory->names.count));
}

static size_t utf8_of(etl_text text, char *out, size_t capacity)
{
    const size_t wanted = text.is_utf16 ? etl_utf16_to_utf8(text.bytes, out, capacity)
                                        : etl_text_to_utf8(text.bytes, out, capacity);
    return wanted < capacity ? wanted : strlen(out);
}

/* "Event" or "Event/Opcode". */
static bool add_names(event_inventory *inventory, const etl_description *from,
                      event_inventory_row *row)
{
    char text[2 * NAME_BYTES_MAX + 1];
    size_t size = utf8_of(from->provider, text, NAME_BYTES_MAX);
    if (!etlheap_strings_add(&inventory->strings, text, size, &row->provider))
        return false;
    size = utf8_of(from->event, text, NAME_BYTES_MAX);
    if (size > 0 && from->opcode.bytes.size > 0) {
        text[size++] = '/';
        size += utf8_of(from->opcode, text + size, NAME_BYTES_MAX);
    }
    return etlheap_strings_add(&inventory->strings, text, size, &row->name);
}

bool event_inventory_add(event_inventory *inventory, const etl_record *record)
{
    etl_diag_counts ignored = { { 0 } };
    event_inventory_row row;
    etl_description description;
    memset(&row, 0, sizeof row);
    if (etl_record_info_kind(record) == ETL_INFO_EVENT) {
        if (!etl_description_of_info(record->payload, &row.id, &description))
            return true; /* counted when it is decoded */
        return add_names(inventory, &description, &row) && note_names(inventory, &row);
    }
    if (etl_record_is_injected(record) || !etl_event_id_of_record(record, &row.id))
        return true;
    if (etl_description_of_record(record, &description, &ignored) &&
        !add_names(inventory, &description, &row))
        return false;
    row.count = 1;
    row.bytes = record->size;
    return count_event(inventory, &row);
}

/* The row with the texts of another inventory. */
static bool translate(event_inventory *into, const event_inventory *from, event_inventory_row *row)
{
    const char *const provider = text_of(from, row->provider);
    const char *const name = text_of(from, row->name);
    return etlheap_strings_add(&into->strings, provider, strlen(provider), &row->provider) &&
           etlheap_strings_add(&into->strings, name, strlen(name), &row->name);
}

bool event_inventory_merge(event_inventory *into, const event_inventory *from)
{
    for (size_t i = 0; i < from->events.count; i++) {
        event_inventory_row row = from->events.at[i];
        if (!translate(into, from, &row) || !count_event(into, &row))
            return false;
    }
    for (size_t i = 0; i < from->names.count; i++) {
        event_inventory_row row = from->names.at[i];
        if (!translate(into, from, &row) || !note_names(into, &row))
            return false;
    }
    return true;
}

static int by_id_and_name(const void *a, const void *b)
{
    const etlheap_event_count *const x = a, *const y = b;
    char text_x[ETL_GUID_TEXT_SIZE], text_y[ETL_GUID_TEXT_SIZE];
    etl_guid_format(x->provider.bytes, text_x);
    etl_guid_format(y->provider.bytes, text_y);
    const int by_guid = strcmp(text_x, text_y);
    if (by_guid != 0)
        return by_guid;
    const u32 id_x = (u32)x->is_class << 24 | (u32)x->id << 8 | x->opcode;
    const u32 id_y = (u32)y->is_class << 24 | (u32)y->id << 8 | y->opcode;
    if (id_x != id_y)
        return id_x < id_y ? -1 : 1;
    if (x->version != y->version)
        return x->version < y->version ? -1 : 1;
    const int by_name = strcmp(x->name, y->name);
    return by_name != 0 ? by_name : strcmp(x->provider_name, y->provider_name);
}

static bool keep_text(etlheap_strings *strings, const char *text, const char **kept)
{
    u32 id;
    if (!etlheap_strings_add(strings, text, strlen(text), &id))
        return false;
    *kept = etlheap_strings_get(strings, id);
    return true;
}

bool event_inventory_finish(const event_inventory *inventory, etlheap_strings *strings,
                            etlheap_event_count **rows, size_t *count)
{
    *count = 0;
    *rows = calloc(inventory->events.count + 1, sizeof **rows);
    if (*rows == NULL)
        return false;
    for (size_t i = 0; i < inventory->events.count; i++) {
        event_inventory_row row = inventory->events.at[i];
        const u64 hash = etlheap_hash_bytes(&row.id, sizeof row.id);
        const u32 named =
            etlheap_index_find(&inventory->name_index, hash, same_id, inventory, &row);
        if (row.provider == 0 && row.name == 0 && named != 0) {
            row.provider = inventory->names.at[named - 1].provider;
            row.name = inventory->names.at[named - 1].name;
        }
        etlheap_event_count *const out = &(*rows)[i];
        *out = (etlheap_event_count){ .provider = row.id.provider,
                                      .id = row.id.id,
                                      .opcode = row.id.opcode,
                                      .version = row.id.version,
                                      .is_class = row.id.is_class,
                                      .count = row.count,
                                      .bytes = row.bytes };
        if (!keep_text(strings, text_of(inventory, row.provider), &out->provider_name) ||
            !keep_text(strings, text_of(inventory, row.name), &out->name))
            return false;
    }
    *count = inventory->events.count;
    if (*count > 0)
        qsort(*rows, *count, sizeof **rows, by_id_and_name);
    return true;
}

void event_inventory_free(event_inventory *inventory)
{
    etlheap_strings_free(&inventory->strings);
    ETLHEAP_VECTOR_FREE(&inventory->events);
    ETLHEAP_VECTOR_FREE(&inventory->names);
    etlheap_index_free(&inventory->event_index);
    etlheap_index_free(&inventory->name_index);
    *inventory = (event_inventory){ 0 };
}
