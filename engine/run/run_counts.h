/*
 * run_counts.h - what a run counts of its events, slice by slice, besides lifetimes.
 *
 * By process: events, and frees of what nobody saw allocated. By slot: blocks whose stack was
 * not known when they opened, or when nobody waited for it any longer. Whether such a slot
 * has a stack is known at the end of the run, when stack keys are defined.
 */
#ifndef ETLHEAP_RUN_COUNTS_H
#define ETLHEAP_RUN_COUNTS_H

#include "engine/pair/pair_lanes.h"
#include "engine/result/result.h"

/* Start from {0}. */
typedef struct run_counts {
    ETLHEAP_VECTOR(process_counts) processes; /* at[process - 1] */
    ETLHEAP_VECTOR(u64) unsure;               /* blocks, by slot - 1 */
} run_counts;

/* What the events of a slice that is in order say of their processes; what its shards found
 * when they paired them, which is empty afterwards. False without memory. */
bool run_counts_take_order(run_counts *counts, const slice_order *order);
bool run_counts_take_shards(run_counts *counts, pair_lanes *lanes);

/* Blocks that have no stack. Once the result can tell the stacks of all slots. */
u64 run_counts_bare(const run_counts *counts, const etlheap_result *result);

u64 run_counts_bytes(const run_counts *counts);
void run_counts_free(run_counts *counts);

#endif
