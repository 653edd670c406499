/*
 * Goal: names reach Windows' system calls as they are meant, or not at all.
 * Method: tables of names in UTF-8 with the units that each must give, computed by
 * hand from the Unicode standard; and of full names with the prefix that they need.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "parser/system/wide.h"

static void characters_of_each_length_become_units(void **state)
{
    static const struct {
        const char *text;
        u16 units[8];
    } rows[] = {
        { "", { 0 } },
        { "a.etl", { 'a', '.', 'e', 't', 'l', 0 } },
        { "\xc3\x9c", { 0xdc, 0 } },                               /* U+00DC */
        { "\xc2\x80\xdf\xbf", { 0x80, 0x7ff, 0 } },                /* ends of 2 bytes */
        { "\xe0\xa0\x80\xef\xbf\xbf", { 0x800, 0xffff, 0 } },      /* ends of 3 bytes */
        { "\xe6\xb8\xac\xe8\xa9\xa6", { 0x6e2c, 0x8a66, 0 } },     /* two ideographs */
        { "\xf0\x90\x80\x80", { 0xd800, 0xdc00, 0 } },             /* U+10000 */
        { "x\xf4\x8f\xbf\xbfy", { 'x', 0xdbff, 0xdfff, 'y', 0 } }, /* U+10FFFF */
        { "\xed\x9f\xbf\xee\x80\x80", { 0xd7ff, 0xe000, 0 } },     /* around surrogates */
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        u16 units[8] = { 0 };
        bool valid = false;
        size_t count = 0;
        while (rows[i].units[count] != 0)
            count++;
        assert_int_equal(etl_utf8_to_wide(rows[i].text, units, 8, &valid), count);
        assert_true(valid);
        assert_memory_equal(units, rows[i].units, (count + 1) * sizeof units[0]);
    }
}

static void what_is_not_utf8_is_no_name(void **state)
{
    static const char *const texts[] = {
        "\x80",             /* a continuation alone */
        "\xc3",             /* cut */
        "\xe6\xb8",         /* cut */
        "\xf0\x90\x80",     /* cut */
        "a\xc3z",           /* another character in the place of a continuation */
        "\xc0\xaf",         /* overlong / */
        "\xc1\xbf",         /* overlong */
        "\xe0\x9f\xbf",     /* overlong */
        "\xf0\x8f\xbf\xbf", /* overlong */
        "\xed\xa0\x80",     /* a surrogate */
        "\xed\xbf\xbf",     /* a surrogate */
        "\xf4\x90\x80\x80", /* above U+10FFFF */
        "\xf5\x80\x80\x80", /* above U+10FFFF */
        "\xff",             /* never */
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(texts); i++) {
        u16 units[8] = { 0xffff };
        bool valid = true;
        assert_int_equal(etl_utf8_to_wide(texts[i], units, 8, &valid), 0);
        assert_false(valid);
        assert_int_equal(units[0], 0);
    }
}

/* Asked for the length first, as its callers do, and never past what there is. */
static void nothing_is_written_past_the_capacity(void **state)
{
    static const char text[] = "ab\xf0\x90\x80\x80";
    (void)state;
    for (size_t capacity = 0; capacity <= 6; capacity++) {
        u16 units[8] = { 7, 7, 7, 7, 7, 7, 7, 7 };
        bool valid;
        assert_int_equal(etl_utf8_to_wide(text, units, capacity, &valid), 4);
        assert_true(valid);
        for (size_t i = capacity; i < ETL_COUNT_OF(units); i++)
            assert_int_equal(units[i], 7);
        if (capacity > 0)
            assert_int_equal(units[capacity <= 4 ? capacity - 1 : 4], 0);
    }
}

static void full_names_get_the_prefix_of_their_kind(void **state)
{
    static const struct {
        const char *name, *prefix;
        size_t skip;
    } rows[] = {
        { "C:\\a\\b.etl", "\\\\?\\", 0 }, { "\\\\server\\share\\b.etl", "\\\\?\\UNC", 1 },
        { "\\\\?\\C:\\a", "", 0 },        { "\\\\?\\UNC\\server\\share", "", 0 },
        { "\\\\.\\NUL", "", 0 },
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        u16 units[40];
        bool valid;
        size_t skip = 99;
        (void)etl_utf8_to_wide(rows[i].name, units, ETL_COUNT_OF(units), &valid);
        assert_string_equal(etl_wide_prefix(units, &skip), rows[i].prefix);
        assert_int_equal(skip, rows[i].skip);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(characters_of_each_length_become_units),
        cmocka_unit_test(what_is_not_utf8_is_no_name),
        cmocka_unit_test(nothing_is_written_past_the_capacity),
        cmocka_unit_test(full_names_get_the_prefix_of_their_kind),
    };
    return cmocka_run_group_tests_name("wide", tests, NULL, NULL);
}
