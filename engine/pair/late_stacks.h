/*
 * late_stacks.h - updates blocks whose stack arrives, or is given up, after their slice.
 *
 *     join        settled: number, stack or none    (join.h)
 *       │
 *       ▼
 *     here        the block's slot, in its shard, or in the journal and a tally if it ended
 *
 * Nearly all such blocks never get a stack, and already have the right slot.
 */
#ifndef ETLHEAP_LATE_STACKS_H
#define ETLHEAP_LATE_STACKS_H

#include "engine/log/journal_slots.h"
#include "engine/read/join.h"
#include "order_actors.h"
#include "pair_lanes.h"

/* Start from {0}. */
typedef struct late_stacks {
    slot_table *slots;
    event_journal *journal;
    pair_lanes *lanes;
    actor_table *actors; /* NULL: no question asks who freed */
    const free_stacks *frees;
    ETLHEAP_VECTOR(journal_slot) words; /* of the slice, not at the places of their events */
} late_stacks;

/* Call it between join and order of a slice. Applies what the join settled. False if memory runs
 * out. */
bool late_stacks_apply(late_stacks *late, const stack_join *join);
void late_stacks_free(late_stacks *late);

#endif
