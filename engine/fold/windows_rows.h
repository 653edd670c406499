/*
 * windows_rows.h - replays lifetimes that are held in memory and makes window cells of them:
 * ranges and extents, and heap blocks where there is no log.
 */
#ifndef ETLHEAP_WINDOWS_ROWS_H
#define ETLHEAP_WINDOWS_ROWS_H

#include "peaks.h"
#include "windows_cells.h"

/* Lifetimes in the order of their groups; see peaks_sort. */
typedef struct window_rows {
    const peak_row *at;
    const size_t *starts;
    u32 group_count;
} window_rows;

/* Appends the cells that the lifetimes make in a pass. Groups are spread over `jobs`
 * threads. False without memory. */
bool windows_rows_walk(const window_rows *rows, const window_pass *pass, u32 jobs,
                       window_cell_list *out);

#endif
