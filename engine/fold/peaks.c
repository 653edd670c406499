/*
 * peaks.c - computes the maximum of each group's outstanding curve over a window.
 *
 * In: steps of lifetimes by group. Out: peak size and count. A group in which nothing ends peaks at
 * the end, one in which nothing begins at the start; only mixed groups are sorted and replayed.
 * Invariant: all steps of one tick happen together.
 */
#include "peaks.h"

#include <stdlib.h>

#include "engine/core/workers.h"
#include "steps.h"

#define GROUPS_PER_TASK 256u

typedef struct peak_work {
    const peak_row *rows; /* by group */
    const size_t *starts; /* group_count + 1 */
    u32 group_count;
    i64 from_ticks, to_ticks;
    peak *peaks;
    bool *failed; /* by task */
} peak_work;

static void compute_task(void *context, u32 task);
static bool compute_group(const peak_work *work, u32 group, step_list *steps);

bool peaks_compute(peak_row *rows, size_t row_count, u32 group_count, i64 from_ticks, i64 to_ticks,
                   u32 jobs, peak *peaks)
{
    const u32 task_count = (group_count + GROUPS_PER_TASK - 1) / GROUPS_PER_TASK;
    size_t *const starts = calloc((size_t)group_count + 2, sizeof *starts);
    bool *const failed = calloc((size_t)task_count + 1, sizeof *failed);
    bool ok = starts != NULL && failed != NULL && peaks_sort(rows, row_count, starts, group_count);
    if (ok) {
        peak_work work = { rows, starts, group_count, from_ticks, to_ticks, peaks, failed };
        etlheap_workers_run(jobs, task_count, compute_task, &work);
        for (u32 i = 0; i < task_count; i++)
            ok = ok && !failed[i];
    }
    free(starts);
    free(failed);
    return ok;
}

/* In place: each row is swapped to its group's next place until it is home. */
bool peaks_sort(peak_row *rows, size_t count, size_t *starts, u32 group_count)
{
    size_t *const next = calloc((size_t)group_count + 1, sizeof *next);
    if (next == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        starts[rows[i].group + 1]++;
    for (u32 g = 0; g < group_count; g++) {
        starts[g + 1] += starts[g];
        next[g] = starts[g];
    }
    for (u32 g = 0; g < group_count; g++) {
        while (next[g] < starts[g + 1]) {
            const peak_row row = rows[next[g]];
            if (row.group == g) {
                next[g]++;
                continue;
            }
            const size_t place = next[row.group]++;
            rows[next[g]] = rows[place];
            rows[place] = row;
        }
    }
    free(next);
    return true;
}

static void compute_task(void *context, u32 task)
{
    const peak_work *const work = context;
    step_list steps = { 0 };
    const u32 first = task * GROUPS_PER_TASK;
    for (u32 g = first; g < work->group_count && g - first < GROUPS_PER_TASK; g++) {
        if (!compute_group(work, g, &steps)) {
            work->failed[task] = true;
            break;
        }
    }
    steps_free(&steps);
}

static i64 signed_size(u64 size)
{
    return size > INT64_MAX ? INT64_MAX : (i64)size;
}

/* The highest places of the curve, each after all that happens at one time. */
static peak replay(const peak_row *rows, const digit_row *steps, size_t count)
{
    peak best = { 0, 0 };
    i64 size = 0, blocks = 0;
    for (size_t i = 0; i < count; i++) {
        const i64 bytes = signed_size(rows[step_row(&steps[i])].size);
        const bool is_end = step_is_end(&steps[i]);
        size = etl_sat_add_i64(size, is_end ? -bytes : bytes);
        blocks += is_end ? -1 : 1;
        if (i + 1 < count && steps[i + 1].low == steps[i].low)
            continue;
        best.size = size > best.size ? size : best.size;
        best.count = blocks > best.count ? blocks : best.count;
    }
    return best;
}

/* What lives at one end of the window is what matters there. */
static peak sum_all(const peak_row *rows, size_t count)
{
    peak sum = { 0, (i64)count };
    for (size_t i = 0; i < count; i++)
        sum.size = etl_sat_add_i64(sum.size, signed_size(rows[i].size));
    return sum;
}

static bool compute_group(const peak_work *work, u32 group, step_list *steps)
{
    const peak_row *const rows = work->rows + work->starts[group];
    const size_t count = work->starts[group + 1] - work->starts[group];
    bool any_freed = false, all_before = true;
    for (size_t i = 0; i < count; i++) {
        any_freed |= rows[i].free_ticks < work->to_ticks;
        all_before &= rows[i].alloc_ticks < work->from_ticks;
    }
    if (!any_freed || all_before) {
        work->peaks[group] = sum_all(rows, count);
        return true;
    }
    const i64 before = etl_sat_add_i64(work->from_ticks, -1);
    steps_clear(steps);
    for (size_t i = 0; i < count; i++) {
        const i64 start = rows[i].alloc_ticks > before ? rows[i].alloc_ticks : before;
        if (!steps_add(steps, start, i, false) ||
            (rows[i].free_ticks < work->to_ticks && !steps_add(steps, rows[i].free_ticks, i, true)))
            return false;
    }
    const digit_row *const sorted = steps_sort(steps);
    if (sorted == NULL)
        return false;
    work->peaks[group] = replay(rows, sorted, steps->rows.count);
    return true;
}
