/*
 * windows_runs.h - makes cells of windows that are runs of intervals, because others overlap them.
 */
#ifndef ETLHEAP_WINDOWS_RUNS_H
#define ETLHEAP_WINDOWS_RUNS_H

#include "windows_cells.h"

typedef struct window_runs {
    window_cells cells; /* as of intervals; in place of an interval, the rank of the window */
    u32 *ranks;         /* by window, for those that are runs */
    u64 steps;          /* taken through trees and searches, of all groups */
} window_runs;

/* Makes the cells of all groups from those of intervals and the blocks of earlier stretches, which
 * are freed. False as for windows_cells_make; free it in any case. */
bool windows_runs_make(window_runs *out, const windows_plan *plan, const window_cells *cells,
                       window_old_list *old, const cells_wanted *wanted);
void windows_runs_free(window_runs *runs);

#endif
