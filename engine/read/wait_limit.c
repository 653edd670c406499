/*
 * wait_limit.c - decides when an allocation stops waiting for its stack. wait_limit.h draws the
 * cells.
 *
 * In: times of the memory events of each slice. Out: whether an event is over at a time. Invariant:
 * cells of time have the same borders for every cut into slices, so the answer does not depend on
 * slices.
 */
#include "wait_limit.h"

#include <stdlib.h>

#define EVENTS_MAX ((u64)1 << 20)

void wait_limit_open(wait_limit *limit, const timebase *base)
{
    const i64 cell_ticks = timebase_span(base, WAIT_CELL_NS);
    *limit =
        (wait_limit){ .cell_ticks = cell_ticks > 0 ? cell_ticks : 1, .events_max = EVENTS_MAX };
}

void wait_limit_free(wait_limit *limit)
{
    ETLHEAP_VECTOR_FREE(&limit->cells);
}

/* Rounded down, before time zero too. */
static i64 cell_of(const wait_limit *limit, i64 ticks)
{
    const i64 cell = ticks / limit->cell_ticks;
    return cell - (cell * limit->cell_ticks > ticks);
}

/* The first event of the task from `low` on that is not of the cell. */
static size_t end_of_cell(const wait_limit *limit, const scan_output *task, size_t low, i64 cell)
{
    i64 end_ticks;
    size_t high = task->events.count;
    if (__builtin_mul_overflow(cell + 1, limit->cell_ticks, &end_ticks))
        return task->is_unsorted ? low + 1 : high;
    if (task->is_unsorted) {
        do
            low++;
        while (low < high && cell_of(limit, task->events.at[low].ticks) == cell);
        return low;
    }
    if (task->events.at[high - 1].ticks <
        end_ticks) /* most tasks: spares a search in cold memory */
        return high;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (task->events.at[middle].ticks < end_ticks)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int by_index(const void *a, const void *b)
{
    const wait_cell *const x = a, *const y = b;
    return (x->index > y->index) - (x->index < y->index);
}

/* One row for each cell. */
static void merge_cells(wait_limit *limit)
{
    size_t kept = 0;
    if (limit->cells.count > 0)
        qsort(limit->cells.at, limit->cells.count, sizeof *limit->cells.at, by_index);
    limit->events = 0;
    for (size_t i = 0; i < limit->cells.count; i++) {
        const wait_cell row = limit->cells.at[i];
        if (kept > 0 && limit->cells.at[kept - 1].index == row.index)
            limit->cells.at[kept - 1].count += row.count;
        else
            limit->cells.at[kept++] = (wait_cell){ row.index, row.count, limit->events };
        limit->events += row.count;
    }
    limit->cells.count = kept;
}

bool wait_limit_add(wait_limit *limit, const scan_output *tasks, u32 task_count)
{
    for (u32 i = 0; i < task_count; i++) {
        const scan_output *const task = &tasks[i];
        for (size_t first = 0; first < task->events.count;) {
            const i64 cell = cell_of(limit, task->events.at[first].ticks);
            const size_t end = end_of_cell(limit, task, first, cell);
            if (!ETLHEAP_PUSH(&limit->cells, (wait_cell){ cell, end - first, 0 }))
                return false;
            first = end;
        }
    }
    merge_cells(limit);
    return true;
}

void wait_limit_forget(wait_limit *limit, i64 oldest_ticks)
{
    const i64 oldest = cell_of(limit, oldest_ticks);
    size_t kept = 0;
    for (size_t i = 0; i < limit->cells.count; i++) {
        if (limit->cells.at[i].index >= oldest)
            limit->cells.at[kept++] = limit->cells.at[i];
    }
    limit->cells.count = kept;
    merge_cells(limit);
}

/* Events in the cells before one. */
static u64 events_before(const wait_limit *limit, i64 cell)
{
    size_t low;
    ETL_BISECT(low, 0, limit->cells.count, limit->cells.at[low].index < cell);
    return low == limit->cells.count ? limit->events : limit->cells.at[low].before;
}

bool wait_limit_is_over(const wait_limit *limit, i64 from_ticks, i64 at_ticks)
{
    if (limit->events <= limit->events_max)
        return false;
    if (at_ticks <= etl_sat_add_i64(from_ticks, limit->cell_ticks))
        return false;
    const i64 from = cell_of(limit, from_ticks), at = cell_of(limit, at_ticks);
    return events_before(limit, at) - events_before(limit, from) > limit->events_max;
}

i64 wait_limit_horizon(const wait_limit *limit, i64 at_ticks)
{
    const i64 at = cell_of(limit, at_ticks);
    const u64 before = events_before(limit, at);
    size_t i = limit->cells.count;
    while (i > 0 && (limit->cells.at[i - 1].index >= at ||
                     before - limit->cells.at[i - 1].before <= limit->events_max))
        i--;
    i64 horizon_ticks;
    const i64 newest_ticks = etl_sat_add_i64(at_ticks, -limit->cell_ticks);
    if (i == 0)
        return INT64_MIN;
    if (__builtin_mul_overflow(limit->cells.at[i - 1].index + 1, limit->cell_ticks, &horizon_ticks))
        return newest_ticks;
    return horizon_ticks < newest_ticks ? horizon_ticks : newest_ticks;
}
