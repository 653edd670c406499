/*
 * Goal: an index is read as it was written, its last word on each file counts, and
 * what is no line of it, by an interrupted writer or by accident, is none.
 * Method: lines written and read back; lines by hand; whole lines cut at every byte
 * and with every byte changed, which must be read as the line or not at all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/capture.h"
#include "tests/support/temporary.h"
#include "formats/formats.h"

#include "parser/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const etlheap_run sample = {
    .file = "a \"b\"\n.etl",
    .output = "sub/a.ehs",
    .verdict = ETLHEAP_VERDICT_DAMAGED,
    .input_bytes = UINT64_MAX - 9,
    .output_bytes = 17,
    .marks = { .input = { true, { 0x0123456789abcdef, 2 } },
               .output = { true, { UINT64_MAX, 0 } },
               .settings = { true, { 5, 6 } },
               .input_stamp = { .given = false },
               .output_stamp = { true, { 9, 10 } } },
    .duration_ns = 12,
    .peak_memory_bytes = 4096,
};

/* An index in a file. */
static etlheap_runs *open_index(const char *text, size_t size)
{
    char path[TEMPORARY_PATH_BYTES];
    const int file = temporary_file(path, "etlheap-runs");
    etlheap_runs *runs = NULL;
    assert_true(file >= 0);
    assert_int_equal(write(file, text, size), size);
    close(file);
    assert_int_equal(etlheap_runs_open(path, &runs, NULL), ETL_OK);
    unlink(path);
    return runs;
}

static char *write_line(const etlheap_run *run)
{
    capture out;
    capture_open(&out);
    etlheap_run_write(run, out.sink);
    char *const text = strdup(capture_text(&out));
    capture_close(&out);
    return text;
}

static void assert_bytes(etl_bytes got, const char *wanted)
{
    assert_int_equal(got.size, strlen(wanted));
    assert_memory_equal(got.at, wanted, got.size);
}

static void assert_id(const etlheap_run_id *got, const etlheap_run_id *wanted)
{
    assert_int_equal(got->given, wanted->given);
    assert_int_equal(got->id.high, wanted->id.high);
    assert_int_equal(got->id.low, wanted->id.low);
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    char *const text = write_line(&sample);
    etlheap_runs *const runs = open_index(text, strlen(text));
    assert_int_equal(etlheap_runs_count(runs), 1);
    assert_true(etlheap_runs_is_whole(runs));
    const etlheap_run_line *const line = etlheap_runs_at(runs, 0);
    assert_bytes(line->file, "\"a \\\"b\\\"\\n.etl\"");
    assert_bytes(line->output, "\"sub/a.ehs\"");
    assert_int_equal(line->verdict, ETLHEAP_VERDICT_DAMAGED);
    assert_int_equal(line->output_bytes, 17);
    assert_id(&line->marks.input, &sample.marks.input);
    assert_id(&line->marks.output, &sample.marks.output);
    assert_id(&line->marks.settings, &sample.marks.settings);
    assert_id(&line->marks.input_stamp, &sample.marks.input_stamp);
    assert_id(&line->marks.output_stamp, &sample.marks.output_stamp);
    etlheap_runs_close(runs);
    free(text);
}

static void a_failure_has_neither_output_nor_hashes(void **state)
{
    (void)state;
    const etlheap_run run = { .file = "x",
                              .verdict = ETLHEAP_VERDICT_FAILED,
                              .error = "it is empty" };
    char *const text = write_line(&run);
    assert_string_equal(
        text, "{\"schema\": \"etlheap-run-1\", \"file\": \"x\", \"output\": null, \"verdict\": "
              "\"failed\", "
              "\"input_bytes\": null, \"output_bytes\": null, \"input_hash\": null, "
              "\"output_hash\": null, "
              "\"settings_hash\": null, \"trace\": null, \"diagnostics\": [], \"error\": \"it is "
              "empty\", "
              "\"input_stamp\": null, \"output_stamp\": null, \"skipped_unchanged\": false, "
              "\"duration_ns\": 0, \"peak_memory_bytes\": null}\n");
    etlheap_runs *const runs = open_index(text, strlen(text));
    assert_int_equal(etlheap_runs_count(runs), 1);
    assert_bytes(etlheap_runs_at(runs, 0)->output, "null");
    assert_false(etlheap_runs_at(runs, 0)->marks.input.given);
    etlheap_runs_close(runs);
    free(text);
}

static void names_are_quoted_as_lines_have_them(void **state)
{
    (void)state;
    etlheap_text text = { 0 };
    etlheap_run_quote("a \"b\"\n.etl", &text);
    assert_string_equal(text.bytes, "\"a \\\"b\\\"\\n.etl\"");
    etlheap_run_quote("\xff", &text);
    assert_string_equal(text.bytes, "\"\xEF\xBF\xBD\"");
    etlheap_text_free(&text);
}

static void a_skipped_line_differs_in_that_and_its_stamps(void **state)
{
    (void)state;
    char *const text = write_line(&sample);
    etlheap_runs *const runs = open_index(text, strlen(text));
    const etlheap_run_marks stamps = { .input_stamp = { true, { 1, 2 } } };
    capture out;
    capture_open(&out);
    etlheap_run_copy(etlheap_runs_at(runs, 0), out.sink);
    assert_string_equal(capture_text(&out), text);
    capture_close(&out);
    capture_open(&out);
    etlheap_run_skip(etlheap_runs_at(runs, 0), &stamps, out.sink);
    const char *const got = capture_text(&out);
    const char *const tail = strstr(got, "\"input_stamp\"");
    assert_memory_equal(got, text, (size_t)(tail - got));
    assert_string_equal(tail, "\"input_stamp\": \"00000000000000010000000000000002\", "
                              "\"output_stamp\": null, \"skipped_unchanged\": true, "
                              "\"duration_ns\": 12, \"peak_memory_bytes\": 4096}\n");
    capture_close(&out);
    etlheap_runs_close(runs);
    free(text);
}

static size_t add_line(char *into, const char *file, const char *output, const char *verdict)
{
    return (size_t)sprintf(into,
                           "{\"schema\":\"etlheap-run-1\",\"file\":\"%s\",\"output\":%s,"
                           "\"verdict\":\"%s\"}\n",
                           file, output, verdict);
}

static void the_last_line_of_a_file_or_output_counts(void **state)
{
    (void)state;
    char text[2000];
    size_t size = 0;
    size += add_line(text + size, "a", "\"x\"", "stored");
    size += add_line(text + size, "b", "null", "failed");
    size += add_line(text + size, "c", "null", "failed");
    size += add_line(text + size, "a", "\"x\"", "damaged");
    size += add_line(text + size, "d", "\"x\"", "lost_events");
    size += add_line(text + size, "e", "\"y\"", "stored");
    etlheap_runs *const runs = open_index(text, size);
    const char *const files[] = { "\"b\"", "\"c\"", "\"d\"", "\"e\"" };
    assert_int_equal(etlheap_runs_count(runs), ETL_COUNT_OF(files));
    for (u32 i = 0; i < ETL_COUNT_OF(files); i++)
        assert_bytes(etlheap_runs_at(runs, i)->file, files[i]);
    etlheap_runs_close(runs);
}

static void what_is_no_line_is_passed_over(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "rubbish",
        "{}",
        "[1, 2]",
        "{\"schema\":\"etlheap-run-2\",\"file\":\"a\",\"output\":null,\"verdict\":\"stored\"}",
        "{\"schema\":\"etlheap-run-1\",\"output\":null,\"verdict\":\"stored\"}",
        "{\"schema\":\"etlheap-run-1\",\"file\":\"a\",\"output\":null,\"verdict\":\"good\"}",
        "{\"schema\":\"etlheap-run-1\",\"file\":\"a\",\"output\":null,\"verdict\":\"stored\"",
        "{\"schema\":\"etlheap-run-1\",\"file\":\"a\",\"output\":null,\"verdict\":\"stored\"}}",
        "{\"schema\":\"etlheap-run-1\",\"file\":\"a\",\"output\":[1,\"verdict\":\"stored\"}",
        "{\"schema\":\"etlheap-run-1\",\"file\":\"a\",\"output\":null,\"verdict\":\"stored\","
        "\"input_hash\":\"12\"}",
        "{\"schema\":\"etlheap-run-1\",\"file\":\"a\",\"output\":null,\"verdict\":\"stored\","
        "\"input_bytes\":18446744073709551616}",
    };
    for (u32 i = 0; i < ETL_COUNT_OF(bad); i++) {
        char text[1000];
        size_t size = (size_t)sprintf(text, "%s\n", bad[i]);
        size += add_line(text + size, "good", "null", "stored");
        etlheap_runs *const runs = open_index(text, size);
        assert_int_equal(etlheap_runs_count(runs), 1);
        assert_bytes(etlheap_runs_at(runs, 0)->file, "\"good\"");
        etlheap_runs_close(runs);
    }
}

static void keys_that_are_not_known_are_passed_over(void **state)
{
    (void)state;
    static const char text[] =
        "{ \"new\" : {\"a\":[{\"}\":\"\\\"]\"},2]} ,\"schema\":\"etlheap-run-1\", \"file\":\"a\" ,"
        "\"output\":null,\"verdict\":\"stored\"}\n";
    etlheap_runs *const runs = open_index(text, sizeof text - 1);
    assert_int_equal(etlheap_runs_count(runs), 1);
    etlheap_runs_close(runs);
}

static void a_line_that_was_cut_off_is_none(void **state)
{
    (void)state;
    char *const text = write_line(&sample);
    for (size_t size = 0; size < strlen(text); size++) {
        etlheap_runs *const runs = open_index(text, size);
        assert_int_equal(etlheap_runs_count(runs), 0);
        assert_int_equal(etlheap_runs_is_whole(runs), size == 0);
        etlheap_runs_close(runs);
    }
    free(text);
}

/* Nothing but that reading ends, and stays within the bytes. */
static void a_line_with_any_byte_changed_is_read_or_not(void **state)
{
    (void)state;
    static const char changes[] = "\"\\{}[],: \n\x00z";
    char *const text = write_line(&sample);
    const size_t size = strlen(text);
    for (size_t at = 0; at < size; at++) {
        for (size_t i = 0; i < sizeof changes - 1; i++) {
            const char kept = text[at];
            text[at] = changes[i];
            etlheap_runs *const runs = open_index(text, size);
            assert_in_range(etlheap_runs_count(runs), 0, 1);
            etlheap_runs_close(runs);
            text[at] = kept;
        }
    }
    free(text);
}

/* Whoever can write to the index could name any file, and scripts merge what it names. */
static void an_output_elsewhere_is_none(void **state)
{
    static const struct {
        const char *output;
        bool is_read;
    } cases[] = {
        { "\"a.ehs\"", true },
        { "\"sub/a..ehs\"", true },
        { "\"..a/b..\"", true },
        { "\"a\\n\\\"b\\u001f.ehs\"", true },
        { "null", true },
        { "false", false },
        { "17", false },
        { "{}", false },
        { "\"\"", false },
        { "\"/etc/a.ehs\"", false },
        { "\"../a.ehs\"", false },
        { "\"sub/../../a.ehs\"", false },
        { "\"sub/..\"", false },
        { "\"..\"", false },
        { "\"sub//a.ehs\"", false },
        { "\"\\u002e./a.ehs\"", false },
        { "\"\\/etc/a.ehs\"", false },
        { "\"\\u002fetc/a.ehs\"", false },
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(cases); i++) {
        char text[256];
        const int size =
            snprintf(text, sizeof text,
                     "{\"schema\": \"etlheap-run-1\", \"file\": \"x\", \"output\": %s, "
                     "\"verdict\": \"stored\"}\n",
                     cases[i].output);
        etlheap_runs *const runs = open_index(text, (size_t)size);
        if (etlheap_runs_count(runs) != cases[i].is_read)
            fail_msg("%s is %s", cases[i].output, cases[i].is_read ? "refused" : "read");
        etlheap_runs_close(runs);
    }
}

static void verdicts_follow_from_diagnostics(void **state)
{
    (void)state;
    etl_diag_counts counts = { 0 };
    assert_int_equal(etlheap_verdict_of(&counts), ETLHEAP_VERDICT_STORED);
    counts.of[ETL_DIAG_free_without_alloc] = 1;
    assert_int_equal(etlheap_verdict_of(&counts), ETLHEAP_VERDICT_STORED);
    counts.of[ETL_DIAG_events_lost] = 1;
    assert_int_equal(etlheap_verdict_of(&counts), ETLHEAP_VERDICT_LOST_EVENTS);
    counts.of[ETL_DIAG_file_truncated] = 1;
    assert_int_equal(etlheap_verdict_of(&counts), ETLHEAP_VERDICT_DAMAGED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(a_failure_has_neither_output_nor_hashes),
        cmocka_unit_test(names_are_quoted_as_lines_have_them),
        cmocka_unit_test(a_skipped_line_differs_in_that_and_its_stamps),
        cmocka_unit_test(the_last_line_of_a_file_or_output_counts),
        cmocka_unit_test(what_is_no_line_is_passed_over),
        cmocka_unit_test(keys_that_are_not_known_are_passed_over),
        cmocka_unit_test(a_line_that_was_cut_off_is_none),
        cmocka_unit_test(a_line_with_any_byte_changed_is_read_or_not),
        cmocka_unit_test(an_output_elsewhere_is_none),
        cmocka_unit_test(verdicts_follow_from_diagnostics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
