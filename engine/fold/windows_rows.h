/* windows_rows.h - makes window cells from lifetimes in memory: ranges, extents, and heap blocks if
 * there is no log. */
#ifndef ETLHEAP_WINDOWS_ROWS_H
#define ETLHEAP_WINDOWS_ROWS_H

#include "peaks.h"
#include "windows_cells.h"

/* Lifetimes ordered by group; see peaks_sort. */
typedef struct window_rows {
    const peak_row *at;
    const size_t *starts;
    u32 group_count;
} window_rows;

/* Appends the cells of the lifetimes in a pass, and the ends of those from earlier stretches.
 * Groups are divided among `jobs` threads. False if memory runs out. */
bool windows_rows_walk(const window_rows *rows, const window_pass *pass, u32 jobs,
                       walked_parts *out, window_old_list *old);

#endif
