/*
 * Goal: an analysis holds for any time that a file can say, to both ends of 64 bits.
 * Method: traces of one allocation and its free at such times, as a report and as
 * lifetimes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "engine/engine.h"
#include "tests/build/etl_build.h"
#include "tests/support/asked.h"

static etlheap_total heap_total(i64 alloc_ticks, i64 free_ticks, bool from_lifetimes)
{
    const etl_build_options build = { .cpus = 1, .buffer_bytes = 4096 };
    etl_build *const b = etl_build_new(&build);
    etl_build_at at = { .ticks = alloc_ticks, .pid = 4, .tid = 8 };
    etl_build_heap_alloc(b, at, 0x10000, 0x20000, 64);
    at.ticks = free_ticks;
    etl_build_heap_free(b, at, 0x10000, 0x20000);
    assert_true(etl_build_finish(b));
    size_t size;
    const u8 *const bytes = etl_build_data(b, &size);
    etlheap_query query = etlheap_query_default();
    const etlheap_options options = { .size = sizeof options,
                                      .jobs = 1,
                                      ASKED_IF(!from_lifetimes, ETLHEAP_ASK_TABLE, &query, NULL) };
    const char *const name = "times.etl";
    etl_trace *trace = NULL;
    etlheap_result *result = NULL;
    etlheap_table *table = NULL;
    assert_int_equal(etl_open_memory((etl_bytes){ bytes, size }, NULL, &trace, NULL), ETL_OK);
    assert_int_equal(etlheap_analyze(&trace, &name, 1, &options, &result, NULL), ETL_OK);
    assert_int_equal(etlheap_process_count(result), 1);
    assert_int_equal(etlheap_aggregate(result, &query, &table, NULL), ETL_OK);
    const etlheap_total total = table->totals[ETLHEAP_KIND_HEAP];
    etlheap_table_free(table);
    etlheap_result_free(result);
    etl_close(trace);
    etl_build_free(b);
    return total;
}

static void expect_one_of_64_bytes(i64 alloc_ticks, i64 free_ticks)
{
    for (int from_lifetimes = 0; from_lifetimes < 2; from_lifetimes++) {
        const etlheap_total total = heap_total(alloc_ticks, free_ticks, from_lifetimes != 0);
        assert_true(total.present);
        assert_int_equal(total.measures[ETLHEAP_MEASURE_COUNT], 1);
        assert_int_equal(total.measures[ETLHEAP_MEASURE_SIZE], 64);
        assert_int_equal(total.measures[ETLHEAP_MEASURE_OUTSTANDING_COUNT], 0);
    }
}

static void event_at_the_first_of_all_times_has_a_process(void **state)
{
    (void)state;
    expect_one_of_64_bytes(INT64_MIN, INT64_MIN);
}

static void event_at_the_last_of_all_times_has_a_process(void **state)
{
    (void)state;
    expect_one_of_64_bytes(INT64_MAX, INT64_MAX);
}

static void a_block_lives_from_the_first_to_the_last_of_all_times(void **state)
{
    (void)state;
    expect_one_of_64_bytes(INT64_MIN, INT64_MAX);
}

static void neighbours_of_both_ends_are_apart(void **state)
{
    (void)state;
    expect_one_of_64_bytes(INT64_MIN, INT64_MIN + 1);
    expect_one_of_64_bytes(INT64_MAX - 1, INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(event_at_the_first_of_all_times_has_a_process),
        cmocka_unit_test(event_at_the_last_of_all_times_has_a_process),
        cmocka_unit_test(a_block_lives_from_the_first_to_the_last_of_all_times),
        cmocka_unit_test(neighbours_of_both_ends_are_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
