/*
 * windows_plan.h - the requested windows as intervals of time.
 *
 * All windows are answered in one pass over the events. The pass cuts time where windows begin and
 * end; some intervals are windows, others lie between, and windows that overlap are runs of
 * intervals. The ends of these runs are edges, which cut the pass into stretches.
 *
 *     bounds              b0     b1        b2     b3
 *     time     ───────────┼──────┼─────────┼──────┼────────
 *     interval      0        1        2        3      4
 *     windows             ├──────┤
 *                         ├────────────────┤
 *                                ├────────────────┤
 *     edges               1      2         3      4            intervals that begin there
 *     stretch       0        1        2        3      4
 *
 * A window may be empty: then two bounds are equal, and no event is between them. A block is of a
 * type in a run of intervals by the stretches in which it was allocated and freed.
 */
#ifndef ETLHEAP_WINDOWS_PLAN_H
#define ETLHEAP_WINDOWS_PLAN_H

#include "query.h"

/* A window in ticks. Open ends are those of the query. */
typedef struct window_span {
    i64 from_ticks, to_ticks;
} window_span;

typedef ETLHEAP_VECTOR(u32) window_edges;

typedef struct window_pass {
    ETLHEAP_VECTOR(i64) bounds; /* ticks, ascending */
    window_edges edges;         /* intervals, ascending; none: no window is a run of intervals */
} window_pass;

/* The first and last interval of a window, which are the same unless others cut it. */
typedef struct window_place {
    u32 interval, last;
} window_place;

static inline bool window_place_is_run(const window_place *place)
{
    return place->last > place->interval;
}

typedef struct windows_plan {
    ETLHEAP_VECTOR(etlheap_time_range) windows;
    ETLHEAP_VECTOR(window_span) spans;   /* by window */
    ETLHEAP_VECTOR(window_place) places; /* by window */
    window_pass pass;
    etlheap_time_range measured; /* the time that measures of rows cover ... */
    window_place measured_place; /* ... as intervals of the pass */
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

/* The stretch that contains an interval: the number of edges at or before it. */
u32 windows_stretch(const window_pass *pass, u32 interval);

#endif
