/*
 * Goal: cells come back from their packed form as they went in, joined and added up, whatever
 * the size of their numbers; groups can be shifted, and a group without cells has none.
 * Method: random cells of several walkers, with numbers of any length, against the same cells
 * in a plain array, of which each group is added up one by one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/fold/packed_cells.h"
#include "tests/support/engine_check.h"

enum { GROUPS = 9, INTERVALS = 12, WALKERS = 3, CELLS_MAX = WALKERS * GROUPS * INTERVALS };

static u64 random_u64(u64 *seed)
{
    u64 value = 0;
    for (u32 i = 0; i < 4; i++)
        value = value << 16 | engine_check_random(seed, 1 << 16);
    return value >> engine_check_random(seed, 64);
}

/* What a walker may have at hand; of most sums nothing. */
static window_hot random_hot(u64 *seed, u32 interval)
{
    window_hot hot = { .interval = interval };
    const bool is_huge = engine_check_random(seed, 20) == 0;
    const u32 shift = is_huge ? 1 : 34;
    if (engine_check_random(seed, 2) == 0) {
        hot.alloc_size = (i64)(random_u64(seed) >> shift);
        hot.alloc_count = (u32)(random_u64(seed) >> 33);
    }
    if (engine_check_random(seed, 2) == 0) {
        hot.aifi_size = (i64)(random_u64(seed) >> shift);
        hot.aifi_count = (u32)(random_u64(seed) >> 33);
    }
    hot.size = (i64)(random_u64(seed) >> shift) - (i64)(random_u64(seed) >> shift);
    hot.count = (i32)(random_u64(seed) >> 34) - (i32)(random_u64(seed) >> 34);
    hot.peak_size = (i64)(random_u64(seed) >> shift);
    hot.peak_count = (i32)(random_u64(seed) >> 34);
    return hot;
}

static i64 larger(i64 x, i64 y)
{
    return x > y ? x : y;
}

static window_cell plain_cell(const window_hot *hot, u32 group)
{
    return (window_cell){ .group = group,
                          .interval = hot->interval,
                          .size = hot->size,
                          .count = hot->count,
                          .peak_size = larger(hot->size, hot->peak_size),
                          .peak_count = larger(hot->count, hot->peak_count),
                          .alloc_size = hot->alloc_size,
                          .alloc_count = hot->alloc_count,
                          .aifi_size = hot->aifi_size,
                          .aifi_count = hot->aifi_count };
}

/* What a group has outstanding so far. */
typedef struct plain_state {
    i64 size, count;
} plain_state;

/* The plain cells of a group and interval, one after the other; false: there is none. */
static bool plain_join(const window_cell *cells, u32 count, u32 group, u32 interval,
                       const plain_state *start, window_cell *out)
{
    bool any = false;
    *out = (window_cell){ .interval = interval };
    for (u32 i = 0; i < count; i++) {
        const window_cell *const c = &cells[i];
        if (c->group != group || c->interval != interval)
            continue;
        const i64 size = any ? etl_sat_add_i64(out->size, c->peak_size) : c->peak_size;
        out->peak_size = any ? larger(out->peak_size, size) : size;
        const i64 blocks = out->count + c->peak_count;
        out->peak_count = any ? larger(out->peak_count, blocks) : blocks;
        out->size = etl_sat_add_i64(out->size, c->size);
        out->count += c->count;
        out->alloc_size = etl_sat_add_i64(out->alloc_size, c->alloc_size);
        out->alloc_count += c->alloc_count;
        out->aifi_size = etl_sat_add_i64(out->aifi_size, c->aifi_size);
        out->aifi_count += c->aifi_count;
        any = true;
    }
    out->peak_size = larger(0, etl_sat_add_i64(start->size, out->peak_size));
    out->size = larger(0, etl_sat_add_i64(start->size, out->size));
    out->peak_count += start->count;
    out->count += start->count;
    return any;
}

/* Each walker has its stretch of time, which begins in the interval that the last one ended in;
 * group 0 has no cells. Groups of the lists begin at `by`. */
static u32 walk(u64 *seed, window_cell *plain, walked_parts *out, u32 by)
{
    u32 count = 0;
    for (u32 walker = 0; walker < WALKERS; walker++) {
        const u32 first = walker * INTERVALS / WALKERS;
        const u32 last = (walker + 1) * INTERVALS / WALKERS;
        window_cell_list cells = { 0 };
        for (u32 interval = first; interval <= last && interval < INTERVALS; interval++) {
            for (u32 group = 1; group < GROUPS; group++) {
                window_hot hot = random_hot(seed, interval);
                if (engine_check_random(seed, 2) == 0)
                    continue;
                plain[count++] = plain_cell(&hot, group);
                assert_true(windows_turn(&hot, group - by, WINDOW_NO_INTERVAL, &cells));
                assert_true(windows_turn(&hot, group - by, interval + 1, &cells));
                assert_int_equal(hot.interval, interval + 1);
                assert_int_equal(hot.size, 0);
            }
        }
        assert_true(walked_parts_take(out, &cells, by));
        assert_null(cells.at);
    }
    return count;
}

static void check_group(const window_cells *cells, u32 group, const window_cell *plain, u32 count)
{
    plain_state state = { 0, 0 };
    i64 starts[INTERVALS + 2];
    u32 intervals[INTERVALS + 2], next = 0;
    for (u32 i = 0; i < INTERVALS + 2; i++)
        intervals[i] = i + 1;
    windows_cells_start_sizes(cells, group, intervals, INTERVALS + 2, starts);
    for (u32 interval = 0; interval < INTERVALS; interval++) {
        window_cell wanted;
        i64 measures[ETLHEAP_MEASURES_COUNT];
        const etlheap_cell start = windows_cells_start(cells, group, interval);
        assert_int_equal(start.outstanding_size, state.size);
        assert_int_equal(start.outstanding_count, state.count);
        assert_int_equal(interval == 0 ? 0 : starts[interval - 1], state.size);
        windows_cells_measure(cells, group, interval, interval, measures);
        if (plain_join(plain, count, group, interval, &state, &wanted)) {
            for (; next <= interval; next++)
                assert_int_equal(windows_cells_next(cells, group, next), interval);
            assert_int_equal(measures[ETLHEAP_MEASURE_OUTSTANDING_SIZE], wanted.size);
            assert_int_equal(measures[ETLHEAP_MEASURE_OUTSTANDING_COUNT], wanted.count);
            assert_int_equal(measures[ETLHEAP_MEASURE_COUNT], state.count + wanted.alloc_count);
            assert_int_equal(measures[ETLHEAP_MEASURE_SIZE],
                             etl_sat_add_i64(state.size, wanted.alloc_size));
            assert_int_equal(measures[ETLHEAP_MEASURE_PEAK_SIZE],
                             larger(state.size, wanted.peak_size));
            assert_int_equal(measures[ETLHEAP_MEASURE_PEAK_COUNT],
                             larger(state.count, wanted.peak_count));
            etlheap_cell read;
            (void)windows_cells_read(cells, group, interval, &read);
            assert_int_equal(read.count[ETLHEAP_TYPE_AIFI], wanted.aifi_count);
            assert_int_equal(read.size[ETLHEAP_TYPE_AIFI], wanted.aifi_size);
            state = (plain_state){ wanted.size, wanted.count };
        }
    }
    assert_int_equal(starts[INTERVALS + 1], state.size);
    for (; next < INTERVALS + 2; next++)
        assert_int_equal(windows_cells_next(cells, group, next), WINDOW_NO_INTERVAL);
}

static void random_cells_come_back(void **state)
{
    (void)state;
    for (u64 seed = 1; seed <= 60; seed++) {
        const u32 by = seed % 2;
        window_cell plain[CELLS_MAX * 2];
        walked_parts walked = { 0 };
        window_cells cells;
        u64 random = seed;
        const u32 count = walk(&random, plain, &walked, by);
        const cells_wanted wanted = { GROUPS, 1 + (u32)(seed % 7), NULL };
        assert_true(windows_cells_make(&cells, &walked, &wanted));
        assert_null(walked.at);
        for (u32 group = 0; group < GROUPS; group++)
            check_group(&cells, group, plain, count);
        assert_false(windows_cells_any(&cells, 0));
        windows_cells_free(&cells);
    }
}

/* One cell of a group, which is then asked whether there is anything. */
static bool any_of(window_hot hot)
{
    window_cell_list list = { 0 };
    walked_parts walked = { 0 };
    window_cells cells;
    assert_true(windows_turn(&hot, 0, WINDOW_NO_INTERVAL, &list));
    assert_true(walked_parts_take(&walked, &list, 0));
    assert_true(windows_cells_make(&cells, &walked, &(cells_wanted){ 1, 3, NULL }));
    const bool any = windows_cells_any(&cells, 0);
    windows_cells_free(&cells);
    return any;
}

static void what_comes_and_goes_before_the_first_bound_is_nothing(void **state)
{
    (void)state;
    assert_false(any_of((window_hot){ .interval = 0, .alloc_count = 1, .aifi_count = 1 }));
    assert_true(any_of((window_hot){ .interval = 1, .alloc_count = 1, .aifi_count = 1 }));
    assert_true(any_of((window_hot){ .interval = 0, .alloc_count = 1, .count = 1 }));
    assert_false(any_of((window_hot){ .interval = WINDOW_NO_INTERVAL, .count = 1 }));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_cells_come_back),
        cmocka_unit_test(what_comes_and_goes_before_the_first_bound_is_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
