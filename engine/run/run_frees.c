/*
 * run_frees.c - the parts of a run that record who freed each block; run_frees.h lists them.
 * Without such a question, every function returns at once.
 */
#include "run_frees.h"

#include <stdlib.h>

void run_frees_open(run_frees *frees, const timebase *base, stack_join *opening, slice_order *order,
                    late_stacks *late)
{
    if (!frees->is_wanted)
        return;
    join_open_frees(&frees->join, base, opening);
    opening->frees = &frees->stacks;
    order->freers = &frees->freers.origins;
    late->freers = &frees->freers;
    late->frees = &frees->stacks;
    for (u32 i = HEAP_SHARDS; i < SHARDS; i++)
        late->workers->shards[i].out.keeps_frees = true;
}

origin_table run_frees_take_freers(run_frees *frees)
{
    const origin_table freers = frees->freers.origins;
    frees->freers.origins = (origin_table){ 0 };
    return freers;
}

void run_frees_close(run_frees *frees)
{
    free_stacks_free(&frees->stacks);
    join_close(&frees->join);
    freer_table_free(&frees->freers);
}

bool run_frees_join(run_frees *frees, const stack_join *opening, keyed_stacks *keyed,
                    scan_output *tasks, u32 task_count, i64 end_ticks)
{
    return !frees->is_wanted ||
           join_frees_slice(&frees->join, opening, keyed, tasks, task_count, end_ticks);
}

bool run_frees_resolve(run_frees *frees, const slice_order *order, u32 first_rank)
{
    bool ok = true;
    for (u32 b = 0; ok && frees->is_wanted && b < order->bucket_count; b++)
        ok = order_resolve_freers(&order->buckets[b], &frees->freers, &frees->stacks, first_rank);
    return ok;
}

void run_frees_move(run_frees *frees, pair_workers *workers)
{
    const slice_order *const order = workers->input.order;
    for (u32 shard = 0; shard < HEAP_SHARDS; shard++) {
        shard_output *const out = &workers->shards[shard].out;
        for (size_t i = 0; i < out->moves.count; i++) {
            for (u32 b = 0; b < order->bucket_count; b++)
                order_move_wait(&order->buckets[b], &frees->freers, &frees->stacks,
                                workers->input.rules.first_rank, out->moves.at[i]);
        }
        out->moves.count = 0;
    }
}

i64 run_frees_waits_from(const run_frees *frees)
{
    return free_stacks_oldest(&frees->stacks);
}

u64 run_frees_bytes(const run_frees *frees)
{
    return free_stacks_bytes(&frees->stacks) + join_bytes(&frees->join) +
           freer_table_bytes(&frees->freers);
}
