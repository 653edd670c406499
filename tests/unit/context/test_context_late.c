/*
 * Goal: a record whose time lies in an earlier slice does not change what happened there, as that
 * is final.
 * Method: single records, and slices that begin after them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/engine_check.h"

#define PID   42u
#define KEY   0xFFFFFA8003200010u
#define HEAP  0x1F0000u
#define T0    (CHECK_START + CHECK_SECOND)
#define SLICE (T0 + 2 * CHECK_SECOND) /* begins here */

static int open_fixture(void **state)
{
    if (engine_check_setup(state) != 0)
        return 1;
    engine_check_process(*state, ETL_EVENT_PROCESS_START, PID, T0, "app.exe", KEY);
    return 0;
}

static void record(engine_check *check, etl_event_kind kind, i64 ticks)
{
    engine_check_process(check, kind, PID, ticks, "app.exe", KEY);
}

static const process_history *first(const engine_check *check)
{
    return &check->context.processes.at[0];
}

static void end_counts_from_the_slice(void **state)
{
    engine_check *const check = *state;
    check->context.from_ticks = SLICE;
    record(check, ETL_EVENT_PROCESS_END, T0 + 5);
    assert_int_equal(check->context.processes.count, 1);
    assert_int_equal(first(check)->end_ticks, SLICE);
}

static void end_in_the_slice_counts_at_its_time(void **state)
{
    engine_check *const check = *state;
    check->context.from_ticks = SLICE;
    record(check, ETL_EVENT_PROCESS_END, SLICE + 5);
    assert_int_equal(first(check)->end_ticks, SLICE + 5);
}

static void next_owner_ends_the_former_from_the_slice(void **state)
{
    engine_check *const check = *state;
    check->context.from_ticks = SLICE;
    record(check, ETL_EVENT_PROCESS_START, T0 + CHECK_SECOND);
    assert_int_equal(check->context.processes.count, 2);
    assert_int_equal(first(check)->end_ticks, SLICE);
    assert_int_equal(context_process_at(&check->context, PID, SLICE), 2);
}

static void process_that_has_ended_stays_as_it_was(void **state)
{
    engine_check *const check = *state;
    record(check, ETL_EVENT_PROCESS_END, T0 + CHECK_SECOND);
    check->context.from_ticks = SLICE;
    record(check, ETL_EVENT_PROCESS_END, T0 + 5);
    assert_int_equal(first(check)->end_ticks, T0 + CHECK_SECOND);
    record(check, ETL_EVENT_PROCESS_START, T0 + CHECK_SECOND / 2);
    assert_int_equal(first(check)->end_ticks, T0 + CHECK_SECOND);
    assert_int_equal(check->context.processes.count, 2);
}

/* Which blocks end is said by the time of the record, and when they end by the slice. */
static void blocks_of_a_destroyed_heap_end_with_the_slices_start(void **state)
{
    engine_check *const check = *state;
    const trace_context *const context = &check->context;
    i64 last_ticks;
    check->context.from_ticks = SLICE;
    engine_check_destroy(check, PID, HEAP, T0 + 5);
    engine_check_destroy(check, PID, HEAP, SLICE + 5);
    assert_int_equal(context_heap_end(context, 1, HEAP, T0 + 5), SLICE);
    assert_int_equal(context_heap_end(context, 1, HEAP, T0 + 6), SLICE + 5);
    assert_true(context_heap_ended(context, 1, HEAP, SLICE + 5, &last_ticks));
    assert_int_equal(last_ticks, T0 + 5);
}

int main(void)
{
#define RULE(name) cmocka_unit_test_setup_teardown(name, open_fixture, engine_check_teardown)
    const struct CMUnitTest tests[] = {
        RULE(end_counts_from_the_slice),
        RULE(end_in_the_slice_counts_at_its_time),
        RULE(next_owner_ends_the_former_from_the_slice),
        RULE(process_that_has_ended_stays_as_it_was),
        RULE(blocks_of_a_destroyed_heap_end_with_the_slices_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
