/*
 * Goal: rows of many runs are the same group under one rule, and each group's curve has an exact
 * slope and the pattern that the header defines.
 * Method: curves made by hand, results with modules of known builds, and random tables against a
 * model that compares every row with every other, sorts all slopes and tries all cuts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>
#include <cmocka.h>

#include "diff_tables.h"
#include "tests/support/engine_check.h"
#include "tests/support/hand_result.h"

#define RUNS_MAX 9u
#define ROUNDS   300u

static etlheap_trend *trend_of(const diff_input *runs, u32 count,
                               const etlheap_result *const *results,
                               const etlheap_trend_options *options)
{
    const etlheap_table *tables[RUNS_MAX];
    etlheap_trend *trend = NULL;
    etl_error err = { .status = ETL_OK };
    for (u32 i = 0; i < count; i++)
        tables[i] = &runs[i].table;
    assert_int_equal(etlheap_trend_tables(tables, results, count, options, &trend, &err), ETL_OK);
    assert_non_null(trend);
    return trend;
}

/* A run's table with the value as its one row, or without a row. */
static void make_curve(diff_input *runs, const i64 *values, u32 count)
{
    for (u32 i = 0; i < count; i++) {
        diff_input_open(&runs[i]);
        if (values[i] != 0)
            diff_input_simple(&runs[i], "a.exe", "a.exe", 1, values[i]);
    }
}

/* --- patterns by hand ------------------------------------------------------------------- */

static const struct {
    const char *pattern;
    u32 count;
    i64 values[RUNS_MAX];
    i64 slope, change;
    u32 turn; /* from 1; 0: none */
} curves[] = {
    { "steady", 4, { 7, 7, 7, 7 }, 0, 0, 0 },
    { "drift", 5, { 10, 20, 30, 40, 50 }, 10, 40, 0 },
    { "drift", 5, { 50, 40, 30, 20, 10 }, -10, -40, 0 },
    { "drift", 6, { 10, 20, 900, 40, 50, 60 }, 10, 50, 0 }, /* one odd run */
    { "drift", 5, { 0, 10, 20, 30, 40 }, 10, 40, 0 },       /* new, and it drifts */
    { "step", 6, { 100, 103, 98, 200, 205, 203 }, 25, 103, 4 },
    { "step", 6, { 200, 200, 200, 200, 200, 100 }, 0, -100, 6 },
    { "step", 6, { 10, 12, 11, 30, 31, 32 }, 5, 20, 4 },     /* the examples of docs/trend.md */
    { "step", 7, { 10, 10, 10, 15, 20, 20, 20 }, 2, 10, 4 }, /* at run 5 as well: the first */
    { "drift", 6, { 10, 14, 18, 22, 26, 30 }, 4, 20, 0 },
    { "drift", 8, { 1, 1, 2, 2, 3, 3, 4, 4 }, 0, 3, 0 }, /* less than one per run */
    { "drift", 8, { 4, 4, 3, 3, 2, 2, 1, 1 }, 0, -3, 0 },
    { "new", 5, { 0, 0, 0, 0, 100 }, 0, 100, 5 },
    { "new", 5, { 0, 0, 50, 51, 49 }, 1, 50, 3 },
    { "new", 7, { 0, 0, 0, 0, 0, 10, 20 }, 0, 10, 6 },
    { "gone", 5, { 80, 80, 81, 0, 0 }, 0, -80, 4 },
    { "gone", 7, { 20, 10, 0, 0, 0, 0, 0 }, 0, -10, 3 },
    { "steady", 6, { 10000, 10060, 10010, 10050, 10005, 10040 }, 0, 0, 0 },
    { "noise", 5, { 0, 0, 100, 0, 0 }, 0, 0, 0 },
    { "noise", 6, { 50, 10, 60, 5, 70, 20 }, 0, 0, 0 },
};

static void patterns_are_as_defined(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < ETL_COUNT_OF(curves); i++) {
        diff_input runs[RUNS_MAX];
        etlheap_trend_options options = etlheap_trend_options_default();
        options.keep_steady = true;
        make_curve(runs, curves[i].values, curves[i].count);
        etlheap_trend *const trend = trend_of(runs, curves[i].count, NULL, &options);
        assert_int_equal(trend->table.row_count, 1);
        const etlheap_trend_curve *const curve = &trend->curves[0];
        assert_string_equal(etlheap_trend_pattern_word((etlheap_trend_pattern)curve->pattern),
                            curves[i].pattern);
        assert_int_equal(curve->slope, curves[i].slope);
        assert_int_equal(curve->change, curves[i].change);
        assert_int_equal(curve->turn_run,
                         curves[i].turn == 0 ? ETLHEAP_NO_INDEX : curves[i].turn - 1);
        assert_memory_equal(trend->values, curves[i].values, curves[i].count * sizeof(i64));
        etlheap_trend_free(trend);
    }
}

static void what_is_steady_is_left_out(void **unused)
{
    (void)unused;
    diff_input runs[3];
    make_curve(runs, (const i64[]){ 7, 7, 7 }, 3);
    diff_input_simple(&runs[1], "b.exe", "b.exe", 1, 5);
    etlheap_trend *const trend = trend_of(runs, 3, NULL, NULL);
    assert_int_equal(trend->steady_count, 1);
    assert_int_equal(trend->table.row_count, 1);
    assert_string_equal(trend->table.rows[0].process, "b.exe");
    assert_int_equal(trend->curves[0].first_run, 1);
    assert_int_equal(trend->curves[0].last_run, 1);
    etlheap_trend_free(trend);
}

static void largest_change_comes_first(void **unused)
{
    (void)unused;
    diff_input runs[4];
    for (u32 i = 0; i < 4; i++) {
        diff_input_open(&runs[i]);
        diff_input_simple(&runs[i], "a.exe", "a.exe", 1, 10 * (i + 1));   /* drift: 30 */
        diff_input_simple(&runs[i], "a.exe", "a.exe", 2, i < 3 ? 9 : 99); /* step: 90 */
        diff_input_simple(&runs[i], "a.exe", "a.exe", 3, 90 - 20 * i);    /* drift: -60 */
    }
    etlheap_trend_options options = etlheap_trend_options_default();
    for (u32 ascending = 0; ascending < 2; ascending++) {
        static const i64 wanted[] = { 90, -60, 30 };
        options.ascending = ascending != 0;
        etlheap_trend *const trend = trend_of(runs, 4, NULL, &options);
        for (u32 i = 0; i < 3; i++)
            assert_int_equal(trend->curves[i].change, wanted[ascending ? 2 - i : i]);
        etlheap_trend_keep_top(trend, 1);
        assert_int_equal(trend->table.row_count, 1);
        assert_int_equal(trend->table.frame_count, 1);
        etlheap_trend_free(trend);
    }
}

static void amounts_stop_at_the_ends(void **unused)
{
    (void)unused;
    diff_input runs[3];
    make_curve(runs, (const i64[]){ INT64_MIN, -1, INT64_MAX }, 3);
    etlheap_trend *const trend = trend_of(runs, 3, NULL, NULL);
    assert_int_equal(trend->curves[0].slope, INT64_MAX / 2);
    assert_int_equal(trend->curves[0].change, INT64_MAX);
    etlheap_trend_free(trend);
}

static void unfit_tables_are_refused(void **unused)
{
    (void)unused;
    diff_input runs[2];
    const etlheap_table *const tables[] = { &runs[0].table, &runs[1].table };
    etlheap_trend *trend = NULL;
    etl_error err = { .status = ETL_OK };
    make_curve(runs, (const i64[]){ 1, 2 }, 2);
    assert_int_equal(etlheap_trend_tables(tables, NULL, 1, NULL, &trend, &err), ETL_ERR_ARGUMENT);
    assert_null(trend);
    etlheap_trend_options sized = { .size = 0 };
    assert_int_equal(etlheap_trend_tables(tables, NULL, 2, &sized, &trend, &err), ETL_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "size"));
    runs[1].keys[2] = ETLHEAP_KEY_MODULE;
    assert_int_equal(etlheap_trend_tables(tables, NULL, 2, NULL, &trend, &err), ETL_ERR_ARGUMENT);
    runs[0].keys[2] = runs[1].keys[2] = ETLHEAP_KEY_HEAP;
    assert_int_equal(etlheap_trend_tables(tables, NULL, 2, NULL, &trend, &err), ETL_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "heap"));
    runs[0].keys[2] = runs[1].keys[2] = ETLHEAP_KEY_STACK;
    etlheap_trend_options options = etlheap_trend_options_default();
    options.measure = ETLHEAP_MEASURE_PEAK_SIZE;
    assert_int_equal(etlheap_trend_tables(tables, NULL, 2, &options, &trend, &err),
                     ETL_ERR_ARGUMENT);
    assert_null(trend);
}

/* --- builds ------------------------------------------------------------------------------ */

static etlheap_result *result_of_build(u32 stamp)
{
    const hand_image_spec image = { .kind = ETL_EVENT_IMAGE_LOAD,
                                    .pid = 42,
                                    .base = 0x10000,
                                    .size_bytes = 0x10000,
                                    .ticks = HAND_START_TICKS,
                                    .path = "\\Device\\HarddiskVolume3\\App.exe",
                                    .time_date_stamp = stamp };
    etlheap_result *const result = hand_result_new();
    hand_process(result, 42, "App.exe");
    if (stamp != 0)
        hand_image(&result->context, &image);
    hand_ready(result, HAND_START_TICKS + 1000);
    return result;
}

/* Build 5 comes back in the last run, after a run without the module. */
static void offsets_are_compared_within_builds(void **unused)
{
    (void)unused;
    static const u32 stamps[] = { 5, 5, 6, 0, 5 };
    static const i64 sizes[2][5] = { { 10, 20, 0, 0, 50 }, { 0, 0, 30, 0, 0 } };
    diff_input runs[5];
    etlheap_result *results[5];
    for (u32 i = 0; i < 5; i++) {
        diff_input_open(&runs[i]);
        results[i] = result_of_build(stamps[i]);
        if (stamps[i] != 0)
            diff_input_simple(&runs[i], "App.exe", "App.exe", 1, 10 * (i + 1));
    }
    etlheap_trend *const trend = trend_of(runs, 5, (const etlheap_result *const *)results, NULL);
    assert_int_equal(trend->rebuilt_count, 1);
    assert_string_equal(trend->rebuilt[0], "App.exe");
    assert_int_equal(trend->table.row_count, 2);
    const u32 first = trend->values[0] == 10 ? 0 : 1;
    assert_memory_equal(&trend->values[first * 5], sizes[0], sizeof sizes[0]);
    assert_memory_equal(&trend->values[(1 - first) * 5], sizes[1], sizeof sizes[1]);
    etlheap_trend_free(trend);
    for (u32 i = 0; i < 5; i++)
        etlheap_result_free(results[i]);
}

/* --- random tables ------------------------------------------------------------------------ */

static void fill_random(diff_input *t, u64 *seed, u32 run)
{
    static const char *const processes[] = { "a.exe", "A.EXE", "b.exe" };
    static const char *const symbols[] = { "f", NULL, NULL };
    diff_input_open(t);
    for (u32 i = engine_check_random(seed, 12); i > 0; i--) {
        diff_input_frame(t, (etlheap_frame){ .module = "m.dll",
                                             .symbol = symbols[engine_check_random(seed, 3)],
                                             .offset = engine_check_random(seed, 3) });
        diff_input_row(t, processes[engine_check_random(seed, 3)], diff_input_stack(t),
                       engine_check_random(seed, 4) * run + engine_check_random(seed, 9), 1);
    }
}

static bool same_row(const diff_input *s, u32 a, const diff_input *t, u32 b)
{
    const etlheap_frame *const f = &s->frames[s->rows[a].stack];
    const etlheap_frame *const g = &t->frames[t->rows[b].stack];
    const bool same_process = (s->rows[a].process[0] | 0x20) == (t->rows[b].process[0] | 0x20);
    return same_process && f->symbol == g->symbol && (f->symbol || f->offset == g->offset);
}

static int compare_i64(const void *a, const void *b)
{
    const i64 x = *(const i64 *)a, y = *(const i64 *)b;
    return (x > y) - (x < y);
}

static i64 model_median(const i64 *values, u32 count)
{
    i64 sorted[RUNS_MAX];
    memcpy(sorted, values, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_i64);
    const i64 low = sorted[(count - 1) / 2], high = sorted[count / 2];
    return low > 0 ? low : (high < 0 ? high : 0);
}

/* The slope times one less than the number of runs. */
static i64 model_rise(const i64 *v, u32 n)
{
    i64 medians[RUNS_MAX], slopes[RUNS_MAX];
    for (u32 i = 0; i < n; i++) {
        for (u32 k = 0, at = 0; k < n; k++) {
            if (k != i)
                slopes[at++] = (v[k] - v[i]) * ((i64)n - 1) / ((i64)k - (i64)i);
        }
        medians[i] = model_median(slopes, n - 1);
    }
    return model_median(medians, n);
}

static i64 model_distances(const i64 *v, u32 n)
{
    i64 sum = 0;
    for (u32 i = 0; i < n; i++)
        sum += llabs(v[i] - model_median(v, n));
    return sum;
}

/* Amounts of blocks come with sizes of 0 too, so p says where there is something. */
static etlheap_trend_pattern model_pattern(const i64 *v, const i64 *p, u32 n)
{
    u32 first = n, last = 0, somewhere = 0, cut = 0;
    i64 least = v[0], most = v[0], rises = 0, best = model_distances(v, n) / 4 + 1;
    for (u32 i = 0; i < n; i++) {
        const bool something = v[i] != 0 || p[i] != 0;
        first = something && first == n ? i : first;
        last = something ? i : last;
        somewhere += something;
        least = v[i] < least ? v[i] : least;
        most = v[i] > most ? v[i] : most;
        for (u32 k = 0; k < i; k++)
            rises += (v[i] > v[k]) - (v[i] < v[k]);
        if (i > 0 && model_distances(v, i) + model_distances(v + i, n - i) < best) {
            best = model_distances(v, i) + model_distances(v + i, n - i);
            cut = i;
        }
    }
    const i64 rise = model_rise(v, n);
    if (least == most)
        return ETLHEAP_TREND_STEADY;
    if (cut > 0 && first >= cut && last == n - 1)
        return ETLHEAP_TREND_NEW;
    if (cut > 0 && first == 0 && last < cut)
        return ETLHEAP_TREND_GONE;
    if (cut > 0)
        return ETLHEAP_TREND_STEP;
    if (rise != 0 && (rise > 0 ? rises : -rises) * 4 >= (i64)n * (n - 1))
        return ETLHEAP_TREND_DRIFT;
    if (somewhere == last - first + 1 && (first > 0) != (last < n - 1))
        return first > 0 ? ETLHEAP_TREND_NEW : ETLHEAP_TREND_GONE;
    return (most - least) * 100 <= most ? ETLHEAP_TREND_STEADY : ETLHEAP_TREND_NOISE;
}

/* The sums of a group, which a row is of, in each run. */
static void model_values(const diff_input *runs, u32 n, u32 run, u32 row, i64 *v, i64 *p)
{
    for (u32 k = 0; k < n; k++) {
        v[k] = p[k] = 0;
        for (u32 i = 0; i < runs[k].table.row_count; i++) {
            if (!same_row(&runs[run], row, &runs[k], i))
                continue;
            v[k] += runs[k].rows[i].measures[ETLHEAP_MEASURE_OUTSTANDING_SIZE];
            p[k] += runs[k].rows[i].measures[ETLHEAP_MEASURE_OUTSTANDING_COUNT];
        }
    }
}

/* A row of the trend is the group of a row of a run if that is the same by the same rule. */
static bool same_shown(const etlheap_trend *trend, u32 shown, const diff_input *t, u32 row)
{
    const etlheap_row *const a = &trend->table.rows[shown];
    const etlheap_frame *const f =
        &trend->table.frames[trend->table.frame_indices[trend->table.stack_starts[a->stack]]];
    const etlheap_frame *const g = &t->frames[t->rows[row].stack];
    return (a->process[0] | 0x20) == (t->rows[row].process[0] | 0x20) && f->symbol == g->symbol &&
           (f->symbol || f->offset == g->offset);
}

static void check_row(const etlheap_trend *trend, const diff_input *runs, u32 n, u32 run, u32 row)
{
    i64 v[RUNS_MAX], p[RUNS_MAX];
    u32 found = 0;
    model_values(runs, n, run, row, v, p);
    for (u32 i = 0; i < trend->table.row_count; i++) {
        if (!same_shown(trend, i, &runs[run], row))
            continue;
        found++;
        assert_memory_equal(&trend->values[i * n], v, n * sizeof *v);
        assert_memory_equal(&trend->partners[i * n], p, n * sizeof *p);
        assert_int_equal(trend->curves[i].slope, model_rise(v, n) / ((i64)n - 1));
        assert_int_equal(trend->curves[i].pattern, model_pattern(v, p, n));
    }
    assert_int_equal(found, 1);
}

static void random_tables_agree_with_the_model(void **unused)
{
    (void)unused;
    u64 seed = 5;
    u32 seen[ETLHEAP_TREND_PATTERN_COUNT] = { 0 };
    etlheap_trend_options options = etlheap_trend_options_default();
    options.keep_steady = true;
    for (u32 round = 0; round < ROUNDS; round++) {
        diff_input runs[RUNS_MAX];
        const u32 n = 2 + engine_check_random(&seed, RUNS_MAX - 1);
        for (u32 k = 0; k < n; k++)
            fill_random(&runs[k], &seed, k);
        etlheap_trend *const trend = trend_of(runs, n, NULL, &options);
        for (u32 k = 0; k < n; k++) {
            for (u32 i = 0; i < runs[k].table.row_count; i++)
                check_row(trend, runs, n, k, i);
        }
        for (u32 i = 0; i < trend->table.row_count; i++) {
            seen[trend->curves[i].pattern]++;
            assert_true(i == 0 ||
                        llabs(trend->curves[i - 1].change) >= llabs(trend->curves[i].change));
        }
        etlheap_trend_free(trend);
    }
    for (u32 i = 0; i < ETLHEAP_TREND_PATTERN_COUNT; i++)
        assert_in_range(seen[i], 1, UINT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_are_as_defined),
        cmocka_unit_test(what_is_steady_is_left_out),
        cmocka_unit_test(largest_change_comes_first),
        cmocka_unit_test(amounts_stop_at_the_ends),
        cmocka_unit_test(unfit_tables_are_refused),
        cmocka_unit_test(offsets_are_compared_within_builds),
        cmocka_unit_test(random_tables_agree_with_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
