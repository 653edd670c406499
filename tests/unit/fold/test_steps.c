/*
 * Goal: steps come in the order of time, and those of one time as they were added,
 * however many there are.
 * Method: random times, few and many, against a sort that only compares.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/fold/steps.h"
#include "tests/support/hand_bytes.h"

typedef struct plain_step {
    i64 ticks;
    u32 number; /* in the order of adding */
} plain_step;

static int by_ticks_and_number(const void *a, const void *b)
{
    const plain_step *const x = a, *const y = b;
    if (x->ticks != y->ticks)
        return x->ticks < y->ticks ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* Each row has a beginning and mostly an end; times are spread over `range` ticks. */
static void check(step_list *list, u32 rows, i64 from, u32 range, u64 *random)
{
    plain_step *const plain = calloc(2 * (size_t)rows + 1, sizeof *plain);
    u32 count = 0;
    assert_non_null(plain);
    steps_clear(list);
    for (u32 row = 0; row < rows; row++) {
        for (u32 is_end = 0; is_end < 2; is_end++) {
            if (is_end == 1 && hand_random(random) % 4 == 0)
                continue;
            const i64 ticks = from + hand_random(random) % range;
            assert_true(steps_add(list, ticks, row, is_end == 1));
            plain[count++] = (plain_step){ ticks, 2 * row + is_end };
        }
    }
    qsort(plain, count, sizeof *plain, by_ticks_and_number);
    const digit_row *const sorted = steps_sort(list);
    assert_true(sorted != NULL || count == 0);
    assert_int_equal(list->rows.count, count);
    for (u32 i = 0; i < count; i++) {
        assert_int_equal(step_ticks(&sorted[i]), plain[i].ticks);
        assert_int_equal(step_row(&sorted[i]), plain[i].number / 2);
        assert_int_equal(step_is_end(&sorted[i]), plain[i].number % 2 == 1);
    }
    free(plain);
}

static void steps_come_in_the_order_of_time(void **state)
{
    (void)state;
    static const u32 counts[] = { 0, 1, 2, 3, 100, 511, 512, 600, 5000, 0, 40000, 7 };
    u64 random = 11;
    step_list list = { 0 };
    for (size_t i = 0; i < ETL_COUNT_OF(counts); i++) {
        check(&list, counts[i], -1000, 2000, &random);   /* many of one time, both signs */
        check(&list, counts[i], 0, UINT32_MAX, &random); /* hardly any */
        check(&list, counts[i], INT64_MAX - 4, 4, &random);
        check(&list, counts[i], INT64_MIN, 3, &random);
    }
    steps_free(&list);
}

/* A step has 31 bits for its row: the next one would be taken for the first. */
static void a_row_beyond_31_bits_is_refused(void **state)
{
    (void)state;
    step_list list = { 0 };
    assert_true(steps_add(&list, 1, STEP_ROWS_MAX - 1, true));
    assert_false(steps_add(&list, 1, STEP_ROWS_MAX, false));
    assert_false(steps_add(&list, 1, 2 * STEP_ROWS_MAX, false));
    assert_int_equal(list.rows.count, 1);
    assert_int_equal(step_row(&list.rows.at[0]), STEP_ROWS_MAX - 1);
    assert_true(step_is_end(&list.rows.at[0]));
    steps_free(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_come_in_the_order_of_time),
        cmocka_unit_test(a_row_beyond_31_bits_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
