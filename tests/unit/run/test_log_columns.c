/*
 * Goal: a log has the columns that its questions need. Other questions are refused with a sentence.
 * Method: one built trace, analyzed for each question; its answer must be the one that an analysis
 * for all questions gives.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "tests/support/run_check.h"

#define PID    42u
#define TIDS   3u
#define HEAP   0x10000u
#define BLOCKS 40u

static void write_blocks(etl_build *b)
{
    for (u32 i = 0; i < 2 * BLOCKS; i++) {
        const u64 address = 0x200000 + 0x100 * (u64)(i % BLOCKS);
        const etl_build_at at = { .ticks = etl_build_start_ticks(b) + 1000 + i,
                                  .cpu = 0,
                                  .pid = PID,
                                  .tid = 4 + 4 * (i % TIDS) };
        if (i < BLOCKS)
            etl_build_heap_alloc(b, at, HEAP, address, 16 + i);
        else if (i % 4 != 0)
            etl_build_heap_free(b, at, HEAP, address);
    }
}

static void make(check_traces *out)
{
    etl_build *const b = etl_build_new(&(etl_build_options){ .cpus = 1, .buffer_bytes = 4096 });
    *out = (check_traces){ .count = 0 };
    write_blocks(b);
    check_open(out, b);
}

static etlheap_query transient(void)
{
    etlheap_query query = etlheap_query_default();
    query.jobs = 1;
    query.types = 1u << ETLHEAP_TYPE_AIFI;
    query.lifetime_ranks = true; /* of single blocks */
    return query;
}

static etlheap_query by_thread(void)
{
    etlheap_query query = transient();
    query.types = 0;
    query.group_by[query.group_by_count++] = ETLHEAP_KEY_THREAD;
    return query;
}

static etlheap_query by_freeing_thread(void)
{
    etlheap_query query = transient();
    query.types = 0;
    query.group_by[query.group_by_count++] = ETLHEAP_KEY_FREE_THREAD;
    return query;
}

static etlheap_query by_freeing_stack(void)
{
    etlheap_query query = transient();
    query.types = 0;
    query.group_by[query.group_by_count++] = ETLHEAP_KEY_FREE_STACK;
    return query;
}

static etlheap_result *analyze_for(const check_traces *traces, etlheap_question_kind kind,
                                   const etlheap_query *query)
{
    const etlheap_options options = { .size = sizeof options, .jobs = 1, ASKED(kind, query, NULL) };
    return check_analyze(traces, &options);
}

static void expect_refused(etl_status status, const etl_error *err, const char *what)
{
    assert_int_equal(status, ETL_ERR_ARGUMENT);
    assert_non_null(strstr(err->message, "the analysis did not keep"));
    assert_non_null(strstr(err->message, what));
}

static void expect_no_table(const etlheap_result *result, const etlheap_query *query,
                            const char *what)
{
    etlheap_table *table = NULL;
    etl_error err = { 0 };
    const etl_status status = etlheap_aggregate(result, query, &table, &err);
    assert_null(table);
    expect_refused(status, &err, what);
}

static void expect_no_list(const etlheap_result *result, const etlheap_query *query,
                           const char *what)
{
    etlheap_lifetimes *list = NULL;
    etl_error err = { 0 };
    const etl_status status = etlheap_lifetimes_open(result, query, NULL, &list, &err);
    assert_null(list);
    expect_refused(status, &err, what);
}

/* The rows are those of an analysis for all questions. */
static void expect_same_rows(const check_traces *traces, const etlheap_result *result,
                             const etlheap_query *query)
{
    etlheap_result *const all = check_analyze(
        traces, &(etlheap_options){
                    .size = sizeof(etlheap_options),
                    .jobs = 1,
                    .questions = (const etlheap_question[]){ { .size = sizeof(etlheap_question),
                                                               .kind = ETLHEAP_ASK_EVENTS,
                                                               .query = query,
                                                               .frees = true } },
                    .question_count = 1 });
    char *const wanted = check_aggregate_text(all, query);
    char *const found = check_aggregate_text(result, query);
    assert_true(check_same_text(wanted, found));
    assert_non_null(strstr(found, "\n"));
    free(wanted);
    free(found);
    etlheap_result_free(all);
}

static void a_log_for_types_has_no_threads(void **state)
{
    check_traces traces;
    (void)state;
    make(&traces);
    const etlheap_query query = transient(), threads = by_thread(), frees = by_freeing_thread();
    etlheap_result *const result = analyze_for(&traces, ETLHEAP_ASK_TABLE, &query);
    expect_same_rows(&traces, result, &query);
    expect_no_table(result, &threads, "threads");
    expect_no_table(result, &frees, "who freed");
    expect_no_list(result, &query, "threads");
    etlheap_result_free(result);
    check_close(&traces);
}

static void a_log_for_threads_has_no_addresses(void **state)
{
    check_traces traces;
    (void)state;
    make(&traces);
    const etlheap_query query = by_thread(), frees = by_freeing_thread();
    etlheap_result *const result = analyze_for(&traces, ETLHEAP_ASK_TABLE, &query);
    etlheap_result *const of_frees = analyze_for(&traces, ETLHEAP_ASK_TABLE, &frees);
    expect_same_rows(&traces, result, &query);
    expect_no_table(result, &frees, "who freed");
    expect_no_list(result, &query, "addresses");
    expect_same_rows(&traces, of_frees, &frees);
    expect_no_list(of_frees, &query, "threads");
    etlheap_result_free(result);
    etlheap_result_free(of_frees);
    check_close(&traces);
}

/* Who freed has two sides, and a question may need only one. */
static void a_log_for_freeing_stacks_has_no_threads(void **state)
{
    check_traces traces;
    (void)state;
    make(&traces);
    const etlheap_query query = by_freeing_stack(), frees = by_freeing_thread(),
                        threads = by_thread();
    etlheap_query by_other = query;
    by_other.freed_by_other = true;
    etlheap_result *const result = analyze_for(&traces, ETLHEAP_ASK_TABLE, &query);
    etlheap_result *const of_both = analyze_for(&traces, ETLHEAP_ASK_TABLE, &by_other);
    expect_same_rows(&traces, result, &query);
    expect_no_table(result, &threads, "threads");
    expect_no_table(result, &frees, "which threads freed");
    expect_no_table(result, &by_other, "threads");
    expect_same_rows(&traces, of_both, &by_other);
    expect_same_rows(&traces, of_both, &frees);
    expect_same_rows(&traces, of_both, &threads);
    etlheap_result_free(result);
    etlheap_result_free(of_both);
    check_close(&traces);
}

/* Several questions get what each of them needs. */
static void a_log_for_all_events_has_both(void **state)
{
    check_traces traces;
    (void)state;
    make(&traces);
    const etlheap_query query = transient(), threads = by_thread();
    etlheap_lifetimes *list = NULL;
    etlheap_result *const result = analyze_for(&traces, ETLHEAP_ASK_EVENTS, &query);
    expect_same_rows(&traces, result, &query);
    expect_same_rows(&traces, result, &threads);
    assert_int_equal(etlheap_lifetimes_open(result, &query, NULL, &list, NULL), ETL_OK);
    etlheap_lifetimes_close(list);
    etlheap_result_free(result);
    check_close(&traces);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_for_types_has_no_threads),
        cmocka_unit_test(a_log_for_threads_has_no_addresses),
        cmocka_unit_test(a_log_for_freeing_stacks_has_no_threads),
        cmocka_unit_test(a_log_for_all_events_has_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
