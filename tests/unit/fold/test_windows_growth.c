/*
 * Goal: the steepest rise is where a curve goes to a new level and stays, and is
 * neither a spike, a dip nor the start and the end of a program.
 * Method: curves made of few lifetimes, a tick of time for each percent; what is
 * expected follows from how they were made. Then random curves against a model that
 * tries every rise of every row, as windows_growth.c says in words.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/support/hand_bytes.h"
#include "tests/support/hand_result.h"
#include "tests/support/windows_check.h"

#define NS(ticks) ((i64)(ticks)*HAND_TICK_NS)
#define TICKS     2000
#define WINDOWS   200
#define MB        ((u64)1000 * 1000)

/* Memory in use from one tick to another; to 0: for good. */
typedef struct use {
    i64 from, to;
    u64 size;
} use;

static void add_use(etlheap_result *result, u32 process, use u)
{
    hand_lifetime(
        result,
        &(lifetime){ .alloc_ticks = HAND_START_TICKS + u.from,
                     .free_ticks = u.to == 0 ? ETLHEAP_TICKS_NEVER : HAND_START_TICKS + u.to,
                     .size = u.size,
                     .process = process,
                     .free_type = u.to == 0 ? ETLHEAP_FREE_NONE : ETLHEAP_FREE_FREE });
}

static bool find(const etlheap_result *result, i64 every_ticks, u32 row, etlheap_growth *out)
{
    etlheap_query query = etlheap_query_default();
    query.group_by_count = 2;
    query.to_ns = NS(TICKS);
    const etlheap_windows_options options = { .size = sizeof options, .every_ns = NS(every_ticks) };
    etlheap_windows *const windows = windows_check_make(result, &query, &options);
    const bool found = etlheap_windows_find_growth(windows, row, out);
    etlheap_windows_free(windows);
    return found;
}

static bool find_in(const use *uses, u32 count, etlheap_growth *out)
{
    etlheap_result *const result = hand_result_new();
    const u32 process = hand_process(result, 10, "a.exe");
    for (u32 i = 0; i < count; i++)
        add_use(result, process, uses[i]);
    hand_ready(result, HAND_START_TICKS + TICKS - 1);
    const bool found = find(result, TICKS / WINDOWS, 0, out);
    etlheap_result_free(result);
    return found;
}

/* Starts, goes to 20 MB at tick 1003, and gives all back in the end. */
static void a_step_is_found_where_it_is(void **state)
{
    (void)state;
    const use uses[] = { { 15, 1950, 10 * MB }, { 1003, 1960, 10 * MB } };
    etlheap_growth growth;
    assert_true(find_in(uses, 2, &growth));
    assert_int_equal(growth.first_window, 100);
    assert_int_equal(growth.window_count, 1);
    assert_int_equal(growth.from_ns, NS(1000));
    assert_int_equal(growth.to_ns, NS(1010));
    assert_int_equal(growth.before_size, 10 * MB);
    assert_int_equal(growth.after_size, 20 * MB);
}

static void spikes_and_dips_do_not_hide_a_step(void **state)
{
    (void)state;
    const use uses[] = { { 1, 700, 10 * MB },   { 715, 0, 10 * MB }, /* a dip between them */
                         { 300, 340, 40 * MB }, { 600, 630, 40 * MB },   { 900, 920, 40 * MB },
                         { 1003, 0, 8 * MB },   { 1040, 1060, 40 * MB }, { 1500, 1540, 40 * MB } };
    etlheap_growth growth;
    assert_true(find_in(uses, ETL_COUNT_OF(uses), &growth));
    assert_int_equal(growth.first_window, 100);
    assert_int_equal(growth.window_count, 1);
    assert_int_equal(growth.after_size - growth.before_size, 8 * MB);
}

/* All of them go from 10 MB to 20. */
static void a_spike_before_a_step_is_not_taken_for_it(void **state)
{
    (void)state;
    const use uses[] = {
        { 15, 0, 10 * MB }, { 940, 960, 10 * MB }, { 1003, 0, 10 * MB }, { 1100, 1120, 10 * MB }
    };
    etlheap_growth growth;
    assert_true(find_in(uses, ETL_COUNT_OF(uses), &growth));
    assert_int_equal(growth.first_window, 100);
    assert_int_equal(growth.window_count, 1);
}

static void spikes_and_dips_alone_are_no_rise(void **state)
{
    (void)state;
    const use uses[] = { { -5, 700, 10 * MB },
                         { 730, 0, 10 * MB },
                         { 300, 340, 40 * MB },
                         { 1500, 1540, 40 * MB },
                         { 1700, 1740, 40 * MB } };
    etlheap_growth growth;
    assert_false(find_in(uses, ETL_COUNT_OF(uses), &growth));
}

static void what_falls_or_stands_still_is_no_rise(void **state)
{
    (void)state;
    const use uses[] = { { -5, 700, 10 * MB }, { -5, 1300, 10 * MB }, { -5, 0, 10 * MB } };
    etlheap_growth growth;
    assert_false(find_in(uses, ETL_COUNT_OF(uses), &growth));
}

/* All of it, but for the tenths at both ends. */
static void steady_growth_is_found_whole(void **state)
{
    (void)state;
    use uses[TICKS];
    for (u32 i = 0; i < TICKS; i++)
        uses[i] = (use){ i, 0, 1000 };
    etlheap_growth growth;
    assert_true(find_in(uses, TICKS, &growth));
    assert_int_equal(growth.first_window, WINDOWS / 10);
    assert_int_equal(growth.window_count, WINDOWS * 8 / 10);
    assert_int_equal(growth.after_size - growth.before_size, 1600 * 1000);
}

static void a_step_wins_over_steady_growth_around_it(void **state)
{
    (void)state;
    use uses[TICKS + 1];
    for (u32 i = 0; i < TICKS; i++)
        uses[i] = (use){ i, 0, 2500 };
    uses[TICKS] = (use){ 1403, 0, 10 * MB };
    etlheap_growth growth;
    assert_true(find_in(uses, TICKS + 1, &growth));
    assert_int_equal(growth.first_window, 140);
    assert_true(growth.window_count <= 2);
    assert_true(growth.after_size - growth.before_size >= (i64)(10 * MB));
}

/* A rise in the last tenth has no future to speak of, but there is no other. */
static void a_rise_at_an_end_is_found_for_want_of_another(void **state)
{
    (void)state;
    const use uses[] = { { -5, 0, 10 * MB }, { 1905, 0, 5 * MB } };
    etlheap_growth growth;
    assert_true(find_in(uses, ETL_COUNT_OF(uses), &growth));
    assert_int_equal(growth.first_window, 190);
    assert_int_equal(growth.after_size - growth.before_size, 5 * MB);
}

static void of_several_rows_the_steepest_is_found(void **state)
{
    (void)state;
    etlheap_result *const result = hand_result_new();
    const u32 processes[] = { hand_process(result, 10, "a.exe"), hand_process(result, 20, "b.exe"),
                              hand_process(result, 30, "c.exe") };
    /* The largest at the end has only its start, the next the smaller step. */
    add_use(result, processes[0], (use){ 20, 0, 90 * MB });
    add_use(result, processes[1], (use){ 20, 0, 40 * MB });
    add_use(result, processes[1], (use){ 803, 0, 3 * MB });
    add_use(result, processes[2], (use){ 20, 0, 5 * MB });
    add_use(result, processes[2], (use){ 1203, 0, 4 * MB });
    hand_ready(result, HAND_START_TICKS + TICKS - 1);
    etlheap_growth growth;
    assert_true(find(result, TICKS / WINDOWS, ETLHEAP_NO_INDEX, &growth));
    assert_int_equal(growth.row, 2);
    assert_int_equal(growth.first_window, 120);
    assert_int_equal(growth.after_size - growth.before_size, 4 * MB);
    etlheap_result_free(result);
}

/* More windows than levels that are looked at: the rise lies between two of them. */
static void a_rise_among_very_many_windows_is_found(void **state)
{
    (void)state;
    etlheap_result *const result = hand_result_new();
    const u32 process = hand_process(result, 10, "a.exe");
    add_use(result, process, (use){ 1, 0, 10 * MB });
    add_use(result, process, (use){ 1003, 0, 10 * MB });
    hand_ready(result, HAND_START_TICKS + TICKS - 1);
    etlheap_growth growth;
    assert_true(find(result, 1, 0, &growth));
    assert_true(growth.first_window <= 1003);
    assert_true(growth.first_window + growth.window_count > 1003);
    assert_true(growth.window_count <= 4);
    etlheap_result_free(result);
}

static void windows_with_gaps_have_no_curve(void **state)
{
    (void)state;
    etlheap_result *const result = hand_result_new();
    add_use(result, hand_process(result, 10, "a.exe"), (use){ 30, 0, MB });
    hand_ready(result, HAND_START_TICKS + TICKS - 1);
    const etlheap_query query = etlheap_query_default();
    const etlheap_time_range ranges[] = { { NS(0), NS(50) }, { NS(60), NS(90) } };
    const etlheap_windows_options options = { .size = sizeof options,
                                              .ranges = ranges,
                                              .range_count = 2 };
    etlheap_query plain = query;
    plain.group_by_count = 2;
    etlheap_windows *const windows = windows_check_make(result, &plain, &options);
    etlheap_growth growth;
    assert_false(etlheap_windows_find_growth(windows, 0, &growth));
    etlheap_windows_free(windows);
    etlheap_result_free(result);
}

/* --- random curves ---------------------------------------------------------------------- */

#define ROWS       3u
#define LIVES      40u
#define LEVELS_MAX 1001u

typedef struct plain_rise {
    u32 row, from, to; /* numbers of levels */
    i64 high, low;
    u64 merit; /* growth times the levels that agree; 0: no rise */
} plain_rise;

static int by_level(const void *a, const void *b)
{
    const i64 x = *(const i64 *)a, y = *(const i64 *)b;
    return (x > y) - (x < y);
}

static i64 level_at(const use *lives, i64 tick)
{
    i64 level = 0;
    for (u32 i = 0; i < LIVES; i++) {
        if (lives[i].from < tick && (lives[i].to == 0 || lives[i].to >= tick))
            level += (i64)lives[i].size;
    }
    return level;
}

/* The level that three quarters of some levels are not above, or not below; `outside`:
 * how many are. `own` is one of them, which must not be outside. */
static i64 bound_of(const i64 *levels, u32 count, i64 own, bool is_high, u32 *outside)
{
    i64 sorted[LEVELS_MAX];
    memcpy(sorted, levels, count * sizeof *levels);
    qsort(sorted, count, sizeof *sorted, by_level);
    const u32 quarter = (count - 1) / 4;
    i64 bound = is_high ? sorted[count - 1 - quarter] : sorted[quarter];
    if (is_high ? own > bound : own < bound)
        bound = own;
    *outside = 0;
    for (u32 i = 0; i < count; i++)
        *outside += is_high ? levels[i] > bound : levels[i] < bound;
    return bound;
}

/* Is a rise better by growth squared through its length? The first of equals counts. */
static bool is_steeper(const plain_rise *a, const plain_rise *b)
{
    return b->merit == 0 ||
           a->merit * a->merit * (b->to - b->from) > b->merit * b->merit * (a->to - a->from);
}

/* What a curve keeps to before and after each of its levels. */
typedef struct plain_bounds {
    i64 high[LEVELS_MAX], low[LEVELS_MAX];
    u32 above[LEVELS_MAX], below[LEVELS_MAX];
} plain_bounds;

static plain_rise steepest(const i64 *levels, u32 last, u32 row, bool is_strict)
{
    static plain_bounds at;
    const u32 reach = last / 10 > 1 ? last / 10 : 1, margin = is_strict ? reach : 0;
    plain_rise best = { .merit = 0 };
    for (u32 p = 0; p <= last; p++) {
        const u32 first = p < reach ? 0 : p - reach, end = p + reach > last ? last : p + reach;
        at.high[p] = bound_of(levels + first, p - first + 1, levels[p], true, &at.above[p]);
        at.low[p] = bound_of(levels + p, end - p + 1, levels[p], false, &at.below[p]);
    }
    for (u32 from = margin; from + margin <= last; from++) {
        for (u32 to = from + 1; to + margin <= last; to++) {
            const u64 agreed = 2 * (reach + 1) - at.above[from] - at.below[to];
            const i64 high = at.high[from], low = at.low[to];
            const plain_rise rise = { row, from, to, high, low, (u64)(low - high) * agreed };
            if (low > high && is_steeper(&rise, &best))
                best = rise;
        }
    }
    return best;
}

/* Rises with a past and a future come before all others, of whatever row. */
static plain_rise steepest_of_rows(i64 (*levels)[LEVELS_MAX], u32 last)
{
    plain_rise best = { .merit = 0 };
    for (u32 way = 0; way < 2 && best.merit == 0; way++) {
        for (u32 r = 0; r < ROWS; r++) {
            const plain_rise rise = steepest(levels[r], last, r, way == 0);
            if (rise.merit > 0 && is_steeper(&rise, &best))
                best = rise;
        }
    }
    return best;
}

/* Rows in the table's order: by what is outstanding at the end, the largest first. */
static void random_rows(etlheap_result *result, u64 *random, u32 ticks, use (*lives)[LIVES])
{
    static const char *const names[ROWS] = { "a.exe", "b.exe", "c.exe" };
    const bool is_late = hand_random(random) % 3 == 0; /* all rises at an end */
    for (u32 r = 0; r < ROWS; r++) {
        const u32 process = hand_process(result, 10 * (r + 1), names[r]);
        for (u32 i = 0; i < LIVES; i++) {
            const i64 from = (i64)(is_late ? ticks - 1 - hand_random(random) % (ticks / 20 + 1)
                                           : hand_random(random) % ticks);
            const bool stays = i == 0 || hand_random(random) % 4 == 0;
            lives[r][i] =
                (use){ i == 0 ? 0 : from, stays ? 0 : from + 1 + hand_random(random) % ticks,
                       i == 0 ? 1000000 - 300000 * (u64)r : 1 + hand_random(random) % 1000 };
            add_use(result, process, lives[r][i]);
        }
    }
    hand_ready(result, HAND_START_TICKS + ticks - 1);
}

static plain_rise steepest_of_row(const i64 *levels, u32 last, u32 row)
{
    const plain_rise rise = steepest(levels, last, row, true);
    return rise.merit > 0 ? rise : steepest(levels, last, row, false);
}

/* The answer for a row, or for all of them. */
static void expect_rise(const etlheap_windows *windows, u32 row, const plain_rise *wanted)
{
    const u32 stride = (windows->window_count + 999) / 1000;
    const u32 first = wanted->from * stride, end = wanted->to * stride;
    etlheap_growth growth;
    const bool found = etlheap_windows_find_growth(windows, row, &growth);
    assert_int_equal(found, wanted->merit > 0);
    if (!found)
        return;
    const u32 last = (end < windows->window_count ? end : windows->window_count) - 1;
    assert_int_equal(growth.row, wanted->row);
    assert_int_equal(growth.first_window, first);
    assert_int_equal(growth.window_count, last + 1 - first);
    assert_int_equal(growth.before_size, wanted->high);
    assert_int_equal(growth.after_size, wanted->low);
    assert_int_equal(growth.from_ns, windows->windows[first].from_ns);
    assert_int_equal(growth.to_ns, windows->windows[last].to_ns);
}

/* The rises of all rows, the best first; those at an end only if no row has another. */
static void expect_rises(const etlheap_windows *windows, i64 (*levels)[LEVELS_MAX], u32 last)
{
    plain_rise wanted[ROWS];
    u32 count = 0;
    for (u32 way = 0; way < 2 && count == 0; way++) {
        for (u32 r = 0; r < ROWS; r++) {
            const plain_rise rise = steepest(levels[r], last, r, way == 0);
            u32 at = count;
            for (; at > 0 && rise.merit > 0 && is_steeper(&rise, &wanted[at - 1]); at--)
                wanted[at] = wanted[at - 1];
            if (rise.merit > 0) {
                wanted[at] = rise;
                count++;
            }
        }
    }
    for (u32 max = 1; max <= ROWS; max++) {
        etlheap_growth got[ROWS];
        assert_int_equal(etlheap_windows_find_rises(windows, got, max), count < max ? count : max);
        for (u32 i = 0; i < count && i < max; i++) {
            assert_int_equal(got[i].row, wanted[i].row);
            assert_int_equal(got[i].before_size, wanted[i].high);
            assert_int_equal(got[i].after_size, wanted[i].low);
        }
    }
}

static void compare_with_model(u64 seed, u32 ticks, u32 every)
{
    static i64 levels[ROWS][LEVELS_MAX];
    use lives[ROWS][LIVES];
    u64 random = seed;
    etlheap_result *const result = hand_result_new();
    random_rows(result, &random, ticks, lives);
    const u32 count = (ticks + every - 1) / every, stride = (count + 999) / 1000;
    const u32 last = (count + stride - 1) / stride;
    for (u32 r = 0; r < ROWS; r++) {
        for (u32 p = 0; p <= last; p++)
            levels[r][p] = level_at(lives[r], p < last ? (i64)p * stride * every : (i64)ticks);
    }
    etlheap_query query = etlheap_query_default();
    query.group_by_count = 2;
    query.from_ns = 0;
    query.to_ns = NS(ticks);
    const etlheap_windows_options options = { .size = sizeof options, .every_ns = NS(every) };
    etlheap_windows *const windows = windows_check_make(result, &query, &options);
    assert_int_equal(windows->window_count, count);
    for (u32 r = 0; r < ROWS; r++) {
        const plain_rise wanted = steepest_of_row(levels[r], last, r);
        assert_int_equal(windows->table->rows[r].pid, 10 * (r + 1));
        expect_rise(windows, r, &wanted);
    }
    const plain_rise wanted = steepest_of_rows(levels, last);
    expect_rise(windows, ETLHEAP_NO_INDEX, &wanted);
    expect_rises(windows, levels, last);
    etlheap_windows_free(windows);
    etlheap_result_free(result);
}

static void random_curves_rise_where_the_model_says(void **state)
{
    (void)state;
    for (u32 i = 0; i < 60; i++)
        compare_with_model(1 + i, 20 + i * 2, 1 + i % 3);
    compare_with_model(100, 400, 1);
    compare_with_model(101, 401, 3);
    for (u32 ticks = 1; ticks < 8; ticks++)
        compare_with_model(200 + ticks, ticks, 1);
}

static void levels_of_very_many_windows_are_the_models(void **state)
{
    (void)state;
    compare_with_model(300, 1001, 1);
    compare_with_model(301, 1000, 1);
    compare_with_model(302, 2003, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_is_found_where_it_is),
        cmocka_unit_test(spikes_and_dips_do_not_hide_a_step),
        cmocka_unit_test(a_spike_before_a_step_is_not_taken_for_it),
        cmocka_unit_test(spikes_and_dips_alone_are_no_rise),
        cmocka_unit_test(what_falls_or_stands_still_is_no_rise),
        cmocka_unit_test(steady_growth_is_found_whole),
        cmocka_unit_test(a_step_wins_over_steady_growth_around_it),
        cmocka_unit_test(a_rise_at_an_end_is_found_for_want_of_another),
        cmocka_unit_test(of_several_rows_the_steepest_is_found),
        cmocka_unit_test(a_rise_among_very_many_windows_is_found),
        cmocka_unit_test(windows_with_gaps_have_no_curve),
        cmocka_unit_test(random_curves_rise_where_the_model_says),
        cmocka_unit_test(levels_of_very_many_windows_are_the_models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
