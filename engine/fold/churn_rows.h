/* churn_rows.h - churn of rows: temporary lifetimes in memory, rates, and the limit of 1 ms. */
#ifndef ETLHEAP_CHURN_ROWS_H
#define ETLHEAP_CHURN_ROWS_H

#include "aggregate.h"
#include "churn.h"
#include "lifetimes_source.h"

/* The largest number of ticks that is at most 1 ms. */
i64 churn_fast_ticks(const query_plan *plan);

/* True if a lifetime in the window lasted at most 1 ms. */
bool churn_is_fast(const query_plan *plan, i64 fast_ticks, const query_row *row);

/* Adds sums to the measures of a row or total. */
void churn_add(i64 *measures, const churn_sums *sums);

/* A row that begins inside the window. */
typedef struct timed_row {
    u64 thread;
    i64 alloc_ticks, free_ticks;
    u64 address, size, heap;
    u32 group;  /* + 1; 0: it is not selected, or not freed inside the window */
    u32 moment; /* its thread's, by number */
    u32 origin, order;
    u8 kind;
    bool is_fast;
} timed_row;

typedef ETLHEAP_VECTOR(timed_row) timed_rows;

struct churn_view;

/*
 * Notes a row of a batch, as churn_note_row does for a block of a log. `group` is a number that all
 * tasks share, + 1. Only times order rows, so a free and the thread's next allocation on the same
 * tick count in this order. A commit or custom block that left several pieces counts as one
 * allocation. False if memory runs out.
 */
bool churn_rows_note(const struct churn_view *view, timed_rows *out, const lifetimes_batch *batch,
                     u32 at, u32 group, const query_row *row);
bool churn_rows_append(timed_rows *to, const timed_rows *from);

/* Adds the temporary ones among the rows of all tasks, in any order, to the sums by group. False if
 * memory runs out. */
bool churn_rows_finish(timed_rows *rows, churn_sums *sums);

/* Sets the rates of a row or total from the amounts allocated and freed in `ns`. */
void churn_set_rates(i64 *measures, i64 ns);

#endif
