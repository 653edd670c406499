/*
 * late_stacks.h - updates blocks whose stack arrives, or is given up, after their slice.
 *
 *     join        resolved: number, stack or none   (join.h)
 *       │
 *       ▼
 *     here        the block's origin, in its shard, or in the event list and a tally if it ended
 *
 * Nearly all such blocks never get a stack, and already have the right origin.
 */
#ifndef ETLHEAP_LATE_STACKS_H
#define ETLHEAP_LATE_STACKS_H

#include "engine/log/event_list_origins.h"
#include "engine/read/join.h"
#include "order_freers.h"
#include "pair_workers.h"

/* Start from {0}. */
typedef struct late_stacks {
    origin_table *origins;
    event_list *event_list;
    pair_workers *workers;
    freer_table *freers; /* NULL: no question asks who freed */
    const free_stacks *frees;
    ETLHEAP_VECTOR(ranked_origin) words; /* of the slice, not at the places of their events */
} late_stacks;

/* Call it between join and order of a slice. Applies what the join resolved. False if memory runs
 * out. */
bool late_stacks_apply(late_stacks *late, const stack_join *join);
void late_stacks_free(late_stacks *late);

#endif
