/*
 * Goal: etlheap_stack_totals finds for every stack and type what looking at
 * every lifetime by the words of the contract finds, in any window, with any
 * filter and any number of threads; sums that overflow stop at the largest number.
 * Method: random workloads of more rows than a block and than a segment's rest;
 * a model that goes row by row through the public columns.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/engine.h"
#include "tests/support/run_check.h"
#include "tests/build/workload.h"
#include "tests/support/asked.h"

#define MS INT64_C(1000000)

typedef struct fixture {
    check_traces traces;
    workload *work;
    etlheap_result *result;
} fixture;

static int open_fixture(void **state)
{
    fixture *const f = calloc(1, sizeof *f);
    const workload_options options = { .seed = 5 };
    if (f == NULL)
        return 1;
    f->work = workload_random(&options);
    etl_build *const b = etl_build_new(NULL);
    workload_write(f->work, b, b);
    check_open(&f->traces, b);
    f->result = check_analyze(&f->traces, NULL);
    *state = f;
    return 0;
}

static int close_fixture(void **state)
{
    fixture *const f = *state;
    etlheap_result_free(f->result);
    workload_free(f->work);
    check_close(&f->traces);
    free(f);
    return 0;
}

/* The contract's table of types, over times in nanoseconds. */
static bool type_of(const etlheap_result *result, const etlheap_segment *s, u32 at,
                    const etlheap_query *query, etlheap_type *type)
{
    const i64 alloc_ns = etlheap_time_ns(result, s->alloc_ticks[at]);
    const bool ends = s->free_type[at] != ETLHEAP_FREE_NONE &&
                      (s->free_type[at] != ETLHEAP_FREE_PROCESS_EXIT || query->at_exit_freed);
    const i64 free_ns = ends ? etlheap_time_ns(result, s->free_ticks[at]) : INT64_MAX;
    if (alloc_ns >= query->to_ns || free_ns < query->from_ns)
        return false;
    if (alloc_ns >= query->from_ns)
        *type = free_ns < query->to_ns ? ETLHEAP_TYPE_AIFI : ETLHEAP_TYPE_AIFO;
    else
        *type = free_ns < query->to_ns ? ETLHEAP_TYPE_AOFI : ETLHEAP_TYPE_AOFO;
    return s->size_bytes[at] >= query->size_min_bytes &&
           s->size_bytes[at] <= query->size_max_bytes &&
           (query->kinds == 0 || (query->kinds >> s->kind[at] & 1) != 0);
}

static void compare(const etlheap_result *result, const etlheap_query *query)
{
    const size_t places = (etlheap_stack_count(result) + (size_t)1) * ETLHEAP_TYPE_CAPACITY;
    etlheap_stack_total *const expected = calloc(places, sizeof *expected);
    assert_non_null(expected);
    for (u32 i = 0; i < etlheap_segment_count(result); i++) {
        const etlheap_segment s = etlheap_segment_of(result, i);
        for (u32 at = 0; at < s.rows; at++) {
            etlheap_type type;
            if (!type_of(result, &s, at, query, &type))
                continue;
            etlheap_stack_total *const total =
                &expected[s.stack[at] * ETLHEAP_TYPE_CAPACITY + (u32)type];
            total->count++;
            total->size_bytes = etl_sat_add_u64(total->size_bytes, s.size_bytes[at]);
        }
    }
    etlheap_stack_total *found;
    etl_error err;
    assert_int_equal(etlheap_stack_totals(result, query, &found, &err), ETL_OK);
    assert_memory_equal(found, expected, places * sizeof *found);
    etlheap_stack_totals_free(found);
    free(expected);
}

static void totals_are_those_of_the_rows_in_any_window(void **state)
{
    const fixture *const f = *state;
    static const i64 windows[][2] = { { INT64_MIN, INT64_MAX },
                                      { 20 * MS, 40 * MS },
                                      { INT64_MIN, 30 * MS },
                                      { 35 * MS + 100, INT64_MAX },
                                      { 10 * MS, 10 * MS } };
    for (u32 i = 0; i < ETL_COUNT_OF(windows) * 4; i++) {
        etlheap_query query = etlheap_query_default();
        query.from_ns = windows[i / 4][0];
        query.to_ns = windows[i / 4][1];
        query.at_exit_freed = i % 2 != 0;
        query.jobs = 1 + i % 4;
        compare(f->result, &query);
    }
}

static void filters_select_what_they_select_elsewhere(void **state)
{
    const fixture *const f = *state;
    etlheap_query query = etlheap_query_default();
    query.from_ns = 15 * MS;
    query.size_min_bytes = 64;
    query.size_max_bytes = 4096;
    compare(f->result, &query);
    query.kinds = 1u << ETLHEAP_KIND_VIRTUALALLOC;
    query.size_max_bytes = UINT64_MAX;
    compare(f->result, &query);
}

static void sums_stop_at_the_largest_number(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    etl_build *const b = etl_build_new(NULL);
    const etl_build_stack stack = { .user = (const u64[]){ 0x1000 }, .user_count = 1 };
    for (u32 i = 0; i < 2000; i++) {
        const etl_build_at at = { .ticks = 1001000 + 10 * (i64)i, .pid = 42, .tid = 7 };
        etl_build_heap_alloc(b, at, 0x1F0000, 0x10000 + i * 0x10, UINT64_MAX / 1000);
        etl_build_stack_walk(b, at, &stack);
    }
    check_open(&traces, b);
    etlheap_result *const result = check_analyze(&traces, NULL);
    etlheap_query query = etlheap_query_default();
    query.jobs = 3;
    compare(result, &query);
    etlheap_result_free(result);
    check_close(&traces);
}

static void reports_without_lifetimes_are_refused(void **state)
{
    const fixture *const f = *state;
    const etlheap_query query = etlheap_query_default();
    const etlheap_options options = { .size = sizeof options, ASKED_TABLE(&query) };
    etlheap_result *const kept = check_analyze(&f->traces, &options);
    etlheap_stack_total *totals;
    etl_error err;
    assert_int_equal(etlheap_stack_totals(kept, &query, &totals, &err), ETL_ERR_ARGUMENT);
    assert_null(totals);
    etlheap_result_free(kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(totals_are_those_of_the_rows_in_any_window),
        cmocka_unit_test(filters_select_what_they_select_elsewhere),
        cmocka_unit_test(sums_stop_at_the_largest_number),
        cmocka_unit_test(reports_without_lifetimes_are_refused),
    };
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
