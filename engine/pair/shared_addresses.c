/* shared_addresses.c - see shared_addresses.h. */
#include "shared_addresses.h"

#include <stdlib.h>

/* Open addressing, at most half full, without removal. */
typedef struct address_set {
    u32 *numbers; /* block n is pool->blocks[n - 1]; 0: free place */
    u32 mask;
} address_set;

static bool open_set(address_set *set, u32 block_count)
{
    size_t places = 2;
    while (places < (size_t)block_count * 2)
        places *= 2;
    set->mask = (u32)(places - 1);
    set->numbers = calloc(places, sizeof *set->numbers);
    return set->numbers != NULL;
}

static bool is_outstanding(const trace_context *context, const heap_row *heap, const block *open)
{
    return context->processes.at[heap->process - 1].end_ticks == ETLHEAP_TICKS_NEVER &&
           context_heap_end(context, heap->process, heap->handle, open->alloc_ticks) ==
               ETLHEAP_TICKS_NEVER;
}

/* Adds a block; true if one of its process has the address already. */
static bool add(address_set *set, const block_pool *pool, const origin_table *origins, u32 number)
{
    const block *const added = &pool->blocks[number - 1];
    const u32 process = origins->heaps.at[added->heap - 1].process;
    u32 at = (u32)(etlheap_hash_u64(added->address ^ (u64)process << 45) >> 32) & set->mask;
    while (set->numbers[at] != 0) {
        const block *const other = &pool->blocks[set->numbers[at] - 1];
        if (other->address == added->address &&
            origins->heaps.at[other->heap - 1].process == process)
            return true;
        at = (at + 1) & set->mask;
    }
    set->numbers[at] = number;
    return false;
}

bool shared_addresses_count(const block_pool *pool, const origin_table *origins,
                            const trace_context *context, u64 *count)
{
    address_set set;
    *count = 0;
    if (pool->count < 2)
        return true;
    if (!open_set(&set, pool->count))
        return false;
    for (u32 i = 0; i < pool->used; i++) {
        const block *const open = &pool->blocks[i];
        if (open->heap != 0 && is_outstanding(context, &origins->heaps.at[open->heap - 1], open))
            *count += add(&set, pool, origins, i + 1);
    }
    free(set.numbers);
    return true;
}
