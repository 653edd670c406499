/*
 * Goal: amounts of a summary are divided by the length of its recordings, each from time zero, or
 * from its first event if that is earlier.
 * Method: a summary made by hand. Spans of traces and stores are tested in test_growth.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/fold/row_spans.h"
#include "engine/result/summary.h"

/* What rates are divided by, of a summary of two recordings. */
static i64 time_of(const summary_trace *traces, size_t count)
{
    summary_data data = { .traces = { .at = NULL } };
    etlheap_result result = { .summary = &data };
    aggregator a = { .result = &result };
    const row_spans spans = { .a = &a };
    for (size_t i = 0; i < count; i++)
        assert_true(ETLHEAP_PUSH(&data.traces, traces[i]));
    const i64 ns = row_spans_ns_of_kinds(&spans, 0);
    ETLHEAP_VECTOR_FREE(&data.traces);
    return ns;
}

static void recordings_of_a_summary_add_up(void **state)
{
    const summary_trace traces[] = { { .info.end_ns = 500 }, { .info.end_ns = 300 } };
    (void)state;
    assert_int_equal(time_of(traces, 1), 500);
    assert_int_equal(time_of(traces, 2), 800);
}

static void events_before_time_zero_count(void **state)
{
    const summary_trace traces[] = { { .from_ns = -20, .info.end_ns = 500 },
                                     { .info.end_ns = 300 } };
    (void)state;
    assert_int_equal(time_of(traces, 1), 520);
    assert_int_equal(time_of(traces, 2), 820);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recordings_of_a_summary_add_up),
        cmocka_unit_test(events_before_time_zero_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
