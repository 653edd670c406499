/*
 * pair_lanes.h - pairs the shards of a slice with one task per thread.
 *
 * A lane is a task that takes shards as they come. If blocks are only counted (tally.h), each lane
 * has its own tally: a tally is as large as the number of origins, too large to have one per shard.
 */
#ifndef ETLHEAP_PAIR_LANES_H
#define ETLHEAP_PAIR_LANES_H

#include <stdatomic.h>

#include "engine/core/workers.h"
#include "pair.h"

typedef struct pair_lanes {
    u32 count;
    origin_tally *tallies; /* one per lane; NULL: blocks are not only counted */
    pair_input input;      /* for the slice */
    pair_shard shards[SHARDS];
    bool is_end; /* end of the run, not of a slice */
    atomic_uint next_shard;
} pair_lanes;

/* Opens lanes for `jobs` threads, from {0}. False if memory runs out; close them in any case. */
bool pair_lanes_open(pair_lanes *lanes, u32 jobs, bool counts_blocks);
void pair_lanes_close(pair_lanes *lanes);

/* Calls pair_slice for all shards. */
void pair_lanes_run(pair_lanes *lanes, etlheap_crew *crew);

/* Calls pair_finish for all shards. */
void pair_lanes_finish(pair_lanes *lanes, etlheap_crew *crew);

/* Adds the counts of origins up to origin_count to the journal. False if memory runs out. */
bool pair_lanes_sum(const pair_lanes *lanes, u32 origin_count, event_journal *journal);

/* The bytes of memory that live longer than a slice; only large parts. */
u64 pair_lanes_bytes(const pair_lanes *lanes);

#endif
