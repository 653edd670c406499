/*
 * windows_cells_read.c - what cells say of windows; see windows_cells.h.
 *
 * In: the joined cells of a group, and intervals. Out: sums at moments, sums and peaks over
 * windows. Invariant: a group without a cell in an interval is as its last cell before says.
 */
#include "packed_cells.h"

static i64 larger(i64 x, i64 y)
{
    return x > y ? x : y;
}

/* The number of the group's first cell at or after the interval. Often it is the first of all. */
static u32 find_cell(const window_cells *cells, const window_cell_group *group, u32 interval)
{
    u32 at;
    if (group->count == 0 || packed_interval_at(cells, group, 0) >= interval)
        return 0;
    ETL_BISECT(at, 0, group->count, packed_interval_at(cells, group, at) < interval);
    return at;
}

u32 windows_cells_next(const window_cells *cells, u32 number, u32 interval)
{
    const window_cell_group *const group = &cells->groups[number];
    const u32 at = find_cell(cells, group, interval);
    return at < group->count ? packed_interval_at(cells, group, at) : WINDOW_NO_INTERVAL;
}

bool windows_cells_any(const window_cells *cells, u32 number)
{
    const window_cell_group *const group = &cells->groups[number];
    for (u32 i = 0; i < group->count; i++) {
        const window_cell cell = packed_cell_at(cells, group, i);
        if (cell.count > 0 || (cell.alloc_count > 0 && packed_interval_at(cells, group, i) > 0))
            return true;
    }
    return false;
}

static etlheap_cell start_before(const window_cells *cells, const window_cell_group *group, u32 at)
{
    etlheap_cell out = { .outstanding_count = 0 };
    if (at > 0) {
        const window_cell before = packed_cell_at(cells, group, at - 1);
        out.outstanding_count = before.count;
        out.outstanding_size = before.size;
    }
    return out;
}

etlheap_cell windows_cells_start(const window_cells *cells, u32 number, u32 interval)
{
    const window_cell_group *const group = &cells->groups[number];
    return start_before(cells, group, find_cell(cells, group, interval));
}

void windows_cells_start_sizes(const window_cells *cells, u32 number, const u32 *intervals,
                               u32 count, i64 *sizes)
{
    const window_cell_group *const group = &cells->groups[number];
    i64 size = 0;
    u32 at = 0;
    for (u32 i = 0; i < count; i++) {
        for (; at < group->count && packed_interval_at(cells, group, at) < intervals[i]; at++)
            size = packed_cell_at(cells, group, at).size;
        sizes[i] = size;
    }
}

/* Sizes that stopped at the largest number may not make a difference below 0. */
static i64 rest(i64 whole, i64 part)
{
    return whole > part ? whole - part : 0;
}

/* Reads a window in which nothing happens. */
static bool read_quiet(etlheap_cell start, etlheap_cell *out)
{
    *out = start;
    out->count[ETLHEAP_TYPE_AOFO] = out->peak_count = start.outstanding_count;
    out->size[ETLHEAP_TYPE_AOFO] = out->peak_size = start.outstanding_size;
    return start.outstanding_count > 0;
}

/* Reads a window from its cell and what is outstanding when it begins. */
static bool read_cell(etlheap_cell start, window_cell cell, etlheap_cell *out)
{
    *out = (etlheap_cell){ .outstanding_count = start.outstanding_count };
    out->count[ETLHEAP_TYPE_AIFI] = cell.aifi_count;
    out->size[ETLHEAP_TYPE_AIFI] = cell.aifi_size;
    out->count[ETLHEAP_TYPE_AIFO] = cell.alloc_count - cell.aifi_count;
    out->size[ETLHEAP_TYPE_AIFO] = rest(cell.alloc_size, cell.aifi_size);
    out->count[ETLHEAP_TYPE_AOFO] = cell.count - out->count[ETLHEAP_TYPE_AIFO];
    out->size[ETLHEAP_TYPE_AOFO] = rest(cell.size, out->size[ETLHEAP_TYPE_AIFO]);
    out->count[ETLHEAP_TYPE_AOFI] = start.outstanding_count - out->count[ETLHEAP_TYPE_AOFO];
    out->size[ETLHEAP_TYPE_AOFI] = rest(start.outstanding_size, out->size[ETLHEAP_TYPE_AOFO]);
    out->outstanding_count = cell.count;
    out->outstanding_size = cell.size;
    out->peak_count = cell.peak_count;
    out->peak_size = cell.peak_size;
    out->impacting_size = cell.size - start.outstanding_size;
    return start.outstanding_count > 0 || cell.alloc_count > 0;
}

bool windows_cells_read(const window_cells *cells, u32 number, u32 interval, etlheap_cell *out)
{
    const window_cell_group *const group = &cells->groups[number];
    const u32 at = find_cell(cells, group, interval);
    const etlheap_cell start = start_before(cells, group, at);
    const bool has_news = at < group->count && packed_interval_at(cells, group, at) == interval;
    return has_news ? read_cell(start, packed_cell_at(cells, group, at), out)
                    : read_quiet(start, out);
}

bool windows_cells_read_run(const window_cells *cells, const window_cells *runs, u32 number,
                            u32 first, u32 window, etlheap_cell *out)
{
    const window_cell_group *const group = &runs->groups[number];
    const u32 at = find_cell(runs, group, window);
    const etlheap_cell start = windows_cells_start(cells, number, first);
    const bool has_news = at < group->count && packed_interval_at(runs, group, at) == window;
    return has_news ? read_cell(start, packed_cell_at(runs, group, at), out)
                    : read_quiet(start, out);
}

void windows_cells_measure(const window_cells *cells, u32 number, u32 first, u32 last,
                           i64 measures[ETLHEAP_MEASURES_COUNT])
{
    const window_cell_group *const group = &cells->groups[number];
    u32 at = find_cell(cells, group, first);
    const etlheap_cell start = start_before(cells, group, at);
    i64 size = start.outstanding_size, count = start.outstanding_count;
    i64 *const out = measures;
    memset(out, 0, ETLHEAP_MEASURES_COUNT * sizeof *out);
    out[ETLHEAP_MEASURE_COUNT] = out[ETLHEAP_MEASURE_PEAK_COUNT] = count;
    out[ETLHEAP_MEASURE_SIZE] = out[ETLHEAP_MEASURE_PEAK_SIZE] = size;
    for (; at < group->count && packed_interval_at(cells, group, at) <= last; at++) {
        const window_cell cell = packed_cell_at(cells, group, at);
        out[ETLHEAP_MEASURE_COUNT] += cell.alloc_count;
        out[ETLHEAP_MEASURE_SIZE] = etl_sat_add_i64(out[ETLHEAP_MEASURE_SIZE], cell.alloc_size);
        out[ETLHEAP_MEASURE_PEAK_COUNT] = larger(out[ETLHEAP_MEASURE_PEAK_COUNT], cell.peak_count);
        out[ETLHEAP_MEASURE_PEAK_SIZE] = larger(out[ETLHEAP_MEASURE_PEAK_SIZE], cell.peak_size);
        size = cell.size;
        count = cell.count;
    }
    out[ETLHEAP_MEASURE_OUTSTANDING_COUNT] = count;
    out[ETLHEAP_MEASURE_OUTSTANDING_SIZE] = size;
    out[ETLHEAP_MEASURE_IMPACTING_SIZE] = size - start.outstanding_size;
}
