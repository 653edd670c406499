/*
 * windows_cells.h - what groups do in the intervals of a pass.
 *
 * Who goes through events keeps one cell per group, for the interval at hand, as
 * if nothing were outstanding when it begins. When the group is met again in a
 * later interval, the cell leaves for a list and a new one begins. So a group
 * costs nothing while it stands still, whatever the number of windows.
 *
 * Lists of several walkers, each of a stretch of time, are put together in order:
 * cells of a group that share an interval become one, sums become what they are
 * since the beginning of time, and a cell holds until the group's next one.
 *
 *     walked      net +3        net -1                 net +2
 *     kept    ────┤ 3 ├─────────┤ 2 ├──────────────────┤ 4 ├──── until the end
 */
#ifndef ETLHEAP_WINDOWS_CELLS_H
#define ETLHEAP_WINDOWS_CELLS_H

#include "engine/query/windows_plan.h"

/* The cell of a group that is being gathered; a group's events touch one line. */
typedef struct window_hot {
    u32 interval;
    u32 time; /* number of the tick of the latest event; 0: none yet */
    i64 size, peak_size;
    i64 alloc_size, aifi_size;
    i32 count, peak_count;
    u32 alloc_count, aifi_count;
    u64 padding;
} window_hot;

static_assert(sizeof(window_hot) == 64, "one cache line");

#define WINDOW_NO_INTERVAL UINT32_MAX

/* Walked cells, packed one behind the other (windows_cells.c): to be joined as bytes. */
typedef ETLHEAP_VECTOR(u8) window_cell_list;

/* The cells of a group, by interval: all of them in as many bytes. */
typedef struct window_cell_group {
    u64 start; /* in the bytes of all cells */
    u32 count;
    u32 widths; /* of its amounts, four bits each */
    u8 interval_width;
    u8 stride;
} window_cell_group;

typedef struct window_cells {
    u8 *at;
    window_cell_group *groups;
} window_cells;

/* Settles the cell at hand, appends it to the list unless there is none, and begins
 * one for `interval`. False without memory. */
bool windows_turn(window_hot *hot, u32 group, u32 interval, window_cell_list *out);

/* Adds to the numbers of groups from this place of a list on. */
void windows_cells_shift(window_cell_list *walked, size_t from, u32 by);

/* Makes the cells of all groups from walked ones, which it takes: of each group in
 * the order of time; by so many threads. False without memory; to be freed in any case. */
bool windows_cells_make(window_cells *out, window_cell_list *walked, u32 group_count, u32 jobs);
void windows_cells_free(window_cells *cells);

/* The interval of the group's first cell from this interval on; WINDOW_NO_INTERVAL: none. */
u32 windows_cells_next(const window_cells *cells, u32 group, u32 interval);

/* Is there ever anything of the group, but for what comes and goes before the first bound? */
bool windows_cells_any(const window_cells *cells, u32 group);

/* What a group does in one interval; false: nothing of it concerns the interval. */
bool windows_cells_read(const window_cells *cells, u32 group, u32 interval, etlheap_cell *out);

/* The same over some intervals, `last` included: COUNT, SIZE, IMPACTING_SIZE, the
 * outstanding and the peak measures. */
void windows_cells_measure(const window_cells *cells, u32 group, u32 first, u32 last,
                           i64 measures[ETLHEAP_MEASURES_COUNT]);

/* Outstanding bytes and blocks as an interval begins. */
etlheap_cell windows_cells_start(const window_cells *cells, u32 group, u32 interval);

/* What happens in one tick happens together: a value counts once time moves on. */
static inline void windows_settle(window_hot *hot)
{
    hot->peak_size = hot->size > hot->peak_size ? hot->size : hot->peak_size;
    hot->peak_count = hot->count > hot->peak_count ? hot->count : hot->peak_count;
}

/* An allocation or the end of a block, `is_aifi`: allocated in the same interval. */
static inline void windows_step(window_hot *hot, u32 time, i64 size, bool is_end, bool is_aifi)
{
    if (hot->time != time) {
        hot->time = time;
        windows_settle(hot);
    }
    hot->size = etl_sat_add_i64(hot->size, is_end ? -size : size);
    hot->count += is_end ? -1 : 1;
    if (!is_end) {
        hot->alloc_size = etl_sat_add_i64(hot->alloc_size, size);
        hot->alloc_count++;
    } else if (is_aifi) {
        hot->aifi_size = etl_sat_add_i64(hot->aifi_size, size);
        hot->aifi_count++;
    }
}

#endif
