/*
 * row_details.h - measures of rows that are not sums over lifetimes: ranks of lifetimes, and sizes
 * of heaps.
 *
 * A row has heap sizes if it is a whole heap, or several with one handle, which are then added up.
 * Sizes are those at the end of the window for the row's kind.
 */
#ifndef ETLHEAP_ROW_DETAILS_H
#define ETLHEAP_ROW_DETAILS_H

#include "engine/table/table.h"
#include "aggregate.h"

/* Call it after all sums. Sets the groups' measures. False if memory runs out. */
bool row_details_fill(aggregator *a);

/* Marks the rows that grow most. */
void row_details_mark(const aggregator *a, owned_table *out);

#endif
