/*
 * Goal: the JSON documents of `report` and `info` have exactly the documented
 * keys in the documented order, and the text report says the same.
 * Method: a built trace with one allocation that stays and one that is freed,
 * analysed and written; documents are compared byte by byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/capture.h"
#include "tests/build/etl_build.h"

#include <stdlib.h>

#define START 1000000

typedef struct analysed {
    etl_build *build;
    etl_trace *trace;
    etlheap_result *result;
} analysed;

static void build_records(etl_build *b)
{
    const u64 frames[] = { 0x7ff600001a2b, 0x12345 };
    const etl_build_process_spec process = { .pid = 4321, .parent_pid = 4, .name = "app.exe" };
    const etl_build_image_spec image = { .pid = 4321,
                                         .base = 0x7ff600000000,
                                         .size = 0x10000,
                                         .path = "\\Device\\HarddiskVolume3\\app.exe" };
    etl_build_at at = { .ticks = START + 10, .pid = 4321, .tid = 1 };
    etl_build_process(b, at, ETL_BUILD_START, &process);
    at.ticks += 10;
    etl_build_image(b, at, ETL_BUILD_START, &image);
    at.ticks += 10;
    etl_build_heap_alloc(b, at, 0x1f0000, 0x2000, 3450);
    etl_build_stack_walk(b, at, &(etl_build_stack){ .user = frames, .user_count = 2 });
    at.ticks += 30;
    etl_build_heap_alloc(b, at, 0x1f0000, 0x4000, 50);
    at.ticks += 10;
    etl_build_heap_free(b, at, 0x1f0000, 0x4000);
}

static int set_up(void **state, bool inventory_only)
{
    static const char *const names[] = { "a \"b\".etl" };
    const etlheap_options options = { .size = sizeof options,
                                      .jobs = 1,
                                      .inventory_only = inventory_only };
    analysed *const a = calloc(1, sizeof *a);
    size_t size = 0;
    if (!a)
        return -1;
    a->build = etl_build_new(&(etl_build_options){ .cpus = 1, .start_ticks = START });
    build_records(a->build);
    assert_true(etl_build_finish(a->build));
    const u8 *const bytes = etl_build_data(a->build, &size);
    const etl_bytes file = { bytes, size };
    assert_int_equal(etl_open_memory(file, NULL, &a->trace, NULL), ETL_OK);
    assert_int_equal(etlheap_analyze(&a->trace, names, 1, &options, &a->result, NULL), ETL_OK);
    *state = a;
    return 0;
}

static int set_up_report(void **state)
{
    return set_up(state, false);
}

static int set_up_info(void **state)
{
    return set_up(state, true);
}

static int tear_down(void **state)
{
    analysed *const a = *state;
    etlheap_result_free(a->result);
    etl_close(a->trace);
    etl_build_free(a->build);
    free(a);
    return 0;
}

static void write_report(const analysed *a, const etlheap_query *query, const char *format,
                         capture *out)
{
    const etlheap_layout layout = etlheap_layout_default();
    etlheap_table *table;
    assert_int_equal(etlheap_aggregate(a->result, query, &table, NULL), ETL_OK);
    capture_open(out);
    assert_int_equal(
        etlheap_format_named(format)->write_report(a->result, table, &layout, out->sink), ETL_OK);
    etlheap_table_free(table);
}

#define TRACE_JSON                                                                                 \
    "  \"trace\": {\n"                                                                             \
    "    \"files\": [\"a \\\"b\\\".etl\"],\n"                                                      \
    "    \"session\": \"etl_build\",\n"                                                            \
    "    \"computer\": \"\",\n"                                                                    \
    "    \"os_build\": 26100,\n"                                                                   \
    "    \"pointer_bits\": 64,\n"                                                                  \
    "    \"cpus\": 1,\n"                                                                           \
    "    \"clock\": \"qpc\",\n"                                                                    \
    "    \"clock_hz\": 10000000,\n"                                                                \
    "    \"start_time\": \"2020-07-29T00:07:00.623615000Z\",\n"                                    \
    "    \"duration_ns\": 7000,\n"                                                                 \
    "    \"buffers\": 2,\n"                                                                        \
    "    \"events\": 7,\n"                                                                         \
    "    \"events_lost\": 0,\n"                                                                    \
    "    \"buffers_lost\": 0\n"                                                                    \
    "  },\n"                                                                                       \
    "  \"recorded\": [\n"                                                                          \
    "    {\"kind\": \"heap\", \"from_ns\": 1000, \"to_ns\": 7100}\n"                               \
    "  ],\n"

static void the_report_document_is_as_documented(void **state)
{
    const etlheap_query query = etlheap_query_default();
    capture out;
    write_report(*state, &query, "json", &out);
    const char *const text = capture_text(&out);
    const char *const diagnostics = strstr(text, "  \"diagnostics\": [\n");
    assert_non_null(diagnostics);
    const char wanted[] =
        "{\n"
        "  \"schema\": \"etlheap-report-1\",\n" TRACE_JSON "  \"window\": {\n"
        "    \"from_ns\": 0,\n"
        "    \"to_ns\": 7100\n"
        "  },\n"
        "  \"group_by\": [\n"
        "    \"kind\",\n"
        "    \"process\",\n"
        "    \"heap\",\n"
        "    \"type\",\n"
        "    \"stack\"\n"
        "  ],\n"
        "  \"frames\": [\n"
        "    {\"module\": \"app.exe\", \"offset\": \"0x1a2b\", \"address\": \"0x7ff600001a2b\", "
        "\"symbol\": null, \"file\": null, \"line\": null},\n"
        "    {\"module\": null, \"offset\": null, \"address\": \"0x12345\", \"symbol\": null, "
        "\"file\": null, \"line\": null}\n"
        "  ],\n"
        "  \"stacks\": [\n"
        "    [0, 1]\n"
        "  ],\n"
        "  \"rows\": [\n"
        "    {\"kind\": \"heap\", \"process\": \"app.exe\", \"pid\": 4321, \"heap\": \"0x1f0000\", "
        "\"type\": \"AIFO\", \"impacting_type\": \"Impacting\", \"stack\": 0, \"count\": 1, "
        "\"size\": 3450, \"impacting_size\": 3450, \"outstanding_count\": 1, "
        "\"outstanding_size\": 3450, \"realloc_count\": 0, \"peak_count\": 1, \"peak_size\": "
        "3450},\n"
        "    {\"kind\": \"heap\", \"process\": \"app.exe\", \"pid\": 4321, \"heap\": \"0x1f0000\", "
        "\"type\": \"AIFI\", \"impacting_type\": \"Transient\", \"stack\": null, \"count\": 1, "
        "\"size\": 50, \"impacting_size\": 0, \"outstanding_count\": 0, \"outstanding_size\": 0, "
        "\"realloc_count\": 0, \"peak_count\": 1, \"peak_size\": 50}\n"
        "  ],\n"
        "  \"totals\": [\n"
        "    {\"kind\": \"heap\", \"count\": 2, \"size\": 3500, \"impacting_size\": 3450, "
        "\"outstanding_count\": 1, \"outstanding_size\": 3450, \"free_without_alloc\": 0}\n"
        "  ],\n";
    assert_int_equal(diagnostics - text, sizeof wanted - 1);
    assert_memory_equal(text, wanted, sizeof wanted - 1);
    capture_close(&out);
}

static void keys_that_were_not_asked_for_are_absent(void **state)
{
    etlheap_query query = etlheap_query_default();
    capture out;
    query.group_by_count = 3;
    query.group_by[0] = ETLHEAP_KEY_THREAD;
    query.group_by[1] = ETLHEAP_KEY_SITE;
    query.group_by[2] = ETLHEAP_KEY_SIZE_CLASS;
    write_report(*state, &query, "json", &out); /* of several kinds, which are never added */
    assert_non_null(strstr(capture_text(&out),
                           "  \"rows\": [\n    {\"kind\": \"heap\", \"thread\": 1, \"site\": 0, "
                           "\"size_class\": 2048, "
                           "\"count\": 1, \"size\": 3450, "));
    capture_close(&out);
}

static void the_text_report_reads_from_process_to_frame(void **state)
{
    const etlheap_query query = etlheap_query_default();
    capture out;
    write_report(*state, &query, "text", &out);
    const char *const text = capture_text(&out);
    assert_non_null(strstr(
        text,
        "Kind / Process / Handle, Type / Stack         Size        Count       Size      Size  "
        "Count\n"
        "heap                                      3.37 KiB            1   3.37 KiB  3.42 KiB  "
        "    2\n"
        "  app.exe (4321)                          3.37 KiB            1   3.37 KiB  3.42 KiB  "
        "    2\n"
        "    0x1f0000  AIFO                        3.37 KiB            1   3.37 KiB  3.37 KiB  "
        "    1\n"
        "      app.exe+0x1a2b                      3.37 KiB            1   3.37 KiB  3.37 KiB  "
        "    1\n"
        "        0x12345\n"
        "\n1 row of heap has nothing outstanding and is not listed\n"));
    /* The head of a report on the whole trace is a single line, and another one because not all of
     * it was recorded. */
    const char *const second = "\nRecorded span 0.000001 s to 0.000007100 s (heap)\n\n";
    assert_memory_equal(text, "Trace         ", 14);
    assert_memory_equal(strchr(text, '\n'), second, strlen(second));
    capture_close(&out);
}

static void the_info_document_is_as_documented(void **state)
{
    const analysed *const a = *state;
    const etlheap_layout layout = etlheap_layout_default();
    capture out;
    capture_open(&out);
    assert_int_equal(etlheap_format_named("json")->write_info(a->result, &layout, out.sink),
                     ETL_OK);
    const char *const text = capture_text(&out);
    const char wanted[] =
        "{\n"
        "  \"schema\": \"etlheap-info-1\",\n" TRACE_JSON "  \"processes\": [\n"
        "    {\"pid\": 4321, \"parent_pid\": 4, \"name\": \"app.exe\", \"command_line\": \"\", "
        "\"start_ns\": 1000, \"end_ns\": null, \"pointer_bits\": 64, \"heap_events\": 3, "
        "\"virtualalloc_events\": 0}\n"
        "  ],\n"
        "  \"modules\": 1,\n"
        "  \"methods\": 0,\n"
        "  \"marks\": [],\n"
        "  \"events\": [\n"
        "    {\"hook\": \"0x0000\", \"name\": \"EventTrace/Header\", \"count\": 1, \"bytes\": "
        "360},\n"
        "    {\"hook\": \"0x0301\", \"name\": \"Process/Start\", \"count\": 1, \"bytes\": 110},\n"
        "    {\"hook\": \"0x030a\", \"name\": \"Image/Load\", \"count\": 1, \"bytes\": 152},\n"
        "    {\"hook\": \"0x1021\", \"name\": \"Heap/Alloc\", \"count\": 2, \"bytes\": 120},\n"
        "    {\"hook\": \"0x1024\", \"name\": \"Heap/Free\", \"count\": 1, \"bytes\": 52},\n"
        "    {\"hook\": \"0x1820\", \"name\": \"StackWalk/Stack\", \"count\": 1, \"bytes\": 48}\n"
        "  ],\n"
        "  \"providers\": [],\n"
        "  \"stacks\": {\n"
        "    \"records\": 1,\n"
        "    \"matched\": 1,\n"
        "    \"unmatched\": 0,\n"
        "    \"keys_referenced\": 0,\n"
        "    \"keys_resolved\": 0\n"
        "  },\n"
        "  \"can\": [\n"
        "    \"heap\",\n"
        "    \"stacks\",\n"
        "    \"modules\"\n"
        "  ],\n"
        "  \"questions\": [\n"
        "    {\"name\": \"heap\", \"can\": true, \"why\": \"the recording has events about heap "
        "blocks (3)\", "
        "\"record\": null},\n"
        "    {\"name\": \"virtualalloc\", \"can\": false, \"why\": \"the recording has no events "
        "about "
        "committed ranges\", \"record\": \"wpr ";
    /* The list has a row for each kind, and a test of its own: oracle_questions.py. */
    const char last[] =
        "    {\"name\": \"marks\", \"can\": false, \"why\": \"no mark was set while "
        "recording\", \"record\": \"wpr -marker NAME, or xperf -m NAME, while "
        "recording\"}\n"
        "  ],\n"
        "  \"diagnostics\": []\n"
        "}\n";
    assert_in_range(strlen(text), sizeof wanted + sizeof last, SIZE_MAX);
    assert_memory_equal(text, wanted, sizeof wanted - 1);
    assert_string_equal(text + strlen(text) - (sizeof last - 1), last);
    capture_close(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_report_document_is_as_documented, set_up_report,
                                        tear_down),
        cmocka_unit_test_setup_teardown(keys_that_were_not_asked_for_are_absent, set_up_report,
                                        tear_down),
        cmocka_unit_test_setup_teardown(the_text_report_reads_from_process_to_frame, set_up_report,
                                        tear_down),
        cmocka_unit_test_setup_teardown(the_info_document_is_as_documented, set_up_info, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
