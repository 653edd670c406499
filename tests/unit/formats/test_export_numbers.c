/*
 * Goal: equal keys have one number, others have others, by the order in which they are
 * first met.
 * Method: edge keys by hand; then many random keys of few values against a list that
 * is searched from its begin.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/engine_check.h"
#include "formats/parts/export_numbers.h"

#define KEYS 4000u

static etl_bytes bytes_of(const char *text)
{
    return (etl_bytes){ (const u8 *)text, strlen(text) };
}

static void numbers_follow_the_order_of_first_use(void **state)
{
    export_numbers numbers = { 0 };
    u32 number = 9;
    (void)state;
    assert_true(export_number_of(&numbers, bytes_of("b"), &number));
    assert_int_equal(number, 0);
    assert_true(export_number_of(&numbers, bytes_of("a"), &number));
    assert_int_equal(number, 1);
    assert_false(export_number_of(&numbers, bytes_of("b"), &number));
    assert_int_equal(number, 0);
    assert_int_equal(numbers.count, 2);
    assert_memory_equal(export_number_key(&numbers, 1).at, "a", 1);
    export_numbers_free(&numbers);
}

static void empty_key_is_one_too(void **state)
{
    export_numbers numbers = { 0 };
    u32 number;
    (void)state;
    assert_true(export_number_of(&numbers, bytes_of("x"), &number));
    assert_true(export_number_of(&numbers, bytes_of(""), &number));
    assert_int_equal(number, 1);
    assert_false(export_number_of(&numbers, bytes_of(""), &number));
    assert_int_equal(number, 1);
    assert_int_equal(export_number_key(&numbers, 1).size, 0);
    export_numbers_free(&numbers);
}

static void keys_that_begin_alike_are_different(void **state)
{
    export_numbers numbers = { 0 };
    u32 number;
    (void)state;
    assert_true(export_number_of(&numbers, (etl_bytes){ (const u8 *)"a\0", 2 }, &number));
    assert_true(export_number_of(&numbers, (etl_bytes){ (const u8 *)"a\0\0", 3 }, &number));
    assert_true(export_number_of(&numbers, (etl_bytes){ (const u8 *)"a", 1 }, &number));
    assert_int_equal(number, 2);
    export_numbers_free(&numbers);
}

static void pairs_have_an_order(void **state)
{
    export_numbers numbers = { 0 };
    u32 number;
    (void)state;
    assert_true(export_number_of_pair(&numbers, 1, 2, &number));
    assert_true(export_number_of_pair(&numbers, 2, 1, &number));
    assert_int_equal(number, 1);
    assert_false(export_number_of_pair(&numbers, 1, 2, &number));
    assert_int_equal(number, 0);
    export_numbers_free(&numbers);
}

static void random_keys_have_the_numbers_that_a_search_finds(void **state)
{
    export_numbers numbers = { 0 };
    u64 list[KEYS];
    u64 seed = 1;
    u32 count = 0;
    (void)state;
    for (u32 i = 0; i < KEYS; i++) {
        const u64 key = engine_check_random(&seed, KEYS / 2);
        u32 wanted = 0, number;
        while (wanted < count && list[wanted] != key)
            wanted++;
        assert_int_equal(export_number_of_pair(&numbers, key, 7, &number), wanted == count);
        assert_int_equal(number, wanted);
        if (wanted == count)
            list[count++] = key;
    }
    assert_int_equal(numbers.count, count);
    assert_false(numbers.failed);
    export_numbers_free(&numbers);
}

static void repeats_are_counted(void **state)
{
    static const char *const keys[] = { "a", "b", "a", "", "a", "b", "" };
    static const u32 before[] = { 0, 0, 1, 0, 2, 1, 1 };
    export_repeats repeats = { .counts = NULL };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(keys); i++) {
        const etl_bytes key = { (const u8 *)keys[i], strlen(keys[i]) };
        assert_int_equal(export_repeats_note(&repeats, key), before[i]);
    }
    assert_false(repeats.numbers.failed);
    export_repeats_free(&repeats);
}

/* Names of a report's cases and its commands are told apart by this, and a trace may have a million
 * of them: the work grows with their number, not with its square. */
static void work_grows_with_the_number_of_keys(void **state)
{
    enum { MANY = 20000 };
    export_repeats repeats = { .counts = NULL };
    (void)state;
    for (u32 i = 0; i < 2 * MANY; i++) {
        const u64 key = (u64)(i % MANY) * 4096;
        assert_int_equal(export_repeats_note(&repeats, (etl_bytes){ (const u8 *)&key, 8 }),
                         i / MANY);
    }
    assert_int_equal(repeats.numbers.count, MANY);
    assert_in_range(repeats.numbers.slots_seen, MANY, 8 * MANY);
    export_repeats_free(&repeats);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_follow_the_order_of_first_use),
        cmocka_unit_test(empty_key_is_one_too),
        cmocka_unit_test(keys_that_begin_alike_are_different),
        cmocka_unit_test(pairs_have_an_order),
        cmocka_unit_test(repeats_are_counted),
        cmocka_unit_test(work_grows_with_the_number_of_keys),
        cmocka_unit_test(random_keys_have_the_numbers_that_a_search_finds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
