/*
 * run_frees.h - who freed, while a run reads its slices: for runs whose events are kept.
 *
 *     join    stacks of frees: of blocks free_stacks.h, of ranges a join of their own
 *     order   actors of events, by rank (order_actors.h)
 *     pair    late stacks to the actors of earlier slices (late_stacks.h)
 *
 * A run that nobody asks has none of it.
 */
#ifndef ETLHEAP_RUN_FREES_H
#define ETLHEAP_RUN_FREES_H

#include "engine/pair/late_stacks.h"

/* Start from {0}. */
typedef struct run_frees {
    bool is_wanted;
    free_stacks stacks;
    stack_join join; /* of what ends ranges and extents */
    actor_table actors;
} run_frees;

/* With is_wanted, before the first slice: tells the other stages that somebody asks. */
void run_frees_open(run_frees *frees, const timebase *base, stack_join *opening, slice_order *order,
                    late_stacks *late);

/* The actors, for whoever has the result of the run. */
slot_table run_frees_take_actors(run_frees *frees);
void run_frees_close(run_frees *frees);

/* Joins what is left to the slice's frees; after join_slice. False without memory. */
bool run_frees_join(run_frees *frees, const stack_join *opening, deferred_stacks *deferred,
                    scan_output *tasks, u32 task_count, i64 end_ticks);

/* Numbers the slice's actors; after order_settle. False without memory. */
bool run_frees_settle(run_frees *frees, const slice_order *order, u32 first_rank);

/* The first moment of which the stack of a free may still come. */
i64 run_frees_waits_from(const run_frees *frees);

u64 run_frees_bytes(const run_frees *frees);

#endif
