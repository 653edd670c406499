/*
 * Goal: each distinct address has one number, in the order in which they come.
 * Method: random lists with few and with many repeats, in parts of any length,
 * against a search through all addresses so far.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/core/address_numbers.h"
#include "tests/support/hand_bytes.h"

#define ADDRESSES 6000u

static void numbers_are_given_in_order_of_first_use(void **state)
{
    (void)state;
    u64 *const known = calloc(ADDRESSES, sizeof *known);
    u64 *const listed = calloc(ADDRESSES, sizeof *listed);
    assert_non_null(known);
    assert_non_null(listed);
    u64 random = 17;
    for (u32 variety = 1; variety <= ADDRESSES; variety *= 7) {
        address_numbers table = { 0 };
        u32 known_count = 0;
        for (u32 done = 0; done < ADDRESSES;) {
            u64 part[100];
            u32 numbers[100];
            u32 count = hand_random(&random) % 100;
            count = count < ADDRESSES - done ? count : ADDRESSES - done;
            for (u32 i = 0; i < count; i++)
                part[i] = hand_random(&random) % variety * 0x10001; /* 0 is one like others */
            assert_true(address_numbers_add(&table, part, count, numbers));
            for (u32 i = 0; i < count; i++) {
                u32 at = 0;
                while (at < known_count && known[at] != part[i])
                    at++;
                assert_int_equal(numbers[i], at);
                if (at == known_count)
                    known[known_count++] = part[i];
            }
            done += count;
        }
        assert_int_equal(table.count, known_count);
        address_numbers_list(&table, listed);
        assert_memory_equal(listed, known, known_count * sizeof *known);
        assert_true(address_numbers_bytes(&table) >= known_count * sizeof *known);
        address_numbers_free(&table);
        assert_int_equal(address_numbers_bytes(&table), 0);
    }
    free(known);
    free(listed);
}

static void nothing_takes_no_memory(void **state)
{
    (void)state;
    address_numbers table = { 0 };
    u64 none;
    assert_true(address_numbers_add(&table, NULL, 0, NULL));
    assert_int_equal(table.count, 0);
    address_numbers_list(&table, &none);
    address_numbers_free(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_given_in_order_of_first_use),
        cmocka_unit_test(nothing_takes_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
