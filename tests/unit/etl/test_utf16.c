/*
 * Goal: text conversions give valid UTF-8, keep their promise about size and
 * truncation, and the string readers stop at the NUL or the end.
 * Method: examples of every kind of code point and every kind of bad input, and
 * all capacities for some of them; results lie in memory of exactly the size
 * promised, so that a sanitizer sees any overrun.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "parser/cursor.h"

#define BYTES_OF(literal)                                                                          \
    (etl_bytes)                                                                                    \
    {                                                                                              \
        (const u8 *)(literal), sizeof(literal) - 1                                                 \
    }

typedef size_t convert_fn(etl_bytes text, char *out, size_t capacity);

static void assert_converts(convert_fn *convert, etl_bytes text, const char *expected)
{
    const size_t needed = strlen(expected);
    char *const out = malloc(needed + 1);
    assert_non_null(out);
    assert_int_equal(convert(text, NULL, 0), needed);
    assert_int_equal(convert(text, out, needed + 1), needed);
    assert_string_equal(out, expected);
    free(out);
}

/* With each capacity the result is what fits of `expected`, cut before the
 * character (given by its bytes) that does not. */
static void assert_cuts_between_characters(convert_fn *convert, etl_bytes text,
                                           const char *expected)
{
    const size_t needed = strlen(expected);
    for (size_t capacity = 1; capacity <= needed + 1; capacity++) {
        char *const out = malloc(capacity);
        assert_non_null(out);
        assert_int_equal(convert(text, out, capacity), needed);
        size_t whole = capacity - 1;
        while (whole > 0 && ((u8)expected[whole] & 0xc0) == 0x80)
            whole--;
        assert_int_equal(strlen(out), whole);
        assert_memory_equal(out, expected, whole);
        free(out);
    }
}

static void utf16_of_all_sizes_converts(void **state)
{
    (void)state;
    assert_converts(etl_utf16_to_utf8, BYTES_OF("a\0z\0"), "az");
    assert_converts(etl_utf16_to_utf8, BYTES_OF("\x7f\0\x80\0\xff\x07"), "\x7f\xc2\x80\u07ff");
    assert_converts(etl_utf16_to_utf8, BYTES_OF("\x00\x08\xac\x20\xff\xff"), "\u0800\u20ac\uffff");
    assert_converts(etl_utf16_to_utf8, BYTES_OF("\xff\xd7\x00\xe0"), "\ud7ff\ue000");
    assert_converts(etl_utf16_to_utf8, BYTES_OF("\x00\xd8\x00\xdc"), "\U00010000");
    assert_converts(etl_utf16_to_utf8, BYTES_OF("\x3d\xd8\x00\xde\xff\xdb\xff\xdf"),
                    "\U0001f600\U0010ffff");
}

static void nothing_converts_to_nothing(void **state)
{
    (void)state;
    assert_converts(etl_utf16_to_utf8, (etl_bytes){ NULL, 0 }, "");
    assert_converts(etl_text_to_utf8, (etl_bytes){ NULL, 0 }, "");
}

static void unpaired_surrogates_become_replacement_characters(void **state)
{
    (void)state;
    assert_converts(etl_utf16_to_utf8, BYTES_OF("\x00\xd8"), "\ufffd");
    assert_converts(etl_utf16_to_utf8, BYTES_OF("\x00\xdc"), "\ufffd");
    assert_converts(etl_utf16_to_utf8, BYTES_OF("\x00\xd8y\0"), "\ufffdy");
    assert_converts(etl_utf16_to_utf8, BYTES_OF("\x00\xd8\x00\xd8\x00\xdc"), "\ufffd\U00010000");
    assert_converts(etl_utf16_to_utf8, BYTES_OF("\x00\xdc\x00\xdc"), "\ufffd\ufffd");
    assert_converts(etl_utf16_to_utf8, BYTES_OF("\x00\xdc\x00\xd8x\0"), "\ufffd\ufffdx");
}

static void an_odd_last_byte_becomes_a_replacement_character(void **state)
{
    (void)state;
    assert_converts(etl_utf16_to_utf8, BYTES_OF("x"), "\ufffd");
    assert_converts(etl_utf16_to_utf8, BYTES_OF("x\0y"), "x\ufffd");
    assert_converts(etl_utf16_to_utf8, BYTES_OF("\x00\xd8\x00"), "\ufffd\ufffd");
}

static void output_is_never_cut_inside_a_character(void **state)
{
    (void)state;
    assert_cuts_between_characters(etl_utf16_to_utf8,
                                   BYTES_OF("a\0\xe9\0\xac\x20\x3d\xd8\x00\xde\x62\0"),
                                   "a\u00e9\u20ac\U0001f600b");
    assert_cuts_between_characters(etl_text_to_utf8,
                                   BYTES_OF("a\xe9 \xe2\x82\xac\xf0\x9f\x98\x80z"),
                                   "a\u00e9 \u20ac\U0001f600z");
}

/* Room that a long character left must not be taken by a later short one. */
static void nothing_follows_a_character_that_did_not_fit(void **state)
{
    (void)state;
    char out[3];
    assert_int_equal(etl_utf16_to_utf8(BYTES_OF("\xac\x20z\0"), out, sizeof out), 4);
    assert_string_equal(out, "");
}

static void capacity_zero_writes_nothing(void **state)
{
    (void)state;
    char out = 'x';
    assert_int_equal(etl_utf16_to_utf8(BYTES_OF("a\0"), &out, 0), 1);
    assert_int_equal(etl_text_to_utf8(BYTES_OF("a"), &out, 0), 1);
    assert_int_equal(out, 'x');
}

static void valid_utf8_stays(void **state)
{
    (void)state;
    assert_converts(etl_text_to_utf8, BYTES_OF("plain"), "plain");
    assert_converts(etl_text_to_utf8, BYTES_OF("\u00e9\u07ff\u0800\ud7ff\ue000\U00010000"),
                    "\u00e9\u07ff\u0800\ud7ff\ue000\U00010000");
    assert_converts(etl_text_to_utf8, BYTES_OF("\xc2\x80\xc2\xbf\U0010ffff"),
                    "\xc2\x80\xc2\xbf\U0010ffff");
}

static void other_bytes_are_read_as_latin_1(void **state)
{
    (void)state;
    assert_converts(etl_text_to_utf8, BYTES_OF("caf\xe9"), "caf\u00e9");
    assert_converts(etl_text_to_utf8, BYTES_OF("caf\xe9 au lait"), "caf\u00e9 au lait");
    assert_converts(etl_text_to_utf8, BYTES_OF("\x80\xbf\xff"), "\xc2\x80\u00bf\u00ff");
    /* A sequence that breaks off: the lead alone is Latin-1. */
    assert_converts(etl_text_to_utf8, BYTES_OF("\xe2\x82"), "\u00e2\xc2\x82");
    assert_converts(etl_text_to_utf8, BYTES_OF("\xe2\xc3\xa9"), "\u00e2\u00e9");
}

static void forbidden_sequences_are_no_utf8(void **state)
{
    (void)state;
    assert_converts(etl_text_to_utf8, BYTES_OF("\xc0\xaf"), "\u00c0\u00af");
    assert_converts(etl_text_to_utf8, BYTES_OF("\xe0\x80\xaf"), "\u00e0\xc2\x80\u00af");
    assert_converts(etl_text_to_utf8, BYTES_OF("\xf0\x80\x80\xaf"), "\u00f0\xc2\x80\xc2\x80\u00af");
    assert_converts(etl_text_to_utf8, BYTES_OF("\xed\xa0\x80"), "\u00ed\u00a0\xc2\x80");
    assert_converts(etl_text_to_utf8, BYTES_OF("\xf4\x90\x80\x80"),
                    "\u00f4\xc2\x90\xc2\x80\xc2\x80");
    assert_converts(etl_text_to_utf8, BYTES_OF("\xf8\x88\x80\x80"),
                    "\u00f8\xc2\x88\xc2\x80\xc2\x80");
}

static void guid_is_written_in_lower_case_with_its_first_parts_swapped(void **state)
{
    (void)state;
    static const u8 guid[16] = { 0xd7, 0x75, 0xe6, 0xb3, 0x54, 0x25, 0x18, 0x4f,
                                 0x83, 0x0b, 0x27, 0x62, 0x73, 0x25, 0x60, 0xde };
    char text[ETL_GUID_TEXT_SIZE];
    etl_guid_format(guid, text);
    assert_string_equal(text, "b3e675d7-2554-4f18-830b-2762732560de");
}

static void string8_ends_at_its_nul_and_consumes_it(void **state)
{
    (void)state;
    etl_cursor lone_nul = etl_cursor_of(BYTES_OF("\0"));
    assert_int_equal(etl_string8(&lone_nul).size, 0);
    assert_int_equal(lone_nul.left, 0);
    etl_cursor c = etl_cursor_of(BYTES_OF("ab\0\0c"));
    const etl_bytes first = etl_string8(&c);
    const etl_bytes second = etl_string8(&c);
    const etl_bytes third = etl_string8(&c);
    assert_int_equal(first.size, 2);
    assert_memory_equal(first.at, "ab", 2);
    assert_int_equal(second.size, 0);
    assert_int_equal(third.size, 1);
    assert_memory_equal(third.at, "c", 1);
    assert_int_equal(c.left, 0);
    assert_true(etl_ok(&c));
}

static void string16_ends_at_its_nul_and_consumes_it(void **state)
{
    (void)state;
    /* The bytes "\0\0" across two units are no NUL. */
    etl_cursor c = etl_cursor_of(BYTES_OF("a\0\0b\0\0c\0"));
    const etl_bytes first = etl_string16(&c);
    const etl_bytes second = etl_string16(&c);
    assert_int_equal(first.size, 4);
    assert_memory_equal(first.at, "a\0\0b", 4);
    assert_int_equal(second.size, 2);
    assert_memory_equal(second.at, "c", 2);
    assert_int_equal(c.left, 0);
    assert_true(etl_ok(&c));
}

static void string16_leaves_an_odd_last_byte(void **state)
{
    (void)state;
    etl_cursor c = etl_cursor_of(BYTES_OF("a\0b"));
    const etl_bytes text = etl_string16(&c);
    assert_int_equal(text.size, 2);
    assert_int_equal(c.left, 1);
    assert_int_equal(etl_string16(&c).size, 0);
    assert_int_equal(c.left, 1);
}

static void strings_of_an_empty_range_are_empty(void **state)
{
    (void)state;
    etl_cursor c = etl_cursor_of((etl_bytes){ NULL, 0 });
    assert_int_equal(etl_string8(&c).size, 0);
    assert_int_equal(etl_string16(&c).size, 0);
    assert_true(etl_ok(&c));
}

static void strings_of_a_failed_cursor_are_absent(void **state)
{
    (void)state;
    etl_cursor c = etl_cursor_of(BYTES_OF("ab"));
    etl_skip(&c, 3);
    const etl_bytes text8 = etl_string8(&c);
    const etl_bytes text16 = etl_string16(&c);
    assert_null(text8.at);
    assert_null(text16.at);
    assert_false(etl_ok(&c));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(utf16_of_all_sizes_converts),
        cmocka_unit_test(nothing_converts_to_nothing),
        cmocka_unit_test(unpaired_surrogates_become_replacement_characters),
        cmocka_unit_test(an_odd_last_byte_becomes_a_replacement_character),
        cmocka_unit_test(output_is_never_cut_inside_a_character),
        cmocka_unit_test(nothing_follows_a_character_that_did_not_fit),
        cmocka_unit_test(capacity_zero_writes_nothing),
        cmocka_unit_test(valid_utf8_stays),
        cmocka_unit_test(other_bytes_are_read_as_latin_1),
        cmocka_unit_test(forbidden_sequences_are_no_utf8),
        cmocka_unit_test(guid_is_written_in_lower_case_with_its_first_parts_swapped),
        cmocka_unit_test(string8_ends_at_its_nul_and_consumes_it),
        cmocka_unit_test(string16_ends_at_its_nul_and_consumes_it),
        cmocka_unit_test(string16_leaves_an_odd_last_byte),
        cmocka_unit_test(strings_of_an_empty_range_are_empty),
        cmocka_unit_test(strings_of_a_failed_cursor_are_absent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
