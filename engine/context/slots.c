/*
 * slots.c - numbers heaps, owners and slots, so that one small number says who owns a block and
 * where it was allocated. slots.h defines the three terms.
 *
 * In: (process, heap handle), (heap, epoch of the process's modules), (stack reference, owner).
 * Out: dense numbers from 1, in the order in which they were added.
 *
 *     (process, handle) ──▶ heap ──+ epoch──▶ owner ──+ stack──▶ slot
 *
 *     by_stack[stack], by_node[node]    the first slot of a stack: an array access
 *     slot_index                        further slots of the same stack: a hash table
 *
 * Nearly every stack has one slot, so hashing is the exception. Invariant: the find functions write
 * nothing, so any number of threads may look up numbers at once. Numbers are added between these
 * phases by one thread, in an order that does not depend on threads.
 */
#include "slots.h"

#include <stdlib.h>

static bool same_heap(const void *owner, u32 id, const void *key)
{
    const slot_table *const table = owner;
    const heap_row *const a = &table->heaps.at[id - 1], *const b = key;
    return a->handle == b->handle && a->process == b->process;
}

static bool same_owner(const void *owner, u32 id, const void *key)
{
    const slot_table *const table = owner;
    const owner_row *const a = &table->owners.at[id - 1], *const b = key;
    return a->heap == b->heap && a->epoch == b->epoch;
}

static bool same_slot(const void *owner, u32 id, const void *key)
{
    const slot_table *const table = owner;
    const slot_row *const a = &table->slots.at[id - 1], *const b = key;
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

u32 slots_find_heap(const slot_table *table, u32 process, u64 handle)
{
    const heap_row wanted = { handle, process };
    return etlheap_index_find(&table->heap_index, hash_heap(process, handle), same_heap, table,
                              &wanted);
}

u32 slots_find_owner(const slot_table *table, u32 heap, u32 epoch)
{
    const owner_row wanted = { .heap = heap, .epoch = epoch };
    return etlheap_index_find(&table->owner_index, hash_two(heap, epoch), same_owner, table,
                              &wanted);
}

u32 slots_find_other(const slot_table *table, stack_ref stack, u32 owner)
{
    const slot_row wanted = { stack, owner };
    if (is_unique(stack))
        return 0;
    return etlheap_index_find(&table->slot_index, hash_two(owner, stack), same_slot, table,
                              &wanted);
}

u32 slots_add_heap(slot_table *table, u32 process, u64 handle)
{
    const u32 found = slots_find_heap(table, process, handle);
    if (found != 0)
        return found;
    if (table->heaps.count >= UINT32_MAX - 1 ||
        !ETLHEAP_PUSH(&table->heaps, (heap_row){ handle, process }) ||
        !etlheap_index_add(&table->heap_index, hash_heap(process, handle), (u32)table->heaps.count))
        return 0;
    return (u32)table->heaps.count;
}

u32 slots_add_owner(slot_table *table, const owner_row *row)
{
    const u32 found = slots_find_owner(table, row->heap, row->epoch);
    if (found != 0)
        return found;
    if (table->owners.count >= UINT32_MAX - 1 || !ETLHEAP_PUSH(&table->owners, *row) ||
        !etlheap_index_add(&table->owner_index, hash_two(row->heap, row->epoch),
                           (u32)table->owners.count))
        return 0;
    return (u32)table->owners.count;
}

/* The entry for the first slot of a stack, added if needed; NULL without memory. */
static first_slot *make_first(slot_table *table, stack_ref stack)
{
    const bool is_node = (stack & STACK_TAG_MASK) == STACK_TAG_DEFERRED;
    const u32 number = stack & STACK_NUMBER_MAX;
    if (is_node) {
        while (table->by_node.count <= number) {
            if (!ETLHEAP_PUSH(&table->by_node, (first_slot){ 0, 0 }))
                return NULL;
        }
        return &table->by_node.at[number];
    }
    while (table->by_stack.count <= number) {
        if (!ETLHEAP_PUSH(&table->by_stack, (first_slot){ 0, 0 }))
            return NULL;
    }
    return &table->by_stack.at[number];
}

u32 slots_add(slot_table *table, stack_ref stack, u32 owner)
{
    const u32 found = slots_find(table, stack, owner);
    if (found != 0)
        return found;
    if (table->slots.count >= SLOT_NUMBER_MAX ||
        !ETLHEAP_PUSH(&table->slots, (slot_row){ stack, owner }))
        return 0;
    const u32 id = (u32)table->slots.count;
    if (is_unique(stack))
        return id;
    first_slot *const first = make_first(table, stack);
    if (first == NULL)
        return 0;
    if (first->slot == 0) {
        *first = (first_slot){ owner, id };
        return id;
    }
    return etlheap_index_add(&table->slot_index, hash_two(owner, stack), id) ? id : 0;
}

u64 slots_bytes(const slot_table *table)
{
    return table->slots.capacity * sizeof *table->slots.at +
           table->by_stack.capacity * sizeof *table->by_stack.at +
           table->by_node.capacity * sizeof *table->by_node.at +
           table->owners.capacity * sizeof *table->owners.at +
           table->heaps.capacity * sizeof *table->heaps.at + (table->slot_index.mask + (u64)1) * 16;
}

void slots_free(slot_table *table)
{
    ETLHEAP_VECTOR_FREE(&table->heaps);
    ETLHEAP_VECTOR_FREE(&table->owners);
    ETLHEAP_VECTOR_FREE(&table->slots);
    ETLHEAP_VECTOR_FREE(&table->by_stack);
    ETLHEAP_VECTOR_FREE(&table->by_node);
    etlheap_index_free(&table->heap_index);
    etlheap_index_free(&table->owner_index);
    etlheap_index_free(&table->slot_index);
}
