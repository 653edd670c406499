/*
 * pair_lanes.h - the shards of a slice, paired by as many tasks as there are threads.
 *
 * A lane is a task that takes shards as they come. Where blocks are counted in
 * place of being kept (tally.h), each lane counts in a tally of its own: a tally
 * is as large as there are slots, so there is not one for each shard.
 */
#ifndef ETLHEAP_PAIR_LANES_H
#define ETLHEAP_PAIR_LANES_H

#include <stdatomic.h>

#include "engine/core/workers.h"
#include "pair.h"

typedef struct pair_lanes {
    u32 count;
    slot_tally *tallies; /* of each lane; NULL: blocks are not counted */
    pair_input input;    /* of the slice */
    pair_shard shards[SHARDS];
    bool is_end; /* the run's, not a slice's */
    atomic_uint next_shard;
} pair_lanes;

/* Lanes for so many threads, from {0}. False without memory; to be closed in any
 * case. */
bool pair_lanes_open(pair_lanes *lanes, u32 jobs, bool counts_blocks);
void pair_lanes_close(pair_lanes *lanes);

/* pair_slice of all shards. */
void pair_lanes_run(pair_lanes *lanes, etlheap_crew *crew);

/* pair_finish of all shards. */
void pair_lanes_finish(pair_lanes *lanes, etlheap_crew *crew);

/* Hands what was counted, of slots up to slot_count, to the journal. False without
 * memory. */
bool pair_lanes_sum(const pair_lanes *lanes, u32 slot_count, event_journal *journal);

/* Memory that lives longer than a slice; the large parts. */
u64 pair_lanes_bytes(const pair_lanes *lanes);

#endif
