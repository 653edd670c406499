/*
 * windows_plan.h - the requested windows, divided into passes.
 *
 * Windows that do not overlap are answered in one pass over the events. A pass cuts time at the
 * ends of its windows into intervals; some of them are windows, the others lie between.
 *
 *     bounds              b0     b1        b2     b3
 *     time     ───────────┼──────┼─────────┼──────┼────────
 *     interval      0        1        2        3      4
 *
 * A window may be empty: then two bounds are equal, and no event is between them. Windows that
 * overlap go to different passes. Only a window that is a whole pass, from its first bound to its
 * last, needs no pass of its own: it is a run of intervals.
 */
#ifndef ETLHEAP_WINDOWS_PLAN_H
#define ETLHEAP_WINDOWS_PLAN_H

#include "query.h"

/* A window in ticks. Open ends are those of the query. */
typedef struct window_span {
    i64 from_ticks, to_ticks;
} window_span;

typedef struct window_pass {
    ETLHEAP_VECTOR(i64) bounds; /* ticks, ascending */
    bool has_whole;             /* one window is all of it, and others are parts */
} window_pass;

/* The pass and interval of a window; if it is a whole pass, its first and last interval. */
typedef struct window_place {
    u32 pass, interval, last;
} window_place;

typedef struct windows_plan {
    ETLHEAP_VECTOR(etlheap_time_range) windows;
    ETLHEAP_VECTOR(window_span) spans;   /* by window */
    ETLHEAP_VECTOR(window_place) places; /* by window */
    ETLHEAP_VECTOR(window_pass) passes;
    etlheap_time_range measured; /* the time that measures of rows cover ... */
    window_place measured_place; /* ... as intervals of one pass */
    i64 every_ns;
    etlheap_time_range asked; /* ends for open ends of ranges; if open themselves: the trace's */
} windows_plan;

/* Computes the window of a query for the windows: with ranges, everything they span. */
etl_status windows_plan_hull(const etlheap_query *query, const etlheap_windows_options *options,
                             i64 *from_ns, i64 *to_ns, etl_error *err);

/* Makes the plan for a query with that window; `asked` is the window it was asked with. Call
 * windows_plan_close even after a failure. ETL_ERR_ARGUMENT, ETL_ERR_LIMIT, ETL_ERR_MEMORY. */
etl_status windows_plan_open(windows_plan *out, const query_plan *query, etlheap_time_range asked,
                             const etlheap_windows_options *options, etl_error *err);
void windows_plan_close(windows_plan *plan);

/* The interval that contains a moment: the number of bounds at or before it. */
u32 windows_interval(const window_pass *pass, i64 ticks);

#endif
