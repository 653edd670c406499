/*
 * pair.c - gives each event of a shard to its rule, in time order.
 *
 * A shard's events lie in one list per bucket. What the rule will read misses
 * the cache nearly always, so it is fetched some events before its turn.
 */
#include "pair.h"

#include <stdlib.h>

#define RACE_NS    ((i64)1000 * 1000)
#define LOOK_AHEAD 12u

static void pair_blocks(const pair_input *input, const order_bucket *bucket, u32 index,
                        pair_shard *shard);
static void pair_event(const pair_input *input, ordered_event *event, pair_shard *shard);
static void pair_ranges(const pair_input *input, const order_bucket *bucket, u32 index,
                        pair_shard *shard);

i64 pair_race_ticks(const timebase *base)
{
    return timebase_span(base, RACE_NS);
}

void pair_slice(const pair_input *input, u32 index, pair_shard *shard)
{
    for (u32 b = 0; b < input->order->bucket_count; b++) {
        const order_bucket *const bucket = &input->order->buckets[b];
        if (index < HEAP_SHARDS)
            pair_blocks(input, bucket, index, shard);
        else
            pair_ranges(input, bucket, index, shard);
    }
    blocks_settle(&shard->blocks, &input->rules, input->end_ticks, &shard->out);
    if (!input->sweep)
        return;
    blocks_sweep(&shard->blocks, &input->rules, input->end_ticks, &shard->out);
    ranges_sweep(&shard->ranges, input->rules.context, input->end_ticks, &shard->out);
}

static void pair_blocks(const pair_input *input, const order_bucket *bucket, u32 index,
                        pair_shard *shard)
{
    ordered_event *const events =
        input->order->events + bucket->first + bucket->shard_starts[index];
    const u32 count = bucket->shard_starts[index + 1] - bucket->shard_starts[index];
    const u32 ahead = count < LOOK_AHEAD ? count : LOOK_AHEAD;
    for (u32 i = 0; i < count + 2 * ahead; i++) {
        if (i < count) {
            events[i].heap = order_heap_number(bucket, events[i].heap);
            events[i].slot = order_slot_number(bucket, events[i].slot);
            blocks_prepare(&shard->blocks, &events[i]);
        }
        if (i >= ahead && i < count + ahead)
            blocks_prefetch(&shard->blocks, &events[i - ahead]);
        if (i >= 2 * ahead)
            pair_event(input, &events[i - 2 * ahead], shard);
    }
}

/* What the journal is told of the event stays with it: its place there is a
 * neighbour of other shards' places. */
static void pair_event(const pair_input *input, ordered_event *event, pair_shard *shard)
{
    shard_journal *const journal = shard->out.journal;
    const bool is_noted = journal != NULL && journal->keeps_events;
    if (is_noted) {
        journal->entry = 0;
        journal->partner = 0;
    }
    if (event->op != OP_COUNT_HEAP)
        blocks_apply(&shard->blocks, &input->rules, event, &shard->out);
    if (is_noted) {
        event->entry = journal->entry;
        event->partner = journal->partner;
    }
}

static void pair_ranges(const pair_input *input, const order_bucket *bucket, u32 index,
                        pair_shard *shard)
{
    const ordered_event *const events = input->order->events + bucket->first;
    for (u32 i = bucket->shard_starts[index]; i < bucket->shard_starts[index + 1]; i++)
        ranges_apply(&shard->ranges, input->rules.context, events[i].range, events[i].heap,
                     &shard->out);
}

void pair_finish(const pair_input *input, pair_shard *shard)
{
    blocks_finish(&shard->blocks, &input->rules, &shard->out);
    ranges_finish(&shard->ranges, input->rules.context, &shard->out);
}

void pair_free(pair_shard *shard)
{
    blocks_free(&shard->blocks);
    ranges_free(&shard->ranges);
    shard_output_free(&shard->out);
}
