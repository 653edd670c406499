/*
 * Goal: `info` says what a summary was made of, each trace with its file, its times and
 * what it lost; of a trace it says what was lost and what cannot be analysed.
 * Method: summaries of two small traces recorded a day apart, the later one added first;
 * traces without a memory event and with losses. Documents are searched for whole lines.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/options/advice.h"
#include "tests/support/capture.h"
#include "tests/support/summary_runs.h"

#include <stdio.h>

#define START_FILETIME INT64_C(132404548200000000) /* 2020-07-29T00:07:00Z */
#define DAY_FILETIME   INT64_C(864000000000)

/* A trace of three events that lasts a second. */
static etl_build *build_day(u32 day, u32 lost)
{
    etl_build *const b =
        etl_build_new(&(etl_build_options){ .cpus = 1,
                                            .start_filetime = START_FILETIME + day * DAY_FILETIME,
                                            .session_name = day == 0 ? "Monday" : "Tuesday",
                                            .events_lost = lost });
    const etl_build_process_spec process = { .pid = 8, .name = "app.exe" };
    etl_build_at at = { .ticks = etl_build_start_ticks(b) + 10, .pid = 8, .tid = 16 };
    etl_build_process(b, at, ETL_BUILD_START, &process);
    at.ticks = etl_build_ticks_at(b, 1000000000);
    etl_build_heap_alloc(b, at, 0x1f0000, 0x2000, 100);
    return b;
}

static void add_day(etlheap_summary *summary, u32 day, const char *name, u32 lost)
{
    check_traces traces = { 0 };
    etl_error err = { .message = "" };
    check_open(&traces, build_day(day, lost));
    traces.names[0] = name;
    if (etlheap_summary_add_traces(summary, traces.at, traces.names, 1, NULL, &err) != ETL_OK)
        fail_msg("%s", err.message);
    check_close(&traces);
}

static etlheap_result *summary_of_days(const char *path, i64 every_ns)
{
    etlheap_summary *const summary = summary_begin(every_ns);
    add_day(summary, 1, "tuesday.etl", 5);
    add_day(summary, 0, "monday.etl", 0);
    summary_end(summary, path);
    return summary_read(path);
}

static const char *write_info(const etlheap_result *result, const char *format, u32 rows_max,
                              capture *out)
{
    etlheap_layout layout = etlheap_layout_default();
    layout.rows_max = rows_max;
    layout.hint = cli_advice;
    capture_open(out);
    assert_int_equal(etlheap_format_named(format)->write_info(result, &layout, out->sink), ETL_OK);
    return capture_text(out);
}

/* The place of a text that must be there. */
static const char *find(const char *document, const char *text)
{
    const char *const found = strstr(document, text);
    if (found == NULL)
        fail_msg("no \"%s\" in:\n%s", text, document);
    return found;
}

static void summaries_list_their_traces(void **state)
{
    const summary_fixture *const f = *state;
    etlheap_result *const result = summary_of_days(f->paths[0], 0);
    capture out;
    const char *const document = write_info(result, "json", 0, &out);
    find(document, "\"every_ns\": null");
    const char *const monday = find(document, "\"name\": \"monday.etl\", \"id\": \"");
    find(monday, "\"session\": \"Monday\"");
    find(monday, "\"start_time\": \"2020-07-29T00:07:00.000000000Z\"");
    find(monday, "\"duration_ns\": 1000000000");
    find(monday, "\"events\": 3");
    const char *const tuesday = find(document, "\"name\": \"tuesday.etl\", \"id\": \"");
    find(tuesday, "\"start_time\": \"2020-07-30T00:07:00.000000000Z\"");
    find(tuesday, "\"events_lost\": 5");
    find(tuesday, "{\"name\": \"events_lost\", \"severity\": \"loss\", \"count\": 5, \"advice\": ");
    capture_close(&out);
    etlheap_result_free(result);
}

static void text_lists_them_in_order_of_time(void **state)
{
    const summary_fixture *const f = *state;
    etlheap_result *const result = summary_of_days(f->paths[0], 0);
    capture out;
    const char *const document = write_info(result, "text", 0, &out);
    find(document, "of 2 traces, without windows");
    const char *const traces = find(document, "\nTraces\n");
    const char *const monday = find(traces, "2020-07-29T00:07:00.000000000Z");
    const char *const tuesday = find(monday, "2020-07-30T00:07:00.000000000Z");
    char first[160], second[160];
    snprintf(first, sizeof first, "%.*s", (int)strcspn(monday, "\n"), monday);
    snprintf(second, sizeof second, "%.*s", (int)strcspn(tuesday, "\n"), tuesday);
    assert_string_equal(first,
                        "2020-07-29T00:07:00.000000000Z  1.000000000       3     0  monday.etl");
    assert_string_equal(second,
                        "2020-07-30T00:07:00.000000000Z  1.000000000       3     5  tuesday.etl");
    capture_close(&out);
    etlheap_result_free(result);
}

static void lists_that_are_cut_say_so(void **state)
{
    const summary_fixture *const f = *state;
    etlheap_result *const result = summary_of_days(f->paths[0], 500000000);
    capture out;
    const char *const document = write_info(result, "text", 1, &out);
    find(document, "of 2 traces, in windows of 0.500000000 s");
    find(document, "Traces (1 of 2; --top N shows more)");
    find(document, "monday.etl");
    assert_null(strstr(document, "2020-07-30T00:07:00"));
    capture_close(&out);
    find(write_info(result, "json", 1, &out), "\"every_ns\": 500000000");
    capture_close(&out);
    etlheap_result_free(result);
}

static void summaries_of_one_trace_are_of_one(void **state)
{
    const summary_fixture *const f = *state;
    etlheap_summary *const summary = summary_begin(0);
    add_day(summary, 0, "monday.etl", 0);
    summary_end(summary, f->paths[0]);
    etlheap_result *const result = summary_read(f->paths[0]);
    capture out;
    find(write_info(result, "text", 0, &out), "of 1 trace, without windows");
    capture_close(&out);
    etlheap_result_free(result);
}

static etlheap_result *count_events(etl_build *b, check_traces *traces)
{
    const etlheap_options options = { .size = sizeof options, .inventory_only = true };
    check_open(traces, b);
    return check_analyze(traces, &options);
}

static void losses_stand_on_top(void **state)
{
    check_traces traces = { 0 };
    capture out;
    (void)state;
    etl_build *const b = build_day(0, 1234567);
    etl_build_break(b, ETL_BREAK_SESSION_BUFFERS_LOST, 0, 8);
    etlheap_result *const result = count_events(b, &traces);
    find(write_info(result, "text", 0, &out),
         "1,234,567 events, 8 buffers: sizes below may be too low or too high\n");
    capture_close(&out);
    etlheap_result_free(result);
    check_close(&traces);
}

/* GUIDs stay: they are what recording commands take. */
static void known_providers_have_their_name(void **state)
{
    check_traces traces = { 0 };
    capture out;
    (void)state;
    etl_build *const b = etl_build_new(&(etl_build_options){ .cpus = 1 });
    etl_build_at at = { .ticks = etl_build_start_ticks(b) + 10 };
    etl_build_manifest event = { .id = 1 };
    etl_build_guid("edd08927-9cc4-4e65-b970-c2560fb5c289", event.provider);
    etl_build_event(b, at, &event);
    at.ticks += 10;
    etl_build_guid("3c74afb9-8d82-44e3-b52c-365dbf48382a", event.provider);
    etl_build_event(b, at, &event);
    etlheap_result *const result = count_events(b, &traces);
    find(write_info(result, "text", 0, &out),
         "\nedd08927-9cc4-4e65-b970-c2560fb5c289  Microsoft-Windows-Kernel-File      1");
    capture_close(&out);
    const char *const document = write_info(result, "json", 0, &out);
    find(document, "{\"guid\": \"edd08927-9cc4-4e65-b970-c2560fb5c289\", "
                   "\"name\": \"Microsoft-Windows-Kernel-File\", \"count\": 1");
    find(document, "{\"guid\": \"3c74afb9-8d82-44e3-b52c-365dbf48382a\", \"name\": null, ");
    capture_close(&out);
    etlheap_result_free(result);
    check_close(&traces);
}

static void a_trace_of_nothing_says_how_to_record(void **state)
{
    check_traces traces = { 0 };
    capture out;
    (void)state;
    etl_build *const b = etl_build_new(&(etl_build_options){ .cpus = 1 });
    etl_build_mark(b, (etl_build_at){ .ticks = etl_build_start_ticks(b) + 10 }, "mark");
    etlheap_result *const result = count_events(b, &traces);
    const char *const document = write_info(result, "text", 0, &out);
    find(document, "the trace has no memory events");
    find(document, "Missing, and how to record it");
    find(document, "wpr -start Heap");
    find(document, "Can also be recorded, if you need it\ncustom        blocks of allocators that");
    capture_close(&out);
    etlheap_result_free(result);
    check_close(&traces);
}

#define SUMMARY(name)                                                                              \
    cmocka_unit_test_setup_teardown(name, summary_fixture_open, summary_fixture_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SUMMARY(summaries_list_their_traces),
        SUMMARY(text_lists_them_in_order_of_time),
        SUMMARY(lists_that_are_cut_say_so),
        SUMMARY(summaries_of_one_trace_are_of_one),
        cmocka_unit_test(losses_stand_on_top),
        cmocka_unit_test(known_providers_have_their_name),
        cmocka_unit_test(a_trace_of_nothing_says_how_to_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
