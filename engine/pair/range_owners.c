/* range_owners.c - finds the owner of a range by process, kind and heap. */
#include "range_owners.h"

typedef struct owner_key {
    u64 heap;
    u32 process;
    u8 kind;
} owner_key;

static bool same_owner(const void *table, u32 id, const void *key)
{
    const range_table *const owners = table;
    const range_owner *const owner = &owners->owners.at[id - 1];
    const owner_key *const wanted = key;
    return owner->process == wanted->process && owner->kind == wanted->kind &&
           owner->heap == wanted->heap;
}

range_owner *range_owner_of(range_table *table, u32 process, u8 kind, u64 heap)
{
    const owner_key key = { heap, process, kind };
    const u64 hash = etlheap_hash_u64(heap ^ (u64)process << 32 ^ (u64)kind << 24);
    u32 id = etlheap_index_find(&table->index, hash, same_owner, table, &key);
    if (id == 0) {
        const range_owner fresh = {
            .process = process, .kind = kind, .heap = heap, .swept_ticks = INT64_MIN
        };
        if (table->owners.count >= UINT32_MAX - 1 || !ETLHEAP_PUSH(&table->owners, fresh))
            return NULL;
        id = (u32)table->owners.count;
        if (!etlheap_index_add(&table->index, hash, id))
            return NULL;
    }
    return &table->owners.at[id - 1];
}
