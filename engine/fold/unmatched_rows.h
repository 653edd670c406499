/*
 * unmatched_rows.h - rows of frees whose allocation was not recorded, by who freed.
 *
 *     log      heap frees, part by part (ehs_unmatched.h)   ─┐
 *     memory   frees of other kinds (result.unmatched)      ─┴─▶ groups, which count them
 */
#ifndef ETLHEAP_UNMATCHED_ROWS_H
#define ETLHEAP_UNMATCHED_ROWS_H

#include "aggregate.h"

/* The groups of a query for unmatched frees, whose result was read from a log or a store.
 * MEMORY, CORRUPT, CANCELLED. */
etl_status unmatched_rows(aggregator *a, etl_error *err);

/* Refuses what cannot be asked of them. ARGUMENT. */
etl_status unmatched_refuse(const etlheap_query *query, etl_error *err);

#endif
