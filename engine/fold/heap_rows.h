/*
 * heap_rows.h - rows of kind heap from a journal or a log: sums, peaks and growth.
 */
#ifndef ETLHEAP_HEAP_ROWS_H
#define ETLHEAP_HEAP_ROWS_H

#include "growth_walk.h"
#include "log_pass.h"

/* Stays where it is from heap_rows_begin on. */
typedef struct heap_rows {
    aggregator *a;
    log_groups groups;
    live_group *sums; /* by group, where there were sums already; else the walk has them */
    event_want events;
    growth_walk growth;
} heap_rows;

/*
 * Adds the groups of kind heap that the query selects, with all measures, to the aggregator:
 * from the journal, or from the log that the result has. Begins before the pass reads blocks,
 * says after that what it wants of events, and finishes after these. To be closed in any case.
 * ETL_ERR_MEMORY, LIMIT.
 */
etl_status heap_rows_begin(heap_rows *out, aggregator *a, log_pass *pass, etl_error *err);
etl_status heap_rows_walk(heap_rows *rows, log_pass *pass, etl_error *err);
etl_status heap_rows_finish(heap_rows *rows, etl_error *err);
void heap_rows_close(heap_rows *rows);

#endif
