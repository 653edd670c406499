/*
 * Goal: a sparkline shows the form of a curve, and hides neither a spike nor what
 * is little.
 * Method: short curves in ASCII, compared as text, and the heights of random
 * values against a search for the lowest that reaches them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "formats/parts/sparkline.h"
#include "formats/io/text_buffer.h"

#define COUNT(values) ((u32)ETL_COUNT_OF(values))

static const char heights[] = "_.:-=+*#";

static void expect(const i64 *values, u32 count, u32 columns, const char *wanted)
{
    etlheap_text text = { 0 };
    const etlheap_sparkline how = { .columns = columns, .ascii = true };
    etlheap_sparkline_add(&text, values, count, &how);
    assert_string_equal(etlheap_text_of(&text), wanted);
    etlheap_text_free(&text);
}

static void equal_steps_take_all_heights(void **state)
{
    static const i64 values[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
    (void)state;
    expect(values, COUNT(values), 0, heights);
}

static void blocks_of_unicode_have_the_same_heights(void **state)
{
    static const i64 values[] = { 0, 100, 200, 300, 400, 500, 600, 700 };
    const etlheap_sparkline how = { .columns = 0 };
    etlheap_text text = { 0 };
    (void)state;
    etlheap_sparkline_add(&text, values, COUNT(values), &how);
    assert_string_equal(etlheap_text_of(&text), "▁▂▃▄▅▆▇█");
    etlheap_text_free(&text);
}

static void only_nothing_is_lowest(void **state)
{
    static const i64 values[] = { 0, 1, 1000000000, -5 };
    (void)state;
    expect(values, COUNT(values), 0, "_.#_");
}

static void a_curve_of_nothing_is_flat(void **state)
{
    static const i64 values[] = { 0, 0, -1 };
    (void)state;
    expect(values, COUNT(values), 0, "___");
    expect(values, 0, 0, "");
}

static void a_long_curve_keeps_its_spikes(void **state)
{
    i64 values[100] = { 0 };
    (void)state;
    values[37] = 5;
    expect(values, COUNT(values), 10, "___#______");
    expect(values, COUNT(values), 1, "#");
}

static void a_short_curve_is_not_stretched(void **state)
{
    static const i64 values[] = { 7, 0, 7 };
    (void)state;
    expect(values, COUNT(values), 100, "#_#");
}

static void curves_may_be_drawn_to_one_scale(void **state)
{
    static const i64 values[] = { 0, 35, 70, 71 };
    const etlheap_sparkline how = { .ascii = true, .largest = 70 };
    const etlheap_sparkline higher = { .ascii = true, .largest = 490 };
    etlheap_text text = { 0 };
    (void)state;
    etlheap_sparkline_add(&text, values, COUNT(values), &how);
    etlheap_sparkline_add(&text, values, COUNT(values), &higher);
    assert_string_equal(etlheap_text_of(&text), "_=##_..:");
    etlheap_text_free(&text);
}

static void a_scale_may_begin_at_the_least_value(void **state)
{
    static const i64 values[] = { 1007, 1000, 1003, 1007 };
    static const i64 flat[] = { 5, 5, 5 };
    static const i64 extremes[] = { INT64_MIN, 0, INT64_MAX, -1 };
    const etlheap_sparkline how = { .ascii = true, .from_least = true };
    etlheap_text text = { 0 };
    (void)state;
    etlheap_sparkline_add(&text, values, COUNT(values), &how);
    etlheap_sparkline_add(&text, flat, COUNT(flat), &how);
    etlheap_sparkline_add(&text, extremes, COUNT(extremes), &how);
    assert_string_equal(etlheap_text_of(&text), "#_-#____=#=");
    etlheap_text_free(&text);
}

static void the_largest_numbers_do_not_overflow(void **state)
{
    static const i64 values[] = { INT64_MAX, 1, INT64_MIN, INT64_MAX / 2, INT64_MAX - 1 };
    (void)state;
    expect(values, COUNT(values), 0, "#._=#");
}

static void heights_are_parts_of_the_largest_rounded_up(void **state)
{
    (void)state;
    srand(1);
    for (u32 round = 0; round < 2000; round++) {
        const i64 largest = 1 + rand() % 100000;
        const i64 value = rand() % (largest + 1);
        const i64 values[] = { largest, value };
        u32 height = 0;
        while (height * largest < value * 7)
            height++;
        const char wanted[] = { '#', heights[height], '\0' };
        expect(values, COUNT(values), 0, wanted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_steps_take_all_heights),
        cmocka_unit_test(blocks_of_unicode_have_the_same_heights),
        cmocka_unit_test(only_nothing_is_lowest),
        cmocka_unit_test(a_curve_of_nothing_is_flat),
        cmocka_unit_test(a_long_curve_keeps_its_spikes),
        cmocka_unit_test(a_short_curve_is_not_stretched),
        cmocka_unit_test(curves_may_be_drawn_to_one_scale),
        cmocka_unit_test(a_scale_may_begin_at_the_least_value),
        cmocka_unit_test(the_largest_numbers_do_not_overflow),
        cmocka_unit_test(heights_are_parts_of_the_largest_rounded_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
