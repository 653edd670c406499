/*
 * pair.c - applies the rules of blocks, ranges and keyed blocks to each event of a shard, in order
 * of time.
 *
 * In: a shard's events, one list for each bucket (order.c). Out: changes in the shard's tables, and
 * for each event its entry.
 *
 *     list of bucket 0, 1, 2 ... ──▶ queue of 32 copies: prepare ─▶ fetch ─▶ apply ──▶ blocks.c
 *
 * What a rule will read nearly always misses the cache, so it is fetched some events ahead. The
 * queue holds copies: lists were written by other cores, and reading them once leaves the lines
 * there. Invariant: the queue stays filled from list to list, and events are applied in exactly
 * the order of the lists.
 */
#include "pair.h"

#include "tied_blocks.h"
#include "tied_ranges.h"

#include <stdlib.h>

/* A thread logs a free within microseconds, unless it is preempted. */
#define RACE_NS ((i64)1000 * 1000)
/* Hot addresses are used again within milliseconds. The event list stays open for longer. */
#define PATIENCE_NS ((i64)100 * 1000 * 1000)

#define LOOK_AHEAD 12u
#define QUEUE      32u /* copies; a power of two */

/* After this many bytes, the processor prefetches the rest of a list by itself. */
#define LIST_AHEAD (8 * sizeof(ordered_event))

static_assert(2 * LOOK_AHEAD < QUEUE, "events are looked at twice before their turn");

/* The queue of events of a heap shard. */
typedef struct pair_queue {
    const pair_input *input;
    pair_shard *shard;
    ordered_event at[QUEUE];
    ordered_event *places[QUEUE]; /* where they come from */
    u32 taken, fetched, applied;  /* events so far */
} pair_queue;

static void fetch_list(const slice_order *order, u32 bucket, u32 index);
static void pair_blocks(const order_bucket *bucket, u32 index, pair_queue *queue);
static void resolve_numbers(const order_bucket *bucket, ordered_event *event, pair_shard *shard);
static void fetch_next(pair_queue *queue);
static void apply_next(pair_queue *queue);
static void pair_ranges(const pair_input *input, const order_bucket *bucket, u32 index,
                        pair_shard *shard);

void pair_set_limits(block_rules *rules, const timebase *base)
{
    rules->race_ticks = timebase_span(base, RACE_NS);
    rules->patience_ticks = timebase_span(base, PATIENCE_NS);
}

/* Applies everything in the queue. */
static void drain(pair_queue *queue)
{
    while (queue->fetched < queue->taken)
        fetch_next(queue);
    while (queue->applied < queue->taken)
        apply_next(queue);
}

void pair_slice(const pair_input *input, u32 index, pair_shard *shard)
{
    pair_queue queue = { .input = input, .shard = shard };
    for (u32 b = 0; b < input->order->bucket_count; b++) {
        const order_bucket *const bucket = &input->order->buckets[b];
        fetch_list(input->order, b + 1, index);
        if (index < HEAP_SHARDS)
            pair_blocks(bucket, index, &queue);
        else
            pair_ranges(input, bucket, index, shard);
    }
    drain(&queue);
    blocks_decide(&shard->blocks, &input->rules, input->end_ticks, &shard->out);
    if (!input->sweep)
        return;
    blocks_sweep(&shard->blocks, &input->rules, input->end_ticks, &shard->out);
    ranges_sweep(&shard->ranges, input->rules.context, input->end_ticks, &shard->out);
    key_blocks_sweep(&shard->keyed, input->rules.context, input->end_ticks, &shard->out);
}

/* Prefetches the start of a list, which cannot be predicted from the list before. */
static void fetch_list(const slice_order *order, u32 bucket, u32 index)
{
    if (bucket >= order->bucket_count)
        return;
    const order_bucket *const next = &order->buckets[bucket];
    const ordered_event *const first = order->events + next->first + next->shard_starts[index];
    for (size_t offset = 0; offset < LIST_AHEAD; offset += 64)
        __builtin_prefetch((const u8 *)first + offset);
}

/* Orders events that have one time. */
static void decide_ties(const order_bucket *bucket, ordered_event *events, u32 count,
                        pair_queue *queue)
{
    pair_shard *const shard = queue->shard;
    tied_run run = {
        .order = queue->input->order, .bucket = bucket, .events = events, .count = count
    };
    shard->out.out_of_memory |= !tied_run_open(&run);
    if (run.rows.count > 0) {
        drain(queue);
        tied_run_decide(&run, &shard->blocks, &queue->input->rules, &shard->out);
    }
    tied_run_close(&run);
}

/* The end of the events that have the same time as the first one. With a fine clock there is rarely
 * a second one. */
static inline u32 run_from(const ordered_event *events, u32 first, u32 end)
{
    u32 next = first + 1;
    while (next < end && events[next].ticks == events[first].ticks)
        next++;
    return next;
}

/* The queue stays filled from list to list. */
static void pair_blocks(const order_bucket *bucket, u32 index, pair_queue *queue)
{
    ordered_event *const events = queue->input->order->events + bucket->first;
    const u32 end = bucket->shard_starts[index + 1];
    u32 run_end = bucket->shard_starts[index];
    for (u32 i = bucket->shard_starts[index]; i < end; i++) {
        if (i == run_end) {
            run_end = run_from(events, i, end);
            if (run_end - i > 1)
                decide_ties(bucket, events + i, run_end - i, queue);
        }
        const u32 at = queue->taken++ % QUEUE;
        queue->at[at] = events[i];
        queue->places[at] = &events[i];
        resolve_numbers(bucket, &queue->at[at], queue->shard);
        blocks_prepare(&queue->shard->blocks, &queue->at[at]);
        if (queue->taken - queue->fetched > LOOK_AHEAD)
            fetch_next(queue);
        if (queue->fetched - queue->applied > LOOK_AHEAD)
            apply_next(queue);
    }
}

/* Sets the origin of an event that is new in the bucket, or waits. */
static void resolve_origin(const order_bucket *bucket, ordered_event *event, pair_shard *shard)
{
    const order_waiting *const waiting = order_waiting_of(bucket, event->origin);
    if (waiting == NULL) {
        event->origin = order_origin_number(bucket, event->origin);
        return;
    }
    event->origin = waiting->number | ORIGIN_OF_WAITING;
    const u32 origin = order_origin_number(bucket, waiting->origin);
    shard->out.out_of_memory |=
        !waiting_blocks_expect(&shard->blocks.waiting, waiting->number, origin);
}

static void resolve_numbers(const order_bucket *bucket, ordered_event *event, pair_shard *shard)
{
    event->heap = order_heap_number(bucket, event->heap);
    if ((event->origin & ORDER_LOCAL) != 0)
        resolve_origin(bucket, event, shard);
}

static void fetch_next(pair_queue *queue)
{
    blocks_prefetch(&queue->shard->blocks, &queue->at[queue->fetched++ % QUEUE]);
}

/* Applies the next event. Its entry stays with the event for now: its place in the event list
 * is next to places of other shards. */
static void apply_next(pair_queue *queue)
{
    shard_output *const out = &queue->shard->out;
    shard_events *const events = out->events;
    const u32 at = queue->applied++ % QUEUE;
    const ordered_event *const event = &queue->at[at];
    const bool is_noted = events != NULL && events->keeps_events;
    if (is_noted) {
        events->entry = 0;
        events->partner = 0;
    }
    if (event->op != OP_COUNT_HEAP)
        blocks_apply(&queue->shard->blocks, &queue->input->rules, event, out);
    if (is_noted) {
        queue->places[at]->entry = events->entry;
        queue->places[at]->partner = events->partner;
    }
}

static void pair_ranges(const pair_input *input, const order_bucket *bucket, u32 index,
                        pair_shard *shard)
{
    const tied_tables tables = { &shard->ranges, &shard->keyed };
    ordered_event *const events = input->order->events + bucket->first;
    const u32 end = bucket->shard_starts[index + 1];
    u32 run_end = bucket->shard_starts[index];
    for (u32 i = bucket->shard_starts[index]; i < end; i++) {
        if (i == run_end) {
            run_end = run_from(events, i, end);
            if (run_end - i > 1)
                tied_ranges_decide(events + i, run_end - i, &tables, &shard->out);
        }
        const u8 kind = (u8)op_kind(events[i].op);
        if (key_blocks_has_kind(kind))
            key_blocks_apply(&shard->keyed, events[i].range, kind, events[i].heap, &shard->out);
        else
            ranges_apply(&shard->ranges, input->rules.context, events[i].range, events[i].heap,
                         &shard->out);
    }
}

void pair_finish(const pair_input *input, pair_shard *shard)
{
    blocks_finish(&shard->blocks, &input->rules, &shard->out);
    ranges_finish(&shard->ranges, input->rules.context, &shard->out);
    key_blocks_finish(&shard->keyed, input->rules.context, &shard->out);
}

void pair_free(pair_shard *shard)
{
    blocks_free(&shard->blocks);
    ranges_free(&shard->ranges);
    key_blocks_free(&shard->keyed);
    shard_output_free(&shard->out);
}
