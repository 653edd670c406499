/*
 * origins.h - origins: the pair (owner, stack reference), numbered densely.
 *
 * Everything a report says about a block, except its size and times, follows from its *origin*: the
 * stack reference of its allocation and its owner. There are about as many origins as distinct
 * stacks. So slow work (names, culling, filters) is done once per origin, and an entry of the event
 * list needs only the number of the origin.
 *
 *     heap     a heap handle of one process lifetime
 *     owner    a heap, while the modules of its process stay the same
 *     origin   a stack reference, which may still be provisional, and an owner
 *
 * Numbers begin at 1. While a slice is put in order, many threads look numbers up and none adds
 * any. Missing ones are added between the phases, in order, so numbers do not depend on the number
 * of threads.
 */
#ifndef ETLHEAP_ORIGINS_H
#define ETLHEAP_ORIGINS_H

#include "stacks.h"

/* An entry of the event list has 27 bits for an origin. */
#define ORIGIN_NUMBER_MAX (((u32)1 << 27) - 1)

typedef struct heap_row {
    u64 handle;
    u32 process;
} heap_row;

typedef struct owner_row {
    i64 first_ticks; /* time of its first event, at which its modules are looked up */
    u32 heap;
    u32 epoch; /* see context_image_epoch */
} owner_row;

typedef struct origin_row {
    stack_ref stack;
    u32 owner;
} origin_row;

/* The first origin of a stack. Nearly every stack has only one. */
typedef struct first_origin {
    u32 owner, origin; /* 0: none yet */
} first_origin;

typedef struct origin_table {
    ETLHEAP_VECTOR(heap_row) heaps;   /* heap n is at[n - 1] */
    ETLHEAP_VECTOR(owner_row) owners; /* likewise */
    ETLHEAP_VECTOR(origin_row) origins;
    ETLHEAP_VECTOR(first_origin) by_stack; /* by stack reference without a tag */
    ETLHEAP_VECTOR(first_origin) by_node;  /* by number of a keyed reference */
    etlheap_index heap_index, owner_index, origin_index;
} origin_table;

/* Look up a number; 0: not found. These only read; any number of threads. */
u32 origins_find_heap(const origin_table *table, u32 process, u64 handle);
u32 origins_find_owner(const origin_table *table, u32 heap, u32 epoch);
u32 origins_find_other(const origin_table *table, stack_ref stack, u32 owner);

/* The place of the first origin of a stack; NULL: it has none. */
static inline const first_origin *origins_first(const origin_table *table, stack_ref stack)
{
    const u32 number = stack & STACK_NUMBER_MAX;
    if (stack < table->by_stack.count)
        return &table->by_stack.at[stack];
    if ((stack & STACK_TAG_MASK) == STACK_TAG_KEYED && number < table->by_node.count)
        return &table->by_node.at[number];
    return NULL;
}

static inline u32 origins_find(const origin_table *table, stack_ref stack, u32 owner)
{
    const first_origin *const first = origins_first(table, stack);
    if (first != NULL && first->owner == owner)
        return first->origin;
    return origins_find_other(table, stack, owner);
}

/* Find or add. Return 0 if memory runs out, or if there are too many origins. */
u32 origins_add_heap(origin_table *table, u32 process, u64 handle);
u32 origins_add_owner(origin_table *table, const owner_row *row);
u32 origins_add(origin_table *table, stack_ref stack, u32 owner);

static inline const heap_row *origins_heap_of(const origin_table *table, u32 origin)
{
    const owner_row *const owner = &table->owners.at[table->origins.at[origin - 1].owner - 1];
    return &table->heaps.at[owner->heap - 1];
}

u64 origins_bytes(const origin_table *table);
void origins_free(origin_table *table);

#endif
