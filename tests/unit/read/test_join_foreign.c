/*
 * Goal: the stack of a process that allocates memory in another one is known as its
 * own: it has an id of its own, which says whose addresses it has.
 * Method: pieces of another process id for events of JOIN_PID, with a context that
 * knows both processes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/context/context.h"
#include "tests/support/hand_result.h"
#include "join_bench.h"

#define OTHER_PID 9u
#define SECOND    ((i64)10000000)

typedef struct bench {
    join_bench *join;
    trace_context context;
} bench;

static int open_bench(void **state)
{
    bench *const b = calloc(1, sizeof *b);
    assert_non_null(b);
    const timebase base = hand_timebase();
    context_open(&b->context, &base);
    b->join = join_bench_new();
    b->join->keyed.context = &b->context;
    *state = b;
    return 0;
}

static int close_bench(void **state)
{
    bench *const b = *state;
    join_bench_free(b->join);
    context_close(&b->context);
    free(b);
    return 0;
}

static void add_commit(bench *b, i64 ticks)
{
    join_add_event(
        b->join,
        (memory_event){ .ticks = ticks, .op = OP_COMMIT, .pid = JOIN_PID, .tid = JOIN_TID });
}

static void add_part(bench *b, u32 pid, i64 event_ticks, stack_part part, stack_ref stack)
{
    join_add_piece(b->join, (stack_piece){ .ticks = event_ticks + 10,
                                           .event_ticks = event_ticks,
                                           .pid = pid,
                                           .tid = JOIN_TID,
                                           .part = part & 3u,
                                           .stack = stack });
}

static u32 final_stack(const bench *b, u32 event)
{
    const stack_ref ref = b->join->events[event].stack;
    const bool is_node = (ref & STACK_TAG_MASK) == STACK_TAG_KEYED;
    return is_node ? b->join->ids[ref & STACK_NUMBER_MAX] : ref;
}

/* The process id whose addresses the stack of an event has. */
static u32 pid_of(const bench *b, u32 event)
{
    const foreign_stacks *const foreign = &b->join->keyed.foreign;
    const u32 process = foreign_process(foreign, final_stack(b, event), 0);
    return process == 0 ? JOIN_PID : b->context.processes.at[process - 1].pid;
}

static void process(bench *b, etl_event_kind kind, i64 ticks, u64 key)
{
    system_event row = { .ticks = ticks };
    row.event.kind = kind;
    row.event.as.process.process_id = OTHER_PID;
    row.event.as.process.unique_process_key = key;
    assert_true(context_apply(&b->context, &row, 1));
}

static void a_stack_of_another_process_is_a_stack_of_its_own(void **state)
{
    bench *const b = *state;
    add_commit(b, 100);
    add_commit(b, 200);
    add_part(b, OTHER_PID, 100, PART_WHOLE, 5);
    add_part(b, JOIN_PID, 200, PART_WHOLE, 5);
    join_end_run(b->join);
    join_expect_stack(b->join, 0, 5);
    join_expect_stack(b->join, 1, 5);
    assert_int_equal(pid_of(b, 0), OTHER_PID);
    assert_int_equal(pid_of(b, 1), JOIN_PID);
    assert_int_equal(final_stack(b, 1), 5);
    assert_int_equal(final_stack(b, 0), b->join->stacks.list.count);
}

static void halves_of_another_process_are_one_stack_of_it(void **state)
{
    bench *const b = *state;
    add_commit(b, 100);
    add_part(b, OTHER_PID, 100, PART_KERNEL, 1);
    add_part(b, OTHER_PID, 100, PART_USER, 2);
    join_end_run(b->join);
    join_expect_stack(b->join, 0, 12);
    assert_int_equal(pid_of(b, 0), OTHER_PID);
}

/* The kernel's addresses are the same in all processes. */
static void a_kernel_part_alone_is_of_nobody(void **state)
{
    bench *const b = *state;
    add_commit(b, 100);
    add_part(b, OTHER_PID, 100, PART_KERNEL, 1);
    join_end_run(b->join);
    assert_int_equal(final_stack(b, 0), 1);
    assert_int_equal(b->join->keyed.foreign.count, 0);
}

static void the_same_stack_again_is_the_same(void **state)
{
    bench *const b = *state;
    for (i64 ticks = 100; ticks < 400; ticks += 100) {
        add_commit(b, ticks);
        add_part(b, OTHER_PID, ticks, PART_WHOLE, 5);
    }
    join_end_run(b->join);
    assert_int_equal(b->join->keyed.foreign.count, 1);
    assert_int_equal(final_stack(b, 0), final_stack(b, 2));
}

/* They may have other modules. */
static void processes_of_one_id_have_stacks_of_their_own(void **state)
{
    bench *const b = *state;
    process(b, ETL_EVENT_PROCESS_START, 1 * SECOND, 1);
    process(b, ETL_EVENT_PROCESS_END, 2 * SECOND, 1);
    process(b, ETL_EVENT_PROCESS_START, 8 * SECOND, 2);
    add_commit(b, 1 * SECOND + 5);
    add_commit(b, 9 * SECOND);
    add_part(b, OTHER_PID, 1 * SECOND + 5, PART_WHOLE, 5);
    add_part(b, OTHER_PID, 9 * SECOND, PART_WHOLE, 5);
    join_end_run(b->join);
    const foreign_stacks *const foreign = &b->join->keyed.foreign;
    assert_int_equal(foreign->count, 2);
    assert_int_equal(foreign_process(foreign, final_stack(b, 0), 0), 1);
    assert_int_equal(foreign_process(foreign, final_stack(b, 1), 0), 2);
}

static void image(bench *b, i64 ticks, u32 pid)
{
    system_event row = { .ticks = ticks };
    row.event.kind = ETL_EVENT_IMAGE_LOAD;
    row.event.as.image.process_id = pid;
    assert_true(context_apply(&b->context, &row, 1));
}

/* The owner's epochs do not tell, and an owner has many events. */
static void a_process_has_stacks_of_their_own_for_each_epoch(void **state)
{
    bench *const b = *state;
    const i64 at[] = { 1 * SECOND, 2 * SECOND, 4 * SECOND, 6 * SECOND };
    image(b, 3 * SECOND, OTHER_PID);
    image(b, 5 * SECOND, JOIN_PID);
    for (u32 i = 0; i < 4; i++) {
        add_commit(b, at[i]);
        add_part(b, OTHER_PID, at[i], PART_WHOLE, 5);
    }
    join_end_run(b->join);
    const foreign_stacks *const foreign = &b->join->keyed.foreign;
    assert_int_equal(foreign->count, 2);
    for (u32 i = 0; i < 4; i++) {
        const foreign_stack *const row = foreign_find(foreign, final_stack(b, i));
        assert_non_null(row);
        assert_int_equal(row->ticks, at[i < 2 ? 0 : 2]);
        assert_int_equal(pid_of(b, i), OTHER_PID);
    }
}

/* The user part comes slices later. */
static void a_late_part_of_another_process_counts(void **state)
{
    bench *const b = *state;
    add_commit(b, 100);
    add_part(b, OTHER_PID, 100, PART_KERNEL, 1);
    join_end_slice(b->join, 1000);
    join_add_piece(b->join, (stack_piece){ .ticks = 2000,
                                           .event_ticks = 100,
                                           .pid = OTHER_PID,
                                           .tid = JOIN_TID,
                                           .part = PART_USER,
                                           .stack = 2 });
    join_end_run(b->join);
    join_expect_stack(b->join, 0, 12);
    assert_int_equal(b->join->keyed.foreign.count, 1);
    assert_int_equal(b->join->keyed.foreign.at[0].stack, b->join->stacks.list.count);
}

int main(void)
{
#define RULE(name) cmocka_unit_test_setup_teardown(name, open_bench, close_bench)
    const struct CMUnitTest tests[] = {
        RULE(a_stack_of_another_process_is_a_stack_of_its_own),
        RULE(halves_of_another_process_are_one_stack_of_it),
        RULE(a_kernel_part_alone_is_of_nobody),
        RULE(the_same_stack_again_is_the_same),
        RULE(processes_of_one_id_have_stacks_of_their_own),
        RULE(a_process_has_stacks_of_their_own_for_each_epoch),
        RULE(a_late_part_of_another_process_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
