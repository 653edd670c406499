/*
 * run_counts.c - counts of a run besides lifetimes: events and unmatched frees by process, blocks
 * without a stack by origin. Invariant: whether an origin has a stack is known only at the end, so
 * blocks are counted by origin until then.
 */
#include "run_counts.h"

#include <stdlib.h>

/* The counts of a process; NULL without memory. */
static process_counts *counts_of(run_counts *counts, u32 process)
{
    while (counts->processes.count < process) {
        if (!ETLHEAP_PUSH(&counts->processes, (process_counts){ 0 }))
            return NULL;
    }
    return &counts->processes.at[process - 1];
}

bool run_counts_take_order(run_counts *counts, const slice_order *order)
{
    for (u32 b = 0; b < order->bucket_count; b++) {
        const order_bucket *const bucket = &order->buckets[b];
        for (size_t i = 0; i < bucket->counts.count; i++) {
            const order_count *const count = &bucket->counts.at[i];
            process_counts *const into = counts_of(counts, count->process);
            if (into == NULL)
                return false;
            for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++)
                into->events[kind] += count->events[kind];
        }
    }
    return true;
}

static bool take_unsure(run_counts *counts, shard_events *events)
{
    for (size_t i = 0; i < events->unsure.count; i++) {
        const u32 origin = events->unsure.at[i];
        while (counts->unsure.count < origin) {
            if (!ETLHEAP_PUSH(&counts->unsure, 0))
                return false;
        }
        counts->unsure.at[origin - 1]++;
    }
    events->unsure.count = 0;
    return true;
}

bool run_counts_take_shards(run_counts *counts, pair_workers *workers)
{
    for (u32 i = 0; i < SHARDS; i++) {
        shard_output *const out = &workers->shards[i].out;
        for (u32 k = 0; k < out->counts.count; k++) {
            process_counts *const into = counts_of(counts, k + 1);
            if (into == NULL)
                return false;
            for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++)
                into->free_without_alloc[kind] += out->counts.at[k].free_without_alloc[kind];
        }
        out->counts.count = 0;
        if (out->events != NULL && !take_unsure(counts, out->events))
            return false;
    }
    return true;
}

u64 run_counts_bare(const run_counts *counts, const etlheap_result *result)
{
    u64 bare = 0;
    for (size_t i = 0; i < counts->unsure.count; i++) {
        const stack_ref stack = result->origin_table.origins.at[i].stack;
        if (counts->unsure.at[i] > 0 && result_final_stack(result, stack) == 0)
            bare += counts->unsure.at[i];
    }
    return bare;
}

u64 run_counts_bytes(const run_counts *counts)
{
    return counts->unsure.capacity * sizeof *counts->unsure.at;
}

void run_counts_free(run_counts *counts)
{
    ETLHEAP_VECTOR_FREE(&counts->processes);
    ETLHEAP_VECTOR_FREE(&counts->unsure);
}
