/*
 * export_rows.h - opens what lists of rows are made from: a report, or a walk over lifetimes.
 *
 * Opening asks the engine. Closing frees what was opened and returns the result of writing:
 * `written`, or what stopped the walk.
 */
#ifndef ETLHEAP_EXPORT_ROWS_H
#define ETLHEAP_EXPORT_ROWS_H

#include "formats/formats.h"

/* Opens rows with the query's keys, or the keys of a report if it has none. */
etl_status export_report_open(const etlheap_export_request *request, etlheap_table **out,
                              etl_error *err);
etl_status export_report_close(etlheap_table *table, etl_status written, etl_error *err);

/* Opens lifetimes in the order of allocation. */
etl_status export_walk_open(const etlheap_export_request *request, etlheap_lifetimes **out,
                            etl_error *err);
etl_status export_walk_close(etlheap_lifetimes *walk, etl_status written, etl_error *err);

#endif
