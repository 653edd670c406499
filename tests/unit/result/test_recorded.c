/*
 * test_recorded.c - windows that are cut to what was recorded.
 *
 * Method: spans and windows made by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/etlheap_recorded.h"
#include "engine/result/result.h"

#define MS INT64_C(1000000)

static void a_window_is_cut_to_the_spans_of_its_kinds(void **state)
{
    (void)state;
    etlheap_trace_info trace = { .duration_ns = 0 };
    const etlheap_time_range window = { 0, 100 * MS };
    etlheap_time_range part = etlheap_recorded_part(&trace, 0, window);
    assert_true(part.from_ns == 0 && part.to_ns == 100 * MS); /* nothing is known */
    trace.recorded[ETLHEAP_KIND_HEAP] = (etlheap_recorded){ true, 20 * MS, 50 * MS };
    trace.recorded[ETLHEAP_KIND_VIRTUALALLOC] = (etlheap_recorded){ true, 10 * MS, 40 * MS };
    part = etlheap_recorded_part(&trace, 1u << ETLHEAP_KIND_HEAP, window);
    assert_true(part.from_ns == 20 * MS && part.to_ns == 50 * MS);
    part = etlheap_recorded_part(&trace, 0, window);
    assert_true(part.from_ns == 10 * MS && part.to_ns == 50 * MS);
    part = etlheap_recorded_part(&trace, 0, (etlheap_time_range){ 30 * MS, 35 * MS });
    assert_true(part.from_ns == 30 * MS && part.to_ns == 35 * MS);
}

static void a_window_outside_has_no_part(void **state)
{
    (void)state;
    etlheap_trace_info trace = { .duration_ns = 0 };
    trace.recorded[ETLHEAP_KIND_HEAP] = (etlheap_recorded){ true, 20 * MS, 50 * MS };
    etlheap_time_range part = etlheap_recorded_part(&trace, 0, (etlheap_time_range){ 0, 10 * MS });
    assert_true(part.from_ns == part.to_ns);
    part = etlheap_recorded_part(&trace, 0, (etlheap_time_range){ 60 * MS, 70 * MS });
    assert_true(part.from_ns == part.to_ns);
}

static bool lacks(i64 part_ns, i64 window_ns)
{
    return etlheap_recorded_lacks((etlheap_time_range){ 5, 5 + part_ns },
                                  (etlheap_time_range){ 5, 5 + window_ns });
}

static void more_than_1_ms_or_1_percent_is_told(void **state)
{
    (void)state;
    assert_false(lacks(1000 * MS, 1000 * MS));
    assert_false(lacks(999 * MS, 1000 * MS));
    assert_true(lacks(999 * MS - 1, 1000 * MS));
    assert_false(lacks(99, 100));
    assert_true(lacks(98, 100));
    assert_true(lacks(0, 100));
    assert_false(lacks(200, 100));
}

/* Kinds that are not selected by default are refused, by name, if there are events that tell about
 * them and nothing of them was kept. */
static void kinds_that_were_not_kept_are_refused_by_name(void **state)
{
    const u32 reserve = 1u << ETLHEAP_KIND_RESERVE;
    etlheap_result result = { .mode = RESULT_LIFETIMES };
    etl_error err;
    (void)state;
    assert_int_equal(result_keeps(&result, ETLHEAP_KINDS_ALL, &err), ETL_OK);
    result.abilities.kinds = 1u << ETLHEAP_KIND_VIRTUALALLOC;
    assert_int_equal(result_keeps(&result, ETLHEAP_KINDS_DEFAULT, &err), ETL_OK);
    assert_int_equal(result_keeps(&result, reserve, &err), ETL_ERR_ARGUMENT);
    assert_string_equal(err.message, "the analysis kept no reservations: analyze the trace for a "
                                     "question that selects the kind reserve");
    result.mode = RESULT_STORE;
    assert_int_equal(result_keeps(&result, reserve, &err), ETL_ERR_UNSUPPORTED);
    assert_string_equal(err.message, "the file was written before stores kept reservations: store "
                                     "the trace again");
    result.abilities.kinds |= reserve;
    assert_int_equal(result_keeps(&result, reserve, &err), ETL_OK);
}

/* Stores from before a kind have counted its events. */
static void kinds_that_stores_only_counted_are_refused(void **state)
{
    etlheap_hook_count hooks[] = { { .hook = 0x1120, .count = 3 } };
    etlheap_result result = { .mode = RESULT_STORE };
    etl_error err;
    (void)state;
    result.abilities.kinds = 1u << ETLHEAP_KIND_HEAP;
    result.hooks.at = hooks;
    result.hooks.count = 1;
    assert_int_equal(result_keeps(&result, 1u << ETLHEAP_KIND_POOL, &err), ETL_OK);
    assert_int_equal(result_keeps(&result, 1u << ETLHEAP_KIND_HANDLE, &err), ETL_ERR_UNSUPPORTED);
    assert_string_equal(err.message,
                        "the file was written before stores kept handles: store the trace again");
    hooks[0].hook = 0x1123;
    assert_int_equal(result_keeps(&result, 1u << ETLHEAP_KIND_HANDLE, &err), ETL_OK);
}

/* The words, numbers and traits of rows agree with each other. */
static void rows_of_kinds_are_whole(void **state)
{
    u32 numbers = 0;
    (void)state;
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        const etlheap_kind_row *const row = etlheap_kind_at((etlheap_kind)kind);
        const etlheap_kind from = row->recorded_with;
        assert_true(row->word[0] != '\0' && row->plural[0] != '\0');
        assert_string_equal(row->word, etlheap_kind_name((etlheap_kind)kind));
        assert_int_equal(numbers >> row->lane & 1, 0);
        numbers |= 1u << row->lane;
        assert_int_equal(etlheap_kind_at(from)->recorded_with, from);
        assert_int_equal(ehs_kind_of_number(row->lane), kind);
        assert_true(!etlheap_kind_has(kind, ETLHEAP_KIND_COMMON) ||
                    etlheap_kind_has(kind, ETLHEAP_KIND_DEFAULT));
    }
    assert_null(etlheap_kind_at(ETLHEAP_KIND_COUNT));
    assert_int_equal(etlheap_kinds_with(ETLHEAP_KIND_DEFAULT), ETLHEAP_KINDS_DEFAULT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_window_is_cut_to_the_spans_of_its_kinds),
        cmocka_unit_test(a_window_outside_has_no_part),
        cmocka_unit_test(more_than_1_ms_or_1_percent_is_told),
        cmocka_unit_test(kinds_that_were_not_kept_are_refused_by_name),
        cmocka_unit_test(kinds_that_stores_only_counted_are_refused),
        cmocka_unit_test(rows_of_kinds_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
