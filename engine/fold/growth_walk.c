/*
 * growth_walk.c - growth of groups whose lifetimes stay in a store.
 *
 * What is outstanding at a sample is what the time before it leaves. So the store is
 * walked once more, as for windows that are cut at the samples, and no lifetime is
 * kept for it.
 */
#include "growth.h"

#include <stdlib.h>

#include "engine/core/workers.h"
#include "windows_walk.h"

#define ROWS_PER_TASK 64u

static etl_status walk(aggregator *a, const log_groups *groups, const growth_moments *moments,
                       window_cells *cells, etl_error *err);

static etl_status no_memory(etl_error *err)
{
    return etl_fail_with(err, ETL_ERR_MEMORY, 0, "out of memory");
}

/* Rows to be rated, and where their samples are. */
typedef struct rating_work {
    group_row *rows;
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
        for (u32 i = 0; i < GROWTH_SAMPLES; i++)
            sizes[i] = windows_cells_start(work->cells, work->groups[at], i + 1).outstanding_size;
        growth_set(&work->rows[at], growth_rate(work->moments->times_ns, sizes));
    }
}

/* Rows are in the order of the groups; groups without lifetimes have none. */
static bool rate_rows(aggregator *a, size_t first, const log_groups *groups,
                      const growth_moments *moments, const window_cells *cells)
{
    const u32 count = (u32)(a->groups.count - first);
    if (count == 0)
        return true; /* nor need there be a list of groups to point into */
    const u32 jobs = a->query->jobs == 0 ? etlheap_workers_default_jobs() : a->query->jobs;
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
    rating_work work = { a->groups.at + first, group_of, count, moments, cells };
    etlheap_workers_run(jobs, count / ROWS_PER_TASK + 1, rate_task, &work);
    free(group_of);
    return true;
}

etl_status growth_walk(aggregator *a, const log_groups *groups, size_t first, etl_error *err)
{
    const growth_moments moments = growth_moments_of(&a->plan);
    window_cells cells = { NULL, NULL };
    etl_status status = walk(a, groups, &moments, &cells, err);
    if (status == ETL_OK && !rate_rows(a, first, groups, &moments, &cells))
        status = no_memory(err);
    windows_cells_free(&cells);
    return status;
}

static etl_status walk(aggregator *a, const log_groups *groups, const growth_moments *moments,
                       window_cells *cells, etl_error *err)
{
    window_cell_list walked = { 0 };
    window_pass pass = { 0 };
    bool ok = true;
    for (u32 i = 0; ok && i < GROWTH_SAMPLES; i++)
        ok = ETLHEAP_PUSH(&pass.bounds, moments->ticks[i]);
    etl_status status = ok ? windows_walk_run(a, groups, &pass, &walked, err) : no_memory(err);
    if (status == ETL_OK && !windows_cells_make(cells, &walked, groups->count))
        status = no_memory(err);
    ETLHEAP_VECTOR_FREE(&walked);
    ETLHEAP_VECTOR_FREE(&pass.bounds);
    return status;
}
