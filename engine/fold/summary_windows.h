/* summary_windows.h - the windows in a summary, by the groups of a query. */
#ifndef ETLHEAP_SUMMARY_WINDOWS_H
#define ETLHEAP_SUMMARY_WINDOWS_H

#include "aggregate.h"
#include "engine/query/windows_plan.h"
#include "engine/result/summary.h"

typedef struct summary_windows {
    i64 first; /* number of the plan's first window */
    u32 group_count;
    summary_cells *groups; /* by group */
} summary_windows;

/* ETL_ERR_ARGUMENT, with a message, if the summary lacks what the query needs. */
etl_status summary_windows_refuse(const etlheap_result *result, const etlheap_query *query,
                                  const etlheap_windows_options *options, etl_error *err);

/* Makes the groups of the entries and collects their windows. Stacks must be finished. The caller
 * frees *out. ETL_ERR_MEMORY. */
etl_status summary_windows_open(aggregator *a, const windows_plan *plan, summary_windows **out,
                                etl_error *err);
void summary_windows_free(summary_windows *windows); /* NULL is allowed */

/* Like etlheap_windows_cell and etlheap_windows_start_size, for a group. */
bool summary_windows_cell(const summary_windows *windows, u32 group, u32 window, etlheap_cell *out);
i64 summary_windows_start_size(const summary_windows *windows, u32 group, u32 window);

/* Sets the measures of the groups over `count` windows from `first` on, and their totals. Groups
 * without any window are left out. */
void summary_windows_measure(const summary_windows *windows, aggregator *a, u32 first, u32 count);

#endif
