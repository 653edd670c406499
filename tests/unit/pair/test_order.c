/*
 * Goal: the events of a slice come in one order, by time, then by stream, then by
 * place; each leaves in its shard's list with its rank, the number of its heap and
 * the origin of the block it opens, of the owner at its time; numbers go on from
 * slice to slice; ticks are told where time moves on.
 * Method: hand-made tasks of a slice; buckets filled forward, backward and by
 * threads. Random slices: test_order_random.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "tests/support/hand_result.h"
#include "order_check.h"

#define T0        (CHECK_START + 1000)
#define PID       42u
#define HEAP      0x1F0000u
#define IN_BUCKET 4096u /* events, about; see order.c */

/* An allocation whose thread and size number it. */
static memory_event alloc(i64 ticks, u32 number)
{
    return (memory_event){ .ticks = ticks,
                           .address = 0x100,
                           .size = number,
                           .heap = HEAP,
                           .pid = PID,
                           .tid = number,
                           .stack = 7,
                           .op = OP_ALLOC };
}

static void assert_order(const order_check *f, const u32 *numbers, u32 count)
{
    assert_int_equal(f->order.count, count);
    for (u32 rank = 0; rank < count; rank++)
        assert_int_equal(f->by_rank[rank].tid, numbers[rank]);
}

#define ASSERT_ORDER(f, ...)                                                                       \
    do {                                                                                           \
        const u32 numbers[] = { __VA_ARGS__ };                                                     \
        assert_order(f, numbers, ETL_COUNT_OF(numbers));                                           \
    } while (0)

/* --- order --- */

static void streams_are_merged_by_time(void **state)
{
    order_check *const f = *state;
    order_check_task(f, 0);
    order_check_add(f, alloc(T0 + 1, 1));
    order_check_add(f, alloc(T0 + 4, 4));
    order_check_task(f, 1);
    order_check_add(f, alloc(T0 + 2, 2));
    order_check_add(f, alloc(T0 + 5, 5));
    order_check_task(f, 2);
    order_check_add(f, alloc(T0 + 3, 3));
    order_check_run(f, ORDER_CHECK_FORWARD);
    ASSERT_ORDER(f, 1, 2, 3, 4, 5);
}

static void equal_times_go_by_stream_then_by_place(void **state)
{
    order_check *const f = *state;
    order_check_task(f, 3);
    order_check_add(f, alloc(T0, 1));
    order_check_add(f, alloc(T0, 2));
    order_check_task(f, 7);
    order_check_add(f, alloc(T0, 3));
    order_check_task(f, 9);
    order_check_task(f, 9);
    order_check_add(f, alloc(T0, 4));
    order_check_add(f, alloc(T0, 5));
    order_check_task(f, 11);
    order_check_add(f, alloc(T0 - 1, 6));
    order_check_add(f, alloc(T0, 7));
    order_check_run(f, ORDER_CHECK_FORWARD);
    ASSERT_ORDER(f, 6, 1, 2, 3, 4, 5, 7);
}

/* Each stream by itself, over its tasks. */
static void time_that_goes_back_stands_still(void **state)
{
    order_check *const f = *state;
    order_check_task(f, 0);
    order_check_add(f, alloc(T0 + 10, 2));
    order_check_add(f, alloc(T0 + 3, 3));
    order_check_task(f, 0);
    order_check_add(f, alloc(T0 + 5, 4));
    order_check_add(f, alloc(T0 + 20, 7));
    order_check_task(f, 1);
    order_check_add(f, alloc(T0 + 4, 1));
    order_check_add(f, alloc(T0 + 12, 5));
    order_check_add(f, alloc(T0 + 11, 6));
    order_check_run(f, ORDER_CHECK_FORWARD);
    ASSERT_ORDER(f, 1, 2, 3, 4, 5, 6, 7);
    static const i64 ticks[] = { 4, 10, 10, 10, 12, 12, 20 };
    for (u32 rank = 0; rank < ETL_COUNT_OF(ticks); rank++) {
        assert_int_equal(f->ticks[rank], T0 + ticks[rank]);
        assert_int_equal(f->by_rank[rank].ticks, T0 + ticks[rank]);
    }
}

static void no_event_is_before_its_slice(void **state)
{
    order_check *const f = *state;
    f->order.from_ticks = T0 + 5;
    order_check_task(f, 0);
    order_check_add(f, alloc(T0 + 3, 1));
    order_check_add(f, alloc(T0 + 6, 4));
    order_check_task(f, 1);
    order_check_add(f, alloc(T0 + 4, 2));
    order_check_add(f, alloc(T0 + 5, 3));
    order_check_run(f, ORDER_CHECK_FORWARD);
    ASSERT_ORDER(f, 1, 2, 3, 4);
    static const i64 ticks[] = { 5, 5, 5, 6 };
    for (u32 rank = 0; rank < ETL_COUNT_OF(ticks); rank++)
        assert_int_equal(f->by_rank[rank].ticks, T0 + ticks[rank]);
}

static void slice_without_events_is_nothing(void **state)
{
    order_check *const f = *state;
    for (u32 i = 0; i < 3; i++) {
        order_check_run(f, ORDER_CHECK_FORWARD);
        assert_int_equal(f->order.count, 0);
        order_check_task(f, 0);
        order_check_task(f, 1);
        order_check_run(f, ORDER_CHECK_BACKWARD);
        assert_int_equal(f->order.count, 0);
    }
    assert_int_equal(f->check.origins.heaps.count, 0);
}

/* --- buckets --- */

static void events_of_one_tick_are_one_bucket(void **state)
{
    order_check *const f = *state;
    const u32 count = 5 * IN_BUCKET;
    for (u32 i = 0; i < 2 * count; i++) {
        if (i % count == 0)
            order_check_task(f, i / count);
        order_check_add(f, alloc(T0, i + 1));
    }
    order_check_run(f, ORDER_CHECK_BACKWARD);
    u32 in_use = 0;
    for (u32 b = 0; b < f->order.bucket_count; b++)
        in_use += f->order.buckets[b].count > 0;
    assert_int_equal(in_use, 1);
    for (u32 rank = 0; rank < 2 * count; rank++) {
        assert_int_equal(f->by_rank[rank].tid, rank + 1);
        assert_int_equal(f->entries[rank], rank == 0 ? ENTRY_NEW_TICK : 0);
    }
}

static void buckets_are_about_equal(void **state)
{
    order_check *const f = *state;
    u64 seed = 5;
    for (u32 stream = 0; stream < 7; stream++) {
        i64 ticks = T0;
        order_check_task(f, stream);
        for (u32 i = 0; i < 4000 + stream * 500; i++) {
            ticks += engine_check_random(&seed, 10);
            order_check_add(f, alloc(ticks, i + 1));
        }
    }
    order_check_run(f, ORDER_CHECK_FORWARD);
    assert_in_range(f->order.bucket_count, f->order.count / IN_BUCKET,
                    f->order.count / IN_BUCKET + 1);
    for (u32 b = 0; b < f->order.bucket_count; b++)
        assert_in_range(f->order.buckets[b].count, IN_BUCKET / 2, 2 * IN_BUCKET);
}

/* A slice after a larger one sees nothing of it. */
static void slice_may_be_of_any_size(void **state)
{
    order_check *const f = *state;
    static const u32 counts[] = { 3, 3 * IN_BUCKET, 1, 20 * IN_BUCKET, IN_BUCKET, 7 };
    for (size_t i = 0; i < ETL_COUNT_OF(counts); i++) {
        for (u32 k = 0; k < counts[i]; k++) {
            if (k % (counts[i] / 3 + 1) == 0)
                order_check_task(f, k);
            order_check_add(f, alloc(T0 + k, k + 1));
        }
        order_check_run(f, ORDER_CHECK_FORWARD);
        for (u32 rank = 0; rank < counts[i]; rank++)
            assert_int_equal(f->by_rank[rank].tid, rank + 1);
    }
    assert_int_equal(f->check.origins.heaps.count, 1);
    assert_int_equal(f->check.origins.origins.count, 1);
}

/* --- what an event carries --- */

static void ticks_are_marked_where_time_moves_on(void **state)
{
    order_check *const f = *state;
    static const i64 ticks[] = { 0, 0, 1, 5, 5, 5, 6 };
    order_check_task(f, 0);
    for (u32 i = 0; i < ETL_COUNT_OF(ticks); i += 2)
        order_check_add(f, alloc(T0 + ticks[i], i + 1));
    order_check_task(f, 1);
    for (u32 i = 1; i < ETL_COUNT_OF(ticks); i += 2)
        order_check_add(f, alloc(T0 + ticks[i], i + 1));
    order_check_run(f, ORDER_CHECK_FORWARD);
    for (u32 i = 0; i < ETL_COUNT_OF(ticks); i++) {
        const bool moves_on = i == 0 || ticks[i] != ticks[i - 1];
        assert_int_equal(f->ticks[i], T0 + ticks[i]);
        assert_int_equal(f->entries[i], moves_on ? ENTRY_NEW_TICK : 0);
    }
}

static void ticks_may_be_unwanted(void **state)
{
    order_check *const f = *state;
    order_check_task(f, 0);
    order_check_add(f, alloc(T0, 1));
    order_check_plan(f);
    order_fill(&f->order, 0);
    assert_true(order_number(&f->order, &f->check.origins));
    assert_null(f->order.ticks);
    assert_int_equal(f->order.events[0].ticks, T0);
}

static void opening_events_have_an_origin_and_others_none(void **state)
{
    order_check *const f = *state;
    order_check_task(f, 0);
    for (u32 op = OP_COUNT_HEAP; op <= OP_REALLOC_SAME; op++) {
        memory_event event = alloc(T0 + op, op + 1);
        event.op = (u8)op;
        if (op == OP_REALLOC_OLD)
            event.since_alloc = 77;
        order_check_add(f, event);
    }
    order_check_run(f, ORDER_CHECK_FORWARD);
    for (u32 op = OP_COUNT_HEAP; op <= OP_REALLOC_SAME; op++) {
        const ordered_event *const event = &f->by_rank[op];
        const bool opens = op == OP_ALLOC || op == OP_REALLOC_NEW || op == OP_REALLOC_UNSEEN ||
                           op == OP_REALLOC_SAME;
        const u32 since_alloc = op == OP_REALLOC_OLD ? 77 : 0;
        assert_int_equal(event->op, op);
        assert_int_equal(event->origin, opens ? 1 : since_alloc);
        assert_int_equal(order_check_heap(f, event)->handle, HEAP);
        assert_int_equal(event->size, op + 1);
    }
}

static void range_events_are_handed_on_as_they_are(void **state)
{
    order_check *const f = *state;
    order_check_task(f, 0);
    for (u32 op = OP_COMMIT; op <= OP_CONTRACT; op++) {
        const memory_event event = { .ticks = T0 + op,
                                     .address = 0x1000 * op,
                                     .size = 0x2000 * op,
                                     .heap = HEAP + op,
                                     .pid = PID,
                                     .tid = op,
                                     .stack = op,
                                     .op = (u8)op,
                                     .shard = HEAP_SHARDS + op % RANGE_SHARDS };
        order_check_add(f, event);
    }
    order_check_run(f, ORDER_CHECK_FORWARD);
    const u32 process = context_process_at(&f->check.context, PID, T0);
    for (u32 op = OP_COMMIT; op <= OP_CONTRACT; op++) {
        const ordered_event *const event = &f->by_rank[op - OP_COMMIT];
        assert_int_equal(event->op, op);
        assert_int_equal(event->heap, process);
        assert_int_equal(event->range->size, 0x2000 * op);
        assert_int_equal(event->range->heap, HEAP + op);
        assert_int_equal(event->range->stack, op);
    }
}

/* None, or one that is known later. */
static void open_stacks_are_told(void **state)
{
    order_check *const f = *state;
    static const stack_ref stacks[] = { STACK_NONE, 7, STACK_TAG_WAITING | 7, STACK_TAG_KEYED | 7 };
    order_check_task(f, 0);
    for (u32 i = 0; i < ETL_COUNT_OF(stacks); i++) {
        memory_event event = alloc(T0 + i, i + 1);
        event.stack = stacks[i];
        order_check_add(f, event);
    }
    order_check_run(f, ORDER_CHECK_FORWARD);
    for (u32 i = 0; i < ETL_COUNT_OF(stacks); i++) {
        assert_int_equal(f->by_rank[i].stack_is_open, i != 1);
        assert_int_equal(f->check.origins.origins.at[f->by_rank[i].origin - 1].stack, stacks[i]);
    }
}

/* --- numbers --- */

/* More than a bucket remembers at once, each with some events. */
static void any_number_of_heaps_is_told_apart(void **state)
{
    order_check *const f = *state;
    enum { HEAPS = 500, ROUNDS = 3 };
    for (u32 fill = 0; fill < ORDER_CHECK_FILL_COUNT; fill++) {
        order_check_task(f, 0);
        for (u32 i = 0; i < HEAPS * ROUNDS; i++) {
            memory_event event = alloc(T0 + i, i + 1);
            event.heap = HEAP + (u64)(i * 7 % HEAPS) * 0x10000;
            order_check_add(f, event);
        }
        order_check_run(f, (order_check_fill)fill);
        assert_int_equal(f->check.origins.heaps.count, HEAPS);
        assert_int_equal(f->check.origins.owners.count, HEAPS);
        assert_int_equal(f->check.origins.origins.count, HEAPS);
        for (u32 i = 0; i < HEAPS * ROUNDS; i++) {
            const ordered_event *const event = &f->by_rank[i];
            assert_int_equal(order_check_heap(f, event)->handle,
                             HEAP + (u64)(i * 7 % HEAPS) * 0x10000);
            assert_int_equal(event->heap, i % HEAPS + 1);
            assert_int_equal(order_check_owner(f, event)->heap, event->heap);
        }
    }
}

static void process_may_change_hands_in_a_bucket(void **state)
{
    order_check *const f = *state;
    engine_check_process(&f->check, ETL_EVENT_PROCESS_START, PID, T0, "old.exe", 1);
    engine_check_process(&f->check, ETL_EVENT_PROCESS_END, PID, T0 + 9, "old.exe", 1);
    engine_check_process(&f->check, ETL_EVENT_PROCESS_START, PID, T0 + 10, "new.exe", 2);
    order_check_task(f, 0);
    for (u32 i = 0; i < 20; i++)
        order_check_add(f, alloc(T0 + i, i + 1));
    order_check_run(f, ORDER_CHECK_FORWARD);
    const u32 old = context_process_at(&f->check.context, PID, T0);
    const u32 new = context_process_at(&f->check.context, PID, T0 + 10);
    assert_int_not_equal(old, new);
    for (u32 i = 0; i < 20; i++)
        assert_int_equal(order_check_heap(f, &f->by_rank[i])->process, i < 10 ? old : new);
    assert_int_equal(f->check.origins.heaps.count, 2);
    u64 events[2] = { 0, 0 };
    const order_bucket *const bucket = &f->order.buckets[0];
    for (size_t i = 0; i < bucket->counts.count; i++)
        events[bucket->counts.at[i].process == new] +=
            bucket->counts.at[i].events[ETLHEAP_KIND_HEAP];
    assert_int_equal(events[0], 10);
    assert_int_equal(events[1], 10);
}

/* Of the process, or of the kernel: an owner is a heap in an epoch. */
static void images_may_change_in_a_bucket(void **state)
{
    order_check *const f = *state;
    const hand_image_spec images[] = {
        { ETL_EVENT_IMAGE_LOAD, PID, 0x10000, 0x1000, T0 + 5, "a.dll", 0, 0 },
        { ETL_EVENT_IMAGE_LOAD, 0, 0x90000, 0x1000, T0 + 12, "b.sys", 0, 0 },
        { ETL_EVENT_IMAGE_LOAD, PID + 1, 0x10000, 0x1000, T0 + 15, "c.dll", 0, 0 },
    };
    for (size_t i = 0; i < ETL_COUNT_OF(images); i++)
        hand_image(&f->check.context, &images[i]);
    order_check_task(f, 0);
    for (u32 i = 0; i < 20; i++)
        order_check_add(f, alloc(T0 + i, i + 1));
    order_check_run(f, ORDER_CHECK_FORWARD);
    assert_int_equal(f->check.origins.heaps.count, 1);
    assert_int_equal(f->check.origins.owners.count, 3);
    for (u32 i = 0; i < 20; i++) {
        const i64 since = i < 5 ? 0 : i < 12 ? 5 : 12;
        assert_int_equal(f->by_rank[i].origin, i < 5 ? 1 : i < 12 ? 2 : 3);
        assert_int_equal(order_check_owner(f, &f->by_rank[i])->first_ticks, T0 + since);
    }
}

static void event_that_waits_for_its_stack_has_an_origin_of_its_own(void **state)
{
    order_check *const f = *state;
    order_check_task(f, 0);
    for (u32 i = 0; i < 10; i++) {
        memory_event event = alloc(T0 + i, i + 1);
        event.stack = STACK_TAG_WAITING | i;
        order_check_add(f, event);
    }
    order_check_run(f, ORDER_CHECK_FORWARD);
    for (u32 i = 0; i < 10; i++) {
        assert_int_equal(f->by_rank[i].origin, i + 1);
        assert_int_equal(f->check.origins.origins.at[i].stack, STACK_TAG_WAITING | i);
    }
}

/* Until they are final, new numbers are the bucket's own; known ones are known. */
static void what_is_new_is_numbered_in_the_end(void **state)
{
    order_check *const f = *state;
    order_check_task(f, 0);
    order_check_add(f, alloc(T0, 1));
    order_check_run(f, ORDER_CHECK_FORWARD);
    order_check_task(f, 0);
    order_check_add(f, alloc(T0 + 1, 1));
    memory_event other = alloc(T0 + 2, 2);
    other.heap = HEAP + 1;
    order_check_add(f, other);
    other = alloc(T0 + 3, 3);
    other.stack = 9;
    order_check_add(f, other);
    f->order.ticks = NULL;
    order_check_plan(f);
    order_fill(&f->order, 0);
    const ordered_event *const events = f->order.events;
    assert_int_equal(events[0].heap, 1);
    assert_int_equal(events[0].origin, 1);
    assert_int_equal(events[1].heap, ORDER_LOCAL);
    assert_int_equal(events[1].origin, ORDER_LOCAL);
    assert_int_equal(events[2].heap, 1);
    assert_int_equal(events[2].origin, ORDER_LOCAL | 1);
    assert_int_equal(f->check.origins.heaps.count, 1);
    assert_true(order_number(&f->order, &f->check.origins));
    const order_bucket *const bucket = &f->order.buckets[0];
    assert_int_equal(order_heap_number(bucket, events[1].heap), 2);
    assert_int_equal(order_origin_number(bucket, events[1].origin), 2);
    assert_int_equal(order_origin_number(bucket, events[2].origin), 3);
    assert_int_equal(order_heap_number(bucket, 1), 1);
    assert_int_equal(order_origin_number(bucket, 0), 0);
}

static void bucket_that_failed_is_told(void **state)
{
    order_check *const f = *state;
    order_check_task(f, 0);
    order_check_add(f, alloc(T0, 1));
    order_check_plan(f);
    order_fill(&f->order, 0);
    f->order.buckets[0].failed = true;
    assert_false(order_number(&f->order, &f->check.origins));
    order_fill(&f->order, 0);
    assert_true(order_number(&f->order, &f->check.origins));
}

static void events_may_be_counted_only(void **state)
{
    order_check *const f = *state;
    f->order.count_only = true;
    order_check_task(f, 0);
    for (u32 i = 0; i < 100; i++)
        order_check_add(f, alloc(T0 + i, i + 1));
    order_check_run(f, ORDER_CHECK_FORWARD);
    u64 heap_events = 0;
    for (size_t i = 0; i < f->order.buckets[0].counts.count; i++)
        heap_events += f->order.buckets[0].counts.at[i].events[ETLHEAP_KIND_HEAP];
    assert_int_equal(heap_events, 100);
    assert_int_equal(f->check.origins.heaps.count, 0);
    assert_int_equal(f->check.origins.owners.count, 0);
    assert_int_equal(f->check.origins.origins.count, 0);
}

#define IN_SLICE 9000u /* three buckets */

/* By rank; 0xA5 where nothing was written. */
typedef struct wide_room {
    u64 addresses[IN_SLICE], sizes[IN_SLICE];
    u32 threads[IN_SLICE], partners[IN_SLICE];
} wide_room;

static wide_room *open_wide(order_check *f)
{
    wide_room *const room = malloc(sizeof *room);
    assert_non_null(room);
    memset(room, 0xA5, sizeof *room);
    f->order.wide =
        (chunk_columns){ room->addresses, room->sizes, room->threads, room->partners, NULL };
    return room;
}

/* Every third event frees; the others open a block. */
static void run_wide(order_check *f)
{
    order_check_task(f, 0);
    for (u32 i = 0; i < IN_SLICE; i++) {
        memory_event event = alloc(T0 + i, i + 1);
        event.address = 0x1000 + i;
        event.size = 10 + i;
        event.op = i % 3 == 2 ? OP_FREE : OP_ALLOC;
        event.shard = (u8)(i % HEAP_SHARDS);
        order_check_add(f, event);
    }
    order_check_run(f, ORDER_CHECK_BACKWARD);
    assert_true(f->order.bucket_count > 2);
}

static void blocks_are_told_in_full_where_a_store_asks(void **state)
{
    order_check *const f = *state;
    wide_room *const room = open_wide(f);
    run_wide(f);
    for (u32 i = 0; i < IN_SLICE; i++) {
        const bool opens = i % 3 != 2;
        assert_int_equal(room->addresses[i], opens ? 0x1000 + i : 0xA5A5A5A5A5A5A5A5u);
        assert_int_equal(room->sizes[i], opens ? 10 + i : 0xA5A5A5A5A5A5A5A5u);
        assert_int_equal(room->threads[i], opens ? i + 1 : 0xA5A5A5A5u);
        assert_int_equal(room->partners[i], 0xA5A5A5A5u);
    }
    free(room);
}

/* Pairing leaves its notes in the shards' lists; the event list has them by rank. */
static void notes_go_from_the_shards_to_the_event_list(void **state)
{
    order_check *const f = *state;
    for (u32 wide = 0; wide < 2; wide++) {
        wide_room *const room = open_wide(f);
        if (wide == 0)
            f->order.wide = (chunk_columns){ .addresses = NULL };
        run_wide(f);
        for (u32 i = 0; i < IN_SLICE; i++) {
            ordered_event *const event = &f->order.events[i];
            const u32 rank = event->rank;
            event->entry = (event_entry)(rank + 1) << 6;
            event->partner = rank + 7;
        }
        for (u32 b = 0; b < f->order.bucket_count; b++)
            order_note(&f->order, b);
        for (u32 i = 0; i < IN_SLICE; i++) {
            assert_int_equal(f->entries[i], (event_entry)(i + 1) << 6 | ENTRY_NEW_TICK);
            assert_int_equal(room->partners[i], wide ? i + 7 : 0xA5A5A5A5u);
        }
        free(room);
    }
}

/* A range's events have no note: what is there is the event's address. */
static void ranges_leave_no_note_in_the_event_list(void **state)
{
    order_check *const f = *state;
    order_check_task(f, 0);
    order_check_add(f, alloc(T0, 1));
    memory_event commit = alloc(T0 + 1, 2);
    commit.op = OP_COMMIT;
    commit.shard = HEAP_SHARDS;
    order_check_add(f, commit);
    order_check_run(f, ORDER_CHECK_FORWARD);
    f->order.events[0].entry = 0x40;
    order_note(&f->order, 0);
    assert_int_equal(f->entries[0], 0x40 | ENTRY_NEW_TICK);
    assert_int_equal(f->entries[1], ENTRY_NEW_TICK);
}

static void order_that_was_freed_can_be_used_again(void **state)
{
    order_check *const f = *state;
    order_check_task(f, 0);
    order_check_add(f, alloc(T0, 1));
    order_check_run(f, ORDER_CHECK_FORWARD);
    const slice_order before = f->order;
    order_free(&f->order);
    assert_null(f->order.events);
    f->order.context = before.context;
    f->order.origins = before.origins;
    order_check_task(f, 0);
    order_check_add(f, alloc(T0 + 1, 2));
    order_check_run(f, ORDER_CHECK_FORWARD);
    ASSERT_ORDER(f, 2);
}

int main(void)
{
#define RULE(name) cmocka_unit_test_setup_teardown(name, order_check_open, order_check_close)
    const struct CMUnitTest tests[] = {
        RULE(streams_are_merged_by_time),
        RULE(equal_times_go_by_stream_then_by_place),
        RULE(time_that_goes_back_stands_still),
        RULE(no_event_is_before_its_slice),
        RULE(slice_without_events_is_nothing),
        RULE(events_of_one_tick_are_one_bucket),
        RULE(buckets_are_about_equal),
        RULE(slice_may_be_of_any_size),
        RULE(ticks_are_marked_where_time_moves_on),
        RULE(ticks_may_be_unwanted),
        RULE(opening_events_have_an_origin_and_others_none),
        RULE(range_events_are_handed_on_as_they_are),
        RULE(open_stacks_are_told),
        RULE(any_number_of_heaps_is_told_apart),
        RULE(process_may_change_hands_in_a_bucket),
        RULE(images_may_change_in_a_bucket),
        RULE(event_that_waits_for_its_stack_has_an_origin_of_its_own),
        RULE(what_is_new_is_numbered_in_the_end),
        RULE(bucket_that_failed_is_told),
        RULE(events_may_be_counted_only),
        RULE(blocks_are_told_in_full_where_a_store_asks),
        RULE(notes_go_from_the_shards_to_the_event_list),
        RULE(ranges_leave_no_note_in_the_event_list),
        RULE(order_that_was_freed_can_be_used_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
