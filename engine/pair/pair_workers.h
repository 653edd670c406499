/*
 * pair_workers.h - pairs the shards of a slice with one task per thread.
 *
 * A worker is a task that takes shards as they come. If blocks are only counted (tally.h), each
 * worker has its own tally: a tally is as large as the number of origins, too large to have one per
 * shard.
 */
#ifndef ETLHEAP_PAIR_WORKERS_H
#define ETLHEAP_PAIR_WORKERS_H

#include <stdatomic.h>

#include "engine/core/workers.h"
#include "pair.h"

typedef struct pair_workers {
    u32 count;
    origin_tally *tallies; /* one per worker; NULL: blocks are not only counted */
    pair_input input;      /* for the slice */
    pair_shard shards[SHARDS];
    bool is_end; /* end of the run, not of a slice */
    atomic_uint next_shard;
} pair_workers;

/* Opens workers for `jobs` threads, from {0}. False if memory runs out; close them in any case. */
bool pair_workers_open(pair_workers *workers, u32 jobs, bool counts_blocks);
void pair_workers_close(pair_workers *workers);

/* Calls pair_slice for all shards. */
void pair_workers_run(pair_workers *workers, etlheap_crew *crew);

/* Calls pair_finish for all shards. */
void pair_workers_finish(pair_workers *workers, etlheap_crew *crew);

/* Adds the counts of origins up to origin_count to the event list. False if memory runs out. */
bool pair_workers_sum(const pair_workers *workers, u32 origin_count, event_list *list);

/* The bytes of memory that live longer than a slice; only large parts. */
u64 pair_workers_bytes(const pair_workers *workers);

#endif
