/*
 * test_continued.c - which files one session wrote one after the other.
 *
 * Method: two small files that go on, and the same with one fact changed at a time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/core/continued.h"
#include "tests/support/run_check.h"

#define NEWFILE 0x8u
#define START   INT64_C(10000000)

/* A file with some buffers of one event. */
typedef struct file_row {
    etl_build_options options;
    u32 buffers;
} file_row;

static void open_file(check_traces *traces, const file_row *row)
{
    etl_build_options options = row->options;
    options.buffer_bytes = 1024;
    options.flush_interval_ticks = 1;
    options.order = ETL_BUILD_AS_CALLED;
    etl_build *const b = etl_build_new(&options);
    for (u32 i = 0; i < row->buffers; i++)
        etl_build_mark(b, (etl_build_at){ .ticks = options.start_ticks + 10 * (i64)i, .pid = 4 },
                       "event");
    check_open(traces, b);
}

/* The first of two files, and the second, which goes on. */
static const file_row earlier = {
    { .log_file_mode = NEWFILE, .session_name = "heap", .start_ticks = START }, 1
};
static const file_row later = { { .log_file_mode = NEWFILE,
                                  .session_name = "heap",
                                  .start_ticks = 2 * START,
                                  .first_sequence = 2 },
                                2 };

/* Does `b` go on from `a`, whatever the order in which they are given? */
static bool goes_on(const file_row *a, const file_row *b)
{
    u32 found[2];
    for (u32 order = 0; order < 2; order++) {
        check_traces traces = { .count = 0 };
        etl_diag_counts diag = { { 0 } };
        open_file(&traces, order == 0 ? a : b);
        open_file(&traces, order == 0 ? b : a);
        for (u32 i = 0; i < 2; i++)
            etl_diag_merge(&diag, etl_trace_diagnostics(traces.at[i]));
        const u64 missing = diag.of[ETL_DIAG_buffers_overwritten];
        found[order] = continued_from(traces.at, 2, 1 - order);
        assert_int_equal(continued_from(traces.at, 2, order), CONTINUED_FROM_NONE);
        continued_correct(traces.at, 2, &diag);
        assert_int_equal(diag.of[ETL_DIAG_buffers_overwritten],
                         found[order] == CONTINUED_FROM_NONE ? missing : 0);
        check_close(&traces);
    }
    assert_true(found[0] == CONTINUED_FROM_NONE || found[0] == 0);
    assert_true((found[0] == CONTINUED_FROM_NONE) == (found[1] == CONTINUED_FROM_NONE));
    return found[0] == 0;
}

static void a_later_file_of_the_session_goes_on(void **state)
{
    (void)state;
    assert_true(goes_on(&earlier, &later));
    file_row other = later;
    other.options.first_sequence = 1; /* numbered anew */
    assert_true(goes_on(&earlier, &other));
}

static void other_files_do_not(void **state)
{
    (void)state;
    file_row other = later;
    other.options.session_name = "help";
    assert_false(goes_on(&earlier, &other));
    other.options.session_name = "heaps";
    assert_false(goes_on(&earlier, &other));
    other = later;
    other.options.log_file_mode = 1;
    assert_false(goes_on(&earlier, &other));
    other = later;
    other.options.first_sequence = 4; /* a file between them is not given */
    assert_false(goes_on(&earlier, &other));
    other = later;
    other.options.clock = 3;
    other.options.clock_hz = 10000000;
    assert_false(goes_on(&earlier, &other));
    other = later;
    other.options.start_ticks = START; /* at the same time */
    assert_false(goes_on(&earlier, &other));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_later_file_of_the_session_goes_on),
        cmocka_unit_test(other_files_do_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
