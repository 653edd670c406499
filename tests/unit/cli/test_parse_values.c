/*
 * Goal: values of options are read exactly, and what is no value is refused.
 * Method: tables of texts with the value each must give, or with none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/options/nearest.h"
#include "cli/options/parse_values.h"

#include <stdio.h>

#include "parser/system/name_fold.h"

static void spans_are_exact_nanoseconds(void **state)
{
    static const struct {
        const char *text;
        i64 ns;
    } rows[] = {
        { "12s", 12000000000 },
        { "350ms", 350000000 },
        { "1.5e6us", 1500000000 },
        { "800ns", 800 },
        { "10min", 600000000000 },
        { "1.5h", 5400000000000 },
        { "-0.1min", -6000000000 },
        { "153722867.2min", 9223372032000000000 },
        { "1.5e6\xC2\xB5s", 1500000000 },
        { "0.1s", 100000000 },
        { "0.0000000019s", 1 },
        { "1E-3s", 1000000 },
        { "-2ms", -2000000 },
        { "+2ms", 2000000 },
        { ".5s", 500000000 },
        { "0", 0 },
        { "9223372036854775807ns", INT64_MAX },
        { "-9223372036854775807ns", -INT64_MAX },
        { "9223372036.854775807s", INT64_MAX },
        { "9223372036854775.8079us", INT64_MAX },
        { "1234567890123456789ns", 1234567890123456789 },
        { "123456789012345678901234e-10ns", 12345678901234 },
        { "0.00000000000000000000000000001s", 0 },
        { "9223372036s", 9223372036000000000 },
        { "0e99s", 0 },
        { "123456789012345678ns", 123456789012345678 },
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        cli_time time;
        print_message("  %s\n", rows[i].text);
        assert_true(cli_parse_time(rows[i].text, &time));
        assert_false(time.is_instant);
        assert_int_equal(time.ns, rows[i].ns);
    }
}

static void what_is_no_time_is_refused(void **state)
{
    static const char *const rows[] = {
        "",
        "s",
        "12",
        "12 s",
        "5parsecs",
        "1.2.3s",
        "1e",
        "1es",
        "--1s",
        "1e99s",
        "0x10s",
        "12sx",
        "5m",
        "5minutes",
        "153722868min",
        "2562048h",
        "18446744073709551615h",
        "nonsense",
        "9223372037s",
        "9223372036854775808ns",
        "-9223372036854775808ns",
        "9223372036.854775808s",
        "2020",
        "2020-07",
        "12:00",
        "1,5s",
        "inf",
        "nan",
        "1e9999999999999999s",
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        cli_time time;
        print_message("  '%s'\n", rows[i]);
        assert_false(cli_parse_time(rows[i], &time));
    }
}

static void instants_are_utc_unless_a_zone_is_given(void **state)
{
    static const struct {
        const char *text;
        i64 seconds, ns;
    } rows[] = {
        { "1970-01-01", 0, 0 },
        { "1970-01-01T00:00:00Z", 0, 0 },
        { "2020-07-29T00:07:00.623615Z", 1595981220, 623615000 },
        { "2020-07-29 00:07:00.623615", 1595981220, 623615000 },
        { "2020-07-29T02:07+02:00", 1595981220, 0 },
        { "2020-07-28T19:07:00-05:00", 1595981220, 0 },
        { "2000-02-29", 951782400, 0 },
        { "2100-03-01", 4107542400, 0 },
        { "1969-12-31T23:59:59.5Z", -1, 500000000 },
        { "2020-07-29t00:07:00z", 1595981220, 0 },
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        cli_time time;
        print_message("  %s\n", rows[i].text);
        assert_true(cli_parse_time(rows[i].text, &time));
        assert_true(time.is_instant);
        assert_int_equal(time.ns, rows[i].seconds * 1000000000 + rows[i].ns);
    }
}

static void dates_that_are_not_on_the_calendar_are_refused(void **state)
{
    static const char *const rows[] = {
        "2021-02-29",
        "2100-02-29",
        "2020-13-01",
        "2020-00-01",
        "2020-04-31",
        "2020-01-00",
        "2020-01-01T24:00",
        "2020-01-01T00:60",
        "2020-01-01T00:00:60",
        "2020-01-01T00",
        "2020-01-01T00:00:00.",
        "2020-01-01T00:00:00Zx",
        "2020-01-01T00:00+2",
        "0000-01-01",
        "9999-01-01",
        "2020-01-01T00:00Z+1",
        "2020-1-1",
        "2020-01-01T",
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        cli_time time;
        print_message("  '%s'\n", rows[i]);
        assert_false(cli_parse_time(rows[i], &time));
    }
}

static void instants_become_time_since_the_start(void **state)
{
    /* 2020-07-29T00:07:00.623615Z as FILETIME. */
    const i64 start = INT64_C(132404548206236150);
    cli_time time;
    i64 ns = 0;
    (void)state;
    assert_true(cli_parse_time("2020-07-29T00:07:10.6236151Z", &time));
    assert_true(cli_time_resolve(&time, start, &ns));
    assert_int_equal(ns, INT64_C(10000000100));
    assert_true(cli_parse_time("12s", &time));
    assert_true(cli_time_resolve(&time, start, &ns));
    assert_int_equal(ns, INT64_C(12000000000));
    assert_true(cli_parse_time("2020-07-29", &time));
    assert_false(cli_time_resolve(&time, INT64_MIN, &ns));
}

static bool is_mark(const cli_time *time, const char *name)
{
    return time->given && time->mark != NULL && time->mark_size == strlen(name) &&
           memcmp(time->mark, name, time->mark_size) == 0;
}

static void marks_are_times_and_ends_of_ranges(void **state)
{
    cli_time from, to;
    (void)state;
    assert_true(cli_parse_time("mark:load", &from) && is_mark(&from, "load"));
    assert_true(cli_parse_time("mark:a b#2", &from) && is_mark(&from, "a b#2"));
    assert_false(cli_parse_time("mark:", &from) || cli_parse_time("Mark:x", &from));
    assert_true(cli_parse_time_range("mark:load..mark:unload", &from, &to));
    assert_true(is_mark(&from, "load") && is_mark(&to, "unload"));
    assert_true(cli_parse_time_range("mark:load..", &from, &to) && !to.given);
    assert_true(cli_parse_time_range("1s..mark:x", &from, &to) && is_mark(&to, "x"));
    assert_true(from.ns == 1000000000 && from.mark == NULL);
}

static void sizes_are_powers_of_1024(void **state)
{
    static const struct {
        const char *text;
        u64 bytes;
    } rows[] = {
        { "0", 0 },
        { "100", 100 },
        { "100B", 100 },
        { "64K", 65536 },
        { "64k", 65536 },
        { "64KiB", 65536 },
        { "64KB", 65536 },
        { "1.5M", 1572864 },
        { "2G", 2147483648 },
        { "0.5k", 512 },
        { "1.999999k", 2047 },
        { "3T", 3298534883328 },
        { "4096.7", 4096 },
        { "16777215T", 18446742974197923840u },
        { "1234567890123456789", 1234567890123456789 },
        { "18446744073709551615", UINT64_MAX },
        { "18446744073709551615.99", UINT64_MAX },
        { "0.000000000000000000001T", 0 },
        { "1234567890.123456789012K", 1264197519486 },
        { "3.14159265358979323846G", 3373259426 },
        { "16777215.999999999999999T", UINT64_MAX },
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        u64 bytes = 1;
        print_message("  %s\n", rows[i].text);
        assert_true(cli_parse_size(rows[i].text, &bytes));
        assert_true(bytes == rows[i].bytes);
    }
}

static void what_is_no_size_is_refused(void **state)
{
    static const char *const rows[] = {
        "",       "K",   "-1",   "12Q",    "1 K",       "1e3",
        "64KiBs", "1Ki", "0x10", "1.2.3K", "16777216T", "nonsense"
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        u64 bytes;
        print_message("  '%s'\n", rows[i]);
        assert_false(cli_parse_size(rows[i], &bytes));
    }
}

static void what_is_too_large_is_told_from_nonsense(void **state)
{
    static const char *const times[] = {
        "9223372037s",  "1e300s",     "9223372036854775808ns", "99999999999999999999999ns",
        "-9223372037s", "9999-01-01", "1600-01-01T00:00Z",     "0s..9223372037s",
        "9999-01-01..",
    };
    static const char *const no_times[] = { "",           "12",          "12parsecs",
                                            "9223372037", "9223372036s", "99999999999999999999",
                                            "2020-02-30", ".." };
    static const char *const sizes[] = { "18446744073709551616", "99999999999999999999",
                                         "16777216T", "18446744073709551615K", "1..16777216T" };
    static const char *const no_sizes[] = {
        "", "x", "18446744073709551615", "1e30", "16777216TT", "-1", "..", "99999999999999999999s"
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(times); i++)
        assert_true(cli_time_is_too_large(times[i]));
    for (size_t i = 0; i < ETL_COUNT_OF(no_times); i++)
        assert_false(cli_time_is_too_large(no_times[i]));
    for (size_t i = 0; i < ETL_COUNT_OF(sizes); i++)
        assert_true(cli_size_is_too_large(sizes[i]));
    for (size_t i = 0; i < ETL_COUNT_OF(no_sizes); i++)
        assert_false(cli_size_is_too_large(no_sizes[i]));
}

static void ranges_may_be_open_at_either_end(void **state)
{
    u64 min = 1;
    u64 max = 1;
    i64 min_ns = 1;
    i64 max_ns = 1;
    bool empty;
    (void)state;
    assert_true(cli_parse_size_range("64K..1.5M", &min, &max, &empty));
    assert_true(min == 65536 && max == 1572864);
    assert_true(cli_parse_size_range("64K..", &min, &max, &empty));
    assert_true(min == 65536 && max == UINT64_MAX);
    assert_true(cli_parse_size_range("..10", &min, &max, &empty));
    assert_true(min == 0 && max == 10);
    assert_true(cli_parse_size_range("4096", &min, &max, &empty));
    assert_true(min == 4096 && max == 4096);
    assert_true(cli_parse_address_range("0x7ff61000..0x7FF62000", &min, &max, &empty));
    assert_true(min == 0x7ff61000 && max == 0x7ff62000);
    assert_true(cli_parse_address_range("0x10", &min, &max, &empty));
    assert_true(min == 16 && max == 16);
    assert_true(cli_parse_address_range("..0x1f", &min, &max, &empty));
    assert_true(min == 0 && max == 31);
    assert_false(cli_parse_address_range("7ff61000h..", &min, &max, &empty));
    assert_true(cli_parse_size_range("7..7", &min, &max, &empty));
    assert_true(cli_parse_duration_range("1.5s..2s", &min_ns, &max_ns, &empty));
    assert_true(min_ns == 1500000000 && max_ns == 2000000000);
    assert_true(cli_parse_duration_range("..350ms", &min_ns, &max_ns, &empty));
    assert_true(min_ns == 0 && max_ns == 350000000);
}

static void time_ranges_have_open_ends(void **state)
{
    cli_time from;
    cli_time to;
    (void)state;
    assert_true(cli_parse_time_range("1.5s..2020-07-29T00:07:10Z", &from, &to));
    assert_true(from.given && from.ns == 1500000000 && to.given && to.is_instant);
    assert_true(cli_parse_time_range("-1s..", &from, &to));
    assert_true(from.given && from.ns == -1000000000 && !to.given);
    assert_true(cli_parse_time_range("..350ms", &from, &to));
    assert_true(!from.given && to.given && to.ns == 350000000);
    assert_true(cli_parse_time_range("3s", &from, &to));
    assert_true(from.given && to.given && from.ns == to.ns);
    assert_false(cli_parse_time_range("..", &from, &to));
    assert_false(cli_parse_time_range("1s..2s..3s", &from, &to));
    assert_false(cli_parse_time_range("soon..", &from, &to));
}

static void empty_ranges_are_told_from_nonsense(void **state)
{
    u64 min;
    u64 max;
    i64 min_ns;
    i64 max_ns;
    bool empty;
    (void)state;
    assert_false(cli_parse_size_range("64K..1K", &min, &max, &empty));
    assert_true(empty);
    assert_false(cli_parse_duration_range("2s..1s", &min_ns, &max_ns, &empty));
    assert_true(empty);
    assert_false(cli_parse_size_range("..", &min, &max, &empty));
    assert_false(empty);
    assert_false(cli_parse_address_range("", &min, &max, &empty));
    assert_false(cli_parse_size_range("", &min, &max, &empty));
    assert_false(cli_parse_size_range("1..2..3", &min, &max, &empty));
    assert_false(cli_parse_duration_range("-1s..2s", &min_ns, &max_ns, &empty));
    assert_false(empty);
}

static void handles_are_hexadecimal_with_0x(void **state)
{
    u64 value = 0;
    (void)state;
    assert_true(cli_parse_handle("0x1f0000", &value));
    assert_true(value == 0x1f0000);
    assert_true(cli_parse_handle("0X1F0000", &value));
    assert_true(cli_parse_handle("4321", &value));
    assert_true(value == 4321);
    assert_true(cli_parse_handle("0xffffffffffffffff", &value));
    assert_true(value == UINT64_MAX);
    assert_false(cli_parse_handle("0x10000000000000000", &value));
    assert_false(cli_parse_handle("0x", &value));
    assert_false(cli_parse_handle("1f0000", &value));
    assert_false(cli_parse_handle("", &value));
}

static void lists_give_their_words(void **state)
{
    const char *list = "kind,process,heap";
    char word[CLI_WORD_SIZE];
    (void)state;
    assert_true(cli_next_word(&list, word));
    assert_string_equal(word, "kind");
    assert_true(cli_next_word(&list, word));
    assert_string_equal(word, "process");
    assert_true(cli_next_word(&list, word));
    assert_string_equal(word, "heap");
    assert_string_equal(list, "");
    assert_false(cli_next_word(&list, word));
    list = "a,";
    assert_true(cli_next_word(&list, word));
    assert_false(cli_next_word(&list, word));
    assert_string_equal(list, ",");
    list = ",a";
    assert_false(cli_next_word(&list, word));
}

static void patterns_have_module_and_symbol(void **state)
{
    static const struct {
        const char *text, *module, *symbol;
    } rows[] = {
        { "ntdll.dll!Rtl*", "ntdll.dll", "Rtl*" },
        { "ntdll.dll!", "ntdll.dll", NULL },
        { "ntdll.dll!*", "ntdll.dll", NULL },
        { "malloc", NULL, "malloc" },
        { "!malloc", NULL, "malloc" },
        { "*!malloc", NULL, "malloc" },
        { "a!b!c", "a", "b!c" },
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        char text[32];
        etlheap_pattern pattern;
        snprintf(text, sizeof text, "%s", rows[i].text);
        assert_true(cli_parse_pattern(text, &pattern));
        assert_true((pattern.module != NULL) == (rows[i].module != NULL));
        assert_true((pattern.symbol != NULL) == (rows[i].symbol != NULL));
        if (pattern.module)
            assert_string_equal(pattern.module, rows[i].module);
        if (pattern.symbol)
            assert_string_equal(pattern.symbol, rows[i].symbol);
    }
}

static void patterns_that_match_all_are_refused(void **state)
{
    static const char *const rows[] = { "", "!", "*", "*!", "*!*" };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        char text[8];
        etlheap_pattern pattern;
        snprintf(text, sizeof text, "%s", rows[i]);
        assert_false(cli_parse_pattern(text, &pattern));
    }
}

static void wildcards_match_as_in_file_names(void **state)
{
    (void)state;
    assert_true(etl_name_glob("Heap/*", "Heap/Alloc"));
    assert_true(etl_name_glob("heap/alloc", "Heap/Alloc"));
    assert_true(etl_name_glob("*a*b", "xaxxbxab"));
    assert_true(etl_name_glob("app?.exe", "app1.exe"));
    assert_true(etl_name_glob("*", ""));
    assert_false(etl_name_glob("app?.exe", "app.exe"));
    assert_false(etl_name_glob("Heap/*", "Heap"));
    assert_false(etl_name_glob("", "a"));
}

static void percentages_have_four_decimals(void **state)
{
    static const struct {
        const char *text;
        u32 ppm; /* UINT32_MAX: refused */
    } cases[] = {
        { "0", 0 },
        { "1", 10000 },
        { "0.1", 1000 },
        { "0.0001", 1 },
        { "99.9999", 999999 },
        { "100", 1000000 },
        { "100%", 1000000 },
        { "2.5%", 25000 },
        { "100.0001", UINT32_MAX },
        { "101", UINT32_MAX },
        { "0.00001", UINT32_MAX },
        { "", UINT32_MAX },
        { "%", UINT32_MAX },
        { ".5", UINT32_MAX },
        { "-1", UINT32_MAX },
        { "1x", UINT32_MAX },
        { "1%%", UINT32_MAX },
        { "18446744073709551617", UINT32_MAX },
        { "00000000000000000000000000000000000000000000000000000000000000000000000001",
          UINT32_MAX },
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(cases); i++) {
        u32 ppm = 7;
        const bool good = cli_parse_percent(cases[i].text, &ppm);
        if (good != (cases[i].ppm != UINT32_MAX) || (good && ppm != cases[i].ppm))
            fail_msg("%s: %u", cases[i].text, (unsigned)ppm);
    }
}

static void distance_counts_changes(void **state)
{
    (void)state;
    assert_int_equal(cli_edit_distance("report", "report"), 0);
    assert_int_equal(cli_edit_distance("reprot", "report"), 2);
    assert_int_equal(cli_edit_distance("--frm", "--from"), 1);
    assert_int_equal(cli_edit_distance("", "abc"), 3);
    assert_int_equal(cli_edit_distance("kitten", "sitting"), 3);
    assert_true(cli_edit_distance("a word that is longer than any of ours is", "a") == UINT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_are_exact_nanoseconds),
        cmocka_unit_test(what_is_no_time_is_refused),
        cmocka_unit_test(instants_are_utc_unless_a_zone_is_given),
        cmocka_unit_test(dates_that_are_not_on_the_calendar_are_refused),
        cmocka_unit_test(instants_become_time_since_the_start),
        cmocka_unit_test(marks_are_times_and_ends_of_ranges),
        cmocka_unit_test(sizes_are_powers_of_1024),
        cmocka_unit_test(what_is_no_size_is_refused),
        cmocka_unit_test(what_is_too_large_is_told_from_nonsense),
        cmocka_unit_test(ranges_may_be_open_at_either_end),
        cmocka_unit_test(time_ranges_have_open_ends),
        cmocka_unit_test(empty_ranges_are_told_from_nonsense),
        cmocka_unit_test(handles_are_hexadecimal_with_0x),
        cmocka_unit_test(lists_give_their_words),
        cmocka_unit_test(patterns_have_module_and_symbol),
        cmocka_unit_test(patterns_that_match_all_are_refused),
        cmocka_unit_test(wildcards_match_as_in_file_names),
        cmocka_unit_test(percentages_have_four_decimals),
        cmocka_unit_test(distance_counts_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
