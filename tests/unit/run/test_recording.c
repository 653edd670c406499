/*
 * test_recording.c - whether several files are of one recording.
 *
 * Goal: two runs are refused with what tells them apart, and the files of one recording
 * never are: sessions that start and stop at other moments, other clocks, sessions that
 * were not stopped, files that one session wrote one after the other.
 * Method: two small built traces for each row of a table, in both orders.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "tests/support/run_check.h"

#define WALL    INT64_C(132404116200000000) /* FILETIME */
#define SECOND  INT64_C(10000000)           /* in FILETIME, and in ticks */
#define NEWFILE 0x8u
#define RELOG   0x10000u

/* A session: when it starts by both clocks, and how long it lasts. */
typedef struct session_row {
    i64 start_ticks, start_filetime;
    i64 last_ticks; /* since start_ticks */
    etl_build_options more;
} session_row;

static void open_session(check_traces *traces, const session_row *row, const char *text)
{
    etl_build_options options = row->more;
    options.start_ticks = row->start_ticks;
    options.start_filetime = row->start_filetime;
    etl_build *const b = etl_build_new(&options);
    etl_build_mark(b, (etl_build_at){ .ticks = row->start_ticks + row->last_ticks, .pid = 4 },
                   text);
    check_open(traces, b);
}

/* NULL: they are of one recording; else what the refusal says. */
static void expect(const session_row *a, const session_row *b, const char *word)
{
    for (u32 order = 0; order < 2; order++) {
        check_traces traces = { .count = 0 };
        u32 pair[2] = { 9, 9 };
        etl_error err = { .message = "" };
        open_session(&traces, order == 0 ? a : b, "one");
        open_session(&traces, order == 0 ? b : a, "other");
        const etl_status status =
            etlheap_recording_check(traces.at, traces.count, false, pair, &err);
        assert_int_equal(status, word == NULL ? ETL_OK : ETL_ERR_ARGUMENT);
        if (word != NULL) {
            if (strstr(err.message, word) == NULL)
                fail_msg("no \"%s\" in: %s", word, err.message);
            assert_int_equal(err.hint, ETL_HINT_OTHER_RECORDINGS);
            assert_true(pair[0] == 0 && pair[1] == 1);
        }
        assert_int_equal(etlheap_recording_check(traces.at, traces.count, true, pair, &err),
                         ETL_OK);
        check_close(&traces);
    }
}

/* Of a computer that was booted 100 s before; lasts 20 s. */
static const session_row kernel = { 100 * SECOND, WALL, 20 * SECOND, { .os_build = 19041 } };

static void sessions_of_one_recording_start_and_stop_when_they_like(void **unused)
{
    (void)unused;
    session_row heap = kernel;
    heap.more.session_name = "heap";
    expect(&kernel, &heap, NULL);
    heap = (session_row){ 103 * SECOND, WALL + 3 * SECOND, 2 * SECOND, kernel.more };
    expect(&kernel, &heap, NULL); /* within */
    heap.last_ticks = 60 * SECOND;
    expect(&kernel, &heap, NULL); /* later by both ends */
    heap = (session_row){ 120 * SECOND, WALL + 20 * SECOND, SECOND, kernel.more };
    expect(&kernel, &heap, NULL); /* started as the other stopped */
}

static void what_headers_leave_out_tells_nothing(void **unused)
{
    (void)unused;
    session_row other = { 100 * SECOND, WALL, 20 * SECOND, kernel.more };
    session_row unstopped = kernel;
    unstopped.more.unclosed = true;
    other.start_ticks += 3600 * SECOND;
    other.start_filetime += 3600 * SECOND;
    expect(&unstopped, &other, NULL);
    /* The build of a merged file is that of the tool that merged it. */
    session_row merged = kernel;
    merged.more.os_build = 9200;
    merged.more.log_file_mode = RELOG | 1;
    expect(&kernel, &merged, NULL);
    /* Without buffers for each processor their number is not told. */
    session_row one_stream = kernel;
    one_stream.more.one_stream = true;
    expect(&kernel, &one_stream, NULL);
    /* Ticks of the system's time have no boot in them. */
    session_row by_wall = { WALL, WALL, 20 * SECOND, { .os_build = 19041, .clock = 2 } };
    session_row by_counter = { SECOND / 2, WALL, 20 * SECOND, kernel.more };
    expect(&by_counter, &by_wall, NULL);
}

static void other_computers_are_refused(void **unused)
{
    (void)unused;
    session_row other = kernel;
    other.more.os_build = 26100;
    expect(&kernel, &other, "Windows build");
    other = kernel;
    other.more.cpus = 8;
    expect(&kernel, &other, "processors");
    other = kernel;
    other.more.clock_hz = 3117777;
    expect(&kernel, &other, "3117777 Hz");
}

static void other_boots_are_refused(void **unused)
{
    (void)unused;
    session_row other = kernel;
    other.start_filetime += 86400 * SECOND;
    expect(&kernel, &other, "boot times are 86400.0 s apart");
    other = kernel;
    other.start_ticks -= 11 * SECOND;
    expect(&kernel, &other, "boot times are 11.0 s apart");
    other.start_ticks += 2 * SECOND; /* a correction of the wall clock */
    expect(&kernel, &other, NULL);
    /* Where boot times are missing (here: before 1601) the clocks tell. */
    const session_row early = { 100 * SECOND, 1, 20 * SECOND, kernel.more };
    other = (session_row){ 105 * SECOND, 5 * SECOND, 20 * SECOND, kernel.more };
    expect(&early, &other, NULL);
    other.start_ticks += 11 * SECOND;
    expect(&early, &other, "disagree by 11.0 s");
}

static void runs_one_after_the_other_are_refused(void **unused)
{
    (void)unused;
    session_row next = { 123 * SECOND, WALL + 23 * SECOND, SECOND, kernel.more };
    expect(&kernel, &next, "started 2.9 s after");
    /* But not what a session writes when it begins a new file now and then. */
    session_row first = kernel;
    first.more.log_file_mode = next.more.log_file_mode = NEWFILE;
    expect(&first, &next, NULL);
    next.more.session_name = "other";
    expect(&first, &next, "started 2.9 s after");
    next.more.session_name = NULL;
    next.start_ticks += 20 * SECOND;
    next.start_filetime += 20 * SECOND;
    expect(&first, &next, "started 22.9 s after");
}

static void a_copy_is_refused_whatever_is_asked(void **unused)
{
    (void)unused;
    session_row other = kernel;
    other.more.session_name = "heap";
    check_traces traces = { .count = 0 };
    u32 pair[2];
    etl_error err = { .message = "" };
    open_session(&traces, &kernel, "one");
    open_session(&traces, &other, "two");
    open_session(&traces, &other, "two"); /* the same content */
    for (u32 together = 0; together < 2; together++) {
        assert_int_equal(
            etlheap_recording_check(traces.at, traces.count, together != 0, pair, &err),
            ETL_ERR_ARGUMENT);
        assert_non_null(strstr(err.message, "twice"));
        assert_true(pair[0] == 1 && pair[1] == 2);
    }
    assert_int_equal(etlheap_recording_check(traces.at, 1, false, pair, &err), ETL_OK);
    assert_int_equal(etlheap_recording_check(traces.at, 2, false, pair, &err), ETL_OK);
    check_close(&traces);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sessions_of_one_recording_start_and_stop_when_they_like),
        cmocka_unit_test(what_headers_leave_out_tells_nothing),
        cmocka_unit_test(other_computers_are_refused),
        cmocka_unit_test(other_boots_are_refused),
        cmocka_unit_test(runs_one_after_the_other_are_refused),
        cmocka_unit_test(a_copy_is_refused_whatever_is_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
