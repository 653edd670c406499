/*
 * growth.c - see growth.h.
 *
 * A lifetime raises all samples from the first one after its allocation up to the
 * last one that its end does not precede. So it is added at one place and taken off
 * at another, and sums over the places make samples of them.
 */
#include "growth.h"

#include <stdlib.h>

#include "engine/core/workers.h"

#define GROUPS_PER_TASK 64u

/* Samples of all groups at the same moments. */
typedef struct growth_work {
    growth_moments moments;
    i64 *sizes; /* by group, GROWTH_SAMPLES each; at first what changes from sample to sample */
    const aggregator *a;
    u32 group_count;
} growth_work;

static u32 first_after(const growth_moments *moments, i64 ticks);
static void rate_task(void *context, u32 task);

bool growth_fill(aggregator *a, const peak_row *steps, size_t count)
{
    const u32 groups = (u32)a->groups.count;
    const u32 jobs = etlheap_workers_jobs(a->query->jobs);
    growth_work work = { .moments = growth_moments_of(&a->plan),
                         .sizes = calloc((size_t)groups + 1, GROWTH_SAMPLES * sizeof(i64)),
                         .a = a,
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

i64 growth_moment_ns(i64 from_ns, i64 to_ns, u32 sample)
{
    const u32 pieces = GROWTH_SAMPLES - 1;
    const u64 span = (u64)to_ns - (u64)from_ns;
    return (i64)((u64)from_ns + span / pieces * sample + span % pieces * sample / pieces);
}

growth_moments growth_moments_between(const query_plan *plan, i64 from_ns, i64 to_ns)
{
    growth_moments out;
    for (u32 i = 0; i < GROWTH_SAMPLES; i++) {
        out.times_ns[i] = growth_moment_ns(from_ns, to_ns, i);
        out.ticks[i] = etl_time_ticks(plan->result->base.base, out.times_ns[i]);
    }
    growth_moments_settle(&out);
    return out;
}

growth_moments growth_moments_of(const query_plan *plan)
{
    return growth_moments_between(plan, plan->from_ns, plan->to_ns);
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
        growth_set(aggregate_measures(work->a, g), growth_rate(&work->moments, sizes));
    }
}

void growth_set(i64 *measures, growth_rating rating)
{
    measures[ETLHEAP_MEASURE_GROWTH_RATE] = rating.rate;
    measures[ETLHEAP_MEASURE_STEADINESS] = rating.steadiness;
}
