/*
 * growth.c - see growth.h.
 *
 * A lifetime raises all samples from the first one after its allocation up to the
 * last one that its end does not precede. So it is added at one place and taken off
 * at another, and sums over the places make samples of them.
 */
#include "growth.h"

#include <stdlib.h>

#include "engine/core/select_rank.h"
#include "engine/core/workers.h"

#define GROUPS_PER_TASK 64u
#define NS_PER_SECOND   INT64_C(1000000000)

__extension__ typedef __int128 i128;

/* Samples of all groups at the same moments. */
typedef struct growth_work {
    growth_moments moments;
    i64 *sizes; /* by group, GROWTH_SAMPLES each; at first what changes from sample to sample */
    group_row *groups;
    u32 group_count;
} growth_work;

/* How each sample stands to those of other times. */
typedef struct sample_signs {
    u32 others[GROWTH_SAMPLES];
    i32 tendency[GROWTH_SAMPLES]; /* the sign of more than half of its slopes; 0: of neither */
    i64 pairs, rises;             /* both ways; rises less falls */
} sample_signs;

static u32 first_after(const growth_moments *moments, i64 ticks);
static void rate_task(void *context, u32 task);
static sample_signs signs_of(const i64 times_ns[GROWTH_SAMPLES], const i64 sizes[GROWTH_SAMPLES]);
static i64 rate_of(const sample_signs *signs, const i64 times_ns[GROWTH_SAMPLES],
                   const i64 sizes[GROWTH_SAMPLES]);
static i64 median_slope(const i64 times_ns[GROWTH_SAMPLES], const i64 sizes[GROWTH_SAMPLES], u32 i,
                        i32 sign);
static i64 slope(i64 rise, i64 time_ns);
static i64 median(i64 *values, u32 count, u32 all);

bool growth_fill(aggregator *a, const peak_row *steps, size_t count)
{
    const u32 groups = (u32)a->groups.count;
    const u32 jobs = a->query->jobs == 0 ? etlheap_workers_default_jobs() : a->query->jobs;
    growth_work work = { .moments = growth_moments_of(&a->plan),
                         .sizes = calloc((size_t)groups + 1, GROWTH_SAMPLES * sizeof(i64)),
                         .groups = a->groups.at,
                         .group_count = groups };
    if (work.sizes == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        const peak_row *const step = &steps[i];
        i64 *const sizes = work.sizes + (size_t)step->group * GROWTH_SAMPLES;
        const i64 size = step->size > INT64_MAX ? INT64_MAX : (i64)step->size;
        const u32 first = first_after(&work.moments, step->alloc_ticks);
        const u32 end = first_after(&work.moments, step->free_ticks);
        if (first < GROWTH_SAMPLES)
            sizes[first] = etl_sat_add_i64(sizes[first], size);
        if (end < GROWTH_SAMPLES)
            sizes[end] = etl_sat_add_i64(sizes[end], -size);
    }
    etlheap_workers_run(jobs, groups / GROUPS_PER_TASK + 1, rate_task, &work);
    free(work.sizes);
    return true;
}

growth_moments growth_moments_of(const query_plan *plan)
{
    const u32 pieces = GROWTH_SAMPLES - 1;
    const u64 span = (u64)plan->to_ns - (u64)plan->from_ns;
    growth_moments out;
    for (u32 i = 0; i < GROWTH_SAMPLES; i++) {
        const u64 past = span / pieces * i + span % pieces * i / pieces;
        out.times_ns[i] = (i64)((u64)plan->from_ns + past);
        out.ticks[i] = etl_time_ticks(plan->result->base.base, out.times_ns[i]);
    }
    return out;
}

/* The first sample that is later than this moment; GROWTH_SAMPLES: none. */
static u32 first_after(const growth_moments *moments, i64 ticks)
{
    u32 low = 0, high = GROWTH_SAMPLES;
    while (low < high) {
        const u32 middle = low + (high - low) / 2;
        if (moments->ticks[middle] > ticks)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void rate_task(void *context, u32 task)
{
    growth_work *const work = context;
    const u32 first = task * GROUPS_PER_TASK;
    for (u32 g = first; g < work->group_count && g - first < GROUPS_PER_TASK; g++) {
        i64 *const sizes = work->sizes + (size_t)g * GROWTH_SAMPLES;
        for (u32 i = 1; i < GROWTH_SAMPLES; i++)
            sizes[i] = etl_sat_add_i64(sizes[i], sizes[i - 1]);
        growth_set(&work->groups[g], growth_rate(work->moments.times_ns, sizes));
    }
}

void growth_set(group_row *row, growth_rating rating)
{
    row->measures[ETLHEAP_MEASURE_GROWTH_RATE] = rating.rate;
    row->measures[ETLHEAP_MEASURE_STEADINESS] = rating.steadiness;
}

growth_rating growth_rate(const i64 times_ns[GROWTH_SAMPLES], const i64 sizes[GROWTH_SAMPLES])
{
    const sample_signs signs = signs_of(times_ns, sizes);
    if (signs.pairs == 0)
        return (growth_rating){ 0, 0 };
    return (growth_rating){ rate_of(&signs, times_ns, sizes),
                            signs.rises > 0 ? signs.rises * 100 / signs.pairs : 0 };
}

static sample_signs signs_of(const i64 times_ns[GROWTH_SAMPLES], const i64 sizes[GROWTH_SAMPLES])
{
    sample_signs out = { .pairs = 0 };
    for (u32 i = 0; i < GROWTH_SAMPLES; i++) {
        u32 sooner = 0, later = 0, up = 0, down = 0;
        for (u32 k = 0; k < i; k++) {
            const bool counts = times_ns[k] != times_ns[i];
            sooner += counts;
            up += counts & (sizes[k] < sizes[i]);
            down += counts & (sizes[k] > sizes[i]);
        }
        for (u32 k = i + 1; k < GROWTH_SAMPLES; k++) {
            const bool counts = times_ns[k] != times_ns[i];
            later += counts;
            up += counts & (sizes[k] > sizes[i]);
            down += counts & (sizes[k] < sizes[i]);
        }
        out.others[i] = sooner + later;
        out.tendency[i] = 2 * up > out.others[i] ? 1 : 2 * down > out.others[i] ? -1 : 0;
        out.pairs += out.others[i];
        out.rises += (i64)up - (i64)down;
    }
    return out;
}

/*
 * A median is above zero only if more than half of the values are. So which sign the rate has
 * follows from signs, and for most groups it is 0. Otherwise only values of its sign count: all
 * others lie on the other side of the median, wherever they are.
 */
static i64 rate_of(const sample_signs *signs, const i64 times_ns[GROWTH_SAMPLES],
                   const i64 sizes[GROWTH_SAMPLES])
{
    i64 medians[GROWTH_SAMPLES];
    u32 all = 0, up = 0, down = 0, count = 0;
    for (u32 i = 0; i < GROWTH_SAMPLES; i++) {
        all += signs->others[i] > 0;
        up += signs->tendency[i] > 0;
        down += signs->tendency[i] < 0;
    }
    const i32 sign = 2 * up > all ? 1 : 2 * down > all ? -1 : 0;
    if (sign == 0)
        return 0;
    for (u32 i = 0; i < GROWTH_SAMPLES; i++) {
        if (signs->tendency[i] == sign)
            medians[count++] = median_slope(times_ns, sizes, i, sign);
    }
    return sign * median(medians, count, all);
}

/* Of the slopes from a sample to all others, most of which have this sign; without it. */
static i64 median_slope(const i64 times_ns[GROWTH_SAMPLES], const i64 sizes[GROWTH_SAMPLES], u32 i,
                        i32 sign)
{
    i64 slopes[GROWTH_SAMPLES];
    u32 all = 0, count = 0;
    for (u32 k = 0; k < GROWTH_SAMPLES; k++) {
        const u32 first = k < i ? k : i, last = k < i ? i : k;
        const i64 rise = sign > 0 ? etl_sat_add_i64(sizes[last], -sizes[first])
                                  : etl_sat_add_i64(sizes[first], -sizes[last]);
        if (times_ns[first] == times_ns[last])
            continue;
        all++;
        if (rise > 0)
            slopes[count++] = slope(rise, times_ns[last] - times_ns[first]);
    }
    return median(slopes, count, all);
}

/* Of what rises. */
static i64 slope(i64 rise, i64 time_ns)
{
    if (rise <= INT64_MAX / NS_PER_SECOND)
        return rise * NS_PER_SECOND / time_ns;
    const i128 rate = (i128)rise * NS_PER_SECOND / time_ns;
    return rate > INT64_MAX ? INT64_MAX : (i64)rate;
}

/* The median of `all` values, of which these, more than half, are the largest. Of an even
 * number it is the lower one of the two in the middle, which is nearer to zero. */
static i64 median(i64 *values, u32 count, u32 all)
{
    return select_rank(values, count, count - all / 2 - 1);
}
