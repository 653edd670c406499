/*
 * run_frees.h - records who freed each block, for runs that keep events.
 *
 *     join    stacks of frees: of blocks by free_stacks.h, of ranges by a join of their own
 *     order   freers of events, by rank (order_freers.h)
 *     pair    late stacks to the freers of earlier slices (late_stacks.h)
 *
 * Runs whose questions do not ask who freed skip all of this.
 */
#ifndef ETLHEAP_RUN_FREES_H
#define ETLHEAP_RUN_FREES_H

#include "engine/pair/late_stacks.h"

/* Start from {0}. */
typedef struct run_frees {
    bool is_wanted;
    free_stacks stacks;
    stack_join join; /* for events that end ranges and extents */
    freer_table freers;
} run_frees;

/* Call it before the first slice. With is_wanted, tells the other stages to record who freed. */
void run_frees_open(run_frees *frees, const timebase *base, stack_join *opening, slice_order *order,
                    late_stacks *late);

/* Hands the freers over to the caller. */
origin_table run_frees_take_freers(run_frees *frees);
void run_frees_close(run_frees *frees);

/* Joins the stacks that join_slice left over with the slice's frees. False if memory runs out. */
bool run_frees_join(run_frees *frees, const stack_join *opening, keyed_stacks *keyed,
                    scan_output *tasks, u32 task_count, i64 end_ticks);

/* Numbers the slice's freers; after order_number. False if memory runs out. */
bool run_frees_resolve(run_frees *frees, const slice_order *order, u32 first_rank);

/* Call it after pairing: events that took over other ranks keep their freers. */
void run_frees_move(run_frees *frees, pair_workers *workers);

/* The earliest time of a free whose stack may still come. */
i64 run_frees_waits_from(const run_frees *frees);

u64 run_frees_bytes(const run_frees *frees);

#endif
