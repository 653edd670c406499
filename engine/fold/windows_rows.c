/*
 * windows_rows.c - see windows_rows.h.
 *
 * Each group is replayed by itself: its allocations and ends are sorted by time and
 * go through the intervals as events of a trace do.
 */
#include "windows_rows.h"

#include <stdlib.h>

#include "engine/core/type_rule.h"
#include "engine/core/workers.h"
#include "steps.h"

#define GROUPS_PER_TASK 64u

/* What a task leaves. */
typedef struct rows_task {
    window_cell_list cells;
    window_old_list old;
    bool failed;
} rows_task;

typedef struct rows_work {
    const window_rows *rows;
    const window_pass *pass;
    rows_task *tasks;
} rows_work;

static void walk_groups(void *context, u32 task);
static bool walk_group(const rows_work *work, u32 group, step_list *steps, rows_task *out);

bool windows_rows_walk(const window_rows *rows, const window_pass *pass, u32 jobs,
                       walked_parts *out, window_old_list *old)
{
    const u32 task_count = (rows->group_count + GROUPS_PER_TASK - 1) / GROUPS_PER_TASK;
    rows_work work = { rows, pass, calloc((size_t)task_count + 1, sizeof *work.tasks) };
    bool ok = work.tasks != NULL;
    if (ok)
        etlheap_workers_run(jobs, task_count, walk_groups, &work);
    for (u32 i = 0; work.tasks != NULL && i < task_count; i++) {
        rows_task *const task = &work.tasks[i];
        ok = ok && !task->failed && walked_parts_take(out, &task->cells, 0);
        for (size_t k = 0; ok && k < task->old.count; k++)
            ok = ETLHEAP_PUSH(old, task->old.at[k]);
        ETLHEAP_VECTOR_FREE(&task->cells);
        ETLHEAP_VECTOR_FREE(&task->old);
    }
    free(work.tasks);
    return ok;
}

static void walk_groups(void *context, u32 task)
{
    const rows_work *const work = context;
    step_list steps = { 0 };
    const u32 first = task * GROUPS_PER_TASK;
    for (u32 g = first; g < work->rows->group_count && g - first < GROUPS_PER_TASK; g++)
        work->tasks[task].failed |= !walk_group(work, g, &steps, &work->tasks[task]);
    steps_free(&steps);
}

/* Lifetimes that end before the pass's first bound, or begin at or after its last, make no
 * steps. */
static bool list_steps(const rows_work *work, u32 group, step_list *steps)
{
    const i64 *const bounds = work->pass->bounds.at;
    const i64 from = bounds[0], to = bounds[work->pass->bounds.count - 1];
    const peak_row *const rows = work->rows->at + work->rows->starts[group];
    const size_t count = work->rows->starts[group + 1] - work->rows->starts[group];
    steps_clear(steps);
    for (size_t i = 0; i < count; i++) {
        const peak_row *const row = &rows[i];
        if (!type_touches(row->alloc_ticks, row->free_ticks, from, to))
            continue;
        if (!steps_add(steps, row->alloc_ticks, i, false) ||
            (row->free_ticks < to && !steps_add(steps, row->free_ticks, i, true)))
            return false;
    }
    return true;
}

/* The stretch of a moment. */
static u32 stretch_at(const window_pass *pass, i64 ticks)
{
    return windows_stretch(pass, windows_interval(pass, ticks));
}

static bool walk_group(const rows_work *work, u32 group, step_list *steps, rows_task *out)
{
    const window_pass *const pass = work->pass;
    const peak_row *const rows = work->rows->at + work->rows->starts[group];
    if (!list_steps(work, group, steps))
        return false;
    const digit_row *const sorted = steps_sort(steps);
    const size_t count = steps->rows.count;
    if (sorted == NULL && count > 0)
        return false;
    window_hot hot = { .interval = WINDOW_NO_INTERVAL };
    window_old old = { .count = 0 };
    u32 interval = 0, time = 1;
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) {
        const peak_row *const row = &rows[step_row(&sorted[i])];
        const i64 ticks = step_ticks(&sorted[i]);
        const i64 size = row->size > INT64_MAX ? INT64_MAX : (i64)row->size;
        const bool is_end = step_is_end(&sorted[i]);
        while (interval < pass->bounds.count && pass->bounds.at[interval] <= ticks)
            interval++;
        time += i > 0 && sorted[i].low != sorted[i - 1].low;
        if (hot.interval != interval)
            ok = windows_turn(&hot, group, interval, &out->cells);
        const bool is_aifi =
            is_end && interval > 0 && row->alloc_ticks >= pass->bounds.at[interval - 1];
        if (is_end && !is_aifi && pass->edges.count > 0) {
            const window_old block = { size, 1, group, stretch_at(pass, row->alloc_ticks),
                                       windows_stretch(pass, interval) };
            ok = ok && (block.alloc_stretch == block.free_stretch ||
                        window_old_add(&old, &block, &out->old));
        }
        windows_step(&hot, time, size, is_end, is_aifi);
    }
    ok = ok && (old.count == 0 || ETLHEAP_PUSH(&out->old, old));
    return ok && windows_turn(&hot, group, WINDOW_NO_INTERVAL, &out->cells);
}
