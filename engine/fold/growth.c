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

/* Samples of all groups, each at the moments of its set. */
typedef struct growth_work {
    growth_sets sets;
    u32 *set_of; /* by group: the number of its set */
    i64 *sizes;  /* by group, GROWTH_SAMPLES each; at first what changes from sample to sample */
    const aggregator *a;
    u32 group_count;
} growth_work;

static u32 first_after(const growth_moments *moments, i64 ticks);
static void rate_task(void *context, u32 task);

/* Finds the set of each group. */
static bool open_work(growth_work *work, const aggregator *a)
{
    *work = (growth_work){ .a = a, .group_count = (u32)a->groups.count };
    work->sizes = calloc((size_t)work->group_count + 1, GROWTH_SAMPLES * sizeof(i64));
    work->set_of = malloc(((size_t)work->group_count + 1) * sizeof *work->set_of);
    bool ok = work->sizes != NULL && work->set_of != NULL && growth_sets_open(&work->sets, a);
    for (u32 i = 0; ok && i < work->group_count; i++)
        ok = growth_sets_find(&work->sets, &a->groups.at[i].key, &work->set_of[i]);
    return ok;
}

static void close_work(growth_work *work)
{
    growth_sets_close(&work->sets);
    free(work->set_of);
    free(work->sizes);
}

static void add_step(const growth_work *work, const peak_row *step)
{
    const growth_moments *const moments = &work->sets.at.at[work->set_of[step->group]];
    i64 *const sizes = work->sizes + (size_t)step->group * GROWTH_SAMPLES;
    const i64 size = step->size > INT64_MAX ? INT64_MAX : (i64)step->size;
    const u32 first = first_after(moments, step->alloc_ticks);
    const u32 end = first_after(moments, step->free_ticks);
    if (first < GROWTH_SAMPLES)
        sizes[first] = etl_sat_add_i64(sizes[first], size);
    if (end < GROWTH_SAMPLES)
        sizes[end] = etl_sat_add_i64(sizes[end], -size);
}

bool growth_fill(aggregator *a, const peak_row *steps, size_t count)
{
    const u32 jobs = etlheap_workers_jobs(a->query->jobs);
    growth_work work;
    const bool ok = open_work(&work, a);
    for (size_t i = 0; ok && i < count; i++)
        add_step(&work, &steps[i]);
    if (ok)
        etlheap_workers_run(jobs, work.group_count / GROUPS_PER_TASK + 1, rate_task, &work);
    close_work(&work);
    return ok;
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

bool growth_sets_open(growth_sets *out, const aggregator *a)
{
    *out = (growth_sets){ .at = { 0 } };
    return row_spans_open(&out->spans, a, false);
}

void growth_sets_close(growth_sets *sets)
{
    row_spans_close(&sets->spans);
    ETLHEAP_VECTOR_FREE(&sets->at);
}

bool growth_sets_find(growth_sets *sets, const group_key *key, u32 *number)
{
    if (!row_spans_find(&sets->spans, key, number))
        return false;
    if (*number < sets->at.count)
        return true;
    const etlheap_time_range span = sets->spans.spans.at[*number];
    assert(*number == sets->at.count);
    return ETLHEAP_PUSH(&sets->at,
                        growth_moments_between(&sets->spans.a->plan, span.from_ns, span.to_ns));
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
        const growth_moments *const moments = &work->sets.at.at[work->set_of[g]];
        growth_set(aggregate_measures(work->a, g), growth_rate(moments, sizes));
    }
}

void growth_set(i64 *measures, growth_rating rating)
{
    measures[ETLHEAP_MEASURE_GROWTH_RATE] = rating.rate;
    measures[ETLHEAP_MEASURE_STEADINESS] = rating.steadiness;
}
