/*
 * pair.h - memory events of a slice, in time order per shard, to lifetimes.
 */
#ifndef ETLHEAP_PAIR_H
#define ETLHEAP_PAIR_H

#include "blocks.h"
#include "ranges.h"

/* What a shard carries from slice to slice. Range shards use ranges alone. */
typedef struct pair_shard {
    block_table blocks;
    range_table ranges;
    shard_output out; /* rows of the slice; the reader empties it */
    u8 padding[SHARD_PADDING];
} pair_shard;

typedef struct pair_input {
    block_rules rules;
    slice_order *order; /* settled; a shard's events are written by its task alone */
    i64 end_ticks;      /* of the slice */
    bool sweep;         /* a process or heap ended: dead blocks can leave */
} pair_input;

/* Sets the limits of blocks.h, in ticks of the clock. */
void pair_set_limits(block_rules *rules, const timebase *base);

/* Runs shard `index` over the slice. Failure is in shard->out. */
void pair_slice(const pair_input *input, u32 index, pair_shard *shard);

/* After the last slice: what is still open leaves. */
void pair_finish(const pair_input *input, pair_shard *shard);

void pair_free(pair_shard *shard);

#endif
