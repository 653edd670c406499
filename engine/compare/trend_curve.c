/*
 * trend_curve.c - slope, change and pattern of one curve. etlheap_trend.h defines them.
 *
 * In: a value for each run. Out: an etlheap_trend_curve.
 *
 * There are few runs, so every pair of runs and every possible cut is examined: the slope is the
 * median over runs of the median slope to all other runs, a step is the cut that explains the
 * values best. Invariant: all arithmetic is in integers, so that the answer is the same on all
 * machines. So that integers hold slopes below one per run, slopes are multiplied by the number of
 * runs less one before they are compared.
 */
#include "trend_curve.h"

#include "engine/core/select_rank.h"

__extension__ typedef __int128 i128;

#define STEP_SHARE   4u   /* a step leaves at most this part of the distances */
#define STEADY_SHARE 100u /* and what is steady varies by at most this part */

/* A curve, and scratch memory for sorting. */
typedef struct trend_reader {
    const i64 *values, *partners;
    u32 count;
    i64 *scratch, *medians;
} trend_reader;

static u64 distance(i64 a, i64 b)
{
    return a > b ? (u64)a - (u64)b : (u64)b - (u64)a;
}

static u64 magnitude(i64 value)
{
    return distance(value, 0);
}

static bool has_something(const trend_reader *r, u32 run)
{
    return r->values[run] != 0 || r->partners[run] != 0;
}

/* The median; reorders the values. */
static i64 median(i64 *values, u32 count)
{
    const i64 low = select_rank(values, count, (count - 1) / 2);
    const i64 high = select_rank(values, count, count / 2);
    if (low > 0)
        return low;
    return high < 0 ? high : 0;
}

static i64 median_of_runs(const trend_reader *r, u32 first, u32 end)
{
    memcpy(r->scratch, r->values + first, (end - first) * sizeof *r->scratch);
    return median(r->scratch, end - first);
}

static u64 distances(const trend_reader *r, u32 first, u32 end)
{
    const i64 middle = median_of_runs(r, first, end);
    u64 sum = 0;
    for (u32 run = first; run < end; run++)
        sum = etl_sat_add_u64(sum, distance(r->values[run], middle));
    return sum;
}

/* What the rise between two runs comes to over all runs. */
static i64 rise_over_all(const trend_reader *r, u32 first, u32 last)
{
    const i64 rise = etlheap_diff_subtract(r->values[first], r->values[last]);
    const i128 over_all = (i128)rise * (r->count - 1) / (last - first);
    return over_all > INT64_MAX ? INT64_MAX : over_all < INT64_MIN ? INT64_MIN : (i64)over_all;
}

/* The slope times one less than the number of runs. Whole numbers hold it even if the values rise
 * by less than one per run: then it is at least 1. */
static i64 rise_of(const trend_reader *r)
{
    for (u32 i = 0; i < r->count; i++) {
        u32 others = 0;
        for (u32 k = 0; k < r->count; k++) {
            if (k != i)
                r->scratch[others++] = rise_over_all(r, k < i ? k : i, k < i ? i : k);
        }
        r->medians[i] = median(r->scratch, others);
    }
    return median(r->medians, r->count);
}

/* The best cut; 0 if no cut explains the curve. */
static u32 find_step(const trend_reader *r)
{
    u64 least = distances(r, 0, r->count) / STEP_SHARE;
    u32 found = 0;
    for (u32 cut = 1; cut < r->count; cut++) {
        const u64 left = etl_sat_add_u64(distances(r, 0, cut), distances(r, cut, r->count));
        if (left < least || (left == least && found == 0)) {
            least = left;
            found = cut;
        }
    }
    return found;
}

static bool is_drift(const trend_reader *r, i64 rise)
{
    const i64 pairs = (i64)r->count * (r->count - 1) / 2;
    i64 rises = 0;
    for (u32 k = 1; k < r->count; k++) {
        for (u32 i = 0; i < k; i++)
            rises += (r->values[k] > r->values[i]) - (r->values[k] < r->values[i]);
    }
    return (rise > 0 && rises * 2 >= pairs) || (rise < 0 && -rises * 2 >= pairs);
}

/* Do all of these runs have something, or none of them? */
static bool is_all(const trend_reader *r, u32 first, u32 end, bool something)
{
    for (u32 run = first; run < end; run++) {
        if (has_something(r, run) != something)
            return false;
    }
    return true;
}

static bool is_steady(const trend_reader *r, u64 share)
{
    i64 least = r->values[0], most = r->values[0];
    for (u32 run = 1; run < r->count; run++) {
        least = r->values[run] < least ? r->values[run] : least;
        most = r->values[run] > most ? r->values[run] : most;
    }
    const u64 largest = etl_max_u64(magnitude(least), magnitude(most));
    return distance(least, most) <= (share > 0 ? largest / share : 0);
}

static etlheap_trend_pattern step_pattern(const trend_reader *r, u32 cut)
{
    if (is_all(r, 0, cut, false) && has_something(r, r->count - 1))
        return ETLHEAP_TREND_NEW;
    if (is_all(r, cut, r->count, false) && has_something(r, 0))
        return ETLHEAP_TREND_GONE;
    return ETLHEAP_TREND_STEP;
}

/* The pattern of a curve that begins or ends without a step, over several runs. */
static etlheap_trend_pattern edge_pattern(const trend_reader *r, const etlheap_trend_curve *curve)
{
    if (!is_all(r, curve->first_run, curve->last_run + 1, true))
        return ETLHEAP_TREND_NOISE;
    if (curve->first_run > 0 && curve->last_run == r->count - 1)
        return ETLHEAP_TREND_NEW;
    if (curve->first_run == 0 && curve->last_run < r->count - 1)
        return ETLHEAP_TREND_GONE;
    return ETLHEAP_TREND_NOISE;
}

static void find_pattern(const trend_reader *r, i64 rise, etlheap_trend_curve *curve)
{
    const u32 cut = is_steady(r, 0) ? 0 : find_step(r);
    curve->pattern = ETLHEAP_TREND_STEADY;
    if (is_steady(r, 0))
        return;
    if (cut > 0) {
        curve->pattern = (u8)step_pattern(r, cut);
        curve->turn_run = cut;
        return;
    }
    if (is_drift(r, rise)) {
        curve->pattern = ETLHEAP_TREND_DRIFT;
        return;
    }
    curve->pattern = (u8)edge_pattern(r, curve);
    if (curve->pattern == ETLHEAP_TREND_NEW)
        curve->turn_run = curve->first_run;
    else if (curve->pattern == ETLHEAP_TREND_GONE)
        curve->turn_run = curve->last_run + 1;
    else if (is_steady(r, STEADY_SHARE))
        curve->pattern = ETLHEAP_TREND_STEADY;
}

static i64 change_of(const trend_reader *r, i64 rise, const etlheap_trend_curve *curve)
{
    if (curve->pattern == ETLHEAP_TREND_STEADY)
        return 0;
    if (curve->turn_run != ETLHEAP_NO_INDEX) {
        const i64 before = median_of_runs(r, 0, curve->turn_run);
        return etlheap_diff_subtract(before, median_of_runs(r, curve->turn_run, r->count));
    }
    return rise;
}

etlheap_trend_curve trend_curve_of(const i64 *values, const i64 *partners, u32 count, i64 *scratch)
{
    const trend_reader r = { values, partners, count, scratch, scratch + count };
    etlheap_trend_curve curve = { .first_run = ETLHEAP_NO_INDEX,
                                  .last_run = ETLHEAP_NO_INDEX,
                                  .turn_run = ETLHEAP_NO_INDEX };
    for (u32 run = 0; run < count; run++) {
        if (!has_something(&r, run))
            continue;
        curve.first_run = curve.first_run == ETLHEAP_NO_INDEX ? run : curve.first_run;
        curve.last_run = run;
    }
    const i64 rise = rise_of(&r);
    curve.slope = rise / ((i64)count - 1);
    find_pattern(&r, rise, &curve);
    curve.change = change_of(&r, rise, &curve);
    return curve;
}
