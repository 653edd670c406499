/*
 * growth_rate.c - computes how fast and how steadily one curve of outstanding sizes grows.
 *
 * In: the sizes of a group at GROWTH_SAMPLES moments. Out: a rate in bytes per time, and a
 * steadiness of -100 to 100.
 *
 * The rate is Siegel's repeated median: for each sample the median of the slopes to all others, and
 * the median of these. Steadiness is 100 * (pairs of samples that rise less those that fall) / all
 * pairs. growth.h defines both.
 *
 * A table may have a hundred thousand rows, so work for each of the 528 pairs of samples is avoided
 * where it can be:
 *
 *     signs     the directions of each sample's slopes are counted while samples are sorted by
 *               insertion. Samples that stay as the one before are sorted as one.
 *     rate      a median is above zero only if more than half of the values are. So signs tell
 *               the sign of the rate, and for most rows it is 0.
 *               Else the median of medians is selected (estimate_rate): the median slope of one
 *               sample, the pivot, is computed, and of each other sample only whether its median
 *               lies above or below the pivot.
 *     division  slopes are products of floating point, off by a known share. The rate is a whole
 *               number, so the share hardly ever matters; if it may, exact_rate divides.
 *
 * Invariant: the result must be the exact one, the same on every machine; an estimate counts only
 * if its error cannot change the whole number.
 */
#include "growth.h"

#include <stdlib.h>

#include "engine/core/select_rank.h"

#define NS_PER_SECOND INT64_C(1000000000)
#define EXACT_MAX     ((i64)1 << 52) /* sizes up to it have differences that a double holds */
#define SLOPE_ERROR   0x1p-50        /* of an estimated slope, as a share, at most */

__extension__ typedef __int128 i128;

/* A run of equal neighbouring samples, and what was counted while it was sorted in. */
typedef struct sample_run {
    i64 size;
    u32 first, count;
    u32 smaller_before, larger_before; /* samples earlier in time */
} sample_run;

/* For each sample, how many slopes to other samples rise and fall. */
typedef struct sample_signs {
    i32 up[GROWTH_SAMPLES], down[GROWTH_SAMPLES]; /* slopes that rise and that fall */
    i64 rises;                                    /* rises less falls, each pair both ways */
} sample_signs;

/* The samples whose medians have the sign of the rate. */
typedef struct signed_samples {
    i32 sign;
    u32 count;
    u8 at[GROWTH_SAMPLES];
} signed_samples;

void sample_times_prepare(sample_times *times)
{
    times->all = times->pairs = 0;
    for (u32 i = 0; i < GROWTH_SAMPLES; i++) {
        sample_row *const per_second = &times->per_second[i];
        *per_second = (sample_row){ { 0 } };
        times->others[i] = 0;
        for (u32 k = 0; k < GROWTH_SAMPLES; k++) {
            const i64 time_ns = etl_span_i64(times->times_ns[i], times->times_ns[k]) -
                                etl_span_i64(times->times_ns[k], times->times_ns[i]);
            if (time_ns == 0)
                continue;
            per_second->at[k] = (double)NS_PER_SECOND / (double)time_ns;
            times->others[i]++;
        }
        times->all += times->others[i] > 0;
        times->pairs += times->others[i];
    }
}

/* --- signs ---------------------------------------------------------------------------- */

static u32 runs_of(const i64 sizes[GROWTH_SAMPLES], sample_run runs[GROWTH_SAMPLES])
{
    u32 count = 0;
    for (u32 i = 0; i < GROWTH_SAMPLES; i++) {
        if (i == 0 || sizes[i] != sizes[i - 1])
            runs[count++] = (sample_run){ .size = sizes[i], .first = i };
        runs[count - 1].count++;
    }
    return count;
}

/* Inserts the run's number after those of earlier runs that are not larger. */
static void insert_run(sample_run *runs, u32 number, u8 sorted[GROWTH_SAMPLES])
{
    sample_run *const run = &runs[number];
    u32 at = number, larger = 0, equal = 0;
    for (; at > 0 && runs[sorted[at - 1]].size > run->size; at--) {
        larger += runs[sorted[at - 1]].count;
        sorted[at] = sorted[at - 1];
    }
    sorted[at] = (u8)number;
    for (; at > 0 && runs[sorted[at - 1]].size == run->size; at--)
        equal += runs[sorted[at - 1]].count;
    run->larger_before = larger;
    run->smaller_before = run->first - larger - equal;
}

/* The samples of a run are equal and adjacent, so each has as many rising and falling slopes as
 * the others. `smaller` and `larger` count samples of any time. */
static void count_run(const sample_run *run, u32 smaller, u32 larger, sample_signs *out)
{
    const i32 up = (i32)(run->smaller_before + larger - run->larger_before);
    const i32 down = (i32)(run->larger_before + smaller - run->smaller_before);
    for (u32 i = run->first; i < run->first + run->count; i++) {
        out->up[i] = up;
        out->down[i] = down;
    }
    out->rises += (i64)run->count * (up - down);
}

/* Takes back pairs of samples with the same time, which are not pairs. */
static void leave_out_pair(const i64 sizes[GROWTH_SAMPLES], u32 i, u32 k, sample_signs *out)
{
    const i32 up = sizes[i]<sizes[k], down = sizes[i]> sizes[k];
    out->up[i] -= up;
    out->up[k] -= up;
    out->down[i] -= down;
    out->down[k] -= down;
    out->rises -= 2 * (up - down);
}

static void count_signs(const sample_times *times, const i64 sizes[GROWTH_SAMPLES],
                        sample_signs *out)
{
    sample_run runs[GROWTH_SAMPLES];
    u8 sorted[GROWTH_SAMPLES];
    const u32 count = runs_of(sizes, runs);
    for (u32 i = 0; i < count; i++)
        insert_run(runs, i, sorted);
    out->rises = 0;
    for (u32 first = 0, end = 0, smaller = 0; first < count; first = end) {
        u32 equal = 0;
        for (; end < count && runs[sorted[end]].size == runs[sorted[first]].size; end++)
            equal += runs[sorted[end]].count;
        for (u32 i = first; i < end; i++)
            count_run(&runs[sorted[i]], smaller, GROWTH_SAMPLES - smaller - equal, out);
        smaller += equal;
    }
    for (u32 k = 1; k < GROWTH_SAMPLES; k++) {
        for (u32 i = k; i > 0 && times->times_ns[i - 1] == times->times_ns[k]; i--)
            leave_out_pair(sizes, i - 1, k, out);
    }
}

/* False if neither positive nor negative medians are more than half: then the rate is 0. */
static bool find_sign(const sample_times *times, const sample_signs *signs, signed_samples *out)
{
    u8 rising[GROWTH_SAMPLES], falling[GROWTH_SAMPLES];
    u32 up = 0, down = 0;
    for (u32 i = 0; i < GROWTH_SAMPLES; i++) {
        rising[up] = falling[down] = (u8)i;
        up += 2 * signs->up[i] > (i32)times->others[i];
        down += 2 * signs->down[i] > (i32)times->others[i];
    }
    const bool rises = 2 * up > times->all;
    *out = (signed_samples){ .sign = rises ? 1 : -1, .count = rises ? up : down };
    memcpy(out->at, rises ? rising : falling, sizeof out->at);
    return 2 * out->count > times->all;
}

/* --- exact ---------------------------------------------------------------------------- */

/* The median of `all` values; the `count` values given, more than half of them, are the largest.
 * For an even number, the lower one of the two in the middle, which is nearer to zero. */
static i64 median(i64 *values, u32 count, u32 all)
{
    return select_rank(values, count, count - all / 2 - 1);
}

/* The slope of a rise. */
static i64 slope(i64 rise, i64 time_ns)
{
    if (rise <= INT64_MAX / NS_PER_SECOND)
        return rise * NS_PER_SECOND / time_ns;
    const i128 rate = (i128)rise * NS_PER_SECOND / time_ns;
    return rate > INT64_MAX ? INT64_MAX : (i64)rate;
}

/* The median of the slopes from a sample to all others, most of which have this sign; returned
 * without the sign. */
static i64 median_slope(const sample_times *times, const i64 sizes[GROWTH_SAMPLES], u32 i, i32 sign)
{
    const i64 *const times_ns = times->times_ns;
    i64 slopes[GROWTH_SAMPLES];
    u32 count = 0;
    for (u32 k = 0; k < GROWTH_SAMPLES; k++) {
        const u32 first = k < i ? k : i, last = k < i ? i : k;
        const i64 rise = sign > 0 ? etl_sat_add_i64(sizes[last], -sizes[first])
                                  : etl_sat_add_i64(sizes[first], -sizes[last]);
        if (times_ns[first] != times_ns[last] && rise > 0)
            slopes[count++] = slope(rise, etl_span_i64(times_ns[first], times_ns[last]));
    }
    return median(slopes, count, times->others[i]);
}

/* The exact rate, without its sign. Only samples whose medians have its sign are computed: all
 * others lie on the other side of the median. */
static i64 exact_rate(const sample_times *times, const signed_samples *samples,
                      const i64 sizes[GROWTH_SAMPLES])
{
    i64 medians[GROWTH_SAMPLES];
    for (u32 i = 0; i < samples->count; i++)
        medians[i] = median_slope(times, sizes, samples->at[i], samples->sign);
    return median(medians, samples->count, times->all);
}

/* --- estimated -------------------------------------------------------------------------- */

/* The bits of positive doubles sort as the doubles do. The top bit says that one is negative. */
static i64 bits_of(double value)
{
    i64 bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Estimates what median_slope computes, for sizes that have the sign already. */
static double estimate_median(const sample_times *times, const sample_row *sizes, u32 i)
{
    const sample_row *const per_second = &times->per_second[i];
    i64 slopes[GROWTH_WIDTH];
    u32 count = 0;
    double out;
    for (u32 k = 0; k < GROWTH_SAMPLES; k++) {
        slopes[count] = bits_of((sizes->at[k] - sizes->at[i]) * per_second->at[k]);
        count += slopes[count] > 0;
    }
    const i64 bits = median(slopes, count, times->others[i]);
    memcpy(&out, &bits, sizeof out);
    return out;
}

/* Compares a sample's median with a positive value: -1 if below, 0 if equal, 1 if above. Without
 * branches and of constant length, so that compilers make vectors of it. */
static i32 median_side(const sample_times *times, const sample_row *sizes, u32 i, double value)
{
    const sample_row *const per_second = &times->per_second[i];
    const double size = sizes->at[i];
    u64 above = 0, below = 0;
    for (u32 k = 0; k < GROWTH_WIDTH; k++) {
        const double estimate = (sizes->at[k] - size) * per_second->at[k];
        above += (u64)bits_of(value - estimate) >> 63;
        below += (u64)bits_of(estimate - value) >> 63;
    }
    const u64 half = times->others[i] / 2;
    return (above > half) - (GROWTH_WIDTH - below <= half);
}

/*
 * Estimates what exact_rate computes. The samples are partitioned by a pivot as in select_rank. The
 * estimates of a sample are rounded the same wherever they are computed (-std=c11 does not fuse
 * them with what follows). So a pivot is neither above nor below itself, and each turn leaves fewer
 * samples.
 */
static double select_estimate(const sample_times *times, const signed_samples *samples,
                              const sample_row *sizes)
{
    u8 left[GROWTH_SAMPLES], above[GROWTH_SAMPLES];
    u32 count = samples->count, rank = count - times->all / 2 - 1;
    memcpy(left, samples->at, sizeof left);
    for (;;) {
        const double pivot = estimate_median(times, sizes, left[count / 2]);
        u32 below_count = 0, above_count = 0;
        for (u32 i = 0; i < count; i++) {
            const u8 sample = left[i];
            const i32 side = median_side(times, sizes, sample, pivot);
            left[below_count] = above[above_count] = sample;
            below_count += side < 0;
            above_count += side > 0;
        }
        if (rank >= below_count && rank < count - above_count)
            return pivot;
        if (rank < below_count) {
            count = below_count;
            continue;
        }
        rank -= count - above_count;
        count = above_count;
        memcpy(left, above, sizeof left);
    }
}

/*
 * Estimates the rate; false if the estimates are too inexact to tell it. If each value is off by a
 * share of at most SLOPE_ERROR, so is their median, and the median of medians. A slope is rounded
 * three times, by 2^-53 each: its time, the division and the product.
 */
static bool estimate_rate(const sample_times *times, const signed_samples *samples,
                          const i64 sizes[GROWTH_SAMPLES], i64 *rate)
{
    sample_row values = { { 0 } };
    for (u32 i = 0; i < GROWTH_SAMPLES; i++) {
        if (sizes[i] > EXACT_MAX || sizes[i] < -EXACT_MAX)
            return false;
        values.at[i] = (double)(samples->sign * sizes[i]);
    }
    const double about = select_estimate(times, samples, &values);
    if (about > (double)EXACT_MAX)
        return false;
    *rate = (i64)(about * (1 - SLOPE_ERROR));
    return *rate == (i64)(about * (1 + SLOPE_ERROR));
}

growth_rating growth_rate(const sample_times *times, const i64 sizes[GROWTH_SAMPLES])
{
    sample_signs signs;
    signed_samples samples;
    i64 rate = 0;
    if (times->pairs == 0)
        return (growth_rating){ 0, 0 };
    count_signs(times, sizes, &signs);
    if (find_sign(times, &signs, &samples)) {
        if (!estimate_rate(times, &samples, sizes, &rate))
            rate = exact_rate(times, &samples, sizes);
        rate *= samples.sign;
    }
    return (growth_rating){ rate, signs.rises * 100 / (i64)times->pairs };
}
