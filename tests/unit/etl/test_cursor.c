/*
 * Goal: the cursor, through which all file bytes pass, never reads outside its
 * range, stays failed once it failed, and reads what stands there; so do the
 * loads and the checked arithmetic of base.h.
 * Method: each function at and around the edges of ranges that lie against
 * pages which cannot be touched.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/hand_bytes.h"
#include "parser/cursor.h"

static const u8 numbers[] = { 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09,
                              0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x12 };

static void integers_are_little_endian(void **state)
{
    (void)state;
    etl_cursor c = { numbers, sizeof numbers };
    assert_int_equal(etl_u8(&c), 0x01);
    assert_int_equal(etl_u16(&c), 0x0302);
    assert_int_equal(etl_u32(&c), 0x07060504);
    assert_true(etl_u64(&c) == 0x0f0e0d0c0b0a0908);
    assert_int_equal(c.left, 3);
    assert_true(etl_ok(&c));
}

static void pointers_have_the_asked_width(void **state)
{
    (void)state;
    etl_cursor c = { numbers, sizeof numbers };
    assert_true(etl_pointer(&c, 4) == 0x04030201);
    assert_true(etl_pointer(&c, 8) == 0x0c0b0a0908070605);
}

static void reading_up_to_the_end_succeeds(void **state)
{
    (void)state;
    for (size_t size = 0; size <= 16; size++) {
        hand_guarded memory = hand_guard_bytes((etl_bytes){ numbers, size }, HAND_AT_END);
        etl_cursor c = { memory.at, size };
        for (size_t i = 0; i < size; i++)
            assert_int_equal(etl_u8(&c), numbers[i]);
        assert_true(etl_ok(&c));
        assert_int_equal(c.left, 0);
        hand_unguard(&memory);
    }
}

/* Reads one field of `width` from a range of `size` bytes. */
static bool reads(size_t size, unsigned width)
{
    hand_guarded memory = hand_guard_bytes((etl_bytes){ numbers, size }, HAND_AT_END);
    etl_cursor c = { memory.at, size };
    const u64 value = width == 1   ? etl_u8(&c)
                      : width == 2 ? etl_u16(&c)
                      : width == 4 ? etl_u32(&c)
                                   : etl_u64(&c);
    const bool ok = etl_ok(&c);
    if (!ok)
        assert_true(value == 0);
    hand_unguard(&memory);
    return ok;
}

static void a_field_that_does_not_fit_fails_and_reads_as_zero(void **state)
{
    (void)state;
    const unsigned widths[] = { 1, 2, 4, 8 };
    for (size_t i = 0; i < ETL_COUNT_OF(widths); i++)
        for (size_t size = 0; size <= 8; size++)
            assert_int_equal(reads(size, widths[i]), size >= widths[i]);
}

static void a_failed_cursor_stays_failed(void **state)
{
    (void)state;
    etl_cursor c = { numbers, 3 };
    assert_int_equal(etl_u32(&c), 0);
    assert_false(etl_ok(&c));
    assert_int_equal(etl_u8(&c), 0);
    assert_int_equal(etl_u16(&c), 0);
    assert_true(etl_u64(&c) == 0);
    assert_null(etl_take(&c, 1));
    assert_null(etl_view(&c, 1).at);
    assert_null(etl_rest(&c).at);
    etl_skip(&c, 0);
    assert_false(etl_ok(&c));
}

static void need_fails_ahead_of_the_reads(void **state)
{
    (void)state;
    etl_cursor c = { numbers, 4 };
    assert_true(etl_need(&c, 4));
    assert_int_equal(c.left, 4);
    assert_false(etl_need(&c, 5));
    assert_false(etl_ok(&c));
    assert_int_equal(etl_u8(&c), 0);
}

static void sizes_that_would_wrap_an_address_fail(void **state)
{
    (void)state;
    etl_cursor c = { numbers, 4 };
    assert_null(etl_take(&c, SIZE_MAX));
    c = (etl_cursor){ numbers, 4 };
    assert_false(etl_need(&c, SIZE_MAX - 1));
}

static void taking_nothing_at_the_end_is_no_failure(void **state)
{
    (void)state;
    etl_cursor c = { numbers, 0 };
    assert_non_null(etl_take(&c, 0));
    assert_true(etl_ok(&c));
    assert_int_equal(etl_rest(&c).size, 0);
    assert_true(etl_ok(&c));
}

static void views_are_parts_of_the_range(void **state)
{
    (void)state;
    etl_cursor c = { numbers, 10 };
    etl_skip(&c, 2);
    const etl_bytes view = etl_view(&c, 3);
    assert_ptr_equal(view.at, numbers + 2);
    assert_int_equal(view.size, 3);
    const etl_bytes rest = etl_rest(&c);
    assert_ptr_equal(rest.at, numbers + 5);
    assert_int_equal(rest.size, 5);
    const etl_bytes none = etl_view(&c, 1);
    assert_null(none.at);
    assert_int_equal(none.size, 0);
}

static void a_cursor_of_absent_bytes_is_empty_but_not_failed(void **state)
{
    (void)state;
    etl_cursor c = etl_cursor_of((etl_bytes){ NULL, 7 });
    assert_true(etl_ok(&c));
    assert_int_equal(c.left, 0);
    assert_int_equal(etl_u8(&c), 0);
    assert_false(etl_ok(&c));
}

static void loads_take_any_alignment(void **state)
{
    (void)state;
    for (size_t i = 0; i <= 8; i++) {
        u64 expected = 0;
        for (size_t k = 8; k > 0; k--)
            expected = expected << 8 | numbers[i + k - 1];
        assert_true(etl_load_u64(numbers + i) == expected);
        assert_int_equal(etl_load_u32(numbers + i), (u32)expected);
        assert_int_equal(etl_load_u16(numbers + i), (u16)expected);
    }
}

static void checked_arithmetic_refuses_what_does_not_fit(void **state)
{
    (void)state;
    u64 sum = 5;
    assert_true(etl_add_u64(UINT64_MAX - 1, 1, &sum));
    assert_true(sum == UINT64_MAX);
    assert_false(etl_add_u64(UINT64_MAX, 1, &sum));
    assert_true(sum == UINT64_MAX);
    size_t product = 5;
    assert_true(etl_mul_size(SIZE_MAX, 1, &product));
    assert_true(product == SIZE_MAX);
    assert_false(etl_mul_size(SIZE_MAX / 2 + 1, 2, &product));
    assert_true(product == SIZE_MAX);
}

static void spans_are_never_negative_and_never_overflow(void **state)
{
    (void)state;
    assert_true(etl_span_i64(3, 10) == 7);
    assert_true(etl_span_i64(-3, 10) == 13);
    assert_true(etl_span_i64(10, 3) == 0);
    assert_true(etl_span_i64(INT64_MAX, INT64_MIN) == 0);
    assert_true(etl_span_i64(INT64_MIN, INT64_MAX) == INT64_MAX);
    assert_true(etl_span_i64(-100000100, INT64_MAX) == INT64_MAX);
    assert_true(etl_span_i64(INT64_MIN, -1) == INT64_MAX);
    assert_true(etl_span_i64(INT64_MIN, INT64_MIN + 1) == 1);
}

static void saturating_sums_stop_at_the_ends(void **state)
{
    (void)state;
    assert_true(etl_sat_add_u64(UINT64_MAX, 1) == UINT64_MAX);
    assert_true(etl_sat_add_u64(2, 3) == 5);
    assert_true(etl_sat_add_i64(INT64_MAX, 1) == INT64_MAX);
    assert_true(etl_sat_add_i64(INT64_MIN, -1) == INT64_MIN);
    assert_true(etl_sat_add_i64(-2, 5) == 3);
    assert_true(etl_min_u64(2, 3) == 2 && etl_max_u64(2, 3) == 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_are_little_endian),
        cmocka_unit_test(pointers_have_the_asked_width),
        cmocka_unit_test(reading_up_to_the_end_succeeds),
        cmocka_unit_test(a_field_that_does_not_fit_fails_and_reads_as_zero),
        cmocka_unit_test(a_failed_cursor_stays_failed),
        cmocka_unit_test(need_fails_ahead_of_the_reads),
        cmocka_unit_test(sizes_that_would_wrap_an_address_fail),
        cmocka_unit_test(taking_nothing_at_the_end_is_no_failure),
        cmocka_unit_test(views_are_parts_of_the_range),
        cmocka_unit_test(a_cursor_of_absent_bytes_is_empty_but_not_failed),
        cmocka_unit_test(loads_take_any_alignment),
        cmocka_unit_test(checked_arithmetic_refuses_what_does_not_fit),
        cmocka_unit_test(spans_are_never_negative_and_never_overflow),
        cmocka_unit_test(saturating_sums_stop_at_the_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
