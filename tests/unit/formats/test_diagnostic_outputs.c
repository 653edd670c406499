/*
 * Goal: whatever was lost or damaged is told in every document with its name, how bad
 * it is, its count and the advice; of both sides where there are two.
 * Method: a result made by hand that has every diagnostic there is, each with a count
 * of its own, is put through all that writes documents; each diagnostic is looked for
 * in its form, blanks and line ends aside. Formats that are lists have no room for it: what
 * the program says beside them is in cli_losses.sh.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/capture.h"
#include "formats/exporters.h"
#include "tests/support/hand_result.h"
#include "hand_windows.h"
#include "page_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNTS     10001u
#define OTHER      20001u /* of the other side */
#define SAID_BYTES 1024

/* A result, and what each writer is given of it. */
typedef struct world {
    hand_windows *windows;
    etlheap_table *table, *other;
    const etlheap_gate *gate;
    etlheap_symbol_list symbols;
    etlheap_diff *diff;
} world;

static void fill(etl_diag_counts *counts, u64 first)
{
    for (int i = 0; i < ETL_DIAG_COUNT; i++)
        counts->of[i] = first + (u64)i;
}

static int set_up(void **state)
{
    static world w;
    void *windows = NULL;
    if (hand_windows_set_up(&windows) != 0)
        return -1;
    w = (world){ .windows = windows };
    hand_windows *const made = w.windows;
    made->result->info.session = made->result->info.computer = "";
    const etlheap_budget budget = { .scope = ETLHEAP_SCOPE_TOTAL, .limit = 1 };
    const etlheap_gate_side side = { made->result, &made->query };
    const etlheap_gate_options gate = {
        .size = sizeof gate, .budgets = &budget, .budget_count = 1, .baseline = &side
    };
    const etlheap_diff_options diff = etlheap_diff_options_default();
    fill(&made->result->diag, OTHER);
    assert_int_equal(etlheap_aggregate(made->result, &made->query, &w.other, NULL), ETL_OK);
    fill(&made->result->diag, COUNTS);
    assert_int_equal(etlheap_aggregate(made->result, &made->query, &w.table, NULL), ETL_OK);
    hand_windows_every(made, HAND_MS_NS);
    assert_int_equal(etlheap_gate_judge(&side, &gate, &w.gate, NULL), ETL_OK);
    assert_int_equal(etlheap_diff_tables(w.other, w.table, &diff, &w.diff, NULL), ETL_OK);
    fill(&w.symbols.diagnostics, COUNTS);
    *state = &w;
    return 0;
}

static int tear_down(void **state)
{
    world *const w = *state;
    etlheap_diff_free(w->diff);
    etlheap_gate_free(w->gate);
    etlheap_table_free(w->table);
    etlheap_table_free(w->other);
    void *windows = w->windows;
    return hand_windows_tear_down(&windows);
}

/* --- what a document must say ---------------------------------------------------------- */

/* How one diagnostic is put: by its info, count and into `out`. */
typedef void say_fn(const etl_diag_info *info, u64 count, char out[SAID_BYTES]);

static void as_json(const etl_diag_info *info, u64 count, char out[SAID_BYTES])
{
    snprintf(out, SAID_BYTES,
             "{\"name\": \"%s\", \"severity\": \"%s\", \"count\": %" PRIu64 ", \"advice\": \"%s\"}",
             info->name, etl_severity_name(info->severity), count, info->advice);
}

/* Counts are grouped by thousands. */
static void as_text(const etl_diag_info *info, u64 count, char out[SAID_BYTES])
{
    snprintf(out, SAID_BYTES, "%s %" PRIu64 ",%03" PRIu64 " %s: %s",
             etl_severity_name(info->severity), count / 1000, count % 1000, info->name,
             info->advice);
}

static void as_line(const etl_diag_info *info, u64 count, char out[SAID_BYTES])
{
    snprintf(out, SAID_BYTES, "%s (%" PRIu64 "): %s", info->name, count, info->advice);
}

static void as_line_of_baseline(const etl_diag_info *info, u64 count, char out[SAID_BYTES])
{
    snprintf(out, SAID_BYTES, "baseline: %s (%" PRIu64 "): %s", info->name, count, info->advice);
}

/* Lines are broken and indented in many ways: the text without blanks and line ends. */
static char *squeeze(const char *text)
{
    char *const out = malloc(strlen(text) + 1);
    size_t size = 0;
    assert_non_null(out);
    for (; *text != '\0'; text++) {
        if (*text != ' ' && *text != '\n')
            out[size++] = *text;
    }
    out[size] = '\0';
    return out;
}

/* `least` is the mildest severity that the document tells. */
static void assert_tells_all(const char *document, say_fn *say, u64 first, etl_severity least)
{
    char *const text = squeeze(document);
    for (int i = 0; i < ETL_DIAG_COUNT; i++) {
        const etl_diag_info *const info = etl_diag_describe((etl_diag)i);
        char wanted[SAID_BYTES];
        say(info, first + (u64)i, wanted);
        char *const words = squeeze(wanted);
        if (info->severity >= least && strstr(text, words) == NULL)
            fail_msg("the document does not say: %s", wanted);
        free(words);
    }
    free(text);
}

/* --- documents ---------------------------------------------------------------------------- */

static const char *const document_formats[] = { "text", "json" };

static say_fn *manner_of(const char *format)
{
    return strcmp(format, "json") == 0 ? as_json : as_text;
}

static const etlheap_format *begin_document(size_t index, capture *out)
{
    capture_open(out);
    return etlheap_format_named(document_formats[index]);
}

/* It was written, with all counts of the trace. */
static void end_document(size_t index, etl_status status, capture *out)
{
    assert_int_equal(status, ETL_OK);
    assert_tells_all(capture_text(out), manner_of(document_formats[index]), COUNTS,
                     ETL_SEVERITY_INFO);
    capture_close(out);
}

static void reports_tell_all(void **state)
{
    const world *const w = *state;
    for (size_t i = 0; i < ETL_COUNT_OF(document_formats); i++) {
        capture out;
        const etlheap_format *const format = begin_document(i, &out);
        end_document(
            i, format->write_report(w->windows->result, w->table, &w->windows->layout, out.sink),
            &out);
    }
}

static void histograms_tell_all(void **state)
{
    const world *const w = *state;
    const etlheap_histogram *histogram = NULL;
    assert_int_equal(etlheap_histogram_make(w->windows->result, &w->windows->query,
                                            ETLHEAP_HISTOGRAM_SIZE, &histogram, NULL),
                     ETL_OK);
    for (size_t i = 0; i < ETL_COUNT_OF(document_formats); i++) {
        capture out;
        const etlheap_format *const format = begin_document(i, &out);
        end_document(i,
                     format->write_histogram(w->windows->result, w->table, histogram,
                                             &w->windows->layout, out.sink),
                     &out);
    }
    etlheap_histogram_free(histogram);
}

static void windows_tell_all(void **state)
{
    const world *const w = *state;
    for (size_t i = 0; i < ETL_COUNT_OF(document_formats); i++) {
        capture out;
        const etlheap_format *const format = begin_document(i, &out);
        end_document(i,
                     format->write_windows(w->windows->result, &w->windows->answer,
                                           &w->windows->layout, out.sink),
                     &out);
    }
}

static void diffs_tell_all_of_both_sides(void **state)
{
    const world *const w = *state;
    const etlheap_diff_answer answer = {
        .diff = w->diff,
        .base = { .name = "base", .result = w->windows->result, .table = w->other },
        .now = { .name = "new", .result = w->windows->result, .table = w->table },
    };
    for (size_t i = 0; i < ETL_COUNT_OF(document_formats); i++) {
        capture out;
        const etlheap_format *const format = begin_document(i, &out);
        assert_int_equal(format->write_diff(&answer, &w->windows->layout, out.sink), ETL_OK);
        const char *const text = capture_text(&out);
        assert_tells_all(text, manner_of(document_formats[i]), OTHER, ETL_SEVERITY_INFO);
        assert_tells_all(text, manner_of(document_formats[i]), COUNTS, ETL_SEVERITY_INFO);
        capture_close(&out);
    }
}

/* JUnit has one place for errors, where what is normal would look like one. */
static void checks_tell_all_of_both_sides(void **state)
{
    static const struct {
        const char *format;
        say_fn *say, *say_of_baseline;
        etl_severity least;
    } rows[] = {
        { "text", as_text, as_text, ETL_SEVERITY_INFO },
        { "json", as_json, as_json, ETL_SEVERITY_INFO },
        { "junit", as_line, as_line_of_baseline, ETL_SEVERITY_LOSS },
        { "sarif", as_line, as_line_of_baseline, ETL_SEVERITY_INFO },
    };
    const world *const w = *state;
    etlheap_gate gate = *w->gate;
    const etlheap_check check = { .gate = &gate, .baseline_name = "base.ehs" };
    fill(&gate.baseline_diagnostics, OTHER);
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        capture out;
        capture_open(&out);
        assert_int_equal(
            etlheap_format_named(rows[i].format)
                ->write_check(w->windows->result, &check, &w->windows->layout, out.sink),
            ETL_OK);
        const char *const text = capture_text(&out);
        assert_tells_all(text, rows[i].say, COUNTS, rows[i].least);
        assert_tells_all(text, rows[i].say_of_baseline, OTHER, rows[i].least);
        capture_close(&out);
    }
}

static void lists_of_symbols_tell_all(void **state)
{
    const world *const w = *state;
    for (size_t i = 0; i < ETL_COUNT_OF(document_formats); i++) {
        capture out;
        const etlheap_format *const format = begin_document(i, &out);
        end_document(
            i,
            format->write_symbols(w->windows->result, &w->symbols, &w->windows->layout, out.sink),
            &out);
    }
}

static void descriptions_of_traces_tell_all(void **state)
{
    const world *const w = *state;
    for (size_t i = 0; i < ETL_COUNT_OF(document_formats); i++) {
        capture out;
        const etlheap_format *const format = begin_document(i, &out);
        end_document(i, format->write_info(w->windows->result, &w->windows->layout, out.sink),
                     &out);
    }
}

static void lists_of_allocations_tell_all_as_one_document(void **state)
{
    const world *const w = *state;
    const etlheap_lifetimes_options options = { .size = sizeof options };
    etlheap_lifetimes *walk = NULL;
    capture out;
    assert_int_equal(
        etlheap_lifetimes_open(w->windows->result, &w->windows->query, &options, &walk, NULL),
        ETL_OK);
    capture_open(&out);
    assert_int_equal(
        etlheap_format_named("json")->write_allocations(walk, &w->windows->layout, out.sink),
        ETL_OK);
    assert_tells_all(capture_text(&out), as_json, COUNTS, ETL_SEVERITY_INFO);
    capture_close(&out);
    etlheap_lifetimes_close(walk);
}

static void pages_tell_all(void **state)
{
    const world *const w = *state;
    const etlheap_export_request request = { .size = sizeof request,
                                             .result = w->windows->result,
                                             .query = &w->windows->query };
    capture out;
    capture_open(&out);
    assert_int_equal(etlheap_export(etlheap_exporter_named("html"), &request, out.sink, NULL),
                     ETL_OK);
    /* The page tells those of its first document, which is about the whole trace. */
    const char *at = capture_text(&out);
    char *const text = page_part(&at, "deflated");
    assert_non_null(text);
    assert_non_null(strstr(text, "\"etlheap-info-1\""));
    assert_tells_all(text, as_json, COUNTS, ETL_SEVERITY_INFO);
    free(text);
    capture_close(&out);
}

/* --- the table ------------------------------------------------------------------------------ */

/* A sentence that is cut says nothing, and lines of the program are cut at 512. */
static void advice_fits_where_it_is_shown(void **state)
{
    (void)state;
    for (int i = 0; i < ETL_DIAG_COUNT; i++) {
        const etl_diag_info *const info = etl_diag_describe((etl_diag)i);
        assert_true(strlen(info->name) > 3);
        assert_true(strlen(info->advice) > 20);
        assert_true(strlen(info->name) + strlen(info->advice) < 400);
        assert_null(strpbrk(info->advice, "{}<>&\"\n"));
    }
}

static void severities_have_names(void **state)
{
    static const char *const names[] = { "info", "loss", "damage", "limit" };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(names); i++)
        assert_string_equal(etl_severity_name((etl_severity)i), names[i]);
}

#define DOCUMENTS(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DOCUMENTS(reports_tell_all),
        DOCUMENTS(histograms_tell_all),
        DOCUMENTS(windows_tell_all),
        DOCUMENTS(diffs_tell_all_of_both_sides),
        DOCUMENTS(checks_tell_all_of_both_sides),
        DOCUMENTS(lists_of_symbols_tell_all),
        DOCUMENTS(descriptions_of_traces_tell_all),
        DOCUMENTS(lists_of_allocations_tell_all_as_one_document),
        DOCUMENTS(pages_tell_all),
        cmocka_unit_test(advice_fits_where_it_is_shown),
        cmocka_unit_test(severities_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
