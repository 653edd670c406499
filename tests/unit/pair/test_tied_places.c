/*
 * test_tied_places.c - events of one time at one address, of several heaps and kinds of memory.
 *
 * Method: small traces whose first processor frees what the second one allocates at the same time.
 * What stands between must not hide it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/run_check.h"

#define HEAP    ((u64)0x1f0000)
#define OTHER   ((u64)0x2f0000)
#define ADDRESS ((u64)0x900000)
#define SIZE    0x1000u

static etl_build_at on(u32 cpu)
{
    return (etl_build_at){ .ticks = 1000060, .cpu = cpu, .pid = 42, .tid = 7 };
}

static etl_build *begin(void)
{
    return etl_build_new(&(etl_build_options){ .cpus = 2 });
}

static void commit(etl_build *b, etl_build_at at)
{
    etl_build_virtual_alloc(b, at, ADDRESS, SIZE, ETL_BUILD_COMMIT | ETL_BUILD_RESERVE);
}

static void expect_reordered(etl_build *b, u64 reordered)
{
    check_traces traces = { .count = 0 };
    check_open(&traces, b);
    etlheap_result *const result = check_analyze(&traces, NULL);
    const etl_diag_counts *const diag = etlheap_result_diagnostics(result);
    assert_int_equal(diag->of[ETL_DIAG_ties_reordered], reordered);
    assert_int_equal(diag->of[ETL_DIAG_free_without_alloc], 0);
    etlheap_result_free(result);
    check_close(&traces);
}

static void another_heap_has_a_block_there(void **state)
{
    (void)state;
    etl_build *const b = begin();
    etl_build_heap_free(b, on(0), HEAP, ADDRESS);
    etl_build_heap_alloc(b, on(0), OTHER, ADDRESS, 24);
    etl_build_heap_alloc(b, on(1), HEAP, ADDRESS, 24);
    expect_reordered(b, 1);
}

static void a_range_is_released_and_committed(void **state)
{
    (void)state;
    etl_build *const b = begin();
    etl_build_virtual_free(b, on(0), ADDRESS, SIZE, ETL_BUILD_RELEASE);
    commit(b, on(1));
    expect_reordered(b, 1);
}

static void a_range_that_was_there_is_released_first(void **state)
{
    (void)state;
    etl_build *const b = begin();
    etl_build_at before = on(0);
    before.ticks -= 10;
    commit(b, before);
    etl_build_virtual_free(b, on(0), ADDRESS, SIZE, ETL_BUILD_RELEASE);
    commit(b, on(1));
    expect_reordered(b, 0);
}

static void another_heap_has_an_extent_there(void **state)
{
    (void)state;
    etl_build *const b = begin();
    etl_build_heap_contract(b, on(0), HEAP, ADDRESS, SIZE);
    etl_build_heap_expand(b, on(0), OTHER, ADDRESS, SIZE);
    etl_build_heap_expand(b, on(1), HEAP, ADDRESS, SIZE);
    expect_reordered(b, 1);
}

static void an_extent_alone_is_contracted_and_expanded(void **state)
{
    (void)state;
    etl_build *const b = begin();
    etl_build_heap_contract(b, on(0), HEAP, ADDRESS, SIZE);
    etl_build_heap_expand(b, on(1), HEAP, ADDRESS, SIZE);
    expect_reordered(b, 1);
}

static void a_heap_has_an_extent_in_the_range(void **state)
{
    (void)state;
    etl_build *const b = begin();
    etl_build_virtual_free(b, on(0), ADDRESS, SIZE, ETL_BUILD_RELEASE);
    etl_build_heap_expand(b, on(0), HEAP, ADDRESS, SIZE);
    commit(b, on(1));
    expect_reordered(b, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_heap_has_a_block_there),
        cmocka_unit_test(a_range_is_released_and_committed),
        cmocka_unit_test(a_range_that_was_there_is_released_first),
        cmocka_unit_test(another_heap_has_an_extent_there),
        cmocka_unit_test(an_extent_alone_is_contracted_and_expanded),
        cmocka_unit_test(a_heap_has_an_extent_in_the_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
