/* order_check.c - see order_check.h. */
#include "order_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "engine/core/workers.h"

int order_check_open(void **state)
{
    order_check *const f = calloc(1, sizeof *f);
    if (f == NULL)
        return 1;
    engine_check_open(&f->check);
    f->order = (slice_order){ .context = &f->check.context,
                              .origins = &f->check.origins,
                              .from_ticks = INT64_MIN };
    *state = f;
    return 0;
}

static void clear_tasks(order_check *f)
{
    for (u32 i = 0; i < f->task_count; i++)
        scan_output_free(&f->tasks[i]);
    memset(f->tasks, 0, sizeof f->tasks);
    f->task_count = 0;
}

int order_check_close(void **state)
{
    order_check *const f = *state;
    clear_tasks(f);
    order_free(&f->order);
    free(f->ticks);
    free(f->entries);
    free(f->by_rank);
    engine_check_close(&f->check);
    free(f);
    return 0;
}

void order_check_task(order_check *f, u64 stream)
{
    if (f->is_done)
        clear_tasks(f);
    f->is_done = false;
    assert_true(f->task_count < ORDER_CHECK_TASKS_MAX);
    f->tasks[f->task_count++].stream = stream;
}

void order_check_add(order_check *f, memory_event event)
{
    scan_output *const task = &f->tasks[f->task_count - 1];
    const size_t before = task->events.count;
    task->is_unsorted |= before > 0 && task->events.at[before - 1].ticks > event.ticks;
    engine_check_owner(&f->check, event.pid, event.ticks);
    assert_true(ETLHEAP_PUSH(&task->events, event));
}

static void fill_one(void *context, u32 index)
{
    order_fill(context, index);
}

static void fill_all(slice_order *order, order_check_fill fill)
{
    for (u32 b = 0; fill != ORDER_CHECK_THREADS && b < order->bucket_count; b++)
        order_fill(order, fill == ORDER_CHECK_FORWARD ? b : order->bucket_count - 1 - b);
    if (fill == ORDER_CHECK_THREADS)
        etlheap_workers_run(4, order->bucket_count, fill_one, order);
}

/* Room for the slice; what is not written stays recognizable. */
static void make_room(order_check *f)
{
    const size_t places = f->order.count + (size_t)1;
    free(f->ticks);
    free(f->entries);
    free(f->by_rank);
    f->ticks = malloc(places * sizeof *f->ticks);
    f->entries = malloc(places * sizeof *f->entries);
    f->by_rank = calloc(places, sizeof *f->by_rank);
    assert_true(f->ticks != NULL && f->entries != NULL && f->by_rank != NULL);
    memset(f->ticks, 0xA5, places * sizeof *f->ticks);
    memset(f->entries, 0xA5, places * sizeof *f->entries);
    f->order.ticks = f->ticks;
    f->order.entries = f->entries;
}

/* The events of a bucket lie by shard, then by rank. */
static void collect_bucket(order_check *f, const order_bucket *bucket)
{
    assert_int_equal(bucket->shard_starts[0], 0);
    assert_int_equal(bucket->shard_starts[SHARDS], bucket->count);
    for (u32 s = 0; s < SHARDS; s++) {
        u32 least_rank = bucket->first;
        for (u32 i = bucket->shard_starts[s]; i < bucket->shard_starts[s + 1]; i++) {
            ordered_event event = f->order.events[bucket->first + i];
            assert_in_range(event.rank, least_rank, bucket->first + bucket->count - 1);
            least_rank = event.rank + 1;
            if (s < HEAP_SHARDS)
                event.heap = order_heap_number(bucket, event.heap);
            event.origin = order_origin_number(bucket, event.origin);
            assert_int_equal(f->by_rank[event.rank].tid, 0);
            f->by_rank[event.rank] = event;
        }
    }
}

void order_check_plan(order_check *f)
{
    for (u32 i = 0; i < f->task_count; i++) {
        f->tasks[i].sample.count = 0;
        assert_true(scan_take_sample(&f->tasks[i]));
    }
    assert_true(order_plan(&f->order, f->tasks, f->task_count));
}

void order_check_run(order_check *f, order_check_fill fill)
{
    order_check_plan(f);
    make_room(f);
    fill_all(&f->order, fill);
    assert_true(order_number(&f->order, &f->check.origins));
    u32 first = 0;
    for (u32 b = 0; b < f->order.bucket_count; b++) {
        const order_bucket *const bucket = &f->order.buckets[b];
        assert_int_equal(bucket->first, first);
        if (!f->order.count_only)
            collect_bucket(f, bucket);
        first += bucket->count;
    }
    assert_int_equal(first, f->order.count);
    f->is_done = true;
}

const heap_row *order_check_heap(const order_check *f, const ordered_event *event)
{
    assert_in_range(event->heap, 1, f->check.origins.heaps.count);
    return &f->check.origins.heaps.at[event->heap - 1];
}

const owner_row *order_check_owner(const order_check *f, const ordered_event *event)
{
    assert_in_range(event->origin, 1, f->check.origins.origins.count);
    return &f->check.origins.owners.at[f->check.origins.origins.at[event->origin - 1].owner - 1];
}
