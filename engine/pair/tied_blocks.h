/*
 * tied_blocks.h - puts events of heap blocks that have one time in the order that their addresses
 * tell (ties.h).
 */
#ifndef ETLHEAP_TIED_BLOCKS_H
#define ETLHEAP_TIED_BLOCKS_H

#include "blocks.h"

/* An event of a run, to be sorted by its block. */
typedef struct tied_row {
    u64 address;
    u32 heap; /* final */
    u32 at;   /* in the run */
} tied_row;

/* Events of one time that follow each other in a shard's list of a bucket. Start from {0} but for
 * the first members; tied_run_close frees the rows. */
typedef struct tied_run {
    slice_order *order;
    const order_bucket *bucket;
    ordered_event *events;
    u32 count;
    ETLHEAP_VECTOR(tied_row) rows; /* by address, heap and place; none: nothing is tied */
} tied_run;

/* Lists the events if processors share an address. False if memory runs out. */
bool tied_run_open(tied_run *run);
void tied_run_close(tied_run *run);

/* Orders the events of each address that processors share. All events before the run must have been
 * applied. An event that moves takes over the rank of its new place, and what the event list keeps
 * by rank moves with it. */
void tied_run_decide(tied_run *run, const block_table *table, const block_rules *rules,
                     shard_output *out);

#endif
