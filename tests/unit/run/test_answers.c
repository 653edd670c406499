/*
 * Goal: a result that holds facts alone refuses every question about memory, with a
 * status and a sentence; it never answers with an empty table or a gate that passes.
 * Method: one trace, made into each kind of result of facts, and a list of all
 * questions of the public engine. Each must be refused of the facts and answered of
 * the lifetimes of the same trace.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/build/scenario.h"
#include "tests/support/store_check.h"
#include "tests/support/summary_runs.h"

static const etlheap_options facts_only = { .size = sizeof facts_only, .inventory_only = true };

/* --- the questions --------------------------------------------------------------- */

static etl_status ask_table(const etlheap_result *result, etl_error *err)
{
    const etlheap_query query = etlheap_query_default();
    etlheap_table *table;
    const etl_status status = etlheap_aggregate(result, &query, &table, err);
    assert_true((status == ETL_OK) == (table != NULL && table->row_count > 0));
    etlheap_table_free(table);
    return status;
}

static etl_status ask_growth(const etlheap_result *result, etl_error *err)
{
    etlheap_query query = etlheap_query_default();
    etlheap_table *table;
    query.growth = true;
    query.group_by[0] = ETLHEAP_KEY_KIND;
    query.group_by_count = 1;
    const etl_status status = etlheap_aggregate(result, &query, &table, err);
    assert_true((status == ETL_OK) == (table != NULL));
    etlheap_table_free(table);
    return status;
}

static etl_status ask_windows(const etlheap_result *result, etl_error *err)
{
    etlheap_query query = etlheap_query_default();
    const etlheap_windows_options options = { .size = sizeof options, .every_ns = 1000000000 };
    etlheap_windows *windows;
    query.group_by[0] = ETLHEAP_KEY_KIND;
    query.group_by_count = 1;
    const etl_status status = etlheap_windows_make(result, &query, &options, &windows, err);
    assert_true((status == ETL_OK) == (windows != NULL));
    etlheap_windows_free(windows);
    return status;
}

static etl_status ask_lifetimes(const etlheap_result *result, etl_error *err)
{
    const etlheap_query query = etlheap_query_default();
    etlheap_lifetimes *walk;
    const etl_status status = etlheap_lifetimes_open(result, &query, NULL, &walk, err);
    assert_true((status == ETL_OK) == (walk != NULL));
    etlheap_lifetimes_close(walk);
    return status;
}

static etl_status ask_peaks(const etlheap_result *result, etl_error *err)
{
    const etlheap_query query = etlheap_query_default();
    etlheap_peak_moment peaks[ETLHEAP_KIND_CAPACITY];
    return etlheap_find_peaks(result, &query, peaks, err);
}

static etl_status ask_histogram(const etlheap_result *result, etl_error *err)
{
    const etlheap_query query = etlheap_query_default();
    const etlheap_histogram *histogram;
    const etl_status status =
        etlheap_histogram_make(result, &query, ETLHEAP_HISTOGRAM_SIZE, &histogram, err);
    assert_true((status == ETL_OK) == (histogram != NULL));
    etlheap_histogram_free(histogram);
    return status;
}

static etl_status ask_symbols(const etlheap_result *result, etl_error *err)
{
    const etlheap_symbol_options options = { .size = sizeof options, .offline = true };
    etlheap_query query = etlheap_query_default();
    const etlheap_symbol_list *list;
    assert_int_equal(etlheap_symbols_open(result, &options, &query.symbols, err), ETL_OK);
    const etl_status status = etlheap_symbols_list(&query, &list, err);
    assert_true((status == ETL_OK) == (list != NULL));
    etlheap_symbol_list_free(list);
    etlheap_symbols_close(query.symbols);
    return status;
}

/* Sides that are judged by a budget that nothing exceeds. */
static etl_status judge(const etlheap_result *result, const etlheap_result *baseline,
                        etl_error *err)
{
    const etlheap_query query = etlheap_query_default();
    const etlheap_gate_side now = { result, &query }, before = { baseline, &query };
    const etlheap_budget budgets[] = { { .scope = ETLHEAP_SCOPE_TOTAL, .limit = INT64_MAX },
                                       { .is_growth = true, .limit = INT64_MAX } };
    const etlheap_gate_options options = {
        .size = sizeof options, .budgets = budgets, .budget_count = 2, .baseline = &before
    };
    const etlheap_gate *gate;
    const etl_status status = etlheap_gate_judge(&now, &options, &gate, err);
    assert_true((status == ETL_OK) == (gate != NULL));
    etlheap_gate_free(gate);
    return status;
}

static etl_status ask_gate(const etlheap_result *result, etl_error *err)
{
    return judge(result, result, err);
}

static const struct {
    const char *name;
    etl_status (*ask)(const etlheap_result *result, etl_error *err);
} questions[] = {
    { "table", ask_table },         { "growth", ask_growth }, { "windows", ask_windows },
    { "lifetimes", ask_lifetimes }, { "peaks", ask_peaks },   { "histogram", ask_histogram },
    { "symbols", ask_symbols },     { "gate", ask_gate },
};

/* --- the results ----------------------------------------------------------------- */

static void open_scenario(check_traces *traces)
{
    scenario_run run = { .seed = 5, .operations = 3000, .cpus = 4 };
    etl_build *const b = etl_build_new(&(etl_build_options){ .cpus = 4 });
    assert_true(scenario_write(scenario_find("battery-meter"), &run, b));
    scenario_run_free(&run);
    check_open(traces, b);
}

static void expect_refusals(const etlheap_result *result)
{
    assert_false(etlheap_result_is_for_questions(result));
    assert_true(etlheap_process_count(result) > 0); /* facts are there */
    for (size_t i = 0; i < ETL_COUNT_OF(questions); i++) {
        etl_error err = { .message = "" };
        print_message("  %s\n", questions[i].name);
        assert_int_equal(questions[i].ask(result, &err), ETL_ERR_ARGUMENT);
        assert_int_equal(err.status, ETL_ERR_ARGUMENT);
        assert_non_null(strstr(err.message, "no allocations"));
        assert_true(strlen(err.message) + 1 < sizeof err.message); /* the sentence is whole */
    }
}

static void lifetimes_answer_all_of_it(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    open_scenario(&traces);
    etlheap_result *const result = check_analyze(&traces, NULL);
    for (size_t i = 0; i < ETL_COUNT_OF(questions); i++) {
        etl_error err = { .message = "" };
        print_message("  %s\n", questions[i].name);
        assert_int_equal(questions[i].ask(result, &err), ETL_OK);
    }
    etlheap_result_free(result);
    check_close(&traces);
}

static void an_inventory_refuses(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    open_scenario(&traces);
    etlheap_result *const result = check_analyze(&traces, &facts_only);
    expect_refusals(result);
    etlheap_result_free(result);
    check_close(&traces);
}

static void a_run_that_wrote_a_store_refuses(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    etlheap_result *facts = NULL;
    open_scenario(&traces);
    ehs_bytes file = store_check_write(&traces, NULL, &facts);
    expect_refusals(facts);
    ETLHEAP_VECTOR_FREE(&file);
    etlheap_result_free(facts);
    check_close(&traces);
}

static void a_store_opened_for_its_facts_refuses(void **state)
{
    summary_fixture *const f = *state;
    check_traces traces = { 0 };
    etlheap_result *result = NULL;
    etl_error err;
    open_scenario(&traces);
    ehs_bytes bytes = store_check_write(&traces, NULL, NULL);
    FILE *const file = fopen(f->paths[0], "wb");
    assert_non_null(file);
    assert_true(summary_put(file, bytes.at, bytes.count));
    assert_int_equal(fclose(file), 0);
    assert_int_equal(etlheap_open_store(f->paths[0], &facts_only, &result, &err), ETL_OK);
    expect_refusals(result);
    etlheap_result_free(result);
    ETLHEAP_VECTOR_FREE(&bytes);
    check_close(&traces);
}

static void a_summary_opened_for_its_facts_refuses(void **state)
{
    summary_fixture *const f = *state;
    etlheap_result *result = NULL;
    etl_error err;
    summary_of_runs(&summary_first_run, 1, 0, f->paths[0]);
    assert_int_equal(etlheap_open_store(f->paths[0], &facts_only, &result, &err), ETL_OK);
    expect_refusals(result);
    etlheap_result_free(result);
}

static void a_baseline_of_facts_is_refused(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    etl_error err = { .message = "" };
    open_scenario(&traces);
    etlheap_result *const whole = check_analyze(&traces, NULL);
    etlheap_result *const facts = check_analyze(&traces, &facts_only);
    assert_int_equal(judge(whole, whole, &err), ETL_OK);
    assert_int_equal(judge(whole, facts, &err), ETL_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "no allocations"));
    assert_int_equal(judge(facts, whole, &err), ETL_ERR_ARGUMENT);
    etlheap_result_free(whole);
    etlheap_result_free(facts);
    check_close(&traces);
}

static void ids_that_are_no_stack_have_no_frames(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    open_scenario(&traces);
    etlheap_result *const result = check_analyze(&traces, NULL);
    const u32 count = etlheap_stack_count(result);
    const u32 ids[] = { 0, count + 1, UINT32_MAX };
    assert_true(count > 0);
    assert_true(etlheap_stack_frames(result, (etlheap_stack){ 1 }).count > 0);
    assert_true(etlheap_stack_frames(result, (etlheap_stack){ count }).count > 0);
    for (size_t i = 0; i < ETL_COUNT_OF(ids); i++) {
        const etlheap_frames frames = etlheap_stack_frames(result, (etlheap_stack){ ids[i] });
        assert_int_equal(frames.count, 0);
        assert_null(frames.addresses);
    }
    etlheap_result_free(result);
    check_close(&traces);
}

int main(void)
{
#define WITH_FILES(name)                                                                           \
    cmocka_unit_test_setup_teardown(name, summary_fixture_open, summary_fixture_close)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lifetimes_answer_all_of_it),
        cmocka_unit_test(an_inventory_refuses),
        cmocka_unit_test(a_run_that_wrote_a_store_refuses),
        WITH_FILES(a_store_opened_for_its_facts_refuses),
        WITH_FILES(a_summary_opened_for_its_facts_refuses),
        cmocka_unit_test(a_baseline_of_facts_is_refused),
        cmocka_unit_test(ids_that_are_no_stack_have_no_frames),
    };
#undef WITH_FILES
    return cmocka_run_group_tests(tests, NULL, NULL);
}
