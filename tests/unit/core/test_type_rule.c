/*
 * Goal: a lifetime has the type that WPA gives it, at every place of a window, and a type
 * counts for what the window's two ends show.
 * Method: all lifetimes and windows on a short line of ticks, with what is there at each
 * tick written down cell by cell; the types and measures are read from those cells.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/core/type_rule.h"

#define LINE 6 /* ticks 0 to 5 */

/* Is the block there just before the tick? */
static bool is_there(i64 alloc_ticks, i64 free_ticks, i64 ticks)
{
    bool there = alloc_ticks < 0;
    for (i64 t = 0; t < ticks; t++) {
        if (t == alloc_ticks)
            there = true;
        if (t == free_ticks)
            there = false;
    }
    return there;
}

static void check(i64 alloc, i64 free, i64 from, i64 to)
{
    const bool at_start = is_there(alloc, free, from), at_end = is_there(alloc, free, to);
    const bool begins = alloc >= from && alloc < to, ends = free >= from && free < to;
    assert_int_equal(type_touches(alloc, free, from, to), at_start || begins || ends);
    if (!type_touches(alloc, free, from, to))
        return;
    const etlheap_type type = type_in_window(alloc, free, from, to);
    const char word[] = { 'A', begins ? 'I' : 'O', 'F', ends ? 'I' : 'O', '\0' };
    assert_string_equal(etlheap_type_name(type), word);
    assert_int_equal(type_is_outstanding(type), at_end);
    assert_int_equal(type_impact(type, 100), (at_end - at_start) * 100);
    i64 measures[ETLHEAP_MEASURES_COUNT] = { 0 };
    type_add_measures(measures, ETLHEAP_MEASURES_COUNT, type, &(type_sums){ 3, 100, 2 });
    type_add_measures(measures, ETLHEAP_MEASURES_COUNT, type, &(type_sums){ 1, 10, 0 });
    assert_int_equal(measures[ETLHEAP_MEASURE_COUNT], 4);
    assert_int_equal(measures[ETLHEAP_MEASURE_SIZE], 110);
    assert_int_equal(measures[ETLHEAP_MEASURE_REALLOC_COUNT], 2);
    assert_int_equal(measures[ETLHEAP_MEASURE_OUTSTANDING_COUNT], at_end ? 4 : 0);
    assert_int_equal(measures[ETLHEAP_MEASURE_OUTSTANDING_SIZE], at_end ? 110 : 0);
    assert_int_equal(measures[ETLHEAP_MEASURE_IMPACTING_SIZE], (at_end - at_start) * 110);
    assert_int_equal(measures[ETLHEAP_MEASURE_PEAK_SIZE], 0);
}

static void types_are_what_the_ends_of_the_window_show(void **state)
{
    (void)state;
    for (i64 from = 0; from < LINE; from++) {
        for (i64 to = from + 1; to <= LINE; to++) {
            for (i64 free = 1; free <= LINE; free++) {
                const i64 end = free == LINE ? ETLHEAP_TICKS_NEVER : free;
                for (i64 alloc = 0; alloc < free; alloc++)
                    check(alloc, end, from, to);
                check(ETLHEAP_TICKS_BEFORE, end, from, to);
            }
        }
    }
}

static void sizes_stop_at_the_largest_number(void **state)
{
    (void)state;
    i64 measures[ETLHEAP_MEASURES_COUNT] = { 0 };
    for (u32 i = 0; i < 2; i++) {
        type_add_measures(measures, ETLHEAP_MEASURES_COUNT, ETLHEAP_TYPE_AIFO,
                          &(type_sums){ 1, INT64_MAX, 0 });
        assert_int_equal(measures[ETLHEAP_MEASURE_SIZE], INT64_MAX);
        assert_int_equal(measures[ETLHEAP_MEASURE_OUTSTANDING_SIZE], INT64_MAX);
        assert_int_equal(measures[ETLHEAP_MEASURE_IMPACTING_SIZE], INT64_MAX);
    }
    type_add_measures(measures, ETLHEAP_MEASURES_COUNT, ETLHEAP_TYPE_AOFI,
                      &(type_sums){ 1, INT64_MAX, 0 });
    assert_int_equal(measures[ETLHEAP_MEASURE_IMPACTING_SIZE], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_are_what_the_ends_of_the_window_show),
        cmocka_unit_test(sizes_stop_at_the_largest_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
