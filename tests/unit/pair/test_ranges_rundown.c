/*
 * Goal: rundowns of VirtualAlloc add what the events do not tell, and are compared
 * with the events where those tell everything.
 * Method: single events and rundowns applied to one table and the rows it puts out, one
 * rule a test. Addresses and sizes are pages.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ranges_fixture.h"

static void rundown_at_the_start_seeds_what_was_committed_before(void **state)
{
    fixture *const f = *state;
    rundown(f, OP_RUNDOWN_START, 10, 8, 8);
    rundown(f, OP_RUNDOWN_START, 30, 8, 3);
    rundown(f, OP_RUNDOWN_START, 50, 8, 0);
    apply(f, OP_DECOMMIT, 5, 12, 2);
    assert_row(f, row_of(12, 2, BEFORE, 5));
    finish(f);
    assert_rows(f,
                (const lifetime[]){ row_of(10, 2, BEFORE, NEVER), row_of(14, 4, BEFORE, NEVER),
                                    row_of(30, 3, BEFORE, NEVER) },
                3);
}

static void rundown_adds_only_what_is_not_known(void **state)
{
    fixture *const f = *state;
    apply(f, OP_COMMIT, 0, 12, 2);
    rundown(f, OP_RUNDOWN_END, 10, 8, 5);
    finish(f);
    assert_rows(f,
                (const lifetime[]){ row_of(10, 2, BEFORE, NEVER), row_of(12, 2, 0, NEVER),
                                    row_of(14, 1, BEFORE, NEVER) },
                3);
}

static void both_rundowns_of_a_region_are_one_lifetime(void **state)
{
    fixture *const f = *state;
    rundown(f, OP_RUNDOWN_START, 10, 8, 8);
    rundown(f, OP_RUNDOWN_END, 10, 8, 8);
    finish(f);
    assert_row(f, row_of(10, 8, BEFORE, NEVER));
}

static void rundown_at_the_end_knows_nothing_new_of_a_started_process(void **state)
{
    fixture *const f = *state;
    engine_check_process(&f->check, ETL_EVENT_PROCESS_START, PID, CHECK_START, "app.exe", 1);
    rundown(f, OP_RUNDOWN_END, 10, 8, 8);
    finish(f);
    assert_rows(f, NULL, 0);
}

static void expect_contradictions(const fixture *f, u64 sizes, u64 unseen)
{
    assert_int_equal(f->check.out.diag.of[ETL_DIAG_rundown_size_differs], sizes);
    assert_int_equal(f->check.out.diag.of[ETL_DIAG_rundown_range_unseen], unseen);
}

/* All of a process that starts in the trace is in the trace. */
static void rundown_at_the_end_that_contradicts_a_started_process_is_counted(void **state)
{
    fixture *const f = *state;
    engine_check_process(&f->check, ETL_EVENT_PROCESS_START, PID, CHECK_START, "app.exe", 1);
    apply(f, OP_COMMIT, 0, 10, 8);
    apply(f, OP_COMMIT, 1, 30, 8);
    apply(f, OP_RESERVE, 2, 50, 8);
    rundown(f, OP_RUNDOWN_END, 10, 8, 8);
    rundown(f, OP_RUNDOWN_END, 50, 8, 0);
    rundown(f, OP_RUNDOWN_END, 90, 8, 0);
    expect_contradictions(f, 0, 0);
    rundown(f, OP_RUNDOWN_END, 30, 8, 2);
    expect_contradictions(f, 1, 0);
    rundown(f, OP_RUNDOWN_END, 50, 8, 1);
    expect_contradictions(f, 2, 0);
    rundown(f, OP_RUNDOWN_END, 70, 8, 8);
    expect_contradictions(f, 2, 1);
    finish(f);
    assert_rows(f, (const lifetime[]){ row_of(10, 8, 0, NEVER), row_of(30, 8, 1, NEVER) }, 2);
}

/* What it has from before the trace, the rundown tells first. */
static void rundown_at_the_end_that_knows_more_of_an_older_process_is_right(void **state)
{
    fixture *const f = *state;
    apply(f, OP_COMMIT, 0, 10, 8);
    apply(f, OP_COMMIT, 1, 30, 8);
    rundown(f, OP_RUNDOWN_END, 10, 20, 12);
    rundown(f, OP_RUNDOWN_END, 70, 8, 8);
    expect_contradictions(f, 0, 0);
    rundown(f, OP_RUNDOWN_END, 30, 8, 2);
    expect_contradictions(f, 1, 0);
}

static void rundown_at_the_end_has_to_agree_with_that_of_the_start(void **state)
{
    fixture *const f = *state;
    rundown(f, OP_RUNDOWN_START, 10, 8, 8);
    rundown(f, OP_RUNDOWN_END, 10, 8, 8);
    expect_contradictions(f, 0, 0);
    rundown(f, OP_RUNDOWN_END, 30, 8, 4);
    expect_contradictions(f, 0, 1);
    finish(f);
    assert_rows(f, (const lifetime[]){ row_of(10, 8, BEFORE, NEVER), row_of(30, 4, BEFORE, NEVER) },
                2);
}

/* Merged sessions may each have written one. */
static void a_contradiction_told_twice_is_one(void **state)
{
    fixture *const f = *state;
    engine_check_process(&f->check, ETL_EVENT_PROCESS_START, PID, CHECK_START, "app.exe", 1);
    apply(f, OP_COMMIT, 0, 10, 8);
    for (u32 i = 0; i < 2; i++) {
        rundown(f, OP_RUNDOWN_END, 10, 8, 2);
        rundown(f, OP_RUNDOWN_END, 70, 8, 8);
    }
    expect_contradictions(f, 1, 1);
}

static void rundown_with_more_committed_than_the_region_fills_it(void **state)
{
    fixture *const f = *state;
    rundown(f, OP_RUNDOWN_START, 10, 4, 9);
    rundown(f, OP_RUNDOWN_START, UINT64_MAX / PAGE, 4, 9);
    finish(f);
    lifetime top = row_of(UINT64_MAX / PAGE, 1, BEFORE, NEVER);
    top.size -= 1;
    assert_rows(f, (const lifetime[]){ row_of(10, 4, BEFORE, NEVER), top }, 2);
}

/* A region of a rundown is a reservation: the trace did not see it made. */
static void release_without_a_size_covers_the_region_of_a_rundown(void **state)
{
    fixture *const f = *state;
    rundown(f, OP_RUNDOWN_START, 10, 20, 2);
    rundown(f, OP_RUNDOWN_START, 30, 4, 4);
    apply(f, OP_COMMIT, 1, 20, 2);
    apply(f, OP_RELEASE, 9, 10, 0);
    assert_rows(f, (const lifetime[]){ row_of(10, 2, BEFORE, 9), row_of(20, 2, 1, 9) }, 2);
    assert_int_equal(unknown_frees(f, ETLHEAP_KIND_VIRTUALALLOC), 0);
}

/* Records may speak of parts of a reservation whose making the trace saw. */
/* The missing bytes of a region whose pages are told one by one. */
static void rundown_fills_gaps_to_the_last_byte(void **state)
{
    fixture *const f = *state;
    apply(f, OP_COMMIT, 0, 11, 1);
    const memory_event event = { .ticks = T0,
                                 .op = OP_RUNDOWN_START,
                                 .address = 10 * PAGE,
                                 .size = 2 * PAGE + 1,
                                 .heap = 4 * PAGE,
                                 .pid = PID,
                                 .tid = 1 };
    ranges_apply(&f->table, &f->check.context, &event, f->process, &f->check.out);
    finish(f);
    lifetime last = row_of(12, 1, BEFORE, NEVER);
    last.size = 1;
    assert_rows(
        f, (const lifetime[]){ row_of(10, 1, BEFORE, NEVER), row_of(11, 1, 0, NEVER), last }, 3);
}

static void rundown_inside_a_known_reservation_leaves_it_whole(void **state)
{
    fixture *const f = *state;
    apply(f, OP_RESERVE, 0, 10, 20);
    apply(f, OP_COMMIT, 1, 10, 2);
    apply(f, OP_COMMIT, 2, 24, 2);
    rundown(f, OP_RUNDOWN_START, 10, 4, 2);
    apply(f, OP_RELEASE, 9, 10, 0);
    assert_rows(f, (const lifetime[]){ row_of(10, 2, 1, 9), row_of(24, 2, 2, 9) }, 2);
}

int main(void)
{
#define RULE(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)
    const struct CMUnitTest tests[] = {
        RULE(rundown_at_the_start_seeds_what_was_committed_before),
        RULE(rundown_adds_only_what_is_not_known),
        RULE(both_rundowns_of_a_region_are_one_lifetime),
        RULE(rundown_at_the_end_knows_nothing_new_of_a_started_process),
        RULE(rundown_at_the_end_that_contradicts_a_started_process_is_counted),
        RULE(rundown_at_the_end_that_knows_more_of_an_older_process_is_right),
        RULE(rundown_at_the_end_has_to_agree_with_that_of_the_start),
        RULE(a_contradiction_told_twice_is_one),
        RULE(rundown_with_more_committed_than_the_region_fills_it),
        RULE(release_without_a_size_covers_the_region_of_a_rundown),
        RULE(rundown_inside_a_known_reservation_leaves_it_whole),
        RULE(rundown_fills_gaps_to_the_last_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
