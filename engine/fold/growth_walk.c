/*
 * growth_walk.c - computes growth of groups from the events of a journal or a log.
 *
 * In: the events, walked as for windows that are cut at the samples. Out: rate and steadiness
 * of each group. No lifetime is kept: the size at a sample follows from the events before it.
 */
#include "growth_walk.h"

#include <stdlib.h>

#include "engine/core/workers.h"

#define ROWS_PER_TASK 64u

static etl_status no_memory(etl_error *err)
{
    return etl_fail_with(err, ETL_ERR_MEMORY, 0, "out of memory");
}

/* Rows to be rated, and where their samples are. */
typedef struct rating_work {
    const aggregator *a;
    size_t first;      /* of the rows, in the aggregator */
    const u32 *groups; /* of the rows, in the cells */
    u32 count;
    const growth_moments *moments;
    const window_cells *cells;
} rating_work;

static void rate_task(void *context, u32 task)
{
    const rating_work *const work = context;
    const u32 first = task * ROWS_PER_TASK;
    for (u32 at = first; at < work->count && at - first < ROWS_PER_TASK; at++) {
        i64 sizes[GROWTH_SAMPLES];
        windows_cells_start_sizes(work->cells, work->groups[at], GROWTH_SAMPLES, sizes);
        growth_set(aggregate_measures(work->a, work->first + at),
                   growth_rate(work->moments, sizes));
    }
}

/* Rows are in the order of the groups; groups without lifetimes have none. */
static bool rate_rows(aggregator *a, size_t first, const log_groups *groups,
                      const growth_moments *moments, const window_cells *cells)
{
    const u32 count = (u32)(a->groups.count - first);
    if (count == 0)
        return true; /* nor need there be a list of groups to point into */
    u32 *const group_of = malloc(((size_t)count + 1) * sizeof *group_of);
    if (group_of == NULL)
        return false;
    u32 at = 0;
    for (u32 group = 0; group < groups->count && at < count; group++) {
        const group_key key = log_groups_key(groups, group);
        if (memcmp(&a->groups.at[first + at].key, &key, sizeof key) == 0)
            group_of[at++] = group;
    }
    assert(at == count);
    rating_work work = { a, first, group_of, count, moments, cells };
    etlheap_workers_run(log_pass_tasks(a->query), count / ROWS_PER_TASK + 1, rate_task, &work);
    free(group_of);
    return true;
}

etl_status growth_walk_begin(growth_walk *out, const aggregator *a, const log_groups *groups,
                             log_pass *pass, etl_error *err)
{
    bool ok = true;
    out->moments = growth_moments_of(&a->plan);
    for (u32 i = 0; ok && i < GROWTH_SAMPLES; i++)
        ok = ETLHEAP_PUSH(&out->cuts.bounds, out->moments.ticks[i]);
    out->events = (event_want){ .a = a, .groups = groups, .job.walk = { .windows = &out->cuts } };
    return ok && ETLHEAP_PUSH(&pass->events, &out->events) ? ETL_OK : no_memory(err);
}

etl_status growth_walk_finish(growth_walk *walk, aggregator *a, size_t first, etl_error *err)
{
    const log_groups *const groups = walk->events.groups;
    window_cells cells = { .at = NULL };
    const bool ok = windows_cells_make(&cells, &walk->events.job.cells, groups->count,
                                       log_pass_tasks(a->query)) &&
                    rate_rows(a, first, groups, &walk->moments, &cells);
    windows_cells_free(&cells);
    return ok ? ETL_OK : no_memory(err);
}

void growth_walk_close(growth_walk *walk)
{
    ETLHEAP_VECTOR_FREE(&walk->cuts.bounds);
    replay_job_free(&walk->events.job);
}
