/*
 * test_buffer_losses.c - what the numbers of buffers say: overwritten before, or lost in between.
 *
 * Method: small built files whose sessions number their buffers in several ways.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/run_check.h"

#define BUFFERS 3u

static etl_build_options numbered_from(i64 first)
{
    return (etl_build_options){ .buffer_bytes = 1024,
                                .first_sequence = first,
                                .flush_interval_ticks = 1,
                                .start_ticks = 1000000,
                                .order = ETL_BUILD_AS_CALLED };
}

static void add_buffers(etl_build *b)
{
    for (u32 i = 0; i < BUFFERS; i++)
        etl_build_mark(b, (etl_build_at){ .ticks = 1000000 + 10 * (i64)i, .pid = 4 }, "event");
}

static void expect(etl_build *b, u64 overwritten, u64 gaps)
{
    check_traces traces = { .count = 0 };
    check_open(&traces, b);
    const etl_diag_counts *const diag = etl_trace_diagnostics(traces.at[0]);
    assert_int_equal(diag->of[ETL_DIAG_buffers_overwritten], overwritten);
    assert_int_equal(diag->of[ETL_DIAG_sequence_gaps], gaps);
    check_close(&traces);
}

/* A file of two sessions, whose first buffers have these numbers. */
static etl_build *two_sessions(i64 first, i64 second)
{
    etl_build_options options = numbered_from(first);
    etl_build *const b = etl_build_new(&options);
    add_buffers(b);
    options.first_sequence = second;
    etl_build_append_session(b, &options);
    add_buffers(b);
    return b;
}

static void a_session_numbers_on_or_anew(void **state)
{
    (void)state;
    expect(two_sessions(1, 1), 0, 0);
    expect(two_sessions(1, 1 + BUFFERS), 0, 0);
    expect(two_sessions(1, 2 + BUFFERS), 1 + BUFFERS, 0);
    expect(two_sessions(101, 1), 100, 0);
}

/* A file whose second buffer has this number. */
static etl_build *jump_to(u64 sequence)
{
    const etl_build_options options = numbered_from(1);
    etl_build *const b = etl_build_new(&options);
    etl_build_break(b, ETL_BREAK_BUFFER_SEQUENCE, 2, sequence);
    etl_build_break(b, ETL_BREAK_BUFFER_SEQUENCE, 3, sequence + 1);
    add_buffers(b);
    return b;
}

static void a_large_step_is_another_numbering(void **state)
{
    (void)state;
    expect(jump_to(2), 0, 0);
    expect(jump_to(4), 0, 2);
    expect(jump_to(1 + (1 << 24)), 0, (1 << 24) - 1);
    expect(jump_to(2 + (1 << 24)), 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_numbers_on_or_anew),
        cmocka_unit_test(a_large_step_is_another_numbering),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
