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

/* Each kind that a trace can be asked for has its own bit, and no other. */
static void kinds_are_those_that_can_be_analyzed(void **state)
{
    static const struct {
        etlheap_abilities can;
        u32 kinds;
    } rows[] = {
        { { .heap = false }, 0 },
        { { .heap = true }, 1u << ETLHEAP_KIND_HEAP },
        { { .virtualalloc = true }, 1u << ETLHEAP_KIND_VIRTUALALLOC },
        { { .extent = true }, 1u << ETLHEAP_KIND_EXTENT },
        { { .custom = true }, 1u << ETLHEAP_KIND_CUSTOM },
        { { .reserve = true }, 1u << ETLHEAP_KIND_RESERVE },
        { { .heap = true, .reserve = true }, 1u << ETLHEAP_KIND_HEAP | 1u << ETLHEAP_KIND_RESERVE },
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        const etlheap_result result = { .abilities = rows[i].can };
        assert_int_equal(etlheap_result_kinds(&result), rows[i].kinds);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_window_is_cut_to_the_spans_of_its_kinds),
        cmocka_unit_test(a_window_outside_has_no_part),
        cmocka_unit_test(more_than_1_ms_or_1_percent_is_told),
        cmocka_unit_test(kinds_are_those_that_can_be_analyzed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
