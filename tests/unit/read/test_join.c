/*
 * Goal: stack pieces find their events: by exact time and thread, or by CPU
 * where the event names no thread; user parts serve all kernel parts of their
 * thread.
 * Method: one slice put together by hand as scanning leaves it (join_bench.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "join_bench.h"

/* --- time and thread -------------------------------------------------------- */

static void a_piece_finds_its_event_by_time_and_thread(void **state)
{
    (void)state;
    join_bench *const b = join_bench_new();
    join_add_alloc(b, 100, JOIN_TID);
    join_add_alloc(b, 101, JOIN_TID);
    join_add_alloc(b, 100, JOIN_TID + 1);
    join_add_part(b, 110, 100, PART_USER, 1);
    join_end_run(b);
    join_expect_stack(b, 0, 1);
    join_expect_stack(b, 1, 0);
    join_expect_stack(b, 2, 0);
    join_bench_free(b);
}

static void a_piece_of_no_event_is_nobodys(void **state)
{
    (void)state;
    join_bench *const b = join_bench_new();
    join_add_alloc(b, 100, JOIN_TID);
    join_add_part(b, 110, 99, PART_USER, 1);
    join_add_part(b, 110, 101, PART_KERNEL, 2);
    join_end_run(b);
    join_expect_stack(b, 0, 0);
    join_bench_free(b);
}

static void kernel_and_user_part_make_one_stack(void **state)
{
    (void)state;
    join_bench *const b = join_bench_new();
    join_add_alloc(b, 100, JOIN_TID);
    join_add_part(b, 150, 100, PART_USER, 2);
    join_add_part(b, 110, 100, PART_KERNEL, 1);
    join_end_run(b);
    join_expect_stack(b, 0, 12);
    join_bench_free(b);
}

static void a_kernel_part_alone_is_a_stack(void **state)
{
    (void)state;
    join_bench *const b = join_bench_new();
    join_add_alloc(b, 100, JOIN_TID);
    join_add_part(b, 110, 100, PART_KERNEL, 1);
    join_end_run(b);
    join_expect_stack(b, 0, 1);
    join_bench_free(b);
}

static void the_first_of_two_like_parts_stays(void **state)
{
    (void)state;
    join_bench *const b = join_bench_new();
    join_add_alloc(b, 100, JOIN_TID);
    join_add_part(b, 110, 100, PART_KERNEL, 1);
    join_add_part(b, 111, 100, PART_KERNEL, 2);
    join_add_part(b, 112, 100, PART_USER, 3);
    join_add_part(b, 113, 100, PART_USER, 4);
    join_end_run(b);
    join_expect_stack(b, 0, 13);
    join_bench_free(b);
}

/* A clock of 15 ms gives many events one time. */
static void events_of_one_time_and_thread_are_served_in_order(void **state)
{
    (void)state;
    join_bench *const b = join_bench_new();
    for (u32 i = 0; i < 4; i++)
        join_add_alloc(b, 100, JOIN_TID);
    for (u32 i = 0; i < 4; i++) {
        join_add_part(b, 100 + i, 100, PART_KERNEL, 1 + i);
        join_add_part(b, 120 + i, 100, PART_USER, 5 + i);
    }
    join_end_run(b);
    join_expect_stack(b, 0, 15);
    /* The first user part came when all four waited for one: it serves them all. */
    join_expect_stack(b, 1, 25);
    join_expect_stack(b, 2, 35);
    join_expect_stack(b, 3, 45);
    join_bench_free(b);
}

static void whole_stacks_of_one_time_and_thread_go_one_to_each(void **state)
{
    (void)state;
    join_bench *const b = join_bench_new();
    for (u32 i = 0; i < 4; i++)
        join_add_alloc(b, 100, JOIN_TID);
    for (u32 i = 0; i < 4; i++)
        join_add_part(b, 101, 100, PART_WHOLE, 1 + i);
    join_end_run(b);
    for (u32 i = 0; i < 4; i++)
        join_expect_stack(b, i, 1 + i);
    join_bench_free(b);
}

static void events_that_open_nothing_take_no_stack(void **state)
{
    (void)state;
    static const memory_op ops[] = { OP_FREE,    OP_REALLOC_OLD, OP_RESERVE,   OP_DECOMMIT,
                                     OP_RELEASE, OP_CONTRACT,    OP_COUNT_HEAP };
    join_bench *const b = join_bench_new();
    for (size_t i = 0; i < ETL_COUNT_OF(ops); i++)
        join_add_event(
            b, (memory_event){ .ticks = 100, .op = (u8)ops[i], .pid = JOIN_PID, .tid = JOIN_TID });
    join_add_alloc(b, 100, JOIN_TID);
    join_add_part(b, 110, 100, PART_USER, 1);
    join_end_run(b);
    for (u32 i = 0; i < ETL_COUNT_OF(ops); i++)
        join_expect_stack(b, i, 0);
    join_expect_stack(b, ETL_COUNT_OF(ops), 1);
    join_bench_free(b);
}

/* --- one user part for several events ------------------------------------------ */

static void a_user_part_serves_all_kernel_parts_of_its_thread(void **state)
{
    (void)state;
    join_bench *const b = join_bench_new();
    join_add_alloc(b, 100, JOIN_TID);
    join_add_alloc(b, 200, JOIN_TID);
    join_add_alloc(b, 300, JOIN_TID);
    join_add_part(b, 101, 100, PART_KERNEL, 1);
    join_add_part(b, 201, 200, PART_KERNEL, 2);
    join_add_part(b, 301, 300, PART_KERNEL, 3);
    join_add_part(b, 400, 300, PART_USER, 9);
    join_end_run(b);
    join_expect_stack(b, 0, 19);
    join_expect_stack(b, 1, 29);
    join_expect_stack(b, 2, 39);
    join_bench_free(b);
}

static void a_user_part_of_another_event_serves_memory_events(void **state)
{
    (void)state;
    join_bench *const b = join_bench_new();
    join_add_alloc(b, 100, JOIN_TID);
    join_add_part(b, 101, 100, PART_KERNEL, 1);
    join_add_part(b, 400, 333, PART_USER, 9); /* of a context switch, say */
    join_end_run(b);
    join_expect_stack(b, 0, 19);
    join_bench_free(b);
}

static void a_user_part_serves_nobody_without_a_kernel_part(void **state)
{
    (void)state;
    join_bench *const b = join_bench_new();
    join_add_alloc(b, 100, JOIN_TID);
    join_add_alloc(b, 200, JOIN_TID);
    join_add_part(b, 201, 200, PART_KERNEL, 2);
    join_add_part(b, 400, 200, PART_USER, 9);
    join_end_run(b);
    join_expect_stack(b, 0, 0);
    join_expect_stack(b, 1, 29);
    join_bench_free(b);
}

/* The second event was raised in user mode: the thread had long returned from
 * where the first was. Scanning resolves such stacks without the join, so serving
 * here would depend on where slices are cut. */
static void a_user_part_without_a_kernel_part_is_its_events_alone(void **state)
{
    (void)state;
    join_bench *const b = join_bench_new();
    join_add_alloc(b, 100, JOIN_TID);
    join_add_alloc(b, 200, JOIN_TID);
    join_add_part(b, 101, 100, PART_KERNEL, 1);
    join_add_part(b, 210, 200, PART_USER, 9);
    join_end_run(b);
    join_expect_stack(b, 0, 1);
    join_expect_stack(b, 1, 9);
    join_bench_free(b);
}

static void a_user_part_serves_no_other_thread(void **state)
{
    (void)state;
    join_bench *const b = join_bench_new();
    join_add_alloc(b, 100, JOIN_TID + 1);
    join_add_piece(b, (stack_piece){ .ticks = 101,
                                     .event_ticks = 100,
                                     .pid = JOIN_PID,
                                     .tid = JOIN_TID + 1,
                                     .part = PART_KERNEL,
                                     .stack = 1 });
    join_add_part(b, 400, 333, PART_USER, 9);
    join_end_run(b);
    join_expect_stack(b, 0, 1);
    join_bench_free(b);
}

/* The thread returned to user mode at 200, so what it did later is not of that. */
static void a_user_part_serves_nothing_later(void **state)
{
    (void)state;
    join_bench *const b = join_bench_new();
    join_add_alloc(b, 100, JOIN_TID);
    join_add_alloc(b, 300, JOIN_TID);
    join_add_part(b, 101, 100, PART_KERNEL, 1);
    join_add_part(b, 200, 100, PART_USER, 8);
    join_add_part(b, 301, 300, PART_KERNEL, 2);
    join_add_part(b, 400, 300, PART_USER, 9);
    join_end_run(b);
    join_expect_stack(b, 0, 18);
    join_expect_stack(b, 1, 29);
    join_bench_free(b);
}

/* A kernel part that claims to be older than its event is no licence to serve it
 * what the thread did before. */
static void a_user_part_serves_nothing_that_claims_to_be_later(void **state)
{
    (void)state;
    join_bench *const b = join_bench_new();
    join_add_alloc(b, 300, JOIN_TID);
    join_add_part(b, 101, 300, PART_KERNEL, 1);
    join_add_part(b, 200, 111, PART_USER, 8);
    join_end_run(b);
    join_expect_stack(b, 0, 1);
    join_bench_free(b);
}

/* --- events without a thread ----------------------------------------------------- */

static void a_threadless_event_is_found_by_its_cpu(void **state)
{
    (void)state;
    join_bench *const b = join_bench_new();
    join_add_threadless(b, 100, JOIN_PID, 0);
    join_add_threadless(b, 100, JOIN_PID, 2);
    join_add_part_on(b, 100, 2, PART_KERNEL, 5);
    join_end_run(b);
    join_expect_stack(b, 0, 0);
    join_expect_stack(b, 1, 5);
    join_bench_free(b);
}

static void a_kernel_part_of_another_cpu_is_not_its_stack(void **state)
{
    (void)state;
    join_bench *const b = join_bench_new();
    join_add_threadless(b, 100, JOIN_PID, 0);
    join_add_part_on(b, 100, 1, PART_KERNEL, 5);
    join_add_part_on(b, 100, 1, PART_WHOLE, 6);
    join_end_run(b);
    join_expect_stack(b, 0, 0);
    join_bench_free(b);
}

static void a_user_part_of_the_same_process_may_be_of_another_cpu(void **state)
{
    (void)state;
    join_bench *const b = join_bench_new();
    join_add_threadless(b, 100, JOIN_PID + 1, 0);
    join_add_threadless(b, 100, JOIN_PID, 0);
    join_add_part_on(b, 100, 3, PART_USER, 5);
    join_end_run(b);
    join_expect_stack(b, 0, 0);
    join_expect_stack(b, 1, 5);
    join_bench_free(b);
}

static void the_same_cpu_is_closer_than_the_same_process(void **state)
{
    (void)state;
    join_bench *const b = join_bench_new();
    join_add_threadless(b, 100, JOIN_PID, 0);
    join_add_threadless(b, 100, JOIN_PID + 1, 3);
    join_add_threadless(b, 100, JOIN_PID, 1);
    join_add_part_on(b, 100, 3, PART_USER, 5);
    join_end_run(b);
    join_expect_stack(b, 0, 0);
    join_expect_stack(b, 1, 5);
    join_expect_stack(b, 2, 0);
    join_bench_free(b);
}

static void an_event_with_the_thread_is_closer_than_one_without(void **state)
{
    (void)state;
    join_bench *const b = join_bench_new();
    join_add_threadless(b, 100, JOIN_PID, 0);
    join_add_alloc(b, 100, JOIN_TID);
    join_add_part_on(b, 100, 0, PART_USER, 5);
    join_end_run(b);
    join_expect_stack(b, 0, 0);
    join_expect_stack(b, 1, 5);
    join_bench_free(b);
}

static void a_threadless_event_learns_its_thread(void **state)
{
    (void)state;
    join_bench *const b = join_bench_new();
    join_add_threadless(b, 100, JOIN_PID, 2);
    join_add_threadless(b, 100, JOIN_PID, 3);
    join_add_part_on(b, 100, 2, PART_KERNEL, 5);
    join_end_run(b);
    assert_int_equal(b->events[0].tid, JOIN_TID);
    assert_int_equal(b->events[1].tid, ETL_NO_ID);
    join_bench_free(b);
}

static void a_learned_thread_keeps_others_away(void **state)
{
    (void)state;
    join_bench *const b = join_bench_new();
    join_add_threadless(b, 100, JOIN_PID, 2);
    join_add_part_on(b, 100, 2, PART_USER, 5);
    join_add_piece(b, (stack_piece){ .ticks = 120,
                                     .event_ticks = 100,
                                     .pid = JOIN_PID,
                                     .tid = JOIN_TID + 1,
                                     .cpu = 2,
                                     .part = PART_KERNEL,
                                     .stack = 6 });
    join_end_run(b);
    join_expect_stack(b, 0, 5);
    join_bench_free(b);
}

/* Found by CPU first, then by the thread that the first part brought. */
static void both_parts_of_a_threadless_event_meet(void **state)
{
    (void)state;
    join_bench *const b = join_bench_new();
    join_add_threadless(b, 100, JOIN_PID, 2);
    join_add_threadless(b, 100, JOIN_PID, 3);
    join_add_part_on(b, 100, 2, PART_KERNEL, 5);
    join_add_part(b, 500, 100, PART_USER, 6);
    join_end_run(b);
    join_expect_stack(b, 0, 56);
    join_expect_stack(b, 1, 0);
    join_bench_free(b);
}

/* --- parts of other processes and threads --- */

static void add_user_part_of(join_bench *b, i64 ticks, i64 event_ticks, u32 pid)
{
    join_add_piece(b, (stack_piece){ .ticks = ticks,
                                     .event_ticks = event_ticks,
                                     .pid = pid,
                                     .tid = JOIN_TID,
                                     .part = PART_USER,
                                     .stack = 2 });
}

/* The thread's id is another process's by now. */
static void a_user_part_of_another_process_completes_no_kernel_part(void **state)
{
    (void)state;
    join_bench *const b = join_bench_new();
    join_add_alloc(b, 100, JOIN_TID);
    join_add_part(b, 110, 100, PART_KERNEL, 1);
    add_user_part_of(b, 300, 290, JOIN_PID + 1);
    add_user_part_of(b, 301, 100, JOIN_PID + 1);
    join_end_run(b);
    join_expect_stack(b, 0, 1);
    join_bench_free(b);
}

/* A process that allocates in another one's address space: both parts name the caller. */
static void both_parts_may_be_of_another_process_than_the_event(void **state)
{
    (void)state;
    join_bench *const b = join_bench_new();
    join_add_event(
        b, (memory_event){ .ticks = 100, .op = OP_COMMIT, .pid = JOIN_PID + 1, .tid = JOIN_TID });
    join_add_part(b, 110, 100, PART_KERNEL, 1);
    join_add_part(b, 120, 100, PART_USER, 2);
    join_end_run(b);
    join_expect_stack(b, 0, 12);
    join_bench_free(b);
}

/* Event and kernel part before the turn at 200, user part after it; in one slice or two. */
static void expect_turn(u32 tid, i64 slice_end, u64 digits)
{
    join_bench *const b = join_bench_new();
    const thread_turn turn = { 200, tid };
    join_add_alloc(b, 100, JOIN_TID);
    join_add_part(b, 110, 100, PART_KERNEL, 1);
    if (slice_end != 0)
        join_end_slice(b, slice_end);
    assert_true(ETLHEAP_PUSH(&b->task.turns, turn));
    if (slice_end > 0)
        join_end_slice(b, 250);
    join_add_part(b, 300, 290, PART_USER, 2);
    join_end_run(b);
    join_expect_stack(b, 0, digits);
    join_bench_free(b);
}

static void a_thread_that_ended_is_not_completed_by_the_next_one_of_its_id(void **state)
{
    (void)state;
    expect_turn(JOIN_TID, 0, 1);
    expect_turn(JOIN_TID, 150, 1);
    expect_turn(JOIN_TID + 1, 0, 12);
    expect_turn(JOIN_TID + 1, 150, 12);
}

/* Its kernel part, on another CPU, was of an event that we do not keep. */
static void a_user_part_of_a_foreign_event_is_not_a_threadless_ones(void **state)
{
    (void)state;
    join_bench *const b = join_bench_new();
    join_add_threadless(b, 100, JOIN_PID, 0);
    join_add_part_on(b, 100, 1, PART_KERNEL, 1);
    join_add_part_on(b, 100, 0, PART_USER, 2);
    join_end_run(b);
    join_expect_stack(b, 0, 0);
    join_bench_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_piece_finds_its_event_by_time_and_thread),
        cmocka_unit_test(a_piece_of_no_event_is_nobodys),
        cmocka_unit_test(kernel_and_user_part_make_one_stack),
        cmocka_unit_test(a_kernel_part_alone_is_a_stack),
        cmocka_unit_test(the_first_of_two_like_parts_stays),
        cmocka_unit_test(events_of_one_time_and_thread_are_served_in_order),
        cmocka_unit_test(whole_stacks_of_one_time_and_thread_go_one_to_each),
        cmocka_unit_test(events_that_open_nothing_take_no_stack),
        cmocka_unit_test(a_user_part_serves_all_kernel_parts_of_its_thread),
        cmocka_unit_test(a_user_part_of_another_event_serves_memory_events),
        cmocka_unit_test(a_user_part_serves_nobody_without_a_kernel_part),
        cmocka_unit_test(a_user_part_without_a_kernel_part_is_its_events_alone),
        cmocka_unit_test(a_user_part_serves_no_other_thread),
        cmocka_unit_test(a_user_part_serves_nothing_later),
        cmocka_unit_test(a_user_part_serves_nothing_that_claims_to_be_later),
        cmocka_unit_test(a_threadless_event_is_found_by_its_cpu),
        cmocka_unit_test(a_kernel_part_of_another_cpu_is_not_its_stack),
        cmocka_unit_test(a_user_part_of_the_same_process_may_be_of_another_cpu),
        cmocka_unit_test(the_same_cpu_is_closer_than_the_same_process),
        cmocka_unit_test(an_event_with_the_thread_is_closer_than_one_without),
        cmocka_unit_test(a_threadless_event_learns_its_thread),
        cmocka_unit_test(a_learned_thread_keeps_others_away),
        cmocka_unit_test(both_parts_of_a_threadless_event_meet),
        cmocka_unit_test(a_user_part_of_another_process_completes_no_kernel_part),
        cmocka_unit_test(both_parts_may_be_of_another_process_than_the_event),
        cmocka_unit_test(a_thread_that_ended_is_not_completed_by_the_next_one_of_its_id),
        cmocka_unit_test(a_user_part_of_a_foreign_event_is_not_a_threadless_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
