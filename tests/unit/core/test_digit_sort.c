/*
 * Goal: rows come in the order of their numbers, then of what the caller compares,
 * and else stay as they are.
 * Method: random rows of many widths and counts against an insertion by hand, which
 * is stable.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "engine/core/digit_sort.h"
#include "tests/support/hand_bytes.h"

#define ROWS_MAX 700u

/* Ids are compared by their last digit, the other way round. */
static int by_last_digit(const void *owner, u32 a, u32 b)
{
    const u32 digits = *(const u32 *)owner;
    return (b % digits > a % digits) - (b % digits < a % digits);
}

static bool comes_before(const digit_row *a, const digit_row *b, bool compared, u32 digits)
{
    if (a->high != b->high)
        return a->high < b->high;
    if (a->low != b->low)
        return a->low < b->low;
    return compared && by_last_digit(&digits, a->id, b->id) < 0;
}

/* Each row goes in front of those that it comes before. */
static void sort_plainly(digit_row *rows, size_t count, bool compared, u32 digits)
{
    for (size_t i = 1; i < count; i++) {
        const digit_row row = rows[i];
        size_t at = i;
        for (; at > 0 && comes_before(&row, &rows[at - 1], compared, digits); at--)
            rows[at] = rows[at - 1];
        rows[at] = row;
    }
}

static void rows_come_in_the_plain_order(void **state)
{
    (void)state;
    static const u32 counts[] = { 0, 1, 2, 3, 17, 256, ROWS_MAX };
    digit_row *const rows = malloc(3 * ROWS_MAX * sizeof *rows);
    digit_row *const plain = rows + 2 * ROWS_MAX;
    assert_non_null(rows);
    u64 random = 5;
    for (u32 round = 0; round < 400; round++) {
        const u32 count = counts[round % ETL_COUNT_OF(counts)];
        const u32 low_bits = hand_random(&random) % 64, high_bits = hand_random(&random) % 32;
        const u32 digits = 1 + hand_random(&random) % 5;
        const bool compared = hand_random(&random) % 2;
        for (u32 i = 0; i < count; i++) {
            const u64 wide = (u64)hand_random(&random) << 32 | hand_random(&random);
            rows[i] = (digit_row){ .low = wide >> low_bits << (low_bits / 2),
                                   .high = hand_random(&random) >> high_bits,
                                   .id = hand_random(&random) };
        }
        memcpy(plain, rows, count * sizeof *rows);
        sort_plainly(plain, count, compared, digits);
        const digit_row *const sorted =
            digit_sort(rows, rows + ROWS_MAX, count, compared ? by_last_digit : NULL, &digits);
        assert_true(sorted == rows || sorted == rows + ROWS_MAX);
        assert_memory_equal(sorted, plain, count * sizeof *plain);
    }
    free(rows);
}

/* The highest digits are narrower than the others. */
static void every_bit_counts(void **state)
{
    (void)state;
    for (u32 bit = 0; bit < 96; bit++) {
        digit_row rows[4] = { { 0 } };
        rows[0].low = bit < 64 ? (u64)1 << bit : 0;
        rows[0].high = bit < 64 ? 0 : 1u << (bit - 64);
        rows[0].id = 1;
        const digit_row *const sorted = digit_sort(rows, rows + 2, 2, NULL, NULL);
        assert_int_equal(sorted[0].id, 0);
        assert_int_equal(sorted[1].id, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_come_in_the_plain_order),
        cmocka_unit_test(every_bit_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
