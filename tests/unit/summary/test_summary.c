/*
 * Goal: a summary adds up traces of different boots by what their modules are,
 * never by addresses, and traces are known again by their content.
 * Method: small traces of one program at several places. Sums of whole scenarios
 * and merging orders are in oracle_merge.py, damage in test_summary_damage.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/support/store_check.h"
#include "tests/support/summary_runs.h"
#include "tests/support/temporary.h"

static etlheap_table *table_of(const etlheap_result *result, const etlheap_query *query)
{
    etlheap_table *table;
    etl_error err = { .message = "" };
    if (etlheap_aggregate(result, query, &table, &err) != ETL_OK)
        fail_msg("%s", err.message);
    return table;
}

static i64 measure(const etlheap_table *table, u32 row, etlheap_measure which)
{
    return table->rows[row].measures[which];
}

static void runs_at_other_addresses_add_up(void **state)
{
    const summary_fixture *const f = *state;
    const summary_run runs[] = { summary_first_run, summary_second_run };
    summary_of_runs(runs, 2, 0, f->paths[0]);
    etlheap_result *const result = summary_read(f->paths[0]);
    const etlheap_query query = summary_query();
    etlheap_table *const table = table_of(result, &query);
    assert_int_equal(table->row_count, 2);
    assert_int_equal(table->rows[0].type, ETLHEAP_TYPE_AIFO);
    assert_int_equal(measure(table, 0, ETLHEAP_MEASURE_OUTSTANDING_COUNT), 3 + 5);
    assert_int_equal(measure(table, 0, ETLHEAP_MEASURE_OUTSTANDING_SIZE), 800);
    /* Nothing of the first row was freed; of the other nobody knows what was at once. */
    assert_int_equal(measure(table, 0, ETLHEAP_MEASURE_PEAK_COUNT), 3 + 5);
    assert_int_equal(measure(table, 0, ETLHEAP_MEASURE_PEAK_SIZE), 800);
    assert_int_equal(measure(table, 1, ETLHEAP_MEASURE_COUNT), 2 + 4);
    assert_true(measure(table, 1, ETLHEAP_MEASURE_PEAK_COUNT) == ETLHEAP_NOT_KNOWN);
    assert_true(measure(table, 1, ETLHEAP_MEASURE_PEAK_SIZE) == ETLHEAP_NOT_KNOWN);
    assert_int_equal(table->stack_count, 1);
    etlheap_table_free(table);
    etlheap_result_free(result);
}

static void frames_are_offsets_in_modules_and_have_no_address(void **state)
{
    const summary_fixture *const f = *state;
    summary_of_runs(&summary_first_run, 1, 0, f->paths[0]);
    etlheap_result *const result = summary_read(f->paths[0]);
    const etlheap_query query = summary_query();
    etlheap_table *const table = table_of(result, &query);
    assert_int_equal(table->frame_count, 3);
    assert_string_equal(table->frames[0].module, "app.exe");
    assert_int_equal(table->frames[0].offset, 0x1234);
    assert_int_equal(table->frames[1].offset, 0x1FF0);
    assert_null(table->frames[2].module);
    for (u32 i = 0; i < table->frame_count; i++)
        assert_true(table->frames[i].address == ETLHEAP_NO_ADDRESS);
    assert_int_equal(table->rows[0].pid, ETL_NO_ID);
    assert_int_equal(etlheap_module_count(result), 1);
    const etlheap_module_info *const module = etlheap_module_of(result, 0);
    assert_true(module->has_rsds);
    assert_int_equal(module->guid.bytes[0], 1);
    assert_string_equal(module->pdb_name, "app.pdb");
    etlheap_table_free(table);
    etlheap_result_free(result);
}

static void builds_of_a_program_stay_apart(void **state)
{
    const summary_fixture *const f = *state;
    summary_run rebuilt = summary_second_run;
    rebuilt.build = 9;
    const summary_run runs[] = { summary_first_run, rebuilt };
    summary_of_runs(runs, 2, 0, f->paths[0]);
    etlheap_result *const result = summary_read(f->paths[0]);
    const etlheap_query query = summary_query();
    etlheap_table *const table = table_of(result, &query);
    assert_int_equal(etlheap_module_count(result), 2);
    assert_int_equal(table->stack_count, 2);
    etlheap_table_free(table);
    etlheap_result_free(result);
}

static void both_meanings_of_a_process_end_are_kept(void **state)
{
    const summary_fixture *const f = *state;
    summary_run ended = summary_first_run;
    ended.ends = true;
    summary_of_runs(&ended, 1, 0, f->paths[0]);
    etlheap_result *const result = summary_read(f->paths[0]);
    etlheap_query query = summary_query();
    etlheap_table *const leaked = table_of(result, &query);
    query.at_exit_freed = true;
    etlheap_table *const freed = table_of(result, &query);
    assert_int_equal(leaked->totals[ETLHEAP_KIND_HEAP].measures[ETLHEAP_MEASURE_OUTSTANDING_COUNT],
                     3);
    assert_int_equal(freed->totals[ETLHEAP_KIND_HEAP].measures[ETLHEAP_MEASURE_OUTSTANDING_COUNT],
                     0);
    assert_int_equal(measure(freed, 0, ETLHEAP_MEASURE_COUNT), 5);
    assert_int_equal(measure(freed, 0, ETLHEAP_MEASURE_PEAK_COUNT), 5);
    etlheap_table_free(leaked);
    etlheap_table_free(freed);
    etlheap_result_free(result);
}

/* --- traces are known again ---------------------------------------------------------- */

static void a_trace_is_known_by_its_content(void **state)
{
    const summary_fixture *const f = *state;
    etl_error err = { .message = "" };
    summary_run other = summary_first_run;
    other.jit_address++;
    etlheap_summary *const summary = summary_begin(0);
    assert_int_equal(summary_add_run(summary, &summary_first_run, "one.etl", &err), ETL_OK);
    assert_int_equal(summary_add_run(summary, &other, "one.etl", &err), ETL_OK);
    assert_int_equal(summary_add_run(summary, &summary_first_run, "copy.etl", &err),
                     ETL_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "one.etl"));
    assert_non_null(strstr(err.message, "copy.etl"));
    etlheap_summary_free(summary);
    (void)f;
}

static void traces_are_listed_with_their_facts(void **state)
{
    const summary_fixture *const f = *state;
    const summary_run runs[] = { summary_first_run, summary_second_run };
    summary_of_runs(runs, 2, 0, f->paths[0]);
    etlheap_result *const result = summary_read(f->paths[0]);
    assert_int_equal(etlheap_summary_trace_count(result), 2);
    u64 events = 0;
    i64 duration_ns = 0;
    for (u32 i = 0; i < 2; i++) {
        const etlheap_summary_trace trace = etlheap_summary_trace_of(result, i);
        assert_int_equal(trace.file_count, 1);
        assert_string_equal(trace.files[0].name, "a.etl");
        events += trace.info.events;
        duration_ns = trace.info.duration_ns > duration_ns ? trace.info.duration_ns : duration_ns;
    }
    assert_int_equal(etlheap_result_trace(result)->events, events);
    assert_int_equal(etlheap_result_trace(result)->duration_ns, duration_ns);
    etlheap_result_free(result);
}

static void summaries_of_different_windows_are_refused(void **state)
{
    const summary_fixture *const f = *state;
    const char *const paths[] = { f->paths[0], f->paths[1] };
    static const i64 every_ns[] = { 1000000, 2000000 };
    etl_error err = { .message = "" };
    for (u32 i = 0; i < 2; i++) {
        etlheap_summary *const summary = summary_begin(every_ns[i]);
        if (summary_add_run(summary, i == 0 ? &summary_first_run : &summary_second_run, "a.etl",
                            &err) != ETL_OK)
            fail_msg("%s", err.message);
        summary_end(summary, paths[i]);
    }
    etlheap_summary *const merged = summary_begin(0);
    assert_int_equal(etlheap_summary_add_stores(merged, paths, NULL, 2, NULL, NULL, &err),
                     ETL_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "windows of one length"));
    assert_int_equal(err.hint, ETL_HINT_SAME_WINDOWS);
    /* a message shows the end of a long path */
    assert_non_null(strstr(err.message, strrchr(paths[1], '/') + 1));
    etlheap_summary_free(merged);
}

/* --- windows -------------------------------------------------------------------------- */

static etlheap_windows *windows_of(const etlheap_result *result)
{
    const etlheap_windows_options options = { .size = sizeof options, .every_ns = 1000000 };
    etlheap_query query = summary_query();
    etlheap_windows *windows;
    etl_error err = { .message = "" };
    query.at_exit_freed = true;
    query.group_by[2] = ETLHEAP_KEY_STACK;
    query.group_by_count = 3;
    if (etlheap_windows_make(result, &query, &options, &windows, &err) != ETL_OK)
        fail_msg("%s", err.message);
    return windows;
}

static void expect_same_windows(const etlheap_windows *a, const etlheap_windows *b)
{
    assert_int_equal(a->window_count, b->window_count);
    assert_int_equal(a->table->row_count, b->table->row_count);
    for (u32 w = 0; w < a->window_count; w++) {
        assert_int_equal(a->windows[w].from_ns, b->windows[w].from_ns);
        assert_int_equal(a->windows[w].to_ns, b->windows[w].to_ns);
        for (u32 row = 0; row < a->table->row_count; row++) {
            etlheap_cell x, y;
            assert_int_equal(etlheap_windows_cell(a, row, w, &x),
                             etlheap_windows_cell(b, row, w, &y));
            assert_memory_equal(&x, &y, sizeof x);
            assert_int_equal(etlheap_windows_start_size(a, row, w),
                             etlheap_windows_start_size(b, row, w));
        }
    }
}

/* Time zero is the time of the log-file header, and events may be older. */
static void windows_before_time_zero_are_kept(void **state)
{
    const summary_fixture *const f = *state;
    summary_run early = summary_first_run;
    check_traces traces = { 0 };
    etl_error err = { .message = "" };
    early.start_ticks = -35000;
    check_open(&traces, summary_build_run(&early));
    etlheap_summary *const summary = summary_begin(1000000);
    if (etlheap_summary_add_traces(summary, traces.at, traces.names, 1, NULL, &err) != ETL_OK)
        fail_msg("%s", err.message);
    summary_end(summary, f->paths[0]);
    etlheap_result *const rows = check_analyze(&traces, NULL);
    etlheap_result *const result = summary_read(f->paths[0]);
    etlheap_windows *const expected = windows_of(rows), *const found = windows_of(result);
    assert_true(expected->windows[0].from_ns < -2000000);
    expect_same_windows(expected, found);
    etlheap_windows_free(expected);
    etlheap_windows_free(found);
    etlheap_result_free(rows);
    etlheap_result_free(result);
    check_close(&traces);
}

/* --- many runs ------------------------------------------------------------------------ */

#define RUNS  20u
#define NODES (2 * RUNS)

/* Files of summaries in one folder: the runs, and what is merged of them. */
typedef struct forest {
    char folder[TEMPORARY_PATH_BYTES];
    char paths[NODES][TEMPORARY_PATH_BYTES + 32];
    u32 count;
} forest;

static u64 draw(u64 *state, u64 below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (*state >> 33) % below;
}

static void open_forest(forest *all, u64 *random, u64 *allocs)
{
    assert_true(temporary_subfolder(all->folder, "test-summary"));
    for (u32 i = 0; i < NODES; i++)
        snprintf(all->paths[i], sizeof all->paths[i], "%s/%u.ehs", all->folder, i);
    for (all->count = 0; all->count < RUNS; all->count++) {
        const summary_run run = { .base = 0x7FF600000000 + 0x10000 * (1 + draw(random, 1000)),
                                  .build = (u8)draw(random, 3),
                                  .jit_address = 0x1000 + all->count,
                                  .pid = 4 * (1 + (u32)draw(random, 500)),
                                  .allocs = 1 + (u32)draw(random, 40),
                                  .ends = draw(random, 2) == 0 };
        *allocs += run.allocs;
        summary_of_runs(&run, 1, 1000000, all->paths[all->count]);
    }
}

static void close_forest(const forest *all)
{
    for (u32 i = 0; i < NODES; i++)
        unlink(all->paths[i]);
    assert_int_equal(rmdir(all->folder), 0);
}

static void merge(const char *const *paths, u32 count, const char *to)
{
    etlheap_summary *const merged = summary_begin(0);
    etl_error err = { .message = "" };
    if (etlheap_summary_add_stores(merged, paths, NULL, count, NULL, NULL, &err) != ETL_OK)
        fail_msg("%s", err.message);
    summary_end(merged, to);
}

/* Merges a few at a time, whichever they are, until one is left: its path. */
static const char *merge_at_random(forest *all, u64 *random)
{
    const char *left[NODES];
    u32 count = RUNS;
    all->count = RUNS + 1;
    for (u32 i = 0; i < count; i++)
        left[i] = all->paths[i];
    while (count > 1) {
        const char *few[4];
        u32 taken = 0;
        const u32 wanted = 2 + (u32)draw(random, 3);
        while (taken < wanted && count > 0) {
            const u32 at = (u32)draw(random, count);
            few[taken++] = left[at];
            left[at] = left[--count];
        }
        merge(few, taken, all->paths[all->count]);
        left[count++] = all->paths[all->count++];
    }
    return left[0];
}

static void expect_same_bytes(const char *a, const char *b)
{
    static u8 bytes[2][1 << 20];
    size_t sizes[2];
    const char *const paths[] = { a, b };
    for (u32 i = 0; i < 2; i++) {
        FILE *const file = fopen(paths[i], "rb");
        assert_non_null(file);
        sizes[i] = fread(bytes[i], 1, sizeof bytes[i], file);
        assert_true(sizes[i] > 0 && sizes[i] < sizeof bytes[i]);
        assert_int_equal(fclose(file), 0);
    }
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(bytes[0], bytes[1], sizes[0]);
}

static void any_order_and_tree_gives_the_same_bytes(void **state)
{
    (void)state;
    forest all;
    u64 random = 11, allocs = 0;
    const char *paths[RUNS];
    open_forest(&all, &random, &allocs);
    for (u32 i = 0; i < RUNS; i++)
        paths[i] = all.paths[i];
    merge(paths, RUNS, all.paths[RUNS]);
    for (u32 round = 0; round < 8; round++)
        expect_same_bytes(merge_at_random(&all, &random), all.paths[RUNS]);
    etlheap_result *const result = summary_read(all.paths[RUNS]);
    const etlheap_query query = summary_query();
    etlheap_table *const table = table_of(result, &query);
    assert_int_equal(table->totals[ETLHEAP_KIND_HEAP].measures[ETLHEAP_MEASURE_COUNT], allocs);
    assert_int_equal(etlheap_summary_trace_count(result), RUNS);
    etlheap_table_free(table);
    etlheap_result_free(result);
    close_forest(&all);
}

/* --- stores that contradict themselves -------------------------------------------------- */

static void write_bytes(const char *path, const ehs_bytes *bytes)
{
    FILE *const file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes->at, 1, bytes->count, file), bytes->count);
    assert_int_equal(fclose(file), 0);
}

/* A PDB's name without its identity: in a summary, which has no processes of modules, that is a
 * function. */
static void a_pdb_name_without_an_id_makes_no_function(void **state)
{
    const summary_fixture *const f = *state;
    static const ehs_column has_rsds = EHS_MODULE_HAS_RSDS;
    static const u8 none = 0;
    check_traces traces = { .count = 0 };
    ehs_blocks more = { 0 };
    ehs_codec codec = { 0 };
    check_open(&traces, summary_build_run(&summary_first_run));
    ehs_bytes whole = store_check_write(&traces, NULL, NULL);
    assert_true(ehs_blocks_add(&more, &codec, has_rsds, 0, &none, 1));
    ehs_bytes changed = store_check_rewrite(&whole, &has_rsds, &more);
    write_bytes(f->paths[0], &changed);
    const char *const paths[] = { f->paths[0], f->paths[1] };
    merge(&paths[0], 1, f->paths[1]);
    merge(&paths[1], 1, f->paths[2]);
    expect_same_bytes(f->paths[1], f->paths[2]);
    etlheap_result *const result = summary_read(f->paths[1]);
    assert_int_equal(etlheap_method_count(result), 0);
    assert_int_equal(etlheap_module_count(result), 1);
    etlheap_result_free(result);
    ehs_codec_free(&codec);
    ehs_blocks_free(&more);
    ETLHEAP_VECTOR_FREE(&whole);
    ETLHEAP_VECTOR_FREE(&changed);
    check_close(&traces);
}

int main(void)
{
#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, summary_fixture_open, summary_fixture_close)
    const struct CMUnitTest tests[] = {
        TEST(runs_at_other_addresses_add_up),
        TEST(frames_are_offsets_in_modules_and_have_no_address),
        TEST(builds_of_a_program_stay_apart),
        TEST(both_meanings_of_a_process_end_are_kept),
        TEST(a_trace_is_known_by_its_content),
        TEST(traces_are_listed_with_their_facts),
        TEST(summaries_of_different_windows_are_refused),
        TEST(windows_before_time_zero_are_kept),
        TEST(any_order_and_tree_gives_the_same_bytes),
        TEST(a_pdb_name_without_an_id_makes_no_function),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
