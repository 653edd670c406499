/*
 * Goal: a library is loaded by the first of its names that has all of its functions,
 * and what it lacks, or its absence, is found out before anything is called.
 * Method: the C library itself under names that are there and names that are not;
 * functions it has, and one it has not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "engine/symbol_store/symbol_curl.h"
#include "parser/system/late_library.h"

typedef struct numbers {
    __typeof__(&abs) absolute;
    __typeof__(&labs) long_absolute;
} numbers;

static const late_function all_functions[] = { LATE_FUNCTION(numbers, long_absolute, labs),
                                               LATE_FUNCTION(numbers, absolute, abs) };

static bool load(const char *const *files, numbers *out)
{
    const late_library library = { files, all_functions, ETL_COUNT_OF(all_functions) };
    return etl_late_library(&library, out);
}

static void functions_are_put_where_their_rows_say(void **state)
{
    (void)state;
    static const char *const files[] = { "libc.so.6", NULL };
    numbers found;
    assert_true(load(files, &found));
    assert_int_equal(found.absolute(-5), 5);
    assert_int_equal(found.long_absolute(-7L), 7);
}

#if !defined(_WIN32)
static void the_next_name_is_tried_when_a_file_is_not_there(void **state)
{
    (void)state;
    static const char *const files[] = { "libetlheap-no-such.so.1", "libc.so.6", NULL };
    numbers found;
    assert_true(load(files, &found));
    assert_int_equal(found.absolute(-5), 5);
}

static void a_library_that_is_nowhere_is_told(void **state)
{
    (void)state;
    static const char *const files[] = { "libetlheap-no-such.so.1", NULL };
    numbers found;
    assert_false(load(files, &found));
}

static void a_library_without_one_of_the_functions_is_as_none(void **state)
{
    (void)state;
    static const char *const files[] = { "libc.so.6", NULL };
    static const late_function functions[] = { LATE_FUNCTION(numbers, absolute, abs),
                                               { "etlheap_no_such_function",
                                                 offsetof(numbers, long_absolute), NULL } };
    const late_library library = { files, functions, ETL_COUNT_OF(functions) };
    numbers found;
    assert_false(etl_late_library(&library, &found));
}
#endif

/* The build needs its headers, so the machine that tests has it. */
static void libcurl_tells_the_version_that_is_loaded(void **state)
{
    (void)state;
    symbol_curl curl;
    assert_true(symbol_curl_load(&curl));
    const curl_version_info_data *const info = curl.version_info(CURLVERSION_NOW);
    assert_true(info->version_num >= 0x070000);
    assert_non_null(info->version);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_put_where_their_rows_say),
#if !defined(_WIN32)
        cmocka_unit_test(the_next_name_is_tried_when_a_file_is_not_there),
        cmocka_unit_test(a_library_that_is_nowhere_is_told),
        cmocka_unit_test(a_library_without_one_of_the_functions_is_as_none),
#endif
        cmocka_unit_test(libcurl_tells_the_version_that_is_loaded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
