/*
 * heap_rows.h - groups of the blocks of an event list or a log, or of rows: sums, peaks and growth.
 */
#ifndef ETLHEAP_HEAP_ROWS_H
#define ETLHEAP_HEAP_ROWS_H

#include "function_curves.h"
#include "growth_walk.h"
#include "log_pass.h"

/* Must not move after heap_rows_begin. */
typedef struct heap_rows {
    aggregator *a;
    log_groups groups;
    live_group *sums; /* by group, if sums existed already; else the walk has them */
    event_want events;
    function_curves functions; /* if the query groups by function: peaks */
    growth_walk growth;
} heap_rows;

/*
 * Adds the groups of a source that the query selects, with all measures, to the aggregator. Begin
 * before the pass reads blocks; after that, ask for events; finish after these. Of several sources,
 * finish in the order of their groups: `first_group` is the number of groups of those before. When
 * groups by stack have become groups by function, fill the peaks of these. Close it in any case.
 * ETL_ERR_MEMORY, ETL_ERR_LIMIT.
 */
etl_status heap_rows_begin(heap_rows *out, aggregator *a, feed_source source, log_pass *pass,
                           etl_error *err);
etl_status heap_rows_walk(heap_rows *rows, u32 first_group, log_pass *pass, etl_error *err);
etl_status heap_rows_finish(heap_rows *rows, etl_error *err);
void heap_rows_fill_functions(const heap_rows *rows);
void heap_rows_close(heap_rows *rows);

#endif
