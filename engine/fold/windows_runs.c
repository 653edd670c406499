/*
 * windows_runs.c - makes cells of windows that are runs of intervals, because others overlap them.
 *
 * In: the cells of a group by interval, and its blocks by the stretches in which they were
 * allocated and freed. Out: a packed cell for each such window in which something happens to the
 * group.
 *
 * Allocations of a run are a difference of two sums since the first interval, and its peak is found
 * in a tree of largest values. Only AOFI does not follow from the cells of intervals: it is the sum
 * of blocks allocated before the run and freed in it.
 *
 *     freed in stretch
 *          │ . . ┌───────  to
 *          │ . . │ . . .        Windows are taken in the order of their start. Blocks allocated
 *          │ x x │ . . .        before it are in the tree `freed` by then, under the stretch of
 *          │ x x └───────  from     their free; two sums of it give the strip marked x.
 *          └─────┴───────  allocated in stretch
 *
 * So a window costs a few steps for a group, however long it is. Invariant: windows ascend by
 * start, blocks by the stretch of their allocation.
 */
#include "windows_runs.h"

#include <stdlib.h>

#include "engine/core/cancel.h"
#include "engine/core/workers.h"
#include "packed_cells.h"

#define TASKS_PER_JOB 8u

__extension__ typedef __int128 i128;

/* Sums that cannot overflow. */
typedef struct amount {
    i128 size;
    i64 count;
} amount;

typedef struct run {
    window_place place;
    u32 from_stretch, to_stretch;
    u32 window;
} run;

/* What a task keeps of the group at hand. */
typedef struct run_group {
    ETLHEAP_VECTOR(window_cell) cells;
    ETLHEAP_VECTOR(amount) allocs;     /* before each cell, and at the end */
    ETLHEAP_VECTOR(window_cell) peaks; /* a tree: parents have the larger peaks of two children */
    ETLHEAP_VECTOR(amount) freed;      /* by stretch of the free, as a tree of sums */
    u64 steps;
} run_group;

typedef struct run_work {
    const window_cells *cells;
    const window_old *old; /* by group ... */
    const size_t *starts;  /* ... which begin here */
    ETLHEAP_VECTOR(run) runs;
    u32 stretches;
    const u32 *cancel;
    window_cell_group *groups;
    cell_packer *tasks;
    u64 steps;
} run_work;

static int by_start(const void *a, const void *b)
{
    const run *const x = a, *const y = b;
    if (x->place.interval != y->place.interval)
        return x->place.interval < y->place.interval ? -1 : 1;
    if (x->place.last != y->place.last)
        return x->place.last < y->place.last ? -1 : 1;
    return (x->window > y->window) - (x->window < y->window);
}

static int by_alloc(const void *a, const void *b)
{
    const window_old *const x = a, *const y = b;
    return (x->alloc_stretch > y->alloc_stretch) - (x->alloc_stretch < y->alloc_stretch);
}

static bool list_runs(run_work *work, const windows_plan *plan, u32 *ranks)
{
    for (u32 i = 0; i < plan->places.count; i++) {
        const window_place place = plan->places.at[i];
        const run one = { place, windows_stretch(&plan->pass, place.interval),
                          windows_stretch(&plan->pass, place.last), i };
        if (window_place_is_run(&place) && !ETLHEAP_PUSH(&work->runs, one))
            return false;
    }
    qsort(work->runs.at, work->runs.count, sizeof *work->runs.at, by_start);
    for (u32 i = 0; i < work->runs.count; i++)
        ranks[work->runs.at[i].window] = i;
    return true;
}

/* Puts blocks in the order of their groups. starts[g + 1] ends as the end of group g. */
static window_old *sort_by_group(window_old_list *old, size_t *starts, u32 group_count)
{
    window_old *const sorted = malloc((old->count + 1) * sizeof *sorted);
    for (size_t i = 0; i < old->count; i++)
        starts[old->at[i].group + 2]++;
    for (u32 g = 0; g < group_count; g++)
        starts[g + 2] += starts[g + 1];
    for (size_t i = 0; sorted != NULL && i < old->count; i++)
        sorted[starts[old->at[i].group + 1]++] = old->at[i];
    ETLHEAP_VECTOR_FREE(old);
    return sorted;
}

static i64 larger(i64 x, i64 y)
{
    return x > y ? x : y;
}

static void raise_peaks(window_cell *to, const window_cell *from)
{
    to->peak_size = larger(to->peak_size, from->peak_size);
    to->peak_count = larger(to->peak_count, from->peak_count);
}

/* Reads the cells of a group and sums them up. */
static bool open_group(run_group *own, const run_work *work, u32 number)
{
    const window_cell_group *const group = &work->cells->groups[number];
    const u32 count = group->count;
    own->cells.count = own->allocs.count = own->peaks.count = own->freed.count = 0;
    if (!ETLHEAP_RESERVE(&own->cells, count) || !ETLHEAP_RESERVE(&own->allocs, count + (size_t)1) ||
        !ETLHEAP_RESERVE(&own->peaks, (size_t)count * 2) ||
        !ETLHEAP_RESERVE(&own->freed, work->stretches + (size_t)1))
        return false;
    amount all = { 0, 0 };
    for (u32 i = 0; i < count; i++) {
        window_cell *const cell = &own->cells.at[i];
        *cell = packed_cell_at(work->cells, group, i);
        cell->interval = packed_interval_at(work->cells, group, i);
        own->allocs.at[i] = all;
        all.size += cell->alloc_size;
        all.count += cell->alloc_count;
        own->peaks.at[count + i] = *cell;
    }
    own->allocs.at[count] = all;
    own->cells.count = count;
    for (u32 i = count; i-- > 1;) {
        own->peaks.at[i] = own->peaks.at[(size_t)2 * i];
        raise_peaks(&own->peaks.at[i], &own->peaks.at[(size_t)2 * i + 1]);
    }
    memset(own->freed.at, 0, (work->stretches + (size_t)1) * sizeof *own->freed.at);
    return true;
}

static void close_group(run_group *own)
{
    ETLHEAP_VECTOR_FREE(&own->cells);
    ETLHEAP_VECTOR_FREE(&own->allocs);
    ETLHEAP_VECTOR_FREE(&own->peaks);
    ETLHEAP_VECTOR_FREE(&own->freed);
}

static void add_freed(run_group *own, const run_work *work, const window_old *block)
{
    for (u32 at = block->free_stretch; at <= work->stretches; at += at & -at, own->steps++) {
        own->freed.at[at].size += block->size;
        own->freed.at[at].count += block->count;
    }
}

/* The blocks freed up to a stretch. */
static amount freed_until(run_group *own, u32 stretch)
{
    amount sum = { 0, 0 };
    for (u32 at = stretch; at > 0; at &= at - 1, own->steps++) {
        sum.size += own->freed.at[at].size;
        sum.count += own->freed.at[at].count;
    }
    return sum;
}

/* The number of cells before an interval. */
static u32 cells_before(run_group *own, u32 interval)
{
    u32 low = 0, high = (u32)own->cells.count;
    for (; low < high; own->steps++) {
        const u32 middle = low + (high - low) / 2;
        if (own->cells.at[middle].interval < interval)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Raises the peaks of a cell to those of cells `first` to `end`. */
static void take_peaks(run_group *own, u32 first, u32 end, window_cell *cell)
{
    const size_t count = own->cells.count;
    for (size_t low = first + count, high = end + count; low < high; low /= 2, high /= 2) {
        own->steps++;
        if (low % 2 == 1)
            raise_peaks(cell, &own->peaks.at[low++]);
        if (high % 2 == 1)
            raise_peaks(cell, &own->peaks.at[--high]);
    }
}

static i64 narrowed(i128 size)
{
    return size > INT64_MAX ? INT64_MAX : (i64)size;
}

/* Sizes that stopped at the largest number may not make a difference below 0. */
static i64 rest(i64 whole, i64 part)
{
    return whole > part ? whole - part : 0;
}

/* Makes the cell of a window from those of its intervals, of which there is one at least. */
static window_cell cell_of_run(run_group *own, const run *window, u32 first, u32 end)
{
    const window_cell nothing = { .count = 0 };
    const window_cell *const start = first == 0 ? &nothing : &own->cells.at[first - 1];
    const window_cell *const last = &own->cells.at[end - 1];
    const amount until = freed_until(own, window->to_stretch);
    const amount before = freed_until(own, window->from_stretch - 1);
    const i64 aofo_count = start->count - (until.count - before.count);
    const i64 aofo_size = rest(start->size, narrowed(until.size - before.size));
    window_cell cell = {
        .size = last->size,
        .count = last->count,
        .peak_size = start->size,
        .peak_count = start->count,
        .alloc_size = narrowed(own->allocs.at[end].size - own->allocs.at[first].size),
        .alloc_count = own->allocs.at[end].count - own->allocs.at[first].count,
    };
    cell.aifi_count = cell.alloc_count - (cell.count - aofo_count);
    cell.aifi_size = rest(cell.alloc_size, rest(cell.size, aofo_size));
    take_peaks(own, first, end, &cell);
    return cell;
}

static bool make_group(run_group *own, const run_work *work, u32 group, cell_packer *packer)
{
    const window_old *at = work->old + work->starts[group];
    const window_old *const end = work->old + work->starts[group + 1];
    packer->cells.count = 0;
    if (!open_group(own, work, group))
        return false;
    for (u32 i = 0; own->cells.count > 0 && i < work->runs.count; i++) {
        const run *const window = &work->runs.at[i];
        for (; at < end && at->alloc_stretch < window->from_stretch; at++)
            add_freed(own, work, at);
        const u32 first_cell = cells_before(own, window->place.interval);
        const u32 end_cell = cells_before(own, window->place.last + 1);
        if (first_cell == end_cell)
            continue;
        window_cell cell = cell_of_run(own, window, first_cell, end_cell);
        cell.interval = i;
        if (!ETLHEAP_PUSH(&packer->cells, cell))
            return false;
    }
    return cell_packer_pack(packer, &work->groups[group]);
}

static void make_some(void *context, u32 task)
{
    run_work *const work = context;
    cell_packer *const packer = &work->tasks[task];
    run_group own = { .cells = { 0 } };
    bool ok = ETLHEAP_RESERVE(&packer->packed, PACKED_SLACK);
    for (u32 g = packer->first; ok && g < packer->end; g++)
        ok = !cancel_is_set(work->cancel) && make_group(&own, work, g, packer);
    packer->failed = !ok;
    (void)__atomic_fetch_add(&work->steps, own.steps, __ATOMIC_RELAXED);
    close_group(&own);
}

static bool run_tasks(run_work *work, const cells_wanted *wanted, window_cells *out)
{
    const u32 group_count = wanted->group_count, jobs = wanted->jobs;
    const u32 count = jobs <= 1 ? 1 : jobs * TASKS_PER_JOB;
    bool ok = true;
    work->tasks = calloc(count, sizeof *work->tasks);
    if (work->tasks == NULL)
        return false;
    for (u32 i = 0; i < count; i++) {
        work->tasks[i].first = (u32)((u64)group_count * i / count);
        work->tasks[i].end = (u32)((u64)group_count * (i + 1) / count);
    }
    etlheap_workers_run(jobs, count, make_some, work);
    for (u32 i = 0; i < count; i++)
        ok = ok && !work->tasks[i].failed;
    ok = ok && cell_packers_gather(work->tasks, count, out);
    cell_packers_free(work->tasks, count);
    return ok;
}

bool windows_runs_make(window_runs *out, const windows_plan *plan, const window_cells *cells,
                       window_old_list *old, const cells_wanted *wanted)
{
    const u32 group_count = wanted->group_count;
    run_work work = { .cells = cells,
                      .stretches = (u32)plan->pass.edges.count,
                      .cancel = wanted->cancel };
    size_t *const starts = calloc(group_count + (size_t)2, sizeof *starts);
    window_old *sorted = NULL;
    out->cells.groups = calloc(group_count + (size_t)1, sizeof *out->cells.groups);
    out->ranks = calloc(plan->places.count + 1, sizeof *out->ranks);
    bool ok = starts != NULL && out->cells.groups != NULL && out->ranks != NULL &&
              list_runs(&work, plan, out->ranks);
    if (ok)
        sorted = sort_by_group(old, starts, group_count);
    for (u32 g = 0; sorted != NULL && g < group_count; g++)
        qsort(sorted + starts[g], starts[g + 1] - starts[g], sizeof *sorted, by_alloc);
    work.old = sorted;
    work.starts = starts;
    work.groups = out->cells.groups;
    ok = ok && sorted != NULL && run_tasks(&work, wanted, &out->cells);
    out->steps = work.steps;
    ETLHEAP_VECTOR_FREE(&work.runs);
    ETLHEAP_VECTOR_FREE(old);
    free(sorted);
    free(starts);
    return ok;
}

void windows_runs_free(window_runs *runs)
{
    windows_cells_free(&runs->cells);
    free(runs->ranks);
    *runs = (window_runs){ .ranks = NULL };
}
