/*
 * pair_workers.c - pairs the shards of a slice, one task for each thread.
 *
 * In: ordered events by shard. Out: changed shards, and tallies by worker. A worker takes shards as
 * they come from one counter. Invariant: a worker's tally is added up only at the end, so it does
 * not matter which worker took a shard.
 */
#include "pair_workers.h"

#include <stdlib.h>

/* With tallies: beyond it they take more memory than they save time. */
#define COUNTING_WORKERS_MAX 16u

static void run_worker(void *context, u32 worker);

bool pair_workers_open(pair_workers *workers, u32 jobs, bool counts_blocks)
{
    workers->count = (u32)etl_min_u64(jobs, counts_blocks ? COUNTING_WORKERS_MAX : SHARDS);
    if (!counts_blocks)
        return true;
    workers->tallies = calloc(workers->count, sizeof *workers->tallies);
    return workers->tallies != NULL;
}

void pair_workers_close(pair_workers *workers)
{
    for (u32 i = 0; workers->tallies != NULL && i < workers->count; i++)
        tally_free(&workers->tallies[i]);
    free(workers->tallies);
    workers->tallies = NULL;
    for (u32 i = 0; i < SHARDS; i++)
        pair_free(&workers->shards[i]);
}

static void run_workers(pair_workers *workers, etlheap_crew *crew, bool is_end)
{
    workers->is_end = is_end;
    atomic_store_explicit(&workers->next_shard, 0, memory_order_relaxed);
    etlheap_crew_run(crew, workers->count, run_worker, workers);
}

void pair_workers_run(pair_workers *workers, etlheap_crew *crew)
{
    run_workers(workers, crew, false);
}

/* A rundown lists blocks of all shards. */
static void share_lists(pair_workers *workers)
{
    key_lists lists[ETLHEAP_KIND_COUNT] = { { .has_start = false } };
    for (u32 i = 0; i < SHARDS; i++)
        key_lists_add(lists, &workers->shards[i].keyed);
    for (u32 i = 0; i < SHARDS; i++)
        key_lists_set(&workers->shards[i].keyed, lists);
}

void pair_workers_finish(pair_workers *workers, etlheap_crew *crew)
{
    share_lists(workers);
    run_workers(workers, crew, true);
}

/* Range shards have no event list. */
static void count_in(const pair_workers *workers, u32 worker, pair_shard *shard)
{
    if (workers->tallies != NULL && shard->out.events != NULL)
        shard->out.events->tally = &workers->tallies[worker];
}

static void run_worker(void *context, u32 worker)
{
    pair_workers *const workers = context;
    for (;;) {
        const u32 s = atomic_fetch_add_explicit(&workers->next_shard, 1, memory_order_relaxed);
        if (s >= SHARDS)
            return;
        count_in(workers, worker, &workers->shards[s]);
        if (workers->is_end)
            pair_finish(&workers->input, &workers->shards[s]);
        else
            pair_slice(&workers->input, s, &workers->shards[s]);
    }
}

bool pair_workers_sum(const pair_workers *workers, u32 origin_count, event_list *list)
{
    type_sums *const sums = calloc((origin_count + (size_t)1) * TALLY_BINS, sizeof *sums);
    for (u32 i = 0; sums != NULL && workers->tallies != NULL && i < workers->count; i++)
        tally_sum(&workers->tallies[i], sums);
    list->sums = sums;
    return sums != NULL;
}

u64 pair_workers_bytes(const pair_workers *workers)
{
    u64 bytes = 0;
    for (u32 i = 0; workers->tallies != NULL && i < workers->count; i++)
        bytes += tally_bytes(&workers->tallies[i]);
    for (u32 i = 0; i < SHARDS; i++) {
        bytes += block_pool_bytes(&workers->shards[i].blocks.open);
        bytes += waiting_blocks_bytes(&workers->shards[i].blocks.waiting);
        bytes += workers->shards[i].out.rows.capacity * sizeof(lifetime);
    }
    return bytes;
}
