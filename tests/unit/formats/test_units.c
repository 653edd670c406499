/*
 * Goal: numbers and times read as people and programs expect, at every edge.
 * Method: tables of values with their text; FILETIME against dates that were
 * worked out with another program.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "formats/io/units.h"

typedef struct unit_row {
    i64 value;
    const char *text;
} unit_row;

typedef void unit_fn(i64 value, char out[ETLHEAP_UNITS_SIZE]);

static void expect_all(unit_fn *format, const unit_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char text[ETLHEAP_UNITS_SIZE];
        format(rows[i].value, text);
        assert_string_equal(text, rows[i].text);
    }
}

static void counts_have_separators(void **state)
{
    static const unit_row rows[] = {
        { 0, "0" },
        { 999, "999" },
        { 1000, "1,000" },
        { -1234567, "-1,234,567" },
        { INT64_MAX, "9,223,372,036,854,775,807" },
        { INT64_MIN, "-9,223,372,036,854,775,808" },
    };
    (void)state;
    expect_all(etlheap_units_count, rows, ETL_COUNT_OF(rows));
}

static void sizes_have_three_digits_and_round(void **state)
{
    static const unit_row rows[] = {
        { 0, "0 B" },
        { 1023, "1023 B" },
        { 1024, "1.00 KiB" },
        { 3450, "3.37 KiB" },
        { -3450, "-3.37 KiB" },
        { 10234, "9.99 KiB" },
        { 10235, "10.0 KiB" },
        { 102348, "99.9 KiB" },
        { 102349, "100 KiB" },
        { 1048063, "1023 KiB" },
        { 1048064, "1.00 MiB" },
        { 132120576, "126 MiB" },
        { INT64_C(5) << 40, "5.00 TiB" },
        { INT64_MAX, "8.00 EiB" },
        { INT64_MIN, "-8.00 EiB" },
    };
    (void)state;
    expect_all(etlheap_units_size, rows, ETL_COUNT_OF(rows));
}

static void durations_choose_their_unit(void **state)
{
    static const unit_row rows[] = {
        { 0, "0 ns" },
        { 800, "800 ns" },
        { 1000, "1.000 us" },
        { -1500000, "-1.500 ms" },
    };
    (void)state;
    expect_all(etlheap_units_duration, rows, ETL_COUNT_OF(rows));
}

/* oracle_page_times.py asks the page for the same rows: keep one row on a line. */
static void durations_are_rounded(void **state)
{
    static const unit_row rows[] = {
        { 1499, "1.499 us" },
        { 999999, "999.999 us" },
        { 1234499, "1.234 ms" },
        { 1234500, "1.235 ms" },
        { 999999499, "999.999 ms" },
        { 999999500, "1.000 s" },
        { INT64_C(1000500000), "1.001 s" },
        { INT64_C(12345678901), "12.346 s" },
        { INT64_C(19999999999), "20.000 s" },
        { INT64_MAX, "9223372036.855 s" },
    };
    (void)state;
    expect_all(etlheap_units_duration, rows, ETL_COUNT_OF(rows));
}

static void moments_to_copy_are_exact_and_short(void **state)
{
    static const unit_row rows[] = {
        { 0, "0.000" },
        { 1, "0.000000001" },
        { -100, "-0.000000100" },
        { INT64_C(5000000000), "5.000" },
        { INT64_C(20000012000), "20.000012" },
        { INT64_C(20000000012), "20.000000012" },
    };
    (void)state;
    expect_all(etlheap_units_moment, rows, ETL_COUNT_OF(rows));
}

/* oracle_page_times.py asks the page for the same rows: keep one row on a line. */
static void moments_are_rounded_for_their_window(void **state)
{
    static const struct {
        i64 ns, window_ns;
        const char *text;
    } rows[] = {
        { 0, INT64_C(1000000000), "0.000" },
        { INT64_C(19850040100), INT64_C(20000000000), "19.850" },
        { INT64_C(1999500000), INT64_C(1000000000), "2.000" },
        { 400000, INT64_C(1000000000), "0.000" },
        { 1234567, 999999999, "0.001235" },
        { 1234567, 999999, "0.001234567" },
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        char text[ETLHEAP_UNITS_SIZE];
        etlheap_units_rounded_moment(rows[i].ns, rows[i].window_ns, text);
        assert_string_equal(text, rows[i].text);
    }
}

static void dates_are_cut_to_the_second(void **state)
{
    static const unit_row rows[] = {
        { -1, "1600-12-31T23:59:59Z" },
        { INT64_C(132404548206236150), "2020-07-29T00:07:00Z" },
    };
    (void)state;
    expect_all(etlheap_units_date, rows, ETL_COUNT_OF(rows));
}

static void seconds_are_exact(void **state)
{
    static const unit_row rows[] = {
        { 0, "0.000000000" },
        { 1, "0.000000001" },
        { -100, "-0.000000100" },
        { INT64_C(12345678901), "12.345678901" },
        { INT64_MIN, "-9223372036.854775808" },
    };
    (void)state;
    expect_all(etlheap_units_seconds, rows, ETL_COUNT_OF(rows));
}

static void filetimes_become_dates(void **state)
{
    static const unit_row rows[] = {
        { 0, "1601-01-01T00:00:00.000000000Z" },
        { 1, "1601-01-01T00:00:00.000000100Z" },
        { -1, "1600-12-31T23:59:59.999999900Z" },
        { INT64_C(116444736000000000), "1970-01-01T00:00:00.000000000Z" },
        { INT64_C(125963423990000000), "2000-02-29T23:59:59.000000000Z" },
        { INT64_C(125963424000000000), "2000-03-01T00:00:00.000000000Z" },
        { INT64_C(132404548206236150), "2020-07-29T00:07:00.623615000Z" },
    };
    (void)state;
    expect_all(etlheap_units_filetime, rows, ETL_COUNT_OF(rows));
}

static void shares_are_rounded_percent(void **state)
{
    char text[ETLHEAP_UNITS_SIZE];
    (void)state;
    etlheap_units_share(1, 3, text);
    assert_string_equal(text, "33.3 %");
    etlheap_units_share(2, 3, text);
    assert_string_equal(text, "66.7 %");
    etlheap_units_share(-1, 2, text);
    assert_string_equal(text, "-50.0 %");
    etlheap_units_share(INT64_MAX, INT64_MAX, text);
    assert_string_equal(text, "100.0 %");
    etlheap_units_share(1, 0, text);
    assert_string_equal(text, "");
}

static void short_numbers_fit_narrow_columns(void **state)
{
    static const unit_row sizes[] = {
        { 0, "0" },
        { 17, "17" },
        { 1023, "1023" },
        { 3450, "3.37K" },
        { -10 * 1048576, "-10.0M" },
        { 1000 * 1048576, "1000M" },
        { INT64_MAX, "8.00E" },
    };
    static const unit_row counts[] = {
        { 0, "0" },
        { 99999, "99,999" },
        { -99999, "-99,999" },
        { 100000, "100k" },
        { 999999, "999k" },
        { 1239999, "1.23M" },
        { 45678901, "45.6M" },
        { -123456789, "-123M" },
        { INT64_MAX, "9.22E" },
        { INT64_MIN, "-9.22E" },
    };
    (void)state;
    expect_all(etlheap_units_short_size, sizes, ETL_COUNT_OF(sizes));
    expect_all(etlheap_units_short_count, counts, ETL_COUNT_OF(counts));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_have_separators),
        cmocka_unit_test(short_numbers_fit_narrow_columns),
        cmocka_unit_test(sizes_have_three_digits_and_round),
        cmocka_unit_test(durations_choose_their_unit),
        cmocka_unit_test(durations_are_rounded),
        cmocka_unit_test(moments_to_copy_are_exact_and_short),
        cmocka_unit_test(moments_are_rounded_for_their_window),
        cmocka_unit_test(dates_are_cut_to_the_second),
        cmocka_unit_test(seconds_are_exact),
        cmocka_unit_test(filetimes_become_dates),
        cmocka_unit_test(shares_are_rounded_percent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
