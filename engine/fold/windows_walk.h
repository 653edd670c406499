/*
 * windows_walk.h - heap events of a journal or a store as cells.
 */
#ifndef ETLHEAP_WINDOWS_WALK_H
#define ETLHEAP_WINDOWS_WALK_H

#include "log_groups.h"
#include "windows_cells.h"

/* Does what the result has in place of lifetimes answer for these windows? */
bool windows_walk_answers(const aggregator *a, const windows_plan *plan);

/* Appends the cells that heap events make for these groups in a pass. ETL_ERR_MEMORY, LIMIT,
 * IO, CORRUPT. */
etl_status windows_walk_run(const aggregator *a, const log_groups *groups, const window_pass *pass,
                            window_cell_list *out, etl_error *err);

#endif
