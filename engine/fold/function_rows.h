/* function_rows.h - rows by function, in which a block counts once for each function of its
 * stack. */
#ifndef ETLHEAP_FUNCTION_ROWS_H
#define ETLHEAP_FUNCTION_ROWS_H

#include "aggregate.h"

/* For a query that groups by function: replaces groups by stack, which are complete, by groups by
 * function. Totals stay. False if memory runs out. */
bool function_rows(aggregator *a);

#endif
