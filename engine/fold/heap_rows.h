/*
 * heap_rows.h - rows of kind heap from a journal or a log: sums, peaks and growth.
 */
#ifndef ETLHEAP_HEAP_ROWS_H
#define ETLHEAP_HEAP_ROWS_H

#include "growth_walk.h"
#include "log_pass.h"

/* Must not move after heap_rows_begin. */
typedef struct heap_rows {
    aggregator *a;
    log_groups groups;
    live_group *sums; /* by group, if sums existed already; else the walk has them */
    event_want events;
    growth_walk growth;
} heap_rows;

/*
 * Adds the groups of kind heap that the query selects, with all measures, to the aggregator: from
 * the journal, or from the result's log. Begin before the pass reads blocks; after that, ask for
 * events; finish after these. Close it in any case. ETL_ERR_MEMORY, ETL_ERR_LIMIT.
 */
etl_status heap_rows_begin(heap_rows *out, aggregator *a, log_pass *pass, etl_error *err);
etl_status heap_rows_walk(heap_rows *rows, log_pass *pass, etl_error *err);
etl_status heap_rows_finish(heap_rows *rows, etl_error *err);
void heap_rows_close(heap_rows *rows);

#endif
