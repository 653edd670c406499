/*
 * run_counts.h - counts that a run makes slice by slice, besides lifetimes.
 *
 * By process: events, and frees of blocks allocated before the recording. By origin: blocks whose
 * stack was not known when they were allocated, or when the join gave up waiting for it. Whether
 * such an origin has a stack is known only at the end of the run, when stack keys are defined.
 */
#ifndef ETLHEAP_RUN_COUNTS_H
#define ETLHEAP_RUN_COUNTS_H

#include "engine/pair/pair_workers.h"
#include "engine/result/result.h"

/* Start from {0}. */
typedef struct run_counts {
    ETLHEAP_VECTOR(process_counts) processes; /* at[process - 1] */
    ETLHEAP_VECTOR(u64) unsure;               /* blocks, by origin - 1 */
} run_counts;

/* Take the counts of a slice: from its events once they are in order, and from its shards after
 * pairing. The shards' counts are empty afterwards. False if memory runs out. */
bool run_counts_take_order(run_counts *counts, const slice_order *order);
bool run_counts_take_shards(run_counts *counts, pair_workers *workers);

/* The number of blocks without a stack. Call it when the result knows the stacks of all origins. */
u64 run_counts_bare(const run_counts *counts, const etlheap_result *result);

u64 run_counts_bytes(const run_counts *counts);
void run_counts_free(run_counts *counts);

#endif
