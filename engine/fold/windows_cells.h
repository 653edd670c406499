/*
 * windows_cells.h - what groups do in the intervals of a pass.
 *
 * While events are read, each group has one cell, for the current interval, which counts as if
 * nothing were outstanding at its beginning. When the group has an event in a later interval, the
 * cell moves to a list and a new one begins. So a group costs nothing while it does not change,
 * whatever the number of windows.
 *
 * The lists of several walkers, each for a part of the time, are then joined in order: cells of a
 * group in the same interval become one, sums become totals since the beginning of time, and a cell
 * is valid until the group's next one.
 *
 *     walked      net +3        net -1                 net +2
 *     kept    ────┤ 3 ├─────────┤ 2 ├──────────────────┤ 4 ├──── until the end
 */
#ifndef ETLHEAP_WINDOWS_CELLS_H
#define ETLHEAP_WINDOWS_CELLS_H

#include "engine/query/windows_plan.h"

/* The current cell of a group, in one cache line. */
typedef struct window_hot {
    u32 interval;
    u32 time; /* number of the last event's tick; 0: none yet */
    i64 size, peak_size;
    i64 alloc_size, aifi_size;
    i32 count, peak_count;
    u32 alloc_count, aifi_count;
    u64 padding;
} window_hot;

static_assert(sizeof(window_hot) == 64, "one cache line");

#define WINDOW_NO_INTERVAL UINT32_MAX

/* Walked cells, packed one after the other (windows_cells.c). */
typedef ETLHEAP_VECTOR(u8) window_cell_list;

/* The lists of several walkers, in time order per group. They can be very long, so they are not
 * joined to one. */
typedef struct walked_part {
    window_cell_list cells;
    u32 first_group; /* added to the numbers of its groups */
} walked_part;

typedef ETLHEAP_VECTOR(walked_part) walked_parts;

/* The cells of a group, by interval, all with the same widths. */
typedef struct window_cell_group {
    u64 start; /* offset in the bytes of all cells */
    u32 count;
    u32 widths; /* widths of its amounts, four bits each */
    u8 interval_width;
    u8 stride;
} window_cell_group;

/* Blocks of a group that were allocated in one stretch and freed in a later one. From these follow
 * the types of windows that are runs of intervals (windows_runs.h). */
typedef struct window_old {
    i64 size, count;
    u32 group;
    u32 alloc_stretch, free_stretch;
} window_old;

typedef ETLHEAP_VECTOR(window_old) window_old_list;

typedef struct window_cells {
    u8 *at;
    window_cell_group *groups;
} window_cells;

/* Completes the current cell, appends it to the list, if any, and begins one for `interval`. False
 * if memory runs out. */
bool windows_turn(window_hot *hot, u32 group, u32 interval, window_cell_list *out);

/* Moves a list to the parts; it is empty afterwards. False if memory runs out; then it is freed. */
bool walked_parts_take(walked_parts *parts, window_cell_list *cells, u32 first_group);
void walked_parts_free(walked_parts *parts);

/* What cells are made of, with how many threads. */
typedef struct cells_wanted {
    u32 group_count, jobs;
    const u32 *cancel; /* looked at once a group; NULL: nobody cancels */
} cells_wanted;

/* Makes the cells of all groups from walked ones, which are taken over. False if memory runs out or
 * the flag is set; free it in any case. */
bool windows_cells_make(window_cells *out, walked_parts *walked, const cells_wanted *wanted);
void windows_cells_free(window_cells *cells);

/* The interval of the group's first cell at or after this interval; WINDOW_NO_INTERVAL: none. */
u32 windows_cells_next(const window_cells *cells, u32 group, u32 interval);

/* True if the group ever has anything, other than blocks that come and go before the first
 * bound. */
bool windows_cells_any(const window_cells *cells, u32 group);

/* Reads the cell of a group for one interval; false: the group has nothing in it. */
bool windows_cells_read(const window_cells *cells, u32 group, u32 interval, etlheap_cell *out);

/* Reads the cell of a group for a window that is a run of intervals, which begins with the interval
 * `first`; `runs` has its cell, if it has one, under `window`. False: the group has nothing in
 * it. */
bool windows_cells_read_run(const window_cells *cells, const window_cells *runs, u32 group,
                            u32 first, u32 window, etlheap_cell *out);

/* Computes measures over intervals `first` to `last`, inclusive: COUNT, SIZE, IMPACTING_SIZE, the
 * outstanding and the peak measures. */
void windows_cells_measure(const window_cells *cells, u32 group, u32 first, u32 last,
                           i64 measures[ETLHEAP_MEASURES_COUNT]);

/* The outstanding bytes and blocks at the start of an interval. */
etlheap_cell windows_cells_start(const window_cells *cells, u32 group, u32 interval);

/* The outstanding bytes at the start of each of `count` intervals, which ascend. */
void windows_cells_start_sizes(const window_cells *cells, u32 group, const u32 *intervals,
                               u32 count, i64 *sizes);

/* Counts a block. Those before, in `to`, go to the list if their stretches are others. */
static inline bool window_old_add(window_old *to, const window_old *older, window_old_list *list)
{
    const bool is_same =
        to->alloc_stretch == older->alloc_stretch && to->free_stretch == older->free_stretch;
    if (!is_same) {
        if (to->count > 0 && !ETLHEAP_PUSH(list, *to))
            return false;
        *to = *older;
        return true;
    }
    to->size = etl_sat_add_i64(to->size, older->size);
    to->count += older->count;
    return true;
}

/* Updates the peak when time moves on, because all events of one tick happen together. */
static inline void windows_note_peak(window_hot *hot)
{
    hot->peak_size = hot->size > hot->peak_size ? hot->size : hot->peak_size;
    hot->peak_count = hot->count > hot->peak_count ? hot->count : hot->peak_count;
}

/* Applies an allocation or the end of a block; `is_aifi`: allocated in the same interval. Without
 * branches, because allocations and frees alternate as if by chance. */
static inline void windows_step(window_hot *hot, u32 time, i64 size, bool is_end, bool is_aifi)
{
    const bool ends_aifi = is_end & is_aifi;
    if (hot->time != time) {
        hot->time = time;
        windows_note_peak(hot);
    }
    hot->size = etl_sat_add_i64(hot->size, is_end ? -size : size);
    hot->count += is_end ? -1 : 1;
    hot->alloc_size = etl_sat_add_i64(hot->alloc_size, is_end ? 0 : size);
    hot->alloc_count += !is_end;
    hot->aifi_size = etl_sat_add_i64(hot->aifi_size, ends_aifi ? size : 0);
    hot->aifi_count += ends_aifi;
}

#endif
