/*
 * Goal: a stack that begins a task is told of what sort its event is, wherever tasks end.
 * Method: one row of events and stacks, cut into tasks at every place; the sorts must be
 * those of a single task, in which the scan knows all that came before.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/read/join_recent.h"

/* A record: an event, or a stack of the last tick. */
typedef struct step {
    u8 op; /* 0: a stack */
    u8 part;
    u8 sort; /* of the stack, as it must be told */
    u32 tid;
    i64 ticks;
    bool is_anywhere; /* of processors that are not told apart */
} step;

typedef struct bench {
    recent_events recent;
    scan_output task;
    half_walks walks; /* of the task */
} bench;

static void start_task(bench *b)
{
    b->task.events.count = b->task.pieces.count = 0;
    b->walks.count = 0;
}

static void end_task(bench *b)
{
    assert_true(recent_pass(&b->recent, &b->task));
    start_task(b);
}

static void close_bench(bench *b)
{
    recent_free(&b->recent);
    ETLHEAP_VECTOR_FREE(&b->task.events);
    ETLHEAP_VECTOR_FREE(&b->task.pieces);
    free(b);
}

/* Of what the task has of its own, the scan tells by the same rule. */
static void add(bench *b, const step *at)
{
    if (at->op != 0) {
        const memory_event event = { .ticks = at->ticks,
                                     .tid = at->tid,
                                     .op = at->op,
                                     .cpu = at->is_anywhere ? CPU_UNKNOWN : 0 };
        assert_true(ETLHEAP_PUSH(&b->task.events, event));
        return;
    }
    memory_event *const events = b->task.events.at;
    const size_t count = b->task.events.count;
    const part_name name = { at->ticks, at->tid, (stack_part)at->part };
    stack_learn_thread(events, count, &name);
    const event_sort sort =
        half_walks_sort(&b->walks, &name, stack_recent_sort(events, count, &name, SORT_UNKNOWN));
    memory_event *const open =
        sort == SORT_BLOCK ? stack_recent_open(events, count, at->ticks, at->tid, sort) : NULL;
    if (open != NULL)
        open->stack = STACK_TAG_LOCAL; /* as the scan does */
    const stack_piece piece = {
        .event_ticks = at->ticks,
        .tid = at->tid,
        .part = at->part & 3u,
        .sort = sort & 15u,
    };
    assert_true(ETLHEAP_PUSH(&b->task.pieces, piece));
}

/* The sorts of the task's stacks, of which step `end` is the first behind the task. */
static void check_task(bench *b, const step *steps, u32 end, u32 cuts)
{
    assert_true(recent_pass(&b->recent, &b->task));
    u32 at = end;
    for (size_t i = b->task.pieces.count; i > 0; i--) {
        do
            at--;
        while (steps[at].op != 0);
        const u8 sort = b->task.pieces.at[i - 1].sort;
        if (sort != steps[at].sort)
            fail_msg("step %u, cuts %x: sort %u, wanted %u", at, cuts, sort, steps[at].sort);
    }
    start_task(b);
}

/* With a new task before each step whose bit is set. */
static void check(const step *steps, u32 count, u32 cuts)
{
    bench *const b = calloc(1, sizeof *b);
    assert_non_null(b);
    for (u32 i = 0; i < count; i++) {
        if ((cuts >> i & 1) != 0)
            check_task(b, steps, i, cuts);
        add(b, &steps[i]);
    }
    check_task(b, steps, count, cuts);
    close_bench(b);
}

static void check_all_cuts(const step *steps, u32 count)
{
    for (u32 cuts = 0; cuts < 1u << count; cuts++)
        check(steps, count, cuts);
}

static void sorts_do_not_depend_on_where_tasks_end(void **state)
{
    (void)state;
    static const step steps[] = {
        { .op = OP_ALLOC, .tid = 7, .ticks = 10 },
        { .op = OP_EXPAND, .tid = 7, .ticks = 10 },
        { .part = PART_USER, .tid = 7, .ticks = 10, .sort = SORT_EXTENT },
        { .op = OP_RELEASE, .tid = 7, .ticks = 10 },
        { .part = PART_KERNEL, .tid = 7, .ticks = 10, .sort = SORT_UNWANTED },
        { .op = OP_ALLOC, .tid = 8, .ticks = 11 },
        { .part = PART_USER, .tid = 8, .ticks = 11, .sort = SORT_BLOCK },
        { .part = PART_USER, .tid = 7, .ticks = 10, .sort = SORT_UNWANTED },
        { .part = PART_USER, .tid = 9, .ticks = 11, .sort = SORT_UNKNOWN },
        { .part = PART_USER, .tid = 8, .ticks = 12, .sort = SORT_UNKNOWN },
    };
    check_all_cuts(steps, ETL_COUNT_OF(steps));
}

static void an_event_without_a_thread_learns_it_from_its_kernel_part(void **state)
{
    (void)state;
    static const step steps[] = {
        { .op = OP_ALLOC, .tid = 7, .ticks = 10 },
        { .op = OP_COMMIT, .tid = ETL_NO_ID, .ticks = 10 },
        { .part = PART_KERNEL, .tid = 7, .ticks = 10, .sort = SORT_COMMIT },
        { .part = PART_USER, .tid = 7, .ticks = 10, .sort = SORT_COMMIT },
        { .op = OP_FREE, .tid = 8, .ticks = 11 },
        { .op = OP_FREE, .tid = 7, .ticks = 12 },
        { .op = OP_DECOMMIT, .tid = ETL_NO_ID, .ticks = 12 },
        { .part = PART_USER, .tid = 7, .ticks = 12, .sort = SORT_SPENT },
        { .part = PART_WHOLE, .tid = 7, .ticks = 12, .sort = SORT_UNWANTED },
    };
    check_all_cuts(steps, ETL_COUNT_OF(steps));
}

/* A program asks for the stacks of its blocks, and these begin in the program. */
static void what_begins_in_the_kernel_is_not_sure_to_be_a_blocks(void **state)
{
    (void)state;
    static const step steps[] = {
        { .op = OP_ALLOC, .tid = 7, .ticks = 10, .is_anywhere = true },
        { .part = PART_WHOLE, .tid = 7, .ticks = 10, .sort = SORT_BLOCK },
        { .op = OP_ALLOC, .tid = 8, .ticks = 11, .is_anywhere = true },
        { .op = OP_COMMIT, .tid = ETL_NO_ID, .ticks = 11, .is_anywhere = true },
        { .part = PART_WHOLE, .tid = 8, .ticks = 11, .sort = SORT_UNSURE },
        { .part = PART_USER, .tid = 8, .ticks = 11, .sort = SORT_BLOCK },
    };
    check_all_cuts(steps, ETL_COUNT_OF(steps));
}

/* The next user part is of the same walk, and only that. */
static void a_user_part_is_of_the_walk_that_began_in_the_kernel(void **state)
{
    (void)state;
    static const step steps[] = {
        { .op = OP_ALLOC, .tid = 7, .ticks = 10, .is_anywhere = true },
        { .op = OP_ALLOC, .tid = 8, .ticks = 10, .is_anywhere = true },
        { .op = OP_COMMIT, .tid = ETL_NO_ID, .ticks = 10, .is_anywhere = true },
        { .part = PART_KERNEL, .tid = 7, .ticks = 10, .sort = SORT_UNSURE },
        { .part = PART_USER, .tid = 8, .ticks = 10, .sort = SORT_BLOCK },
        { .part = PART_USER, .tid = 7, .ticks = 10, .sort = SORT_UNSURE },
        { .part = PART_USER, .tid = 7, .ticks = 10, .sort = SORT_BLOCK },
    };
    check_all_cuts(steps, ETL_COUNT_OF(steps));
}

/* So many that the oldest are forgotten, wherever tasks end. */
static void as_many_half_walks_are_kept_as_there_is_room_for(void **state)
{
    (void)state;
    for (u32 every = 1; every < 8; every++) {
        bench *const b = calloc(1, sizeof *b);
        assert_non_null(b);
        const u32 count = HALF_WALKS_MAX + 3;
        for (u32 i = 0; i < count; i++) {
            const u32 tid = 100 + i;
            add(b, &(step){ .op = OP_ALLOC, .tid = tid, .ticks = i, .is_anywhere = true });
            add(b, &(step){ .op = OP_COMMIT, .tid = ETL_NO_ID, .ticks = i, .is_anywhere = true });
            add(b, &(step){ .part = PART_KERNEL, .tid = tid, .ticks = i });
            if (i % every == 0)
                end_task(b);
        }
        end_task(b);
        for (u32 i = 0; i < count; i++)
            add(b, &(step){ .part = PART_USER, .tid = 100 + i, .ticks = i });
        assert_true(recent_pass(&b->recent, &b->task));
        for (u32 i = 0; i + STACK_RECENT_EVENTS / 2 < count; i++)
            assert_int_equal(b->task.pieces.at[i].sort, i < 3 ? SORT_UNKNOWN : SORT_UNSURE);
        close_bench(b);
    }
}

/* What has no thread, the kernel raised: it begins its stack itself. */
static void what_begins_in_the_program_is_of_its_last_event(void **state)
{
    (void)state;
    static const step steps[] = {
        { .op = OP_EXPAND, .tid = 7, .ticks = 10 },
        { .op = OP_COMMIT, .tid = ETL_NO_ID, .ticks = 10 },
        { .part = PART_USER, .tid = 7, .ticks = 10, .sort = SORT_EXTENT },
        { .op = OP_FREE, .tid = 7, .ticks = 11 },
        { .op = OP_COMMIT, .tid = ETL_NO_ID, .ticks = 11 },
        { .part = PART_USER, .tid = 7, .ticks = 11, .sort = SORT_SPENT },
        { .op = OP_EXPAND, .tid = 7, .ticks = 12, .is_anywhere = true },
        { .op = OP_COMMIT, .tid = ETL_NO_ID, .ticks = 12, .is_anywhere = true },
        { .part = PART_KERNEL, .tid = 7, .ticks = 12, .sort = SORT_UNSURE },
        { .part = PART_USER, .tid = 7, .ticks = 12, .sort = SORT_UNSURE },
    };
    check_all_cuts(steps, ETL_COUNT_OF(steps));
}

static void frees_have_stacks_of_their_own(void **state)
{
    (void)state;
    static const step steps[] = {
        { .op = OP_FREE, .tid = 7, .ticks = 10 },
        { .part = PART_USER, .tid = 7, .ticks = 10, .sort = SORT_SPENT },
        { .op = OP_ALLOC, .tid = 7, .ticks = 10 },
        { .part = PART_USER, .tid = 7, .ticks = 10, .sort = SORT_BLOCK },
        { .op = OP_FREE, .tid = 7, .ticks = 10 },
        { .part = PART_USER, .tid = 7, .ticks = 10, .sort = SORT_SPENT },
        { .op = OP_ALLOC, .tid = 7, .ticks = 10 },
        { .op = OP_FREE, .tid = 7, .ticks = 10 },
        { .part = PART_USER, .tid = 7, .ticks = 10, .sort = SORT_BLOCK },
        { .part = PART_USER, .tid = 7, .ticks = 10, .sort = SORT_SPENT },
    };
    check_all_cuts(steps, ETL_COUNT_OF(steps));
}

static void other_threads_may_come_before_the_kernel_part(void **state)
{
    (void)state;
    static const step steps[] = {
        { .op = OP_ALLOC, .tid = 7, .ticks = 10 },
        { .op = OP_COMMIT, .tid = ETL_NO_ID, .ticks = 10 },
        { .op = OP_COMMIT, .tid = 9, .ticks = 10 },
        { .op = OP_FREE, .tid = 8, .ticks = 11 },
        { .part = PART_KERNEL, .tid = 9, .ticks = 10, .sort = SORT_COMMIT },
        { .part = PART_KERNEL, .tid = 7, .ticks = 10, .sort = SORT_COMMIT },
        { .part = PART_USER, .tid = 7, .ticks = 10, .sort = SORT_COMMIT },
    };
    check_all_cuts(steps, ETL_COUNT_OF(steps));
}

static void streams_are_told_apart(void **state)
{
    (void)state;
    bench *const b = calloc(1, sizeof *b);
    assert_non_null(b);
    static const u64 streams[] = { 5, 1, 9, 3 };
    for (u32 i = 0; i < 4; i++) {
        b->task.stream = streams[i];
        add(b, &(step){ .op = i % 2 == 0 ? OP_ALLOC : OP_EXPAND, .tid = 7, .ticks = 10 });
        end_task(b);
    }
    for (u32 i = 0; i < 5; i++) {
        b->task.stream = i < 4 ? streams[i] : 4;
        add(b, &(step){ .part = PART_USER, .tid = 7, .ticks = 10 });
        assert_true(recent_pass(&b->recent, &b->task));
        const event_sort wanted = i == 4 ? SORT_UNKNOWN : i % 2 == 0 ? SORT_BLOCK : SORT_EXTENT;
        assert_int_equal(b->task.pieces.at[0].sort, wanted);
        b->task.pieces.count = 0;
    }
    close_bench(b);
}

static void as_many_events_are_kept_as_the_scan_looks_at(void **state)
{
    (void)state;
    bench *const b = calloc(1, sizeof *b);
    assert_non_null(b);
    for (u32 i = 0; i < STACK_RECENT_EVENTS + 5; i++) {
        add(b, &(step){ .op = OP_ALLOC, .tid = 100 + i, .ticks = 10 });
        if (i % 3 == 0)
            end_task(b);
    }
    end_task(b);
    for (u32 i = 0; i < STACK_RECENT_EVENTS + 5; i++)
        add(b, &(step){ .part = PART_USER, .tid = 100 + i, .ticks = 10 });
    assert_true(recent_pass(&b->recent, &b->task));
    for (u32 i = 0; i < STACK_RECENT_EVENTS + 5; i++)
        assert_int_equal(b->task.pieces.at[i].sort, i < 5 ? SORT_UNKNOWN : SORT_BLOCK);
    close_bench(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorts_do_not_depend_on_where_tasks_end),
        cmocka_unit_test(an_event_without_a_thread_learns_it_from_its_kernel_part),
        cmocka_unit_test(what_begins_in_the_kernel_is_not_sure_to_be_a_blocks),
        cmocka_unit_test(a_user_part_is_of_the_walk_that_began_in_the_kernel),
        cmocka_unit_test(as_many_half_walks_are_kept_as_there_is_room_for),
        cmocka_unit_test(what_begins_in_the_program_is_of_its_last_event),
        cmocka_unit_test(frees_have_stacks_of_their_own),
        cmocka_unit_test(other_threads_may_come_before_the_kernel_part),
        cmocka_unit_test(streams_are_told_apart),
        cmocka_unit_test(as_many_events_are_kept_as_the_scan_looks_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
