/* pair.h - pairs the memory events of a slice, in time order per shard, into lifetimes. */
#ifndef ETLHEAP_PAIR_H
#define ETLHEAP_PAIR_H

#include "blocks.h"
#include "key_blocks.h"
#include "ranges.h"

/* The state of a shard between slices. Heap shards use only `blocks`, range shards the
 * others. */
typedef struct pair_shard {
    block_table blocks;
    range_table ranges;
    key_blocks keyed;
    shard_output out; /* rows of the slice; the reader empties it */
    u8 padding[SHARD_PADDING];
} pair_shard;

typedef struct pair_input {
    block_rules rules;
    slice_order *order; /* numbered; only the shard's task writes its events */
    i64 end_ticks;      /* of the slice */
    bool sweep;         /* a process or heap ended, so dead blocks can be emitted */
} pair_input;

/* Sets the limits of blocks.h in ticks of the clock. */
void pair_set_limits(block_rules *rules, const timebase *base);

/* Pairs the events of shard `index`. Failures are in shard->out. */
void pair_slice(const pair_input *input, u32 index, pair_shard *shard);

/* Call it after the last slice. Emits everything that is still open. */
void pair_finish(const pair_input *input, pair_shard *shard);

void pair_free(pair_shard *shard);

#endif
