/*
 * Goal: a report made from the event list is the report made from lifetimes, for
 * every window, grouping and filter an event list can answer, whatever the slices
 * and threads; and what it cannot answer is refused.
 * Method: random workloads of several session kinds, analyzed both ways; tables
 * compared as text. The way over lifetimes is checked against models elsewhere.
 * Large sizes, exact windows, late ends: test_replay_edges.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "engine/fold/heap_rows.h"
#include "tests/support/long_tests.h"
#include "replay_check.h"
#include "tests/support/temporary.h"
#include "tests/build/workload.h"
#include "tests/support/asked.h"

#define MS INT64_C(1000000)

/* A kind of session. */
typedef struct variety {
    const char *name;
    etl_build_options build;
    workload_options work;
} variety;

static const variety varieties[] = {
    { .name = "plain", .build = { .buffer_bytes = 4096 } },
    { .name = "keyed and compressed",
      .build = { .buffer_bytes = 16384,
                 .compress = true,
                 .keyed_stacks = true,
                 .stack_key_slots = 32 } },
    { .name = "rundown at the end only",
      .build = { .buffer_bytes = 8192, .header_records = true },
      .work = { .end_rundown_only = true } },
    { .name = "many CPUs", .build = { .cpus = 16 }, .work = { .cpus = 16 } },
};

static workload *write_trace(check_traces *traces, const variety *kind, u64 seed)
{
    workload_options options = kind->work;
    options.seed = seed;
    workload *const w = workload_random(&options);
    etl_build *const b = etl_build_new(&kind->build);
    workload_write(w, b, b);
    check_open(traces, b);
    return w;
}

/* The groupings and filters tried in every window. */
static void shape(etlheap_query *query, u32 number)
{
    static const char *const processes[] = { "*e*" };
    switch (number) {
    case 1: /* curves of whole processes */
        query->group_by_count = 2;
        break;
    case 2: /* modules, with their types */
        query->group_by[3] = ETLHEAP_KEY_MODULE;
        query->group_by[4] = ETLHEAP_KEY_TYPE;
        break;
    case 3:
        query->types = 1u << ETLHEAP_TYPE_AIFI | 1u << ETLHEAP_TYPE_AOFI;
        query->size_min_bytes = 32;
        query->size_max_bytes = 4096;
        break;
    case 4:
        query->processes = processes;
        query->process_count = 1;
        query->kinds = 1u << ETLHEAP_KIND_HEAP;
        query->group_by[1] = ETLHEAP_KEY_SITE;
        query->group_by_count = 2;
        break;
    default:
        break;
    }
}

#define SHAPES 5u

static void event_list_tells_what_lifetimes_tell(void **state)
{
    (void)state;
    static const i64 windows[][2] = { { INT64_MIN, INT64_MAX },
                                      { 20 * MS, 40 * MS },
                                      { INT64_MIN, 30 * MS },
                                      { 35 * MS + 100, INT64_MAX } };
    for (size_t v = 0; v < ETL_COUNT_OF(varieties); v++) {
        check_traces traces = { 0 };
        workload *const w = write_trace(&traces, &varieties[v], 70 + v);
        etlheap_result *const rows = check_analyze(&traces, NULL);
        for (u32 i = 0; i < ETL_COUNT_OF(windows) * SHAPES; i++) {
            etlheap_query query = etlheap_query_default();
            query.from_ns = windows[i / SHAPES][0];
            query.to_ns = windows[i / SHAPES][1];
            query.at_exit_freed = i % 2 != 0;
            query.jobs = 1 + i % 3;
            shape(&query, i % SHAPES);
            /* Sessions, windows and shapes meet with peaks or without, in the long form both
             * ways. */
            if ((i / SHAPES + i + v) % 2 == 0 || long_tests())
                replay_check_same(&traces, &query, rows, i % 4 == 0 ? 0 : 20000, varieties[v].name);
            query.sums_only = true;
            if ((i / SHAPES + i + v) % 2 == 0 && !long_tests())
                continue;
            replay_check_same(&traces, &query, rows, i % 4 == 0 ? 0 : 20000, varieties[v].name);
        }
        etlheap_result_free(rows);
        workload_free(w);
        check_close(&traces);
    }
}

/* More entries than stay in memory: the temporary file gives the same. */
static void event_list_on_disk_tells_the_same(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    etl_build *const b = etl_build_new(NULL);
    const etl_build_stack stack = { .user = (const u64[]){ 0x1000, 0x2000 }, .user_count = 2 };
    for (u32 i = 0; i < 90000; i++) {
        const etl_build_at at = { .ticks = 1001000 + 400 * (i64)i, .pid = 42, .tid = 7 };
        etl_build_heap_alloc(b, at, 0x1F0000, 0x10000 + (i % 100) * 0x100, 16 + i % 7);
        etl_build_stack_walk(b, at, &stack);
        etl_build_at later = at;
        later.ticks += 300;
        if (i % 50 != 0)
            etl_build_heap_free(b, later, 0x1F0000, 0x10000 + (i % 100) * 0x100);
    }
    check_open(&traces, b);
    const etlheap_query query = etlheap_query_default();
    etlheap_options options = { .size = sizeof options,
                                .slice_bytes = 20000,
                                ASKED_TABLE(&query),
                                .temporary_folder = temporary_folder(),
                                .memory_bytes_max = 4 * ETL_MIB };
    etlheap_result *const rows = check_analyze(&traces, NULL);
    etlheap_result *const kept = check_analyze(&traces, &options);
    assert_true(kept->event_list.file >= 0);
    assert_true(kept->event_list.file_bytes > 0);
    char *const expected = check_aggregate_text(rows, &query);
    char *const found = check_aggregate_text(kept, &query);
    assert_true(check_same_text(expected, found));
    free(expected);
    free(found);
    etl_error err = { .status = ETL_OK };
    etlheap_table *table = NULL;
    assert_int_equal(close(kept->event_list.file), 0);
    kept->event_list.file = -1;
    assert_int_equal(etlheap_aggregate(kept, &query, &table, &err), ETL_ERR_IO);
    assert_int_equal(err.status, ETL_ERR_IO);
    assert_int_equal(err.offset, 0);
    assert_non_null(strstr(err.message, "cannot be read back"));
    assert_null(table);
    etlheap_result_free(kept);
    options.temporary_folder = "/nonexistent/folder";
    etlheap_result *none = NULL;
    assert_int_equal(etlheap_analyze(traces.at, traces.names, 1, &options, &none, &err),
                     ETL_ERR_IO);
    assert_null(none);
    options.memory_bytes_max = 1000;
    assert_int_equal(etlheap_analyze(traces.at, traces.names, 1, &options, &none, &err),
                     ETL_ERR_LIMIT);
    assert_non_null(strstr(err.message, "MiB of memory"));
    etlheap_result_free(rows);
    check_close(&traces);
}

static void other_questions_are_refused(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    workload *const w = write_trace(&traces, &varieties[0], 91);
    const etlheap_query query = etlheap_query_default();
    const etlheap_options options = { .size = sizeof options, ASKED_TABLE(&query) };
    etlheap_result *const kept = check_analyze(&traces, &options);
    etlheap_query others[3] = { query, query, query };
    others[0].from_ns = 10 * MS;
    others[1].at_exit_freed = true;
    others[2].group_by[0] = ETLHEAP_KEY_THREAD;
    for (size_t i = 0; i < ETL_COUNT_OF(others); i++) {
        etlheap_table *table = NULL;
        etl_error err = { .status = ETL_OK };
        assert_int_equal(etlheap_aggregate(kept, &others[i], &table, &err), ETL_ERR_ARGUMENT);
        assert_null(table);
    }
    etlheap_result_free(kept);
    workload_free(w);
    check_close(&traces);
}

/* Where an event list cannot answer, a log is kept without being asked. */
static void all_events_are_kept_for_what_asks_of_blocks(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    workload *const w = write_trace(&traces, &varieties[0], 92);
    etlheap_query queries[4];
    for (size_t i = 0; i < ETL_COUNT_OF(queries); i++)
        queries[i] = etlheap_query_default();
    queries[0].group_by[4] = ETLHEAP_KEY_THREAD;
    queries[1].group_by[4] = ETLHEAP_KEY_FREE_TYPE;
    queries[2].lifetime_min_ns = MS;
    queries[3].group_by_count = 2;
    queries[3].types = 1u << ETLHEAP_TYPE_AIFO;
    for (size_t i = 0; i < ETL_COUNT_OF(queries); i++) {
        const etlheap_options options = { .size = sizeof options, ASKED_TABLE(&queries[i]) };
        etlheap_result *const result = check_analyze(&traces, &options);
        assert_int_equal(result->mode, RESULT_STORE);
        char *const text = check_aggregate_text(result, &queries[i]);
        free(text);
        etlheap_result_free(result);
    }
    workload_free(w);
    check_close(&traces);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(event_list_tells_what_lifetimes_tell),
        cmocka_unit_test(event_list_on_disk_tells_the_same),
        cmocka_unit_test(other_questions_are_refused),
        cmocka_unit_test(all_events_are_kept_for_what_asks_of_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
