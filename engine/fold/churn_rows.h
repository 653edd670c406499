/* churn_rows.h - churn of rows: temporary lifetimes in memory, rates, and the limit of 1 ms. */
#ifndef ETLHEAP_CHURN_ROWS_H
#define ETLHEAP_CHURN_ROWS_H

#include "aggregate.h"
#include "churn.h"

/* The largest number of ticks that is at most 1 ms. */
i64 churn_fast_ticks(const query_plan *plan);

/* True if a lifetime in the window lasted at most 1 ms. */
bool churn_is_fast(const query_plan *plan, i64 fast_ticks, const query_row *row);

/* Adds sums to the measures of a row or total. */
void churn_add(i64 *measures, const churn_sums *sums);

/*
 * Finds the temporary ones among lifetimes in memory: ranges, extents, blocks of custom allocators,
 * which must have their groups. Only times order them, so a free and the thread's next allocation
 * on the same tick count in this order. A commit or custom block that left several pieces counts as
 * one allocation.
 * False if memory runs out.
 */
bool churn_fill(aggregator *a);

/* Sets the rates of a row or total from the amounts allocated and freed in `ns`. */
void churn_set_rates(i64 *measures, i64 ns);

#endif
