/*
 * address_numbers.c - see address_numbers.h.
 *
 * Open addressing, linear probing, at most half full. Addresses come in stacks, and
 * each look-up misses the cache: so the slots of a batch are fetched before the
 * first one is looked at.
 */
#include "address_numbers.h"

#include <stdlib.h>

#define SLOTS_MIN 1024u
#define BATCH     64u /* addresses looked up at once */

typedef struct address_slot {
    u64 address;
    u32 number; /* + 1; 0: free */
} address_slot;

static bool add_batch(address_numbers *table, const u64 *addresses, u32 count, u32 *numbers);
static bool grow(address_numbers *table);

bool address_numbers_add(address_numbers *table, const u64 *addresses, u32 count, u32 *numbers)
{
    bool ok = true;
    for (u32 i = 0; ok && i < count; i += BATCH)
        ok = add_batch(table, addresses + i, count - i < BATCH ? count - i : BATCH, numbers + i);
    return ok;
}

/* The slot of an address, or the free one where it belongs. */
static address_slot *find(const address_numbers *table, u32 start, u64 address)
{
    u32 at = start & table->mask;
    while (table->slots[at].number != 0 && table->slots[at].address != address)
        at = (at + 1) & table->mask;
    return &table->slots[at];
}

static bool add_batch(address_numbers *table, const u64 *addresses, u32 count, u32 *numbers)
{
    u32 starts[BATCH];
    if ((table->slots == NULL || table->count + count > table->mask / 2) && !grow(table))
        return false;
    for (u32 i = 0; i < count; i++) {
        starts[i] = (u32)etlheap_hash_u64(addresses[i]);
        __builtin_prefetch(&table->slots[starts[i] & table->mask]);
    }
    for (u32 i = 0; i < count; i++) {
        address_slot *const slot = find(table, starts[i], addresses[i]);
        if (slot->number == 0)
            *slot = (address_slot){ addresses[i], ++table->count };
        numbers[i] = slot->number - 1;
    }
    return true;
}

static bool grow(address_numbers *table)
{
    const u32 old_count = table->slots == NULL ? 0 : table->mask + 1;
    if (table->count >= ADDRESS_NUMBERS_MAX)
        return false;
    const u32 new_count = old_count == 0 ? SLOTS_MIN : old_count * 2;
    address_numbers grown = { .mask = new_count - 1, .count = table->count };
    grown.slots = etlheap_touched_calloc(new_count, sizeof *grown.slots);
    if (grown.slots == NULL)
        return false;
    for (u32 i = 0; i < old_count; i++) {
        const address_slot *const slot = &table->slots[i];
        if (slot->number != 0)
            *find(&grown, (u32)etlheap_hash_u64(slot->address), slot->address) = *slot;
    }
    free(table->slots);
    *table = grown;
    return true;
}

void address_numbers_list(const address_numbers *table, u64 *addresses)
{
    for (u32 i = 0; table->slots != NULL && i <= table->mask; i++) {
        if (table->slots[i].number != 0)
            addresses[table->slots[i].number - 1] = table->slots[i].address;
    }
}

u64 address_numbers_bytes(const address_numbers *table)
{
    return table->slots == NULL ? 0 : ((u64)table->mask + 1) * sizeof *table->slots;
}

void address_numbers_free(address_numbers *table)
{
    free(table->slots);
    *table = (address_numbers){ 0 };
}
