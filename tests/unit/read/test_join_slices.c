/*
 * Goal: a piece that comes in a later slice still arrives, keys resolve, and no
 * crowd of events makes the join slow.
 * Method: several slices put together by hand (join_bench.h), and very large ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "join_bench.h"

/* --- slices ------------------------------------------------------------------------ */

static void parts_arrive_in_later_slices(void **state)
{
    (void)state;
    join_bench *const b = join_bench_new();
    join_add_alloc(b, 100, JOIN_TID);
    join_end_slice(b, 200);
    join_add_part(b, 210, 100, PART_KERNEL, 1);
    join_end_slice(b, 300);
    join_end_slice(b, 400);
    join_add_part(b, 410, 100, PART_USER, 2);
    join_end_slice(b, 500);
    join_end_run(b);
    join_expect_stack(b, 0, 12);
    join_bench_free(b);
}

/* The event is gone into a lifetime by then, so the origin has to tell. */
static void a_thread_learned_in_a_later_slice_is_kept(void **state)
{
    (void)state;
    join_bench *const b = join_bench_new();
    join_add_threadless(b, 100, JOIN_PID, 2);
    join_end_slice(b, 200);
    join_add_part_on(b, 100, 2, PART_KERNEL, 5);
    join_end_run(b);
    join_expect_stack(b, 0, 5);
    const stack_ref ref = b->events[0].stack;
    assert_int_equal(ref & STACK_TAG_MASK, STACK_TAG_WAITING);
    assert_int_equal(b->join.own_origins.at[ref & STACK_NUMBER_MAX].tid, JOIN_TID);
    join_bench_free(b);
}

static void events_wait_two_seconds(void **state)
{
    (void)state;
    const i64 second = 10000000;
    join_bench *const b = join_bench_new();
    join_add_alloc(b, 100, JOIN_TID);
    join_add_alloc(b, 200, JOIN_TID);
    join_end_slice(b, 200 + 2 * second); /* 100 is too old to wait on, 200 is not */
    assert_int_equal(b->join.waiting.count, 1);
    join_add_part(b, 200 + 2 * second, 100, PART_USER, 1);
    join_add_part(b, 200 + 2 * second, 200, PART_USER, 2);
    join_end_run(b);
    join_expect_stack(b, 0, 0);
    join_expect_stack(b, 1, 2);
    join_bench_free(b);
}

/* Where nobody keeps lifetimes, what waits has a number that is used again. */
static void numbers_of_blocks_are_used_again(void **state)
{
    (void)state;
    const i64 second = 10000000;
    join_bench *const b = join_bench_new();
    b->join.numbers_blocks = true;
    for (u32 i = 0; i < 20; i++) {
        join_add_alloc(b, i * second, JOIN_TID);
        join_end_slice(b, i * second + 1);
        assert_int_equal(b->join.resolved.count, i >= 2); /* of two seconds ago */
        assert_int_equal(b->join.waits_from_ticks, (i < 2 ? 0 : i - 1) * second);
        assert_int_equal(b->events[i].stack, STACK_TAG_WAITING | i % 2);
        if (i >= 2)
            assert_int_equal(b->join.resolved.at[0].number, i % 2);
    }
    assert_int_equal(b->join.numbers[0].count, 2);
    assert_int_equal(b->join.own_origins.count, 0);
    join_task(b, INT64_MAX);
    assert_int_equal(b->join.resolved.count, 2);
    assert_int_equal(b->join.waits_from_ticks, INT64_MAX);
    join_bench_free(b);
}

static void a_late_stack_resolves_its_block(void **state)
{
    (void)state;
    join_bench *const b = join_bench_new();
    b->join.numbers_blocks = true;
    join_add_alloc(b, 100, JOIN_TID);
    join_add_event(b, (memory_event){ .ticks = 110, .op = OP_ALLOC, .tid = 8, .shard = 5 });
    join_end_slice(b, 200);
    assert_int_equal(b->join.resolved.count, 0);
    join_add_part(b, 210, 100, PART_USER, 3);
    join_task(b, 300);
    assert_int_equal(b->join.resolved.count, 1);
    assert_int_equal(b->join.resolved.at[0].shard, 0);
    assert_int_equal(b->join.resolved.at[0].stack, 3);
    assert_int_equal(b->join.resolved.at[0].tid, ETL_NO_ID); /* it was known */
    assert_int_equal(b->join.waits_from_ticks, 110);
    b->task.pieces.count = 0;
    join_task(b, INT64_MAX);
    assert_int_equal(b->join.resolved.count, 1);
    assert_int_equal(b->join.resolved.at[0].shard, 5);
    assert_int_equal(b->join.resolved.at[0].stack, STACK_NONE);
    scan_output_free(&b->task);
    join_bench_free(b);
}

/* Ranges keep their origins: their rows are told the stack at the end. */
static void too_many_events_end_the_wait_of_blocks(void **state)
{
    (void)state;
    join_bench *const b = join_bench_new();
    const i64 cell = b->join.limit.cell_ticks;
    b->join.limit.events_max = 2;
    join_add_alloc(b, 0, JOIN_TID);
    join_add_event(b, (memory_event){ .ticks = 1, .op = OP_COMMIT, .tid = JOIN_TID });
    join_add_alloc(b, 2, JOIN_TID);
    join_add_alloc(b, 3 * cell, JOIN_TID);
    join_add_part(b, cell, 2, PART_USER, 1);     /* soon enough, whatever happened */
    join_add_part(b, 3 * cell, 0, PART_USER, 2); /* three events lie in its cell */
    join_add_part(b, 3 * cell, 1, PART_WHOLE, 3);
    join_add_part(b, 6 * cell, 3 * cell, PART_USER, 4);
    join_end_run(b);
    join_expect_stack(b, 0, 0);
    join_expect_stack(b, 1, 3);
    join_expect_stack(b, 2, 1);
    join_expect_stack(b, 3, 4);
    assert_int_equal(b->join.limited, 1);
    join_bench_free(b);
}

/* The same in slices that end anywhere. */
static void what_is_limited_waits_for_no_slice(void **state)
{
    (void)state;
    join_bench *const b = join_bench_new();
    const i64 cell = b->join.limit.cell_ticks;
    b->join.limit.events_max = 2;
    join_add_alloc(b, 0, JOIN_TID);
    join_add_alloc(b, 1, JOIN_TID);
    join_end_slice(b, 2);
    join_add_alloc(b, 2, JOIN_TID);
    join_end_slice(b, cell - 1);
    assert_int_equal(b->join.waiting.count, 3);
    join_end_slice(b, cell + 2); /* of the third event a cell's length is not over */
    assert_int_equal(b->join.waiting.count, 1);
    assert_int_equal(b->join.limited, 2);
    join_end_run(b);
    assert_int_equal(b->join.limited, 3);
    join_bench_free(b);
}

/* How long does not depend on where slices end. */
static void events_wait_two_seconds_within_a_slice(void **state)
{
    (void)state;
    const i64 second = 10000000;
    join_bench *const b = join_bench_new();
    join_add_alloc(b, 100, JOIN_TID);
    join_add_alloc(b, 200, JOIN_TID);
    join_add_part(b, 101 + 2 * second, 100, PART_USER, 1);
    join_add_part(b, 200 + 2 * second, 200, PART_USER, 2);
    join_end_run(b);
    join_expect_stack(b, 0, 0);
    join_expect_stack(b, 1, 2);
    join_bench_free(b);
}

static void resolved_events_do_not_wait(void **state)
{
    (void)state;
    join_bench *const b = join_bench_new();
    join_add_event(b, (memory_event){ .ticks = 90, .op = OP_ALLOC, .tid = JOIN_TID, .stack = 3 });
    join_add_alloc(b, 100, JOIN_TID);
    join_add_part(b, 110, 100, PART_USER, 1);
    join_end_slice(b, 200);
    assert_int_equal(b->join.waiting.count, 0);
    assert_int_equal(b->join.own_origins.count, 0);
    join_end_run(b);
    join_expect_stack(b, 0, 3);
    join_expect_stack(b, 1, 1);
    join_bench_free(b);
}

/* Hostile times reach the ends of the number range. */
static void absurd_times_do_not_overflow(void **state)
{
    (void)state;
    join_bench *const b = join_bench_new();
    join_add_alloc(b, INT64_MIN, JOIN_TID);
    join_end_slice(b, INT64_MIN + 1);
    join_add_alloc(b, INT64_MAX - 1, JOIN_TID);
    join_end_slice(b, INT64_MAX - 1);
    join_end_run(b);
    join_expect_stack(b, 0, 0);
    join_bench_free(b);
}

/* --- keys ----------------------------------------------------------------------------- */

static void keys_of_pieces_and_of_scanned_events_resolve(void **state)
{
    (void)state;
    join_bench *const b = join_bench_new();
    key_definition rows[] = { { .ticks = 500, .key = 0xA0, .stack = 1 },
                              { .ticks = 600, .key = 0xA0, .stack = 2 },
                              { .ticks = 600, .key = 0xA1, .stack = 3, .is_kernel = true } };
    assert_true(keyed_define(&b->keyed, rows, ETL_COUNT_OF(rows)));
    join_add_alloc(b, 100, JOIN_TID);
    join_add_alloc(b, 200, JOIN_TID);
    b->task.events.at[0].stack = STACK_TAG_LOCAL; /* taken by the key, as scanning does */
    assert_true(ETLHEAP_PUSH(&b->task.key_uses, (key_use){ 510, 0xA0, 0, false }));
    join_add_piece(b, (stack_piece){ .ticks = 210,
                                     .event_ticks = 200,
                                     .tid = JOIN_TID,
                                     .part = PART_KERNEL,
                                     .key = 0xA1,
                                     .is_key = true });
    join_add_piece(b, (stack_piece){ .ticks = 220,
                                     .event_ticks = 200,
                                     .tid = JOIN_TID,
                                     .part = PART_USER,
                                     .key = 0xA0,
                                     .is_key = true });
    join_end_run(b);
    join_expect_stack(b, 0, 2);
    join_expect_stack(b, 1, 31);
    join_bench_free(b);
}

/* Most stack walks are of other events: their keys are no concern of ours. */
static void keys_of_pieces_without_an_event_are_not_used(void **state)
{
    (void)state;
    join_bench *const b = join_bench_new();
    join_add_alloc(b, 100, JOIN_TID);
    for (u32 tid = JOIN_TID + 1; tid < JOIN_TID + 500; tid++)
        join_add_piece(b, (stack_piece){ .ticks = 220,
                                         .event_ticks = 100,
                                         .tid = tid,
                                         .part = PART_USER,
                                         .key = 0xA0,
                                         .is_key = true });
    join_add_part(b, 210, 100, PART_KERNEL, 1);
    join_end_run(b);
    assert_int_equal(b->keyed.keys_referenced, 0);
    assert_int_equal(b->unresolved, 0);
    join_expect_stack(b, 0, 1);
    join_bench_free(b);
}

/* --- cost ------------------------------------------------------------------------------- */

/* n events of one thread at one tick, each with a part of its own. Looked for one
 * by one among all of them this takes minutes, as it should take milliseconds. */
static void check_crowd(u32 tid, stack_part part)
{
    enum { CROWD = 150000 };
    join_bench *const b = join_bench_new();
    for (u32 i = 0; i < CROWD; i++)
        join_add_event(
            b, (memory_event){ .ticks = 100, .op = OP_COMMIT, .pid = JOIN_PID, .tid = tid });
    for (u32 i = 0; i < CROWD; i++)
        join_add_part(b, 200, 100, part, 1);
    join_task(b, INT64_MAX);
    for (u32 i = 0; i < CROWD; i++)
        assert_int_equal(b->task.events.at[i].stack, 1);
    scan_output_free(&b->task);
    join_bench_free(b);
}

static void a_crowd_at_one_tick_is_joined_quickly(void **state)
{
    (void)state;
    check_crowd(JOIN_TID, PART_WHOLE);
    check_crowd(JOIN_TID, PART_KERNEL);
}

static void a_threadless_crowd_at_one_tick_is_joined_quickly(void **state)
{
    (void)state;
    check_crowd(ETL_NO_ID, PART_WHOLE);
    check_crowd(ETL_NO_ID, PART_KERNEL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_arrive_in_later_slices),
        cmocka_unit_test(a_thread_learned_in_a_later_slice_is_kept),
        cmocka_unit_test(events_wait_two_seconds),
        cmocka_unit_test(numbers_of_blocks_are_used_again),
        cmocka_unit_test(a_late_stack_resolves_its_block),
        cmocka_unit_test(too_many_events_end_the_wait_of_blocks),
        cmocka_unit_test(what_is_limited_waits_for_no_slice),
        cmocka_unit_test(events_wait_two_seconds_within_a_slice),
        cmocka_unit_test(resolved_events_do_not_wait),
        cmocka_unit_test(absurd_times_do_not_overflow),
        cmocka_unit_test(keys_of_pieces_and_of_scanned_events_resolve),
        cmocka_unit_test(keys_of_pieces_without_an_event_are_not_used),
        cmocka_unit_test(a_crowd_at_one_tick_is_joined_quickly),
        cmocka_unit_test(a_threadless_crowd_at_one_tick_is_joined_quickly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
