/*
 * row_details.h - the measures of rows that are no sums over lifetimes: ranks of
 * lifetimes, and the sizes of heaps.
 *
 * A row has sizes when it is all of a heap, or several of one handle: then they
 * are added up. They are those at the end of the window for the row's kind.
 */
#ifndef ETLHEAP_ROW_DETAILS_H
#define ETLHEAP_ROW_DETAILS_H

#include "engine/table/table.h"
#include "aggregate.h"

/* After all sums: fills the groups' measures. False without memory. */
bool row_details_fill(aggregator *a);

/* Marks the rows that grow most. */
void row_details_mark(const aggregator *a, owned_table *out);

#endif
