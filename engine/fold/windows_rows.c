/*
 * windows_rows.c - see windows_rows.h.
 *
 * Each group is replayed by itself: its allocations and ends are sorted by time and
 * go through the intervals as events of a trace do.
 */
#include "windows_rows.h"

#include <stdlib.h>

#include "engine/core/workers.h"

#define GROUPS_PER_TASK 64u

typedef struct row_step {
    i64 ticks;
    i64 alloc_ticks;
    i64 size;
    bool is_end;
} row_step;

typedef ETLHEAP_VECTOR(row_step) step_list;

typedef struct rows_work {
    const window_rows *rows;
    const window_pass *pass;
    window_cell_list *lists; /* by task */
    bool *failed;
} rows_work;

static void walk_groups(void *context, u32 task);
static bool walk_group(const rows_work *work, u32 group, step_list *steps, window_cell_list *out);

bool windows_rows_walk(const window_rows *rows, const window_pass *pass, u32 jobs,
                       window_cell_list *out)
{
    const u32 task_count = (rows->group_count + GROUPS_PER_TASK - 1) / GROUPS_PER_TASK;
    rows_work work = { rows, pass, calloc((size_t)task_count + 1, sizeof *work.lists),
                       calloc((size_t)task_count + 1, sizeof *work.failed) };
    bool ok = work.lists != NULL && work.failed != NULL;
    if (ok)
        etlheap_workers_run(jobs, task_count, walk_groups, &work);
    for (u32 i = 0; work.lists != NULL && i < task_count; i++) {
        window_cell_list *const list = &work.lists[i];
        ok = ok && !work.failed[i] && ETLHEAP_RESERVE(out, list->count);
        if (ok && list->count > 0) {
            memcpy(out->at + out->count, list->at, list->count * sizeof *list->at);
            out->count += list->count;
        }
        ETLHEAP_VECTOR_FREE(list);
    }
    free(work.lists);
    free(work.failed);
    return ok;
}

static void walk_groups(void *context, u32 task)
{
    const rows_work *const work = context;
    step_list steps = { 0 };
    const u32 first = task * GROUPS_PER_TASK;
    for (u32 g = first; g < work->rows->group_count && g - first < GROUPS_PER_TASK; g++)
        work->failed[task] |= !walk_group(work, g, &steps, &work->lists[task]);
    ETLHEAP_VECTOR_FREE(&steps);
}

static int by_ticks(const void *a, const void *b)
{
    const row_step *const x = a, *const y = b;
    return (x->ticks > y->ticks) - (x->ticks < y->ticks);
}

/* What ended before the pass or began after it leaves no step. */
static bool list_steps(const rows_work *work, u32 group, step_list *steps)
{
    const i64 *const bounds = work->pass->bounds.at;
    const i64 from = bounds[0], to = bounds[work->pass->bounds.count - 1];
    steps->count = 0;
    for (size_t i = work->rows->starts[group]; i < work->rows->starts[group + 1]; i++) {
        const peak_row *const row = &work->rows->at[i];
        const i64 size = row->size > INT64_MAX ? INT64_MAX : (i64)row->size;
        if (row->alloc_ticks >= to || row->free_ticks < from)
            continue;
        const row_step begin = { row->alloc_ticks, row->alloc_ticks, size, false };
        const row_step end = { row->free_ticks, row->alloc_ticks, size, true };
        if (!ETLHEAP_PUSH(steps, begin) || (row->free_ticks < to && !ETLHEAP_PUSH(steps, end)))
            return false;
    }
    return true;
}

static bool walk_group(const rows_work *work, u32 group, step_list *steps, window_cell_list *out)
{
    const window_pass *const pass = work->pass;
    if (!list_steps(work, group, steps))
        return false;
    if (steps->count > 0)
        qsort(steps->at, steps->count, sizeof *steps->at, by_ticks);
    window_hot hot = { .interval = WINDOW_NO_INTERVAL };
    u32 interval = 0, time = 1;
    bool ok = true;
    for (size_t i = 0; ok && i < steps->count; i++) {
        const row_step *const step = &steps->at[i];
        while (interval < pass->bounds.count && pass->bounds.at[interval] <= step->ticks)
            interval++;
        time += i > 0 && step->ticks != step[-1].ticks;
        if (hot.interval != interval)
            ok = windows_turn(&hot, group, interval, out);
        const bool is_aifi =
            step->is_end && interval > 0 && step->alloc_ticks >= pass->bounds.at[interval - 1];
        windows_step(&hot, time, step->size, step->is_end, is_aifi);
    }
    return ok && windows_turn(&hot, group, WINDOW_NO_INTERVAL, out);
}
