/*
 * windows_plan.h - which windows are asked for, cut into passes.
 *
 * Windows that do not overlap are answered in one pass over the events. A pass
 * cuts time at the ends of its windows, which makes intervals: some of them are
 * windows, the others what lies between.
 *
 *     bounds              b0     b1        b2     b3
 *     time     ───────────┼──────┼─────────┼──────┼────────
 *     interval      0        1        2        3      4
 *
 * A window may be empty: then two bounds are equal, and no event lies between.
 * Windows that overlap go to different passes.
 */
#ifndef ETLHEAP_WINDOWS_PLAN_H
#define ETLHEAP_WINDOWS_PLAN_H

#include "query.h"

/* A window in ticks; the ends that the query leaves open are the query's. */
typedef struct window_span {
    i64 from_ticks, to_ticks;
} window_span;

typedef struct window_pass {
    ETLHEAP_VECTOR(i64) bounds; /* ticks, ascending */
} window_pass;

/* Where a window is found. */
typedef struct window_place {
    u32 pass, interval;
} window_place;

typedef struct windows_plan {
    ETLHEAP_VECTOR(etlheap_time_range) windows;
    ETLHEAP_VECTOR(window_span) spans;   /* by window */
    ETLHEAP_VECTOR(window_place) places; /* by window */
    ETLHEAP_VECTOR(window_pass) passes;
    etlheap_time_range measured; /* what the measures of rows are over, ... */
    window_place measured_first; /* ... as intervals of one pass */
    window_place measured_last;
    i64 every_ns;
    etlheap_time_range asked; /* the ends that open ones of ranges stand for; open: the trace's */
} windows_plan;

/* The window that a query for the windows has: with ranges, all that they span. */
etl_status windows_plan_hull(const etlheap_query *query, const etlheap_windows_options *options,
                             i64 *from_ns, i64 *to_ns, etl_error *err);

/* The plan for a query of that window, which was asked with its own: `asked`.
 * windows_plan_close also after failure. ETL_ERR_ARGUMENT, ETL_ERR_LIMIT, ETL_ERR_MEMORY. */
etl_status windows_plan_open(windows_plan *out, const query_plan *query, etlheap_time_range asked,
                             const etlheap_windows_options *options, etl_error *err);
void windows_plan_close(windows_plan *plan);

/* How many bounds are at or before this moment: the interval it lies in. */
u32 windows_interval(const window_pass *pass, i64 ticks);

#endif
