/*
 * unmatched_rows.h - rows of frees whose allocation was not recorded, by who freed.
 *
 *     log      heap frees, part by part (ehs_unmatched.h)   ─┐
 *     memory   frees of other kinds (result.unmatched)      ─┴─▶ groups, which count them
 */
#ifndef ETLHEAP_UNMATCHED_ROWS_H
#define ETLHEAP_UNMATCHED_ROWS_H

#include "aggregate.h"

/* Makes the groups of a query for unmatched frees. The result must come from a log or a store.
 * ETL_ERR_MEMORY, ETL_ERR_CORRUPT, ETL_ERR_CANCELLED. */
etl_status unmatched_rows(aggregator *a, etl_error *err);

/* Refuses queries that unmatched frees cannot answer. ETL_ERR_ARGUMENT. */
etl_status unmatched_refuse(const etlheap_query *query, etl_error *err);

#endif
