/*
 * Goal: a tally's sums are exact whatever the order, the number of tallies and the
 * sizes, up to where they stop.
 * Method: cells made to overflow; random blocks spread over tallies against plain
 * additions; a block that is still on its way to its cell.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/log/tally.h"
#include "tests/support/engine_check.h"

#define ORIGINS 300u

static void count(origin_tally *tally, u32 bin, u32 origin, u64 size, bool is_realloc)
{
    const tally_block counted = { { size, 1, is_realloc }, origin, bin };
    assert_true(tally_add(tally, &counted));
}

static void check_sums(const type_sums *sums, u32 bin, u32 origin, const type_sums *expected)
{
    const type_sums *const found = &sums[origin * TALLY_BINS + bin];
    assert_int_equal(found->count, expected->count);
    assert_int_equal(found->size, expected->size);
    assert_int_equal(found->realloc_count, expected->realloc_count);
}

static void a_block_counts_at_once(void **state)
{
    (void)state;
    origin_tally tally = { .next_waiting = 0 };
    type_sums sums[3 * TALLY_BINS] = { { 0 } };
    count(&tally, 1, 2, 100, true);
    tally_sum(&tally, sums);
    check_sums(sums, 1, 2, &(type_sums){ 1, 100, 1 });
    check_sums(sums, 1, 1, &(type_sums){ 0 });
    check_sums(sums, 0, 2, &(type_sums){ 0 });
    tally_free(&tally);
}

/* Sizes of the file may be anything: a sum stops, it does not begin anew. */
static void sums_stop_at_their_largest(void **state)
{
    (void)state;
    origin_tally tally = { .next_waiting = 0 };
    type_sums sums[2 * TALLY_BINS] = { { 0 } };
    for (u32 i = 0; i < 3 * TALLY_WAITING; i++)
        count(&tally, 0, 1, i % 2 == 0 ? UINT64_MAX : 5, false);
    tally_sum(&tally, sums);
    check_sums(sums, 0, 1, &(type_sums){ 3 * TALLY_WAITING, INT64_MAX, 0 });
    tally_free(&tally);
}

static void a_full_count_goes_on(void **state)
{
    (void)state;
    origin_tally tally = { .next_waiting = 0 };
    type_sums sums[2 * TALLY_BINS] = { { 0 } };
    count(&tally, 2, 1, 8, false);
    tally.bins[2].at[1] = (tally_cell){ .size = 40, .count = UINT32_MAX, .realloc_count = 7 };
    for (u32 i = 0; i < 2 * TALLY_WAITING; i++)
        count(&tally, 2, 1, 8, i == 3);
    tally_sum(&tally, sums);
    check_sums(sums, 2, 1, &(type_sums){ (i64)UINT32_MAX + 1 + 2 * TALLY_WAITING, 40 + 8 * 33, 8 });
    tally_free(&tally);
}

static void tallies_add_up_to_plain_sums(void **state)
{
    (void)state;
    origin_tally tallies[3] = { { .next_waiting = 0 } };
    type_sums *const expected = calloc(ORIGINS * TALLY_BINS, sizeof *expected);
    type_sums *const sums = calloc(ORIGINS * TALLY_BINS, sizeof *sums);
    u64 seed = 11;
    assert_non_null(expected);
    assert_non_null(sums);
    for (u32 i = 0; i < 20000; i++) {
        const u32 origin = 1 + engine_check_random(&seed, ORIGINS - 1);
        const u32 bin = engine_check_random(&seed, TALLY_BINS);
        const u32 size = engine_check_random(&seed, 1u << 30);
        const bool is_realloc = engine_check_random(&seed, 5) == 0;
        count(&tallies[engine_check_random(&seed, 3)], bin, origin, size, is_realloc);
        type_sums *const to = &expected[origin * TALLY_BINS + bin];
        to->count++;
        to->size += size;
        to->realloc_count += is_realloc;
    }
    for (u32 i = 0; i < 3; i++)
        tally_sum(&tallies[i], sums);
    assert_memory_equal(sums, expected, ORIGINS * TALLY_BINS * sizeof *sums);
    for (u32 i = 0; i < 3; i++) {
        assert_true(tally_bytes(&tallies[i]) > 0);
        tally_free(&tallies[i]);
    }
    free(expected);
    free(sums);
}

/* A vector has room for more than it holds, but not for much more. */
static void memory_is_told_to_within_its_reserve(void **state)
{
    (void)state;
    enum { LARGEST = 5000, UNFIT = 4000 };
    origin_tally tally = { .next_waiting = 0 };
    assert_int_equal(tally_bytes(&tally), 0);
    count(&tally, 3, LARGEST, 8, false);
    const u64 cells = (LARGEST + 1) * sizeof(tally_cell);
    assert_in_range(tally_bytes(&tally), cells, 2 * cells);
    const u64 before = tally_bytes(&tally);
    tally.bins[3].at[LARGEST].count = UINT32_MAX;
    for (u32 i = 0; i < UNFIT + TALLY_WAITING; i++)
        count(&tally, 3, LARGEST, 8, false);
    const u64 blocks = UNFIT * sizeof(tally_block);
    assert_in_range(tally_bytes(&tally) - before, blocks, 2 * blocks);
    tally_free(&tally);
}

/* A damaged store may have any sums. */
static void counts_stop_at_their_largest(void **state)
{
    (void)state;
    type_sums sums = { 1210, INT64_MAX - 7, 3 };
    const type_sums more = { INT64_MAX, 8, INT64_MAX };
    tally_add_sums(&sums, &more);
    assert_int_equal(sums.count, INT64_MAX);
    assert_int_equal(sums.size, INT64_MAX);
    assert_int_equal(sums.realloc_count, INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_counts_at_once),
        cmocka_unit_test(sums_stop_at_their_largest),
        cmocka_unit_test(counts_stop_at_their_largest),
        cmocka_unit_test(a_full_count_goes_on),
        cmocka_unit_test(tallies_add_up_to_plain_sums),
        cmocka_unit_test(memory_is_told_to_within_its_reserve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
