/*
 * Goal: ordering and pairing bring a shard's events to their rules in order of
 * time, whatever streams and tasks they come from; equal times go by stream, then
 * by position. Events are counted by process; sweeps run when asked for.
 * Method: hand-made tasks of a slice. The order is read off the rows: every
 * allocation at one address displaces the one before it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "engine/pair/pair.h"
#include "tests/support/engine_check.h"

#define PID       42u
#define HEAP      0x1F0000u
#define T0        (CHECK_START + 1000)
#define TASKS_MAX 64u

typedef struct fixture {
    engine_check check;
    scan_output tasks[TASKS_MAX];
    u32 task_count;
    slice_order order;
    pair_shard shard;
    pair_input input;
    u32 process;
    u64 heap_events, virtualalloc_events; /* of the process, so far */
} fixture;

static int open_fixture(void **state)
{
    fixture *const f = calloc(1, sizeof *f);
    if (f == NULL)
        return 1;
    engine_check_open(&f->check);
    f->process = engine_check_owner(&f->check, PID, CHECK_START);
    f->order = (slice_order){ .context = &f->check.context, .origins = &f->check.origins };
    f->input = (pair_input){ .rules = engine_check_rules(&f->check),
                             .order = &f->order,
                             .end_ticks = INT64_MAX };
    *state = f;
    return 0;
}

static void clear_tasks(fixture *f)
{
    for (u32 i = 0; i < f->task_count; i++)
        scan_output_free(&f->tasks[i]);
    memset(f->tasks, 0, sizeof f->tasks);
    f->task_count = 0;
}

static int close_fixture(void **state)
{
    fixture *const f = *state;
    clear_tasks(f);
    pair_free(&f->shard);
    order_free(&f->order);
    engine_check_close(&f->check);
    free(f);
    return 0;
}

static void begin_task(fixture *f, u64 stream)
{
    assert_true(f->task_count < TASKS_MAX);
    f->tasks[f->task_count++].stream = stream;
}

/* Into the task begun last. Stack and size number the event. */
static void add(fixture *f, memory_op op, i64 ticks, u64 address, u32 number)
{
    const memory_event event = { .ticks = ticks,
                                 .op = (u8)op,
                                 .address = address,
                                 .size = number,
                                 .heap = op >= OP_COMMIT ? 0 : HEAP,
                                 .pid = PID,
                                 .tid = 7,
                                 .stack = number,
                                 .shard = op >= OP_COMMIT ? HEAP_SHARDS : 0 };
    scan_output *const task = &f->tasks[f->task_count - 1];
    const size_t before = task->events.count;
    task->is_unsorted |= before > 0 && task->events.at[before - 1].ticks > ticks;
    assert_true(ETLHEAP_PUSH(&task->events, event));
}

static void count_events(fixture *f)
{
    for (u32 b = 0; b < f->order.bucket_count; b++) {
        const order_bucket *const bucket = &f->order.buckets[b];
        for (size_t i = 0; i < bucket->counts.count; i++) {
            const order_count *const count = &bucket->counts.at[i];
            if (count->process != f->process)
                continue;
            f->heap_events += count->events[ETLHEAP_KIND_HEAP];
            f->virtualalloc_events += count->events[ETLHEAP_KIND_VIRTUALALLOC];
        }
    }
}

static void pair_shard_of(fixture *f, u32 index)
{
    for (u32 i = 0; i < f->task_count; i++)
        assert_true(scan_take_sample(&f->tasks[i]));
    assert_true(order_plan(&f->order, f->tasks, f->task_count));
    for (u32 b = 0; b < f->order.bucket_count; b++)
        order_fill(&f->order, b);
    assert_true(order_number(&f->order, &f->check.origins));
    count_events(f);
    if (f->order.count_only) {
        clear_tasks(f);
        return;
    }
    pair_slice(&f->input, index, &f->shard);
    assert_false(f->shard.out.out_of_memory);
    clear_tasks(f);
}

/* Pairs, and expects that allocations at one address came in this order. */
static void assert_order(fixture *f, const u32 *numbers, u32 count)
{
    pair_shard_of(f, 0);
    pair_finish(&f->input, &f->shard);
    assert_int_equal(f->shard.out.rows.count, count);
    for (u32 i = 0; i < count; i++)
        assert_int_equal(f->shard.out.rows.at[i].stack, numbers[i]);
    f->shard.out.rows.count = 0;
}

static u64 unknown_frees(const fixture *f)
{
    const shard_output *const out = &f->shard.out;
    return out->counts.count < f->process
               ? 0
               : out->counts.at[f->process - 1].free_without_alloc[ETLHEAP_KIND_HEAP];
}

/* --- order --- */

static void streams_are_merged_by_time(void **state)
{
    fixture *const f = *state;
    begin_task(f, 0);
    add(f, OP_ALLOC, T0 + 1, 0x100, 1);
    add(f, OP_ALLOC, T0 + 4, 0x100, 4);
    begin_task(f, 1);
    add(f, OP_ALLOC, T0 + 2, 0x100, 2);
    add(f, OP_ALLOC, T0 + 5, 0x100, 5);
    begin_task(f, 2);
    add(f, OP_ALLOC, T0 + 3, 0x100, 3);
    assert_order(f, (const u32[]){ 1, 2, 3, 4, 5 }, 5);
}

static void equal_times_go_by_stream_then_by_position(void **state)
{
    fixture *const f = *state;
    begin_task(f, 3);
    add(f, OP_ALLOC, T0, 0x100, 1);
    add(f, OP_ALLOC, T0, 0x100, 2);
    begin_task(f, 7);
    add(f, OP_ALLOC, T0, 0x100, 3);
    begin_task(f, 9);
    add(f, OP_ALLOC, T0, 0x100, 4);
    add(f, OP_ALLOC, T0, 0x100, 5);
    assert_order(f, (const u32[]){ 1, 2, 3, 4, 5 }, 5);
}

static void tasks_of_a_stream_are_merged_as_one(void **state)
{
    fixture *const f = *state;
    begin_task(f, 3);
    add(f, OP_ALLOC, T0, 0x100, 1);
    begin_task(f, 3);
    begin_task(f, 3);
    add(f, OP_ALLOC, T0 + 5, 0x100, 2);
    add(f, OP_ALLOC, T0 + 6, 0x100, 4);
    begin_task(f, 7);
    begin_task(f, 7);
    add(f, OP_ALLOC, T0 + 5, 0x100, 3);
    add(f, OP_ALLOC, T0 + 7, 0x100, 5);
    begin_task(f, 9);
    assert_order(f, (const u32[]){ 1, 2, 3, 4, 5 }, 5);
}

static void free_of_a_later_stream_at_the_same_time_comes_second(void **state)
{
    fixture *const f = *state;
    begin_task(f, 0);
    add(f, OP_ALLOC, T0, 0x100, 1);
    begin_task(f, 1);
    add(f, OP_FREE, T0, 0x100, 0);
    pair_shard_of(f, 0);
    assert_int_equal(f->shard.out.rows.count, 1);
    assert_int_equal(f->shard.out.rows.at[0].free_ticks, T0);
    assert_int_equal(unknown_frees(f), 0);
}

static void free_of_an_earlier_stream_at_the_same_time_comes_first(void **state)
{
    fixture *const f = *state;
    begin_task(f, 0);
    add(f, OP_FREE, T0, 0x100, 0);
    begin_task(f, 1);
    add(f, OP_ALLOC, T0, 0x100, 1);
    pair_shard_of(f, 0);
    assert_int_equal(f->shard.out.rows.count, 0);
    assert_int_equal(unknown_frees(f), 1);
}

/* A number of the event is its rank among all: sorted by time, stream, place. */
static void any_number_of_streams_is_merged_in_order(void **state)
{
    fixture *const f = *state;
    static const u32 streams[] = { 1, 2, 3, 7, 16, 33 };
    u64 seed = 1;
    for (size_t l = 0; l < ETL_COUNT_OF(streams); l++) {
        enum { MOMENTS = 200 };
        static u32 numbers[33 * MOMENTS];
        static u32 rank_of[33][MOMENTS]; /* 0: no event of the stream at that moment */
        u32 count = 0;
        for (u32 moment = 0; moment < MOMENTS; moment++) {
            for (u32 stream = 0; stream < streams[l]; stream++) {
                const bool happens = engine_check_random(&seed, 3) == 0;
                rank_of[stream][moment] = happens ? count + 1 : 0;
                if (happens) {
                    numbers[count] = count + 1;
                    count++;
                }
            }
        }
        for (u32 stream = 0; stream < streams[l]; stream++) {
            begin_task(f, stream);
            for (u32 moment = 0; moment < MOMENTS; moment++) {
                if (rank_of[stream][moment] != 0)
                    add(f, OP_ALLOC, T0 + moment, 0x100, rank_of[stream][moment]);
            }
        }
        assert_order(f, numbers, count);
    }
}

static void slice_without_events_is_nothing(void **state)
{
    fixture *const f = *state;
    pair_shard_of(f, 0);
    begin_task(f, 0);
    pair_shard_of(f, 0);
    assert_int_equal(f->shard.out.rows.count, 0);
}

/* --- shards --- */

static void shard_takes_its_own_events_alone(void **state)
{
    fixture *const f = *state;
    for (u32 shard = 0; shard <= HEAP_SHARDS; shard += HEAP_SHARDS) {
        begin_task(f, 0);
        add(f, OP_ALLOC, T0, 0x100, 1);
        add(f, OP_COMMIT, T0 + 1, 0x1000, 2);
        pair_shard_of(f, shard);
        pair_finish(&f->input, &f->shard);
        assert_int_equal(f->shard.out.rows.count, 1);
        assert_int_equal(f->shard.out.rows.at[0].kind,
                         shard == 0 ? ETLHEAP_KIND_HEAP : ETLHEAP_KIND_VIRTUALALLOC);
        f->shard.out.rows.count = 0;
    }
}

static void open_blocks_are_carried_to_the_next_slice(void **state)
{
    fixture *const f = *state;
    begin_task(f, 0);
    add(f, OP_ALLOC, T0, 0x100, 1);
    pair_shard_of(f, 0);
    begin_task(f, 1);
    add(f, OP_FREE, T0 + 5, 0x100, 0);
    pair_shard_of(f, 0);
    assert_int_equal(f->shard.out.rows.count, 1);
    assert_int_equal(f->shard.out.rows.at[0].alloc_ticks, T0);
    assert_int_equal(f->shard.out.rows.at[0].free_ticks, T0 + 5);
}

static void events_go_to_the_owner_of_their_time(void **state)
{
    fixture *const f = *state;
    engine_check_process(&f->check, ETL_EVENT_PROCESS_END, PID, T0 + 50, "app.exe", 1);
    engine_check_process(&f->check, ETL_EVENT_PROCESS_START, PID, T0 + CHECK_SECOND, "new.exe", 2);
    begin_task(f, 0);
    add(f, OP_ALLOC, T0, 0x100, 1);
    add(f, OP_ALLOC, T0 + CHECK_SECOND, 0x100, 2);
    pair_shard_of(f, 0);
    pair_finish(&f->input, &f->shard);
    assert_int_equal(f->shard.out.rows.count, 2);
    for (u32 i = 0; i < 2; i++) {
        const lifetime *const row = &f->shard.out.rows.at[i];
        assert_int_equal(row->process, row->size);
        assert_int_equal(row->free_type,
                         row->size == 1 ? ETLHEAP_FREE_PROCESS_EXIT : ETLHEAP_FREE_NONE);
    }
}

/* --- counts --- */

static void each_record_counts_once(void **state)
{
    fixture *const f = *state;
    begin_task(f, 0);
    add(f, OP_COUNT_HEAP, T0, 0, 0); /* create, destroy, lock, ... */
    add(f, OP_ALLOC, T0, 0x100, 1);
    add(f, OP_FREE, T0 + 1, 0x100, 0);
    add(f, OP_REALLOC_CLOSE, T0 + 2, 0x100, 2);
    add(f, OP_REALLOC_SAME, T0 + 2, 0x100, 2);
    add(f, OP_REALLOC_NEW, T0 + 3, 0x200, 2);
    add(f, OP_REALLOC_OLD, T0 + 3, 0x100, 2);
    pair_shard_of(f, 0);
    assert_int_equal(f->heap_events, 5);
    assert_int_equal(f->virtualalloc_events, 0);
}

static void each_range_record_counts_once(void **state)
{
    fixture *const f = *state;
    begin_task(f, 0);
    add(f, OP_RESERVE, T0, 0x1000, 0x1000);
    add(f, OP_COMMIT, T0, 0x1000, 0x1000);
    add(f, OP_RESERVE_ALONE, T0 + 1, 0x8000, 0x1000);
    add(f, OP_DECOMMIT, T0 + 2, 0x1000, 0x1000);
    add(f, OP_RELEASE, T0 + 3, 0x1000, 0x1000);
    add(f, OP_RUNDOWN_START, T0 + 4, 0x1000, 0);
    add(f, OP_RUNDOWN_END, T0 + 4, 0x1000, 0);
    add(f, OP_EXPAND, T0 + 5, 0x1000, 0x1000);
    add(f, OP_CONTRACT, T0 + 6, 0x1000, 0x1000);
    pair_shard_of(f, HEAP_SHARDS);
    assert_int_equal(f->virtualalloc_events, 6);
    assert_int_equal(f->heap_events, 2);
}

static void inventory_counts_and_numbers_nothing(void **state)
{
    fixture *const f = *state;
    f->order.count_only = true;
    begin_task(f, 0);
    add(f, OP_ALLOC, T0, 0x100, 1);
    add(f, OP_FREE, T0 + 1, 0x200, 0);
    pair_shard_of(f, 0);
    assert_int_equal(f->heap_events, 2);
    assert_int_equal(f->check.origins.heaps.count, 0);
    assert_int_equal(f->check.origins.origins.count, 0);
}

/* Time that goes back in a stream stands still there: the order within stays. */
static void time_that_goes_back_stands_still(void **state)
{
    fixture *const f = *state;
    begin_task(f, 0);
    add(f, OP_ALLOC, T0 + 10, 0x100, 1);
    add(f, OP_ALLOC, T0 + 2, 0x100, 2);
    begin_task(f, 0);
    add(f, OP_ALLOC, T0 + 5, 0x100, 3);
    add(f, OP_ALLOC, T0 + 20, 0x100, 5);
    begin_task(f, 1);
    add(f, OP_ALLOC, T0 + 12, 0x100, 4);
    assert_order(f, (const u32[]){ 1, 2, 3, 4, 5 }, 5);
}

/* --- sweeps --- */

static void sweep_ends_the_dead_when_asked_for(void **state)
{
    fixture *const f = *state;
    engine_check_destroy(&f->check, PID, HEAP, T0 + 50);
    begin_task(f, 0);
    add(f, OP_ALLOC, T0, 0x100, 1);
    f->input.end_ticks = T0 + 51;
    pair_shard_of(f, 0);
    assert_int_equal(f->shard.out.rows.count, 0);
    f->input.sweep = true;
    pair_shard_of(f, 0);
    assert_int_equal(f->shard.out.rows.count, 1);
    assert_int_equal(f->shard.out.rows.at[0].free_type, ETLHEAP_FREE_HEAP_DESTROY);
}

static void sweep_reaches_ranges_too(void **state)
{
    fixture *const f = *state;
    engine_check_process(&f->check, ETL_EVENT_PROCESS_END, PID, T0 + 50, "app.exe", 1);
    begin_task(f, 0);
    add(f, OP_COMMIT, T0, 0x1000, 0x1000);
    f->input.sweep = true;
    pair_shard_of(f, HEAP_SHARDS);
    assert_int_equal(f->shard.out.rows.count, 1);
    assert_int_equal(f->shard.out.rows.at[0].free_type, ETLHEAP_FREE_PROCESS_EXIT);
}

static void limits_are_of_the_clock(void **state)
{
    const fixture *const f = *state;
    block_rules rules = { 0 };
    pair_set_limits(&rules, &f->check.base);
    assert_int_equal(rules.race_ticks, CHECK_MS);
    assert_int_equal(rules.patience_ticks, CHECK_PATIENCE);
}

/* --- slices of many buckets --- */

#define MANY 10000u /* events: a bucket has 4096 on average */

static void blocks_of_every_bucket_are_paired(void **state)
{
    fixture *const f = *state;
    begin_task(f, 0);
    for (u32 i = 0; i < MANY; i++)
        add(f, OP_ALLOC, T0 + i, 0x100 * (u64)(i + 1), i + 1);
    for (u32 i = 0; i < MANY; i++)
        add(f, OP_FREE, T0 + MANY + i, 0x100 * (u64)(i + 1), 0);
    pair_shard_of(f, 0);
    assert_in_range(f->order.bucket_count, 3, MANY);
    assert_int_equal(f->shard.out.rows.count, MANY);
    for (u32 i = 0; i < MANY; i++) {
        const lifetime *const row = &f->shard.out.rows.at[i];
        assert_int_equal(row->address, 0x100 * (u64)(i + 1));
        assert_int_equal(row->size, i + 1);
        assert_int_equal(row->stack, i + 1);
        assert_int_equal(row->alloc_ticks, T0 + i);
        assert_int_equal(row->free_ticks, T0 + MANY + i);
    }
    assert_int_equal(unknown_frees(f), 0);
}

static void ranges_of_every_bucket_are_paired_and_no_other_shards(void **state)
{
    fixture *const f = *state;
    begin_task(f, 0);
    for (u32 i = 0; i < MANY; i++) {
        add(f, OP_COMMIT, T0 + i, 0x10000 * (u64)(i + 1), 0x1000);
        f->tasks[0].events.at[i].shard = HEAP_SHARDS + (i & 1);
    }
    pair_shard_of(f, HEAP_SHARDS);
    pair_finish(&f->input, &f->shard);
    assert_int_equal(f->shard.out.rows.count, MANY / 2);
    for (u32 i = 0; i < MANY / 2; i++)
        assert_int_equal(f->shard.out.rows.at[i].address & 0x10000, 0x10000);
}

/* Buckets of the slice before are still there, with its events. */
static void slice_of_fewer_buckets_has_none_of_the_slice_before(void **state)
{
    fixture *const f = *state;
    begin_task(f, 0);
    for (u32 i = 0; i < MANY; i++)
        add(f, OP_FREE, T0 + i, 0x100, 0);
    pair_shard_of(f, 0);
    assert_int_equal(unknown_frees(f), MANY);
    begin_task(f, 0);
    add(f, OP_FREE, T0 + MANY, 0x100, 0);
    pair_shard_of(f, 0);
    assert_int_equal(unknown_frees(f), MANY + 1);
}

/* --- at its place, at its time --- */

static void event_list_is_told_at_the_place_of_each_event(void **state)
{
    fixture *const f = *state;
    shard_events events = { .from_ticks = INT64_MIN, .to_ticks = INT64_MAX, .keeps_events = true };
    f->shard.out.events = &events;
    begin_task(f, 0);
    add(f, OP_FREE, T0, 0x700, 0);
    add(f, OP_ALLOC, T0 + 1, 0x100, 8);
    add(f, OP_ALLOC, T0 + 2, 0x200, 9);
    add(f, OP_FREE, T0 + 3, 0x700, 0);
    add(f, OP_FREE, T0 + 4, 0x200, 0);
    add(f, OP_FREE, T0 + 5, 0x700, 0);
    pair_shard_of(f, 0);
    static const entry_kind kinds[] = { ENTRY_NONE, ENTRY_ALLOC, ENTRY_ALLOC,
                                        ENTRY_NONE, ENTRY_FREE,  ENTRY_NONE };
    static const u32 partners[] = { 0, 1, 2, 0, 2, 0 };
    for (u32 i = 0; i < ETL_COUNT_OF(kinds); i++) {
        const ordered_event *const event = &f->order.events[i];
        assert_int_equal(entry_kind_of(event->entry), kinds[i]);
        assert_int_equal(event->partner, partners[i]);
        assert_true(kinds[i] != ENTRY_NONE || event->entry == 0);
    }
    f->shard.out.events = NULL;
}

/* Blocks of one group would be found as well, but in any number of steps. */
static void open_blocks_are_kept_by_the_hash_of_their_key(void **state)
{
    fixture *const f = *state;
    begin_task(f, 0);
    for (u32 i = 0; i < 20; i++)
        add(f, OP_ALLOC, T0 + i, 0x100 * (u64)(i + 1), i + 1);
    pair_shard_of(f, 0);
    const block_pool *const open = &f->shard.blocks.open;
    assert_int_equal(open->used, 20);
    for (u32 i = 0; i < 20; i++) {
        const block *const found = &open->blocks[i];
        assert_int_equal(found->hash, block_hash(found->heap, 0x100 * (u64)(i + 1)));
    }
}

static void end_of_a_slice_decides_what_waited_too_long(void **state)
{
    fixture *const f = *state;
    begin_task(f, 0);
    add(f, OP_ALLOC, T0, 0x100, 1);
    add(f, OP_ALLOC, T0 + 5, 0x100, 2);
    f->input.end_ticks = T0 + 5 + CHECK_PATIENCE;
    pair_shard_of(f, 0);
    assert_int_equal(f->shard.out.rows.count, 0);
    f->input.end_ticks++;
    pair_shard_of(f, 0);
    assert_int_equal(f->shard.out.rows.count, 1);
    assert_int_equal(f->shard.out.rows.at[0].free_ticks, T0 + 5);
}

int main(void)
{
#define RULE(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)
    const struct CMUnitTest tests[] = {
        RULE(streams_are_merged_by_time),
        RULE(equal_times_go_by_stream_then_by_position),
        RULE(tasks_of_a_stream_are_merged_as_one),
        RULE(free_of_a_later_stream_at_the_same_time_comes_second),
        RULE(free_of_an_earlier_stream_at_the_same_time_comes_first),
        RULE(any_number_of_streams_is_merged_in_order),
        RULE(slice_without_events_is_nothing),
        RULE(shard_takes_its_own_events_alone),
        RULE(open_blocks_are_carried_to_the_next_slice),
        RULE(events_go_to_the_owner_of_their_time),
        RULE(each_record_counts_once),
        RULE(each_range_record_counts_once),
        RULE(inventory_counts_and_numbers_nothing),
        RULE(time_that_goes_back_stands_still),
        RULE(sweep_ends_the_dead_when_asked_for),
        RULE(sweep_reaches_ranges_too),
        RULE(limits_are_of_the_clock),
        RULE(blocks_of_every_bucket_are_paired),
        RULE(ranges_of_every_bucket_are_paired_and_no_other_shards),
        RULE(slice_of_fewer_buckets_has_none_of_the_slice_before),
        RULE(event_list_is_told_at_the_place_of_each_event),
        RULE(open_blocks_are_kept_by_the_hash_of_their_key),
        RULE(end_of_a_slice_decides_what_waited_too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
