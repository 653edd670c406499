/* windows_cells.c - see windows_cells.h. */
#include "windows_cells.h"

#include <stdlib.h>

static bool sort_by_group(const window_cell_list *walked, window_cell *out, size_t *starts,
                          u32 group_count);
static size_t join_cells(window_cell *cells, size_t from, size_t end, size_t to);

bool windows_turn(window_hot *hot, u32 group, u32 interval, window_cell_list *out)
{
    windows_settle(hot);
    const window_cell cell = { .group = group,
                               .interval = hot->interval,
                               .size = hot->size,
                               .count = hot->count,
                               .peak_size = hot->peak_size,
                               .peak_count = hot->peak_count,
                               .alloc_size = hot->alloc_size,
                               .alloc_count = hot->alloc_count,
                               .aifi_size = hot->aifi_size,
                               .aifi_count = hot->aifi_count };
    const bool ok = hot->interval == WINDOW_NO_INTERVAL || ETLHEAP_PUSH(out, cell);
    *hot = (window_hot){ .interval = interval };
    return ok;
}

bool windows_cells_make(window_cells *out, window_cell_list *walked, u32 group_count)
{
    *out = (window_cells){ malloc((walked->count + 1) * sizeof *out->at),
                           calloc((size_t)group_count + 2, sizeof *out->starts) };
    bool ok = out->at != NULL && out->starts != NULL &&
              sort_by_group(walked, out->at, out->starts, group_count);
    ETLHEAP_VECTOR_FREE(walked);
    size_t kept = 0;
    for (u32 g = 0; ok && g < group_count; g++) {
        const size_t start = kept;
        kept = join_cells(out->at, out->starts[g], out->starts[g + 1], kept);
        out->starts[g] = start;
    }
    if (ok) {
        out->starts[group_count] = kept;
        window_cell *const smaller = realloc(out->at, (kept + 1) * sizeof *smaller);
        out->at = smaller == NULL ? out->at : smaller;
    }
    return ok;
}

void windows_cells_free(window_cells *cells)
{
    free(cells->at);
    free(cells->starts);
    *cells = (window_cells){ NULL, NULL };
}

/* Stable: what comes first of a group stays first. */
static bool sort_by_group(const window_cell_list *walked, window_cell *out, size_t *starts,
                          u32 group_count)
{
    size_t *const next = malloc(((size_t)group_count + 1) * sizeof *next);
    if (next == NULL)
        return false;
    for (size_t i = 0; i < walked->count; i++)
        starts[walked->at[i].group + 1]++;
    for (u32 g = 0; g < group_count; g++) {
        starts[g + 1] += starts[g];
        next[g] = starts[g];
    }
    for (size_t i = 0; i < walked->count; i++)
        out[next[walked->at[i].group]++] = walked->at[i];
    free(next);
    return true;
}

static i64 larger(i64 x, i64 y)
{
    return x > y ? x : y;
}

/* The second cell begins where the first ends. */
static void join_two(window_cell *first, const window_cell *second)
{
    first->peak_size = larger(first->peak_size, etl_sat_add_i64(first->size, second->peak_size));
    first->peak_count = larger(first->peak_count, first->count + second->peak_count);
    first->size = etl_sat_add_i64(first->size, second->size);
    first->count += second->count;
    first->alloc_size = etl_sat_add_i64(first->alloc_size, second->alloc_size);
    first->alloc_count += second->alloc_count;
    first->aifi_size = etl_sat_add_i64(first->aifi_size, second->aifi_size);
    first->aifi_count += second->aifi_count;
}

/* The walked cells of one group become its final ones, at `to` and after; returns
 * where they end. Sums that stopped at the largest number fall below 0 later: what
 * is outstanding never is. */
static size_t join_cells(window_cell *cells, size_t from, size_t end, size_t to)
{
    i64 size = 0, count = 0;
    while (from < end) {
        window_cell cell = cells[from++];
        for (; from < end && cells[from].interval == cell.interval; from++)
            join_two(&cell, &cells[from]);
        cell.peak_size = larger(0, etl_sat_add_i64(size, cell.peak_size));
        cell.peak_count += count;
        cell.size = size = larger(0, etl_sat_add_i64(size, cell.size));
        cell.count = count += cell.count;
        cells[to++] = cell;
    }
    return to;
}

/* The first cell of the group at or after the interval. */
static const window_cell *find_cell(const window_cells *cells, u32 group, u32 interval)
{
    size_t low = cells->starts[group], high = cells->starts[group + 1];
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (cells->at[middle].interval < interval)
            low = middle + 1;
        else
            high = middle;
    }
    return &cells->at[low];
}

static etlheap_cell start_before(const window_cells *cells, u32 group, const window_cell *cell)
{
    etlheap_cell out = { .outstanding_count = 0 };
    if (cell > &cells->at[cells->starts[group]]) {
        out.outstanding_count = cell[-1].count;
        out.outstanding_size = cell[-1].size;
    }
    return out;
}

etlheap_cell windows_cells_start(const window_cells *cells, u32 group, u32 interval)
{
    return start_before(cells, group, find_cell(cells, group, interval));
}

/* Sizes that stopped at the largest number may not make a difference below 0. */
static i64 rest(i64 whole, i64 part)
{
    return whole > part ? whole - part : 0;
}

bool windows_cells_read(const window_cells *cells, u32 group, u32 interval, etlheap_cell *out)
{
    const window_cell *const cell = find_cell(cells, group, interval);
    const etlheap_cell start = start_before(cells, group, cell);
    const bool has_news = cell < &cells->at[cells->starts[group + 1]] && cell->interval == interval;
    *out = (etlheap_cell){ .outstanding_count = start.outstanding_count };
    if (!has_news) {
        out->count[ETLHEAP_TYPE_AOFO] = out->peak_count = start.outstanding_count;
        out->size[ETLHEAP_TYPE_AOFO] = out->peak_size = start.outstanding_size;
        out->outstanding_size = start.outstanding_size;
        return start.outstanding_count > 0;
    }
    out->count[ETLHEAP_TYPE_AIFI] = cell->aifi_count;
    out->size[ETLHEAP_TYPE_AIFI] = cell->aifi_size;
    out->count[ETLHEAP_TYPE_AIFO] = cell->alloc_count - cell->aifi_count;
    out->size[ETLHEAP_TYPE_AIFO] = rest(cell->alloc_size, cell->aifi_size);
    out->count[ETLHEAP_TYPE_AOFO] = cell->count - out->count[ETLHEAP_TYPE_AIFO];
    out->size[ETLHEAP_TYPE_AOFO] = rest(cell->size, out->size[ETLHEAP_TYPE_AIFO]);
    out->count[ETLHEAP_TYPE_AOFI] = start.outstanding_count - out->count[ETLHEAP_TYPE_AOFO];
    out->size[ETLHEAP_TYPE_AOFI] = rest(start.outstanding_size, out->size[ETLHEAP_TYPE_AOFO]);
    out->outstanding_count = cell->count;
    out->outstanding_size = cell->size;
    out->peak_count = cell->peak_count;
    out->peak_size = cell->peak_size;
    out->impacting_size = cell->size - start.outstanding_size;
    return start.outstanding_count > 0 || cell->alloc_count > 0;
}

void windows_cells_measure(const window_cells *cells, u32 group, u32 first, u32 last,
                           i64 measures[ETLHEAP_MEASURES_COUNT])
{
    const window_cell *const end = &cells->at[cells->starts[group + 1]];
    const window_cell *cell = find_cell(cells, group, first);
    const etlheap_cell start = start_before(cells, group, cell);
    i64 size = start.outstanding_size, count = start.outstanding_count;
    i64 *const out = measures;
    memset(out, 0, ETLHEAP_MEASURES_COUNT * sizeof *out);
    out[ETLHEAP_MEASURE_COUNT] = out[ETLHEAP_MEASURE_PEAK_COUNT] = count;
    out[ETLHEAP_MEASURE_SIZE] = out[ETLHEAP_MEASURE_PEAK_SIZE] = size;
    for (; cell < end && cell->interval <= last; cell++) {
        out[ETLHEAP_MEASURE_COUNT] += cell->alloc_count;
        out[ETLHEAP_MEASURE_SIZE] = etl_sat_add_i64(out[ETLHEAP_MEASURE_SIZE], cell->alloc_size);
        out[ETLHEAP_MEASURE_PEAK_COUNT] = larger(out[ETLHEAP_MEASURE_PEAK_COUNT], cell->peak_count);
        out[ETLHEAP_MEASURE_PEAK_SIZE] = larger(out[ETLHEAP_MEASURE_PEAK_SIZE], cell->peak_size);
        size = cell->size;
        count = cell->count;
    }
    out[ETLHEAP_MEASURE_OUTSTANDING_COUNT] = count;
    out[ETLHEAP_MEASURE_OUTSTANDING_SIZE] = size;
    out[ETLHEAP_MEASURE_IMPACTING_SIZE] = size - start.outstanding_size;
}
