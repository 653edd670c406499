/*
 * growth_walk.c - computes growth of groups from the events of an event list or a log.
 *
 * In: the events, walked as for windows that are cut at the samples. Out: rate and steadiness
 * of each group. Invariant: no lifetime is kept: the size at a sample follows from the events
 * before it. Nor are the sample times of all spans, because there may be one for each of very many
 * processes.
 */
#include "growth_walk.h"

#include <stdlib.h>

#include "engine/core/cancel.h"
#include "engine/core/workers.h"

#define ROWS_PER_TASK 64u
#define TIMES_KEPT    8u /* of 10 KiB each: rows of a task have few spans, or all different ones */

/* The samples of a span, as intervals of the walk that begin there. */
typedef struct span_places {
    u32 interval[GROWTH_SAMPLES];
} span_places;

/* Rows to be rated, and where their samples are. */
typedef struct rating_work {
    const aggregator *a;
    size_t first;      /* of the rows, in the aggregator */
    const u32 *groups; /* of the rows, in the cells */
    u32 count;
    const growth_walk *walk;
    const span_places *places; /* by span */
    const window_cells *cells;
} rating_work;

/* The sample times of a span; those of the last few are kept. */
typedef struct kept_times {
    u32 span[TIMES_KEPT]; /* + 1; 0: none */
    sample_times at[TIMES_KEPT];
} kept_times;

static const sample_times *times_of(kept_times *kept, const growth_walk *walk, u32 span)
{
    const u32 place = span % TIMES_KEPT;
    const etlheap_time_range *const range = &walk->spans.spans.at[span];
    if (kept->span[place] != span + 1)
        kept->at[place] = sample_times_between(&walk->spans.a->plan, range->from_ns, range->to_ns);
    kept->span[place] = span + 1;
    return &kept->at[place];
}

static void rate_task(void *context, u32 task)
{
    const rating_work *const work = context;
    const u32 first = task * ROWS_PER_TASK;
    kept_times kept;
    memset(kept.span, 0, sizeof kept.span);
    for (u32 at = first; at < work->count && at - first < ROWS_PER_TASK; at++) {
        i64 sizes[GROWTH_SAMPLES];
        const u32 group = work->groups[at], span = work->walk->span_of[group];
        windows_cells_start_sizes(work->cells, group, work->places[span].interval, GROWTH_SAMPLES,
                                  sizes);
        growth_scale(work->a->groups.at[work->first + at].key.kind, sizes);
        growth_set(aggregate_measures(work->a, work->first + at),
                   growth_rate(times_of(&kept, work->walk, span), sizes));
    }
}

/* Finds the intervals that begin at the samples of each span. */
static span_places *place_spans(const growth_walk *walk)
{
    const row_spans *const spans = &walk->spans;
    const i64 *const bounds = walk->cuts.bounds.at;
    const u32 bound_count = (u32)walk->cuts.bounds.count;
    span_places *const out = malloc((spans->spans.count + 1) * sizeof *out);
    for (size_t span = 0; out != NULL && span < spans->spans.count; span++) {
        for (u32 i = 0, at = 0; i < GROWTH_SAMPLES; i++) {
            at = ticks_at_or_after(bounds, at, bound_count,
                                   sample_time_ticks(&spans->a->plan, &spans->spans.at[span], i));
            out[span].interval[i] = at + 1;
        }
    }
    return out;
}

/* Rows are in the order of the groups; groups without lifetimes have none. */
static bool rate_rows(aggregator *a, size_t first, const growth_walk *walk,
                      const window_cells *cells)
{
    const log_groups *const groups = walk->events.groups;
    const u32 count = (u32)(a->groups.count - first);
    if (count == 0)
        return true; /* nor need there be a list of groups to point into */
    u32 *const group_of = malloc(((size_t)count + 1) * sizeof *group_of);
    span_places *const places = place_spans(walk);
    const bool ok = group_of != NULL && places != NULL;
    u32 at = 0;
    for (u32 group = 0; ok && group < groups->count && at < count; group++) {
        const group_key key = log_groups_key(groups, group);
        if (memcmp(&a->groups.at[first + at].key, &key, sizeof key) == 0)
            group_of[at++] = group;
    }
    assert(!ok || at == count);
    rating_work work = { a, first, group_of, count, walk, places, cells };
    if (ok)
        etlheap_workers_run(feed_tasks(a->query), count / ROWS_PER_TASK + 1, rate_task, &work);
    free(group_of);
    free(places);
    return ok;
}

static int by_ticks(const void *a, const void *b)
{
    const i64 x = *(const i64 *)a, y = *(const i64 *)b;
    return (x > y) - (x < y);
}

/* Cuts time at the samples of all spans, once at each moment. */
static bool cut(growth_walk *walk)
{
    const row_spans *const spans = &walk->spans;
    const query_plan *const plan = &spans->a->plan;
    if (!ETLHEAP_RESERVE(&walk->cuts.bounds, spans->spans.count * GROWTH_SAMPLES + 1))
        return false;
    (void)ETLHEAP_PUSH(&walk->cuts.bounds, plan->from_ticks);
    for (size_t span = 0; span < spans->spans.count; span++) {
        for (u32 i = 0; i < GROWTH_SAMPLES; i++)
            (void)ETLHEAP_PUSH(&walk->cuts.bounds,
                               sample_time_ticks(plan, &spans->spans.at[span], i));
    }
    i64 *const bounds = walk->cuts.bounds.at;
    qsort(bounds, walk->cuts.bounds.count, sizeof *bounds, by_ticks);
    size_t kept = 1;
    for (size_t i = 1; i < walk->cuts.bounds.count; i++) {
        if (bounds[i] != bounds[kept - 1])
            bounds[kept++] = bounds[i];
    }
    walk->cuts.bounds.count = kept;
    return true;
}

etl_status growth_walk_begin(growth_walk *out, const aggregator *a, const log_groups *groups,
                             log_pass *pass, etl_error *err)
{
    out->span_of = malloc((groups->count + (size_t)1) * sizeof *out->span_of);
    bool ok = out->span_of != NULL && row_spans_open(&out->spans, a, false);
    for (u32 i = 0; ok && i < groups->count; i++) {
        const group_key key = log_groups_key(groups, i);
        ok = row_spans_find(&out->spans, &key, &out->span_of[i]);
    }
    ok = ok && cut(out);
    out->events = (event_want){ .a = a, .groups = groups, .job.walk = { .windows = &out->cuts } };
    return ok && ETLHEAP_PUSH(&pass->events, &out->events) ? ETL_OK : etl_no_memory(err);
}

etl_status growth_walk_finish(growth_walk *walk, aggregator *a, size_t first, etl_error *err)
{
    window_cells cells = { .at = NULL };
    const u32 *const cancel = a->query->cancel;
    const cells_wanted wanted = { walk->events.groups->count, feed_tasks(a->query), cancel };
    const bool ok = windows_cells_make(&cells, &walk->events.job.cells, &wanted) &&
                    rate_rows(a, first, walk, &cells);
    windows_cells_free(&cells);
    return ok ? ETL_OK : cancelled_or_no_memory(cancel, err);
}

void growth_walk_close(growth_walk *walk)
{
    ETLHEAP_VECTOR_FREE(&walk->cuts.bounds);
    row_spans_close(&walk->spans);
    free(walk->span_of);
    replay_job_free(&walk->events.job);
}
