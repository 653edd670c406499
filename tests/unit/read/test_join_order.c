/*
 * Goal: it makes no difference in which order the scan found what the join is given:
 * pieces that were written on one tick, and the turns of many threads.
 * Method: slices put together by hand (join_bench.h), their lists in an awkward order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "join_bench.h"

#define THREADS 7u

static void add_piece_of(join_bench *b, u32 tid, i64 event_ticks, stack_part part, stack_ref stack)
{
    join_add_piece(b, (stack_piece){ .ticks = 500,
                                     .event_ticks = event_ticks,
                                     .pid = JOIN_PID,
                                     .tid = tid,
                                     .part = part & 3u,
                                     .stack = stack });
}

/* A user part serves the kernel parts of its thread, if it comes after them. */
static void pieces_of_one_tick_go_by_event_thread_and_part(void **state)
{
    static const u32 tids[THREADS] = { 9, 5, 7, 1, 8, 3, 6 };
    (void)state;
    join_bench *const b = join_bench_new();
    for (u32 i = 0; i < THREADS; i++) {
        join_add_alloc(b, 100, tids[i]);
        join_add_alloc(b, 101, tids[i]);
    }
    for (u32 i = 0; i < THREADS; i++)
        add_piece_of(b, tids[i], 101, PART_USER, 4);
    for (u32 i = 0; i < THREADS; i++)
        add_piece_of(b, tids[i], 101, PART_KERNEL, 3);
    for (u32 i = 0; i < THREADS; i++)
        add_piece_of(b, tids[i], 100, PART_KERNEL, 1);
    join_end_run(b);
    for (u32 i = 0; i < THREADS; i++) {
        join_expect_stack(b, 2 * i, 14);
        join_expect_stack(b, 2 * i + 1, 34);
    }
    join_bench_free(b);
}

static void add_turn(join_bench *b, u32 tid, i64 ticks)
{
    const thread_turn turn = { ticks, tid };
    assert_true(ETLHEAP_PUSH(&b->task.turns, turn));
}

/* Events at 100, their user parts at 300: the id of a thread is another one's if it turned
 * after the event, and not after the part. */
static void each_thread_has_turns_of_its_own(void **state)
{
    static const struct {
        i64 turns[2];
        u64 digits;
    } rows[THREADS] = { { { 400, 99 }, 12 },  { { 300, 50 }, 1 },   { { 100, 301 }, 12 },
                        { { 101, 1000 }, 0 }, { { 1000, 20 }, 12 }, { { 200, 250 }, 1 },
                        { { 50, 200 }, 1 } };
    (void)state;
    join_bench *const b = join_bench_new();
    for (u32 i = 0; i < THREADS; i++)
        join_add_alloc(b, 100, JOIN_TID + i);
    for (u32 i = 0; i < THREADS; i++) {
        join_add_piece(b, (stack_piece){ .ticks = 110,
                                         .event_ticks = 100,
                                         .pid = JOIN_PID,
                                         .tid = JOIN_TID + i,
                                         .part = PART_KERNEL,
                                         .stack = 1 });
        join_add_piece(b, (stack_piece){ .ticks = 300,
                                         .event_ticks = 100,
                                         .pid = JOIN_PID,
                                         .tid = JOIN_TID + i,
                                         .part = PART_USER,
                                         .stack = 2 });
    }
    for (u32 t = 0; t < 2; t++) {
        for (u32 i = 0; i < THREADS; i++) {
            const u32 thread = (i * 5 + 2) % THREADS;
            add_turn(b, JOIN_TID + thread, rows[thread].turns[t]);
        }
    }
    join_end_run(b);
    for (u32 i = 0; i < THREADS; i++)
        join_expect_stack(b, i, rows[i].digits);
    join_bench_free(b);
}

/* What no waiting event is older than is not asked for again. */
static void old_turns_are_forgotten(void **state)
{
    (void)state;
    join_bench *const b = join_bench_new();
    join_add_alloc(b, 100, JOIN_TID);
    join_add_part(b, 110, 100, PART_KERNEL, 1);
    add_turn(b, JOIN_TID + 1, 99);
    add_turn(b, JOIN_TID + 1, 100);
    add_turn(b, JOIN_TID + 1, 101);
    join_end_slice(b, 150);
    assert_int_equal(b->join.turns.count, 3);
    join_end_slice(b, 160);
    assert_int_equal(b->join.turns.count, 2);
    assert_int_equal(b->join.turns.at[0].ticks, 100);
    assert_int_equal(b->join.turns.at[1].ticks, 101);
    join_add_part(b, 170, 100, PART_USER, 2);
    join_end_slice(b, 180);
    join_end_slice(b, 190);
    assert_int_equal(b->join.turns.count, 0);
    join_end_run(b);
    join_expect_stack(b, 0, 12);
    join_bench_free(b);
}

/* On one tick of one thread a walk that begins in the kernel is of a commit, one that
 * begins in user mode of a heap event, whichever of the two was logged first. */
static void parts_go_to_the_event_of_their_kind(void **state)
{
    (void)state;
    for (u32 first = 0; first < 2; first++) {
        join_bench *const b = join_bench_new();
        const memory_event commit = {
            .ticks = 100, .op = OP_COMMIT, .pid = JOIN_PID, .tid = JOIN_TID
        };
        if (first == 0)
            join_add_event(b, commit);
        join_add_alloc(b, 100, JOIN_TID);
        if (first == 1)
            join_add_event(b, commit);
        join_add_part(b, 110, 100, PART_USER, 1);
        join_add_part(b, 111, 100, PART_KERNEL, 2);
        join_end_run(b);
        join_expect_stack(b, first, 2);
        join_expect_stack(b, 1 - first, 1);
        join_bench_free(b);
    }
}

/* Who gets a walk of a tick: a block and, if there is one, a commit, which has no thread. */
static void expect_unsure(bool has_commit, bool has_kernel, u64 block, u64 commit)
{
    join_bench *const b = join_bench_new();
    join_add_alloc(b, 100, JOIN_TID);
    if (has_commit)
        join_add_threadless(b, 100, JOIN_PID + 1, 0);
    for (u32 part = has_kernel ? 0 : 1; part < 2; part++)
        join_add_piece(b, (stack_piece){ .ticks = 110 + part,
                                         .event_ticks = 100,
                                         .pid = JOIN_PID,
                                         .tid = JOIN_TID,
                                         .stack = part == 0 ? 1 : 2,
                                         .part = part == 0 ? PART_KERNEL : PART_USER,
                                         .sort = SORT_UNSURE });
    join_end_run(b);
    join_expect_stack(b, 0, block);
    if (has_commit)
        join_expect_stack(b, 1, commit);
    join_bench_free(b);
}

/* What begins in the kernel is not of a block, even if nothing else is there to have it. */
static void a_walk_that_may_be_of_another_event_is_not_a_blocks(void **state)
{
    (void)state;
    expect_unsure(true, true, 0, 12);
    expect_unsure(false, true, 0, 0);
    expect_unsure(true, false, 2, 0);
}

/* The processor has an event without a thread itself, which the part may be of. */
static void a_user_part_of_unsure_sort_is_of_its_processor(void **state)
{
    (void)state;
    for (u16 cpu = 0; cpu < 2; cpu++) {
        join_bench *const b = join_bench_new();
        join_add_threadless(b, 100, JOIN_PID, 0);
        join_add_piece(b, (stack_piece){ .ticks = 110,
                                         .event_ticks = 100,
                                         .pid = JOIN_PID,
                                         .tid = JOIN_TID,
                                         .stack = 2,
                                         .cpu = cpu,
                                         .part = PART_USER,
                                         .sort = SORT_UNSURE });
        join_end_run(b);
        join_expect_stack(b, 0, cpu == 0 ? 2 : 0);
        join_bench_free(b);
    }
}

/* Kernel parts of events that we do not keep, noted while an event has no thread. */
static void foreign_parts_are_kept_in_order_as_long_as_events_wait(void **state)
{
    static const i64 event_ticks[] = { 300, 100, 400, 200, 100 };
    (void)state;
    join_bench *const b = join_bench_new();
    join_add_threadless(b, 50, JOIN_PID, 0);
    for (u32 i = 0; i < ETL_COUNT_OF(event_ticks); i++)
        join_add_part_on(b, event_ticks[i], 1, PART_KERNEL, 1);
    join_end_slice(b, 450);
    assert_int_equal(b->join.foreign.count, 4);
    for (u32 i = 0; i < 4; i++)
        assert_int_equal(b->join.foreign.at[i].event_ticks, 100 * (i64)(i + 1));
    join_end_slice(b, 300 + b->join.patience_ticks);
    assert_int_equal(b->join.foreign.count, 2);
    assert_int_equal(b->join.foreign.at[0].event_ticks, 300);
    assert_int_equal(b->join.foreign.at[1].event_ticks, 400);
    join_end_run(b);
    assert_int_equal(b->join.foreign.count, 0);
    join_bench_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_of_one_tick_go_by_event_thread_and_part),
        cmocka_unit_test(each_thread_has_turns_of_its_own),
        cmocka_unit_test(parts_go_to_the_event_of_their_kind),
        cmocka_unit_test(a_walk_that_may_be_of_another_event_is_not_a_blocks),
        cmocka_unit_test(a_user_part_of_unsure_sort_is_of_its_processor),
        cmocka_unit_test(foreign_parts_are_kept_in_order_as_long_as_events_wait),
        cmocka_unit_test(old_turns_are_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
