/*
 * growth_walk.c - computes growth of groups from the events of a journal or a log.
 *
 * In: the events, walked as for windows that are cut at the samples. Out: rate and steadiness
 * of each group. No lifetime is kept: the size at a sample follows from the events before it.
 */
#include "growth_walk.h"

#include <stdlib.h>

#include "engine/core/cancel.h"
#include "engine/core/workers.h"

#define ROWS_PER_TASK 64u

/* The samples of a set, as intervals of the walk that begin there. */
typedef struct set_places {
    u32 interval[GROWTH_SAMPLES];
} set_places;

/* Rows to be rated, and where their samples are. */
typedef struct rating_work {
    const aggregator *a;
    size_t first;      /* of the rows, in the aggregator */
    const u32 *groups; /* of the rows, in the cells */
    u32 count;
    const growth_walk *walk;
    const set_places *places; /* by set */
    const window_cells *cells;
} rating_work;

static void rate_task(void *context, u32 task)
{
    const rating_work *const work = context;
    const u32 first = task * ROWS_PER_TASK;
    for (u32 at = first; at < work->count && at - first < ROWS_PER_TASK; at++) {
        i64 sizes[GROWTH_SAMPLES];
        const u32 group = work->groups[at], set = work->walk->set_of[group];
        windows_cells_start_sizes(work->cells, group, work->places[set].interval, GROWTH_SAMPLES,
                                  sizes);
        growth_set(aggregate_measures(work->a, work->first + at),
                   growth_rate(&work->walk->sets.at.at[set], sizes));
    }
}

/* Finds the intervals that begin at the samples of each set. */
static set_places *place_sets(const growth_walk *walk)
{
    const i64 *const bounds = walk->cuts.bounds.at;
    const u32 bound_count = (u32)walk->cuts.bounds.count;
    set_places *const out = malloc((walk->sets.at.count + 1) * sizeof *out);
    for (size_t set = 0; out != NULL && set < walk->sets.at.count; set++) {
        for (u32 i = 0, at = 0; i < GROWTH_SAMPLES; i++) {
            at = ticks_at_or_after(bounds, at, bound_count, walk->sets.at.at[set].ticks[i]);
            out[set].interval[i] = at + 1;
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
    set_places *const places = place_sets(walk);
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

/* Cuts time at the samples of all sets, once at each moment. */
static bool cut(growth_walk *walk)
{
    bool ok = ETLHEAP_PUSH(&walk->cuts.bounds, walk->sets.spans.a->plan.from_ticks);
    for (size_t set = 0; ok && set < walk->sets.at.count; set++) {
        for (u32 i = 0; ok && i < GROWTH_SAMPLES; i++)
            ok = ETLHEAP_PUSH(&walk->cuts.bounds, walk->sets.at.at[set].ticks[i]);
    }
    if (!ok)
        return false;
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
    out->set_of = malloc((groups->count + (size_t)1) * sizeof *out->set_of);
    bool ok = out->set_of != NULL && growth_sets_open(&out->sets, a);
    for (u32 i = 0; ok && i < groups->count; i++) {
        const group_key key = log_groups_key(groups, i);
        ok = growth_sets_find(&out->sets, &key, &out->set_of[i]);
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
    growth_sets_close(&walk->sets);
    free(walk->set_of);
    replay_job_free(&walk->events.job);
}
