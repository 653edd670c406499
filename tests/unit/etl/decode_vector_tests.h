/*
 * decode_vector_tests.h - the tests that every file of decoder vectors runs.
 *
 * To be included once, behind a table `vectors` of decode_vector.
 */
#ifndef TESTS_DECODE_VECTOR_TESTS_H
#define TESTS_DECODE_VECTOR_TESTS_H

typedef bool vector_check(const decode_vector *vector, char why[DECODE_WHY_SIZE]);

static void run_on_all(vector_check *check)
{
    for (size_t i = 0; i < ETL_COUNT_OF(vectors); i++) {
        char why[DECODE_WHY_SIZE] = "";
        if (!check(&vectors[i], why))
            fail_msg("%s", why);
    }
}

static void every_field_decodes_whatever_the_header(void **state)
{
    (void)state;
    run_on_all(decode_in_all_headers);
}

static void every_cut_fails_cleanly_and_is_counted_once(void **state)
{
    (void)state;
    run_on_all(decode_cuts_cleanly);
}

static void bytes_behind_the_layout_are_ignored(void **state)
{
    (void)state;
    run_on_all(decode_ignores_more_bytes);
}

static void a_newer_version_reads_as_the_newest_known(void **state)
{
    (void)state;
    run_on_all(decode_takes_newer_version);
}

#define DECODE_VECTOR_TESTS                                                                        \
    cmocka_unit_test(every_field_decodes_whatever_the_header),                                     \
        cmocka_unit_test(every_cut_fails_cleanly_and_is_counted_once),                             \
        cmocka_unit_test(bytes_behind_the_layout_are_ignored),                                     \
        cmocka_unit_test(a_newer_version_reads_as_the_newest_known)

#endif
