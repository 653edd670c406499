/*
 * Goal: an error says what happened, where and in which words; its number can be relied
 * on by programs for good.
 * Method: all statuses by number and name, errors with and without a place to put them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "parser/base.h"
#include "parser/parser.h"

#include <string.h>

static void statuses_keep_their_numbers_and_names(void **state)
{
    static const struct {
        int number;
        etl_status status;
        const char *name;
    } rows[] = {
        { 0, ETL_OK, "ok" },
        { 1, ETL_ERR_IO, "cannot read or write" },
        { 2, ETL_ERR_MEMORY, "out of memory" },
        { 3, ETL_ERR_ARGUMENT, "invalid argument" },
        { 4, ETL_ERR_LIMIT, "a limit was exceeded" },
        { 5, ETL_ERR_CANCELLED, "cancelled" },
        { 10, ETL_ERR_NOT_ETL, "not an ETL file" },
        { 11, ETL_ERR_UNSUPPORTED, "unsupported kind of file" },
        { 12, ETL_ERR_CORRUPT, "damaged file" },
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        assert_int_equal(rows[i].status, rows[i].number);
        assert_string_equal(etl_status_name(rows[i].status), rows[i].name);
    }
    assert_string_equal(etl_status_name((etl_status)99), "unknown status");
}

static void an_error_has_status_place_and_words(void **state)
{
    etl_error err = { .message = "before" };
    (void)state;
    assert_int_equal(etl_fail_with(&err, ETL_ERR_CORRUPT, 4096, "buffer %d of %s", 7, "a.etl"),
                     ETL_ERR_CORRUPT);
    assert_int_equal(err.status, ETL_ERR_CORRUPT);
    assert_int_equal(err.offset, 4096);
    assert_string_equal(err.message, "buffer 7 of a.etl");
    assert_int_equal(etl_fail_with(NULL, ETL_ERR_IO, 0, "nobody asks"), ETL_ERR_IO);
}

static void words_that_are_too_long_are_cut(void **state)
{
    char name[2 * sizeof((etl_error *)0)->message];
    etl_error err;
    (void)state;
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    (void)etl_fail_with(&err, ETL_ERR_IO, 0, "%s", name);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statuses_keep_their_numbers_and_names),
        cmocka_unit_test(an_error_has_status_place_and_words),
        cmocka_unit_test(words_that_are_too_long_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
