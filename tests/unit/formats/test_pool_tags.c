/*
 * Goal: descriptions of pool tags are read from lines of every form that published files have, and
 * found by the most specific pattern; what is no such line is counted.
 * Method: lines written for the test, and tags whose descriptions follow from the rules.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "formats/read/pool_tags_read.h"
#include "parser/base.h"

static etl_status parse(const char *text, etlheap_pool_tags *tags, etlheap_skipped_lines *skipped,
                        etl_error *err)
{
    const etl_bytes file = { (const u8 *)text, strlen(text) };
    return etlheap_pool_tags_parse(file, "pooltag.txt", tags, skipped, err);
}

static int open_tags(void **state)
{
    etlheap_pool_tags *tags;
    const etl_status status = etlheap_pool_tags_open(&tags, NULL);
    *state = tags;
    return status != ETL_OK;
}

static int close_tags(void **state)
{
    etlheap_pool_tags_close(*state);
    return 0;
}

static void check(const etlheap_pool_tags *tags, const char *tag, const char *wanted)
{
    const char *const found = etlheap_pool_tags_describe(tags, tag);
    if (wanted == NULL)
        assert_null(found);
    else
        assert_string_equal(found, wanted);
}

static void each_form_of_line_is_read(void **state)
{
    etlheap_pool_tags *const tags = *state;
    etlheap_skipped_lines skipped;
    etl_error err = { .status = ETL_OK };
    const char *const text = "\xEF\xBB\xBFrem a comment - no - tag\r\nREM\r\n\r\n   \r\n"
                             "AfdB - afd.sys      -     Afd data buffer\r\n"
                             "Irp  - <unknown>    - Io, IRP packets\n"
                             "Dh 0 - <unknown>    - first - second\n"
                             "CMAl - nt!cm        -internal\n"
                             "G    - Gdi objects\n"
                             "       <unknown>\n"
                             "Toolong - a.sys - b\n"
                             " Irq - a.sys - b\n"
                             "Late - a.sys -\n"
                             "remo - rem-o.sys - not a comment\n"
                             "Caf1 - a.sys - caf\xE9";
    assert_int_equal(parse(text, tags, &skipped, &err), ETL_OK);
    assert_int_equal(skipped.count, 4);
    assert_int_equal(skipped.first, 10);
    assert_int_equal(etlheap_pool_tags_count(tags), 7);
    check(tags, "AfdB", "afd.sys: Afd data buffer");
    check(tags, "Irp", "Io, IRP packets");
    check(tags, "Dh 0", "first - second");
    check(tags, "CMAl", "nt!cm: internal");
    check(tags, "G", "Gdi objects");
    check(tags, "remo", "rem-o.sys: not a comment");
    check(tags, "Caf1", "a.sys: caf\xC3\xA9");
    check(tags, "afdb", NULL);
    check(tags, "Late", NULL);
}

static void the_most_specific_pattern_wins(void **state)
{
    etlheap_pool_tags *const tags = *state;
    static const char *const rows[][2] = { { "*", "any" },    { "CM??", "two" },
                                           { "C*", "one" },   { "CMa?", "three" },
                                           { "CMab", "all" }, { "CMab", "again" },
                                           { "C*", "later" }, { "Afd?", "afd" } };
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++)
        assert_int_equal(etlheap_pool_tags_add(tags, rows[i][0], rows[i][1], NULL), ETL_OK);
    check(tags, "CMab", "all");
    check(tags, "CMac", "three");
    check(tags, "CMbc", "two");
    check(tags, "CM", "two"); /* filled up with spaces */
    check(tags, "Cxyz", "one");
    check(tags, "Afd", "afd");
    check(tags, "Zzzz", "any");
    check(tags, "0x00000001", "any");
    check(tags, "Toolong", NULL);
    check(tags, "", NULL);
}

static void what_is_no_pattern_is_refused(void **state)
{
    etlheap_pool_tags *const tags = *state;
    etl_error err = { .status = ETL_OK };
    assert_int_equal(etlheap_pool_tags_add(tags, "", "x", &err), ETL_ERR_ARGUMENT);
    assert_int_equal(etlheap_pool_tags_add(tags, "Long5", "x", &err), ETL_ERR_ARGUMENT);
    assert_int_equal(etlheap_pool_tags_add(tags, " Irp", "x", &err), ETL_ERR_ARGUMENT);
    assert_int_equal(etlheap_pool_tags_count(tags), 0);
}

static void hostile_files_have_limits(void **state)
{
    etlheap_pool_tags *const tags = *state;
    etlheap_skipped_lines skipped;
    etl_error err = { .status = ETL_OK };
    const size_t size = (size_t)5 << 20;
    char *const text = malloc(size + 1);
    assert_non_null(text);
    memset(text, 'x', size);
    text[size] = '\0';
    assert_int_equal(parse(text, tags, &skipped, &err), ETL_ERR_LIMIT);
    memcpy(text, "Tag1 - a.sys - ", 15);
    text[100000] = '\0';
    assert_int_equal(parse(text, tags, &skipped, &err), ETL_OK);
    assert_int_equal(strlen(etlheap_pool_tags_describe(tags, "Tag1")), strlen("a.sys: ") + 200);
    size_t used = 0;
    for (u32 i = 0; i < 1025; i++)
        used += (size_t)sprintf(text + used, "%c%c?? - a - b\n", '!' + i / 60 % 60, 'A' + i % 26);
    assert_int_equal(parse(text, tags, &skipped, &err), ETL_ERR_LIMIT);
    assert_non_null(strstr(err.message, "line 1025"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_form_of_line_is_read, open_tags, close_tags),
        cmocka_unit_test_setup_teardown(the_most_specific_pattern_wins, open_tags, close_tags),
        cmocka_unit_test_setup_teardown(what_is_no_pattern_is_refused, open_tags, close_tags),
        cmocka_unit_test_setup_teardown(hostile_files_have_limits, open_tags, close_tags),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
