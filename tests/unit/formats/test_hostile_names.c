/*
 * Goal: names in a trace cannot steer a terminal: no text output has a character that
 * controls it or that reorders what is read, whichever name of the trace it was in.
 * Method: a result made by hand in which every name (session, computer, process, command
 * line, module, file of the trace) has all such characters between two words, put
 * through all that writes text. The words must be there, what lies between them not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/capture.h"
#include "tests/support/hand_result.h"

#include <string.h>

/* Escape sequences, C1 controls, marks of direction and line separators, in UTF-8. */
#define EVIL                                                                                       \
    "\x1b[2J\x07\x7f\n\r\xc2\x9b\x31m\xe2\x80\xae\xe2\x80\x8f\xe2\x81\xa6\xe2\x81\xa9\xe2\x80\xa8" \
    "\xef\xbb\xbf"
#define NAME "begin" EVIL "end.exe"

/* The image's path is widened byte by byte. */
#define PATH "\\Device\\HarddiskVolume3\\begin\x1b[2J\x07\x7f\x9b\x31mend.exe"

typedef struct world {
    etlheap_result *result;
    etlheap_query query;
    etlheap_table *table;
    etlheap_layout layout;
} world;

static int set_up(void **state)
{
    static world w;
    static const char *const files[] = { NAME };
    static const u64 frames[] = { 0x11000, 0x12000 };
    const hand_image_spec image = { .kind = ETL_EVENT_IMAGE_LOAD,
                                    .pid = 8,
                                    .base = 0x10000,
                                    .size_bytes = 0x10000,
                                    .ticks = HAND_START_TICKS,
                                    .path = PATH };
    w = (world){ .result = hand_result_new(),
                 .query = etlheap_query_default(),
                 .layout = etlheap_layout_default() };
    etlheap_result *const result = w.result;
    const lifetime row = { .alloc_ticks = HAND_START_TICKS + 10,
                           .free_ticks = ETLHEAP_TICKS_NEVER,
                           .size = 4096,
                           .heap = 0x10,
                           .process = hand_process(result, 8, NAME),
                           .stack = hand_stack(result, frames, 2),
                           .free_type = ETLHEAP_FREE_NONE };
    result->processes.at[0].command_line = NAME;
    result->processes.at[0].events[ETLHEAP_KIND_HEAP] = 1;
    hand_image(&result->context, &image);
    hand_lifetime(result, &row);
    result->abilities.kinds = 1u << ETLHEAP_KIND_HEAP;
    hand_ready(result, HAND_START_TICKS + 100);
    result->info.session = result->info.computer = NAME;
    result->info.files = files;
    result->info.file_count = 1;
    result->info.clock = "qpc";
    w.query.jobs = 1;
    w.query.cull_frame_count = 0;
    assert_int_equal(etlheap_aggregate(result, &w.query, &w.table, NULL), ETL_OK);
    *state = &w;
    return 0;
}

static int tear_down(void **state)
{
    world *const w = *state;
    etlheap_table_free(w->table);
    etlheap_result_free(w->result);
    return 0;
}

static bool is_harmless(const char *text)
{
    static const char *const marks[] = {
        "\xc2\x9b",     "\xe2\x80\xae", "\xe2\x80\x8f", "\xe2\x81\xa6",
        "\xe2\x81\xa9", "\xe2\x80\xa8", "\xef\xbb\xbf",
    };
    bool harmless = true;
    for (const char *at = text; *at != '\0'; at++)
        harmless &= ((u8)*at >= 0x20 && *at != 0x7f) || *at == '\n';
    for (size_t i = 0; i < ETL_COUNT_OF(marks); i++)
        harmless &= strstr(text, marks[i]) == NULL;
    return harmless;
}

/* A line end of a name would part its words. */
static u32 whole_names_in(const char *text)
{
    u32 count = 0;
    for (const char *at = strstr(text, "begin"); at != NULL; at = strstr(at + 1, "begin")) {
        const char *const end = strstr(at, "end.exe");
        count += end != NULL && memchr(at, '\n', (size_t)(end - at)) == NULL;
    }
    return count;
}

/* Closes the capture. `least` names at least are shown. */
static void assert_fit_for_terminals(capture *out, u32 least)
{
    const char *const text = capture_text(out);
    assert_true(is_harmless(text));
    if (whole_names_in(text) < least)
        fail_msg("fewer than %u names in:\n%s", least, text);
    capture_close(out);
}

#define TEXT (etlheap_format_named("text"))

static void reports_are_fit_for_terminals(void **state)
{
    world *const w = *state;
    for (int tree = ETLHEAP_TREE_NONE; tree <= ETLHEAP_TREE_NONE + 2; tree++) {
        capture out;
        w->layout.tree = (etlheap_tree)tree;
        capture_open(&out);
        assert_int_equal(TEXT->write_report(w->result, w->table, &w->layout, out.sink), ETL_OK);
        assert_fit_for_terminals(&out, 3);
    }
}

static void narrow_tables_are_fit_for_terminals(void **state)
{
    world *const w = *state;
    for (u32 width = 20; width < 80; width++) {
        capture out;
        w->layout.width = width;
        capture_open(&out);
        assert_int_equal(TEXT->write_report(w->result, w->table, &w->layout, out.sink), ETL_OK);
        assert_fit_for_terminals(&out, 0);
    }
}

static void histograms_are_fit_for_terminals(void **state)
{
    const world *const w = *state;
    const etlheap_histogram *histogram = NULL;
    etlheap_query query = w->query;
    capture out;
    query.group_by[0] = ETLHEAP_KEY_PROCESS;
    query.group_by_count = 1;
    assert_int_equal(
        etlheap_histogram_make(w->result, &query, ETLHEAP_HISTOGRAM_SIZE, &histogram, NULL),
        ETL_OK);
    capture_open(&out);
    assert_int_equal(TEXT->write_histogram(w->result, w->table, histogram, &w->layout, out.sink),
                     ETL_OK);
    assert_fit_for_terminals(&out, 2);
    etlheap_histogram_free(histogram);
}

static void windows_are_fit_for_terminals(void **state)
{
    const world *const w = *state;
    const etlheap_windows_options options = { .size = sizeof options, .every_ns = 5000 };
    etlheap_windows *windows = NULL;
    etlheap_query query = w->query;
    capture out;
    query.group_by_count = 2;
    query.sort = ETLHEAP_MEASURE_PEAK_SIZE;
    assert_int_equal(etlheap_windows_make(w->result, &query, &options, &windows, NULL), ETL_OK);
    const etlheap_windows_answer answer = { .windows = windows };
    capture_open(&out);
    assert_int_equal(TEXT->write_windows(w->result, &answer, &w->layout, out.sink), ETL_OK);
    assert_fit_for_terminals(&out, 2);
    etlheap_windows_free(windows);
}

static void diffs_are_fit_for_terminals(void **state)
{
    const world *const w = *state;
    const etlheap_diff_options options = etlheap_diff_options_default();
    etlheap_query query = w->query;
    etlheap_table *now = NULL;
    etlheap_diff *diff = NULL;
    capture out;
    query.group_by[2] = ETLHEAP_KEY_STACK;
    query.group_by_count = 3;
    assert_int_equal(etlheap_aggregate(w->result, &query, &now, NULL), ETL_OK);
    etlheap_table empty = *now;
    empty.row_count = 0;
    assert_int_equal(etlheap_diff_tables(&empty, now, &options, &diff, NULL), ETL_OK);
    const etlheap_diff_answer answer = {
        .diff = diff,
        .base = { .name = NAME, .result = w->result, .table = &empty },
        .now = { .name = NAME, .result = w->result, .table = now },
    };
    capture_open(&out);
    assert_int_equal(TEXT->write_diff(&answer, &w->layout, out.sink), ETL_OK);
    assert_fit_for_terminals(&out, 3);
    etlheap_diff_free(diff);
    etlheap_table_free(now);
}

static void allocations_are_fit_for_terminals(void **state)
{
    const world *const w = *state;
    const etlheap_lifetimes_options options = { .size = sizeof options };
    etlheap_lifetimes *walk = NULL;
    capture out;
    assert_int_equal(etlheap_lifetimes_open(w->result, &w->query, &options, &walk, NULL), ETL_OK);
    capture_open(&out);
    assert_int_equal(TEXT->write_allocations(walk, &w->layout, out.sink), ETL_OK);
    assert_fit_for_terminals(&out, 2);
    etlheap_lifetimes_close(walk);
}

static void descriptions_are_fit_for_terminals(void **state)
{
    const world *const w = *state;
    capture out;
    capture_open(&out);
    assert_int_equal(TEXT->write_info(w->result, &w->layout, out.sink), ETL_OK);
    assert_fit_for_terminals(&out, 4);
}

static void verdicts_are_fit_for_terminals(void **state)
{
    const world *const w = *state;
    const etlheap_budget budget = { .scope = ETLHEAP_SCOPE_PROCESS, .limit = 1 };
    const etlheap_gate_side side = { w->result, &w->query };
    const etlheap_gate_options options = {
        .size = sizeof options, .budgets = &budget, .budget_count = 1, .stacks_max = 5
    };
    const etlheap_gate *gate = NULL;
    capture out;
    assert_int_equal(etlheap_gate_judge(&side, &options, &gate, NULL), ETL_OK);
    const etlheap_check check = { .gate = gate, .baseline_name = NAME };
    capture_open(&out);
    assert_int_equal(TEXT->write_check(w->result, &check, &w->layout, out.sink), ETL_OK);
    assert_fit_for_terminals(&out, 4);
    etlheap_gate_free(gate);
}

#define NAMES(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        NAMES(reports_are_fit_for_terminals),      NAMES(narrow_tables_are_fit_for_terminals),
        NAMES(histograms_are_fit_for_terminals),   NAMES(windows_are_fit_for_terminals),
        NAMES(diffs_are_fit_for_terminals),        NAMES(allocations_are_fit_for_terminals),
        NAMES(descriptions_are_fit_for_terminals), NAMES(verdicts_are_fit_for_terminals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
