/*
 * slot_groups.h - the group of each slot: everything that does not depend on single blocks.
 *
 * Names, culling and filters by process, heap and frame are the same for all blocks of a slot. So
 * they are determined once per slot, and adding up a block needs one look-up. The same holds for
 * the origins of rows in memory (feed_rows.h), which are numbered after the slots.
 */
#ifndef ETLHEAP_SLOT_GROUPS_H
#define ETLHEAP_SLOT_GROUPS_H

#include "aggregate.h"
#include "feed_rows.h"

#define GROUP_NONE UINT32_MAX /* not selected */

/* Where blocks of a slot belong. */
typedef struct slot_place {
    u32 group;
    u32 resolved; /* see slot_groups.stack_of_slot; 0 if it is not kept */
} slot_place;

/* A slot with its final stack: a tagged reference is replaced by the stack it became. */
typedef struct final_slot {
    u32 stack, owner;
    slot_place place;
} final_slot;

typedef struct slot_groups {
    aggregator *a;
    const slot_table *slots;
    u32 slot_count;                 /* 0: origins only */
    const feed_rows *rows;          /* NULL: slots only */
    ETLHEAP_VECTOR(group_key) keys; /* by group; the type is 0 */
    table_ids first_keys;           /* by stack: its first key + 1; 0: none yet */
    etlheap_index key_index;        /* the other keys */
    ETLHEAP_VECTOR(final_slot) finals;
    etlheap_index final_index;
    u32 *of_slot; /* by number of the slot, then of the origin; [0] is GROUP_NONE */
    /* By slot number: its stack as in a group_key. Kept if the query groups by IMPACTING_STACK,
     * which then divides blocks (block_groups.h) and not slots; else NULL. */
    u32 *stack_of_slot;
} slot_groups;

/* Groups the slots of a log, if the result has one and they are wanted, and the origins of rows
 * unless `rows` is NULL. False if memory runs out; close it in any case. */
bool slot_groups_open(slot_groups *out, aggregator *a, const feed_rows *rows, bool wants_slots);
void slot_groups_close(slot_groups *groups);

/* Whose the blocks of a slot or origin are. */
typedef struct origin_owner {
    u64 heap;
    u32 process;
} origin_owner;

static inline origin_owner slot_groups_owner(const slot_groups *groups, u32 number)
{
    if (number > groups->slot_count) {
        const origin_key *const key =
            &groups->rows->origins.list.at[number - groups->rows->origins.first].key;
        return (origin_owner){ key->heap, key->process };
    }
    const heap_row *const heap = slots_heap_of(groups->slots, number);
    return (origin_owner){ heap->handle, groups->a->result->process_ids[heap->process] };
}

#endif
