/*
 * churn_rows.h - churn of rows: what is temporary of a lifetime in memory, rates, and when a
 * lifetime is short.
 */
#ifndef ETLHEAP_CHURN_ROWS_H
#define ETLHEAP_CHURN_ROWS_H

#include "aggregate.h"
#include "churn.h"

/* Lifetimes of more ticks are longer than 1 ms. */
i64 churn_fast_ticks(const query_plan *plan);

/* Did a lifetime that lies in the window last 1 ms at most? */
bool churn_is_fast(const query_plan *plan, i64 fast_ticks, const query_row *row);

/* Adds sums to the measures of a row or total. */
void churn_add(i64 measures[ETLHEAP_MEASURES_COUNT], const churn_sums *sums);

/*
 * Finds out what is temporary of the lifetimes in memory: ranges, extents, blocks of custom
 * allocators. Their groups are there. Times alone say what came first, so a free and the
 * thread's next allocation on one tick count in this order. What a commit left in several
 * pieces was allocated once. False without memory.
 */
bool churn_fill(aggregator *a);

/* How long the query's window is. Of a summary: all its recordings together. */
i64 churn_window_ns(const aggregator *a);

/* Sets the rates of a row or total from what was allocated in a window of so many ns. */
void churn_set_rates(i64 measures[ETLHEAP_MEASURES_COUNT], i64 window_ns);

#endif
