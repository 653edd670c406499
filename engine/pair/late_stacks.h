/*
 * late_stacks.h - what becomes of blocks whose stack was waited for beyond their slice.
 *
 *     join        settled: number, stack or none    (join.h)
 *       │
 *       ▼
 *     here        the block's slot, in its shard, or in the journal and a tally if it ended
 *
 * Nearly all that waits is a block that never gets a stack: it has the right slot already.
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
    actor_table *actors; /* NULL: nobody asks who freed */
    const free_stacks *frees;
    ETLHEAP_VECTOR(journal_slot) words; /* of the slice, not at their events' own places */
} late_stacks;

/* Between join and order of a slice: what the join settled. False without memory. */
bool late_stacks_apply(late_stacks *late, const stack_join *join);
void late_stacks_free(late_stacks *late);

#endif
