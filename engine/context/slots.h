/*
 * slots.h - slots: the pair (owner, stack reference), numbered densely.
 *
 * Everything a report says about a block, except its size and times, follows from its *slot*: the
 * stack reference of its allocation and its owner. There are about as many slots as distinct
 * stacks. So slow work (names, culling, filters) is done once per slot, and a journal entry needs
 * only the number of the slot.
 *
 *     heap   a heap handle of one process lifetime
 *     owner  a heap, while the modules of its process stay the same
 *     slot   a stack reference, which may still be provisional, and an owner
 *
 * Numbers begin at 1. While a slice is put in order, many threads look numbers up and none adds
 * any. Missing ones are added between the phases, in order, so numbers do not depend on the number
 * of threads.
 */
#ifndef ETLHEAP_SLOTS_H
#define ETLHEAP_SLOTS_H

#include "stacks.h"

/* A journal entry has 27 bits for a slot. */
#define SLOT_NUMBER_MAX (((u32)1 << 27) - 1)

typedef struct heap_row {
    u64 handle;
    u32 process;
} heap_row;

typedef struct owner_row {
    i64 first_ticks; /* time of its first event, at which its modules are looked up */
    u32 heap;
    u32 epoch; /* see context_image_epoch */
} owner_row;

typedef struct slot_row {
    stack_ref stack;
    u32 owner;
} slot_row;

/* The first slot of a stack. Nearly every stack has only one. */
typedef struct first_slot {
    u32 owner, slot; /* 0: none yet */
} first_slot;

typedef struct slot_table {
    ETLHEAP_VECTOR(heap_row) heaps;   /* heap n is at[n - 1] */
    ETLHEAP_VECTOR(owner_row) owners; /* likewise */
    ETLHEAP_VECTOR(slot_row) slots;
    ETLHEAP_VECTOR(first_slot) by_stack; /* by stack reference without a tag */
    ETLHEAP_VECTOR(first_slot) by_node;  /* by number of a deferred reference */
    etlheap_index heap_index, owner_index, slot_index;
} slot_table;

/* Look up a number; 0: not found. These only read; any number of threads. */
u32 slots_find_heap(const slot_table *table, u32 process, u64 handle);
u32 slots_find_owner(const slot_table *table, u32 heap, u32 epoch);
u32 slots_find_other(const slot_table *table, stack_ref stack, u32 owner);

/* The place of the first slot of a stack; NULL: it has none. */
static inline const first_slot *slots_first(const slot_table *table, stack_ref stack)
{
    const u32 number = stack & STACK_NUMBER_MAX;
    if (stack < table->by_stack.count)
        return &table->by_stack.at[stack];
    if ((stack & STACK_TAG_MASK) == STACK_TAG_DEFERRED && number < table->by_node.count)
        return &table->by_node.at[number];
    return NULL;
}

static inline u32 slots_find(const slot_table *table, stack_ref stack, u32 owner)
{
    const first_slot *const first = slots_first(table, stack);
    if (first != NULL && first->owner == owner)
        return first->slot;
    return slots_find_other(table, stack, owner);
}

/* Find or add. Return 0 if memory runs out, or if there are too many slots. */
u32 slots_add_heap(slot_table *table, u32 process, u64 handle);
u32 slots_add_owner(slot_table *table, const owner_row *row);
u32 slots_add(slot_table *table, stack_ref stack, u32 owner);

static inline const heap_row *slots_heap_of(const slot_table *table, u32 slot)
{
    const owner_row *const owner = &table->owners.at[table->slots.at[slot - 1].owner - 1];
    return &table->heaps.at[owner->heap - 1];
}

u64 slots_bytes(const slot_table *table);
void slots_free(slot_table *table);

#endif
