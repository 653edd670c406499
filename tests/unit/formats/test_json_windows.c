/*
 * Goal: time windows as JSON and CSV have exactly the documented keys, in
 * the documented order.
 * Method: windows made by hand (hand_windows.h); documents are compared byte by byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/capture.h"
#include "formats/writers.h"
#include "hand_windows.h"

static const char document[] =
    "{\n"
    "  \"schema\": \"etlheap-windows-1\",\n"
    "  \"trace\": {\n"
    "    \"files\": [],\n"
    "    \"session\": \"\",\n"
    "    \"computer\": \"\",\n"
    "    \"os_build\": 0,\n"
    "    \"pointer_bits\": 0,\n"
    "    \"cpus\": 0,\n"
    "    \"clock\": \"qpc\",\n"
    "    \"clock_hz\": 0,\n"
    "    \"start_time\": null,\n"
    "    \"duration_ns\": 5999900,\n"
    "    \"buffers\": 0,\n"
    "    \"events\": 0,\n"
    "    \"events_lost\": 0,\n"
    "    \"buffers_lost\": 0\n"
    "  },\n"
    "  \"recorded\": [\n"
    "    {\"kind\": \"heap\", \"from_ns\": null, \"to_ns\": null},\n"
    "    {\"kind\": \"virtualalloc\", \"from_ns\": null, \"to_ns\": null}\n"
    "  ],\n"
    "  \"window\": {\n"
    "    \"from_ns\": 0,\n"
    "    \"to_ns\": 6000000\n"
    "  },\n"
    "  \"every_ns\": 3000000,\n"
    "  \"group_by\": [\n"
    "    \"kind\",\n"
    "    \"process\"\n"
    "  ],\n"
    "  \"frames\": [],\n"
    "  \"stacks\": [],\n"
    "  \"windows\": [\n"
    "    {\n"
    "      \"from_ns\": 0,\n"
    "      \"to_ns\": 3000000,\n"
    "      \"rows\": [\n"
    "        {\"kind\": \"virtualalloc\", \"process\": \"app.exe\", \"pid\": 10, "
    "\"aifi_count\": 0, \"aifi_size\": 0, \"aifo_count\": 1, \"aifo_size\": 1048576, "
    "\"aofi_count\": 0, \"aofi_size\": 0, \"aofo_count\": 0, \"aofo_size\": 0, "
    "\"outstanding_count\": 1, \"outstanding_size\": 1048576, \"peak_size\": 1048576, "
    "\"peak_count\": 1, \"impacting_size\": 1048576},\n"
    "        {\"kind\": \"heap\", \"process\": \"app.exe\", \"pid\": 10, \"aifi_count\": 1, "
    "\"aifi_size\": 1000, \"aifo_count\": 1, \"aifo_size\": 4096, \"aofi_count\": 0, "
    "\"aofi_size\": 0, \"aofo_count\": 0, \"aofo_size\": 0, \"outstanding_count\": 1, "
    "\"outstanding_size\": 4096, \"peak_size\": 5096, \"peak_count\": 2, \"impacting_size\": "
    "4096},\n"
    "        {\"kind\": \"heap\", \"process\": \"quiet.exe\", \"pid\": 20, \"aifi_count\": 0, "
    "\"aifi_size\": 0, \"aifo_count\": 0, \"aifo_size\": 0, \"aofi_count\": 0, \"aofi_size\": "
    "0, \"aofo_count\": 1, \"aofo_size\": 100, \"outstanding_count\": 1, \"outstanding_size\": "
    "100, \"peak_size\": 100, \"peak_count\": 1, \"impacting_size\": 0}\n"
    "      ]\n"
    "    },\n"
    "    {\n"
    "      \"from_ns\": 3000000,\n"
    "      \"to_ns\": 6000000,\n"
    "      \"rows\": [\n"
    "        {\"kind\": \"virtualalloc\", \"process\": \"app.exe\", \"pid\": 10, "
    "\"aifi_count\": 0, \"aifi_size\": 0, \"aifo_count\": 0, \"aifo_size\": 0, \"aofi_count\": "
    "0, \"aofi_size\": 0, \"aofo_count\": 1, \"aofo_size\": 1048576, \"outstanding_count\": 1, "
    "\"outstanding_size\": 1048576, \"peak_size\": 1048576, \"peak_count\": 1, "
    "\"impacting_size\": 0},\n"
    "        {\"kind\": \"heap\", \"process\": \"app.exe\", \"pid\": 10, \"aifi_count\": 1, "
    "\"aifi_size\": 500, \"aifo_count\": 0, \"aifo_size\": 0, \"aofi_count\": 0, "
    "\"aofi_size\": 0, \"aofo_count\": 1, \"aofo_size\": 4096, \"outstanding_count\": 1, "
    "\"outstanding_size\": 4096, \"peak_size\": 4596, \"peak_count\": 2, \"impacting_size\": "
    "0},\n"
    "        {\"kind\": \"heap\", \"process\": \"quiet.exe\", \"pid\": 20, \"aifi_count\": 0, "
    "\"aifi_size\": 0, \"aifo_count\": 0, \"aifo_size\": 0, \"aofi_count\": 0, \"aofi_size\": "
    "0, \"aofo_count\": 1, \"aofo_size\": 100, \"outstanding_count\": 1, \"outstanding_size\": "
    "100, \"peak_size\": 100, \"peak_count\": 1, \"impacting_size\": 0}\n"
    "      ]\n"
    "    }\n"
    "  ],\n"
    "  \"diagnostics\": []\n"
    "}\n";

static void json_has_exactly_the_documented_keys(void **state)
{
    hand_windows *const w = *state;
    capture out;
    hand_windows_every(w, 3 * HAND_MS_NS);
    capture_open(&out);
    assert_int_equal(etlheap_write_windows_json(w->result, &w->answer, &w->layout, out.sink),
                     ETL_OK);
    assert_string_equal(capture_text(&out), document);
    capture_close(&out);
}

static void csv_has_a_line_for_each_cell(void **state)
{
    hand_windows *const w = *state;
    capture out;
    hand_windows_every(w, 3 * HAND_MS_NS);
    capture_open(&out);
    assert_int_equal(etlheap_write_windows_csv(w->result, &w->answer, &w->layout, out.sink),
                     ETL_OK);
    assert_string_equal(
        capture_text(&out),
        "from_ns,to_ns,kind,process,pid,aifi_count,aifi_size,aifo_count,aifo_size,aofi_count,"
        "aofi_size,aofo_count,aofo_size,outstanding_count,outstanding_size,peak_size,peak_count,"
        "impacting_size\n"
        "0,3000000,virtualalloc,app.exe,10,0,0,1,1048576,0,0,0,0,1,1048576,1048576,1,1048576\n"
        "0,3000000,heap,app.exe,10,1,1000,1,4096,0,0,0,0,1,4096,5096,2,4096\n"
        "0,3000000,heap,quiet.exe,20,0,0,0,0,0,0,1,100,1,100,100,1,0\n"
        "3000000,6000000,virtualalloc,app.exe,10,0,0,0,0,0,0,1,1048576,1,1048576,1048576,1,0\n"
        "3000000,6000000,heap,app.exe,10,1,500,0,0,0,0,1,4096,1,4096,4596,2,0\n"
        "3000000,6000000,heap,quiet.exe,20,0,0,0,0,0,0,1,100,1,100,100,1,0\n");
    capture_close(&out);
}

static void json_has_the_growth_and_its_rows(void **state)
{
    hand_windows *const w = *state;
    capture out;
    hand_windows_growth(w);
    capture_open(&out);
    assert_int_equal(etlheap_write_windows_json(w->result, &w->answer, &w->layout, out.sink),
                     ETL_OK);
    const char *const text = strstr(capture_text(&out), "  \"growth\": {");
    assert_non_null(text);
    assert_string_equal(text,
                        "  \"growth\": {\n"
                        "    \"from_ns\": 2000000,\n"
                        "    \"to_ns\": 2200000,\n"
                        "    \"kind\": \"virtualalloc\",\n"
                        "    \"process\": \"app.exe\",\n"
                        "    \"pid\": 10,\n"
                        "    \"before_size\": 0,\n"
                        "    \"after_size\": 1048576,\n"
                        "    \"steepest\": {\n"
                        "      \"from_ns\": 2000000,\n"
                        "      \"to_ns\": 2200000,\n"
                        "      \"size\": 1048576,\n"
                        "      \"rate\": 5242880000\n"
                        "    },\n"
                        "    \"others\": [],\n"
                        "    \"frames\": [\n"
                        "      {\"module\": null, \"offset\": null, \"address\": \"0x1010\", "
                        "\"symbol\": null, \"file\": null, \"line\": null},\n"
                        "      {\"module\": null, \"offset\": null, \"address\": \"0x3030\", "
                        "\"symbol\": null, \"file\": null, \"line\": null},\n"
                        "      {\"module\": null, \"offset\": null, \"address\": \"0x2020\", "
                        "\"symbol\": null, \"file\": null, \"line\": null}\n"
                        "    ],\n"
                        "    \"stacks\": [\n"
                        "      [0, 1],\n"
                        "      [2, 1]\n"
                        "    ],\n"
                        "    \"rows\": [\n"
                        "      {\"kind\": \"virtualalloc\", \"process\": \"app.exe\", \"pid\": 10, "
                        "\"stack\": 0, \"count\": 1, \"size\": 1048576, \"impacting_size\": "
                        "1048576, \"outstanding_count\": 1, \"outstanding_size\": 1048576}\n"
                        "    ]\n"
                        "  },\n"
                        "  \"diagnostics\": []\n"
                        "}\n");
    capture_close(&out);
}

static void without_a_rise_growth_is_null(void **state)
{
    hand_windows *const w = *state;
    capture out;
    hand_windows_every(w, HAND_MS_NS);
    w->answer.growth_wanted = true;
    capture_open(&out);
    assert_int_equal(etlheap_write_windows_json(w->result, &w->answer, &w->layout, out.sink),
                     ETL_OK);
    assert_non_null(strstr(capture_text(&out), "  ],\n  \"growth\": null,\n  \"diagnostics\""));
    capture_close(&out);
    capture_open(&out);
    assert_int_equal(etlheap_write_windows_csv(w->result, &w->answer, &w->layout, out.sink),
                     ETL_OK);
    assert_true(strchr(capture_text(&out), '\n')[1] == '\0'); /* the names alone */
    capture_close(&out);
}

static void json_has_the_samples_that_are_known(void **state)
{
    hand_windows *const w = *state;
    capture out;
    w->query.kinds = 1u << ETLHEAP_KIND_EXTENT;
    hand_windows_every(w, 2 * HAND_MS_NS);
    hand_windows_memory(w);
    capture_open(&out);
    assert_int_equal(etlheap_write_windows_json(w->result, &w->answer, &w->layout, out.sink),
                     ETL_OK);
    const char *const text = strstr(capture_text(&out), "  \"windows\": [");
    assert_non_null(text);
    assert_string_equal(
        text, "  \"windows\": [\n"
              "    {\n"
              "      \"from_ns\": 0,\n"
              "      \"to_ns\": 2000000,\n"
              "      \"memory\": null,\n"
              "      \"process_memory\": [\n"
              "        {\"process\": \"gone.exe\", \"pid\": 30, \"time_ns\": 2, \"commit_size\": "
              "null, \"working_set_size\": 9000, \"private_working_set_size\": 0}\n"
              "      ],\n"
              "      \"rows\": []\n"
              "    },\n"
              "    {\n"
              "      \"from_ns\": 2000000,\n"
              "      \"to_ns\": 4000000,\n"
              "      \"memory\": {\n"
              "        \"time_ns\": 7,\n"
              "        \"commit_size\": 8388608,\n"
              "        \"available_size\": 4194304\n"
              "      },\n"
              "      \"process_memory\": [\n"
              "        {\"process\": \"app.exe\", \"pid\": 10, \"time_ns\": 7, \"commit_size\": "
              "3000, \"working_set_size\": 2000, \"private_working_set_size\": 1000}\n"
              "      ],\n"
              "      \"rows\": []\n"
              "    },\n"
              "    {\n"
              "      \"from_ns\": 4000000,\n"
              "      \"to_ns\": 6000000,\n"
              "      \"memory\": {\n"
              "        \"time_ns\": 9,\n"
              "        \"commit_size\": null,\n"
              "        \"available_size\": 2097152\n"
              "      },\n"
              "      \"process_memory\": [\n"
              "        {\"process\": \"app.exe\", \"pid\": 10, \"time_ns\": 9, \"commit_size\": "
              "6000, \"working_set_size\": 1000, \"private_working_set_size\": 500}\n"
              "      ],\n"
              "      \"rows\": []\n"
              "    }\n"
              "  ],\n"
              "  \"diagnostics\": []\n"
              "}\n");
    capture_close(&out);
}

#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, hand_windows_set_up, hand_windows_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(json_has_exactly_the_documented_keys), TEST(csv_has_a_line_for_each_cell),
        TEST(json_has_the_growth_and_its_rows),     TEST(without_a_rise_growth_is_null),
        TEST(json_has_the_samples_that_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
