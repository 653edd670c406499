/*
 * origins.c - numbers heaps, owners and origins, so that one small number says who owns a block and
 * where it was allocated. origins.h defines the three terms.
 *
 * In: (process, heap handle), (heap, epoch of the process's modules), (stack reference, owner).
 * Out: dense numbers from 1, in the order in which they were added.
 *
 *     (process, handle) ──▶ heap ──+ epoch──▶ owner ──+ stack──▶ origin
 *
 *     by_stack[stack], by_node[node]    the first origin of a stack: an array access
 *     origin_index                      further origins of the same stack: a hash table
 *
 * Nearly every stack has one origin, so hashing is the exception. Invariant: the find functions
 * write nothing, so any number of threads may look up numbers at once. Numbers are added between
 * these phases by one thread, in an order that does not depend on threads.
 */
#include "origins.h"

#include <stdlib.h>

static bool same_heap(const void *owner, u32 id, const void *key)
{
    const origin_table *const table = owner;
    const heap_row *const a = &table->heaps.at[id - 1], *const b = key;
    return a->handle == b->handle && a->process == b->process;
}

static bool same_owner(const void *owner, u32 id, const void *key)
{
    const origin_table *const table = owner;
    const owner_row *const a = &table->owners.at[id - 1], *const b = key;
    return a->heap == b->heap && a->epoch == b->epoch;
}

static bool same_origin(const void *owner, u32 id, const void *key)
{
    const origin_table *const table = owner;
    const origin_row *const a = &table->origins.at[id - 1], *const b = key;
    return a->stack == b->stack && a->owner == b->owner;
}

static u64 hash_heap(u32 process, u64 handle)
{
    return etlheap_hash_u64(handle ^ (u64)process << 40);
}

static u64 hash_two(u32 high, u32 low)
{
    return etlheap_hash_u64((u64)high << 32 | low);
}

/* An event that waits for its stack has a reference that no other event has, so there is never an
 * equal one to find. */
static bool is_unique(stack_ref stack)
{
    return (stack & STACK_TAG_MASK) == STACK_TAG_WAITING;
}

u32 origins_find_heap(const origin_table *table, u32 process, u64 handle)
{
    const heap_row wanted = { handle, process };
    return etlheap_index_find(&table->heap_index, hash_heap(process, handle), same_heap, table,
                              &wanted);
}

u32 origins_find_owner(const origin_table *table, u32 heap, u32 epoch)
{
    const owner_row wanted = { .heap = heap, .epoch = epoch };
    return etlheap_index_find(&table->owner_index, hash_two(heap, epoch), same_owner, table,
                              &wanted);
}

u32 origins_find_other(const origin_table *table, stack_ref stack, u32 owner)
{
    const origin_row wanted = { stack, owner };
    if (is_unique(stack))
        return 0;
    return etlheap_index_find(&table->origin_index, hash_two(owner, stack), same_origin, table,
                              &wanted);
}

u32 origins_add_heap(origin_table *table, u32 process, u64 handle)
{
    const u32 found = origins_find_heap(table, process, handle);
    if (found != 0)
        return found;
    if (table->heaps.count >= UINT32_MAX - 1 ||
        !ETLHEAP_PUSH(&table->heaps, (heap_row){ handle, process }) ||
        !etlheap_index_add(&table->heap_index, hash_heap(process, handle), (u32)table->heaps.count))
        return 0;
    return (u32)table->heaps.count;
}

u32 origins_add_owner(origin_table *table, const owner_row *row)
{
    const u32 found = origins_find_owner(table, row->heap, row->epoch);
    if (found != 0)
        return found;
    if (table->owners.count >= UINT32_MAX - 1 || !ETLHEAP_PUSH(&table->owners, *row) ||
        !etlheap_index_add(&table->owner_index, hash_two(row->heap, row->epoch),
                           (u32)table->owners.count))
        return 0;
    return (u32)table->owners.count;
}

/* The entry for the first origin of a stack, added if needed; NULL without memory. */
static first_origin *make_first(origin_table *table, stack_ref stack)
{
    const bool is_node = (stack & STACK_TAG_MASK) == STACK_TAG_KEYED;
    const u32 number = stack & STACK_NUMBER_MAX;
    if (is_node) {
        while (table->by_node.count <= number) {
            if (!ETLHEAP_PUSH(&table->by_node, (first_origin){ 0, 0 }))
                return NULL;
        }
        return &table->by_node.at[number];
    }
    while (table->by_stack.count <= number) {
        if (!ETLHEAP_PUSH(&table->by_stack, (first_origin){ 0, 0 }))
            return NULL;
    }
    return &table->by_stack.at[number];
}

u32 origins_add(origin_table *table, stack_ref stack, u32 owner)
{
    const u32 found = origins_find(table, stack, owner);
    if (found != 0)
        return found;
    if (table->origins.count >= ORIGIN_NUMBER_MAX ||
        !ETLHEAP_PUSH(&table->origins, (origin_row){ stack, owner }))
        return 0;
    const u32 id = (u32)table->origins.count;
    if (is_unique(stack))
        return id;
    first_origin *const first = make_first(table, stack);
    if (first == NULL)
        return 0;
    if (first->origin == 0) {
        *first = (first_origin){ owner, id };
        return id;
    }
    return etlheap_index_add(&table->origin_index, hash_two(owner, stack), id) ? id : 0;
}

u64 origins_bytes(const origin_table *table)
{
    return table->origins.capacity * sizeof *table->origins.at +
           table->by_stack.capacity * sizeof *table->by_stack.at +
           table->by_node.capacity * sizeof *table->by_node.at +
           table->owners.capacity * sizeof *table->owners.at +
           table->heaps.capacity * sizeof *table->heaps.at +
           (table->origin_index.mask + (u64)1) * 16;
}

void origins_free(origin_table *table)
{
    ETLHEAP_VECTOR_FREE(&table->heaps);
    ETLHEAP_VECTOR_FREE(&table->owners);
    ETLHEAP_VECTOR_FREE(&table->origins);
    ETLHEAP_VECTOR_FREE(&table->by_stack);
    ETLHEAP_VECTOR_FREE(&table->by_node);
    etlheap_index_free(&table->heap_index);
    etlheap_index_free(&table->owner_index);
    etlheap_index_free(&table->origin_index);
}
