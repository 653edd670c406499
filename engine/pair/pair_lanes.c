/*
 * pair_lanes.c - pairs the shards of a slice, one task for each thread.
 *
 * In: ordered events by shard. Out: changed shards, and tallies by lane. A lane takes shards as
 * they come from one counter. Invariant: a lane's tally is added up only at the end, so it does not
 * matter which lane took a shard.
 */
#include "pair_lanes.h"

#include <stdlib.h>

/* With tallies: beyond it they take more memory than they save time. */
#define COUNTING_LANES_MAX 16u

static void run_lane(void *context, u32 lane);

bool pair_lanes_open(pair_lanes *lanes, u32 jobs, bool counts_blocks)
{
    lanes->count = (u32)etl_min_u64(jobs, counts_blocks ? COUNTING_LANES_MAX : SHARDS);
    if (!counts_blocks)
        return true;
    lanes->tallies = calloc(lanes->count, sizeof *lanes->tallies);
    return lanes->tallies != NULL;
}

void pair_lanes_close(pair_lanes *lanes)
{
    for (u32 i = 0; lanes->tallies != NULL && i < lanes->count; i++)
        tally_free(&lanes->tallies[i]);
    free(lanes->tallies);
    lanes->tallies = NULL;
    for (u32 i = 0; i < SHARDS; i++)
        pair_free(&lanes->shards[i]);
}

static void run_lanes(pair_lanes *lanes, etlheap_crew *crew, bool is_end)
{
    lanes->is_end = is_end;
    atomic_store_explicit(&lanes->next_shard, 0, memory_order_relaxed);
    etlheap_crew_run(crew, lanes->count, run_lane, lanes);
}

void pair_lanes_run(pair_lanes *lanes, etlheap_crew *crew)
{
    run_lanes(lanes, crew, false);
}

void pair_lanes_finish(pair_lanes *lanes, etlheap_crew *crew)
{
    run_lanes(lanes, crew, true);
}

/* Range shards have no journal. */
static void count_in(const pair_lanes *lanes, u32 lane, pair_shard *shard)
{
    if (lanes->tallies != NULL && shard->out.journal != NULL)
        shard->out.journal->tally = &lanes->tallies[lane];
}

static void run_lane(void *context, u32 lane)
{
    pair_lanes *const lanes = context;
    for (;;) {
        const u32 s = atomic_fetch_add_explicit(&lanes->next_shard, 1, memory_order_relaxed);
        if (s >= SHARDS)
            return;
        count_in(lanes, lane, &lanes->shards[s]);
        if (lanes->is_end)
            pair_finish(&lanes->input, &lanes->shards[s]);
        else
            pair_slice(&lanes->input, s, &lanes->shards[s]);
    }
}

bool pair_lanes_sum(const pair_lanes *lanes, u32 origin_count, event_journal *journal)
{
    type_sums *const sums = calloc((origin_count + (size_t)1) * TALLY_BINS, sizeof *sums);
    for (u32 i = 0; sums != NULL && lanes->tallies != NULL && i < lanes->count; i++)
        tally_sum(&lanes->tallies[i], sums);
    journal->sums = sums;
    return sums != NULL;
}

u64 pair_lanes_bytes(const pair_lanes *lanes)
{
    u64 bytes = 0;
    for (u32 i = 0; lanes->tallies != NULL && i < lanes->count; i++)
        bytes += tally_bytes(&lanes->tallies[i]);
    for (u32 i = 0; i < SHARDS; i++) {
        bytes += block_pool_bytes(&lanes->shards[i].blocks.open);
        bytes += waiting_blocks_bytes(&lanes->shards[i].blocks.waiting);
        bytes += lanes->shards[i].out.rows.capacity * sizeof(lifetime);
    }
    return bytes;
}
