/*
 * slice_source.h - hands out the slices of traces, and has the disk read what follows.
 *
 *     index of all traces complete    plan of everything; read-ahead in the plan's order
 *     index of one trace grows        the plan grows with it (plan_steps.h); read-ahead in
 *                                     file order, which is the order in which it is indexed
 *
 * A file that nobody has read lately is thereby read once, from its beginning to its end in large
 * requests, while it is analyzed. Reading all headers first would take a quarter of the
 * time, and would leave single pages in the page cache between which the rest is read in pieces.
 */
#ifndef ETLHEAP_SLICE_SOURCE_H
#define ETLHEAP_SLICE_SOURCE_H

#include "plan_steps.h"
#include "read_ahead.h"

/* Start from {0}. */
typedef struct slice_source {
    etl_trace *const *traces;
    u32 trace_count;
    const timebase *base;
    read_plan plan;
    plan_steps steps;
    read_ahead *ahead; /* NULL: nothing is read ahead */
    bool is_begun;
    bool in_file_order;
    i64 end_ticks; /* of the slices handed out */
    u32 reached;   /* buffers handed out, and their bytes of the file; in file order alone */
    u64 reached_bytes;
} slice_source;

/* Traces and base stay as they are until it is closed, but for the index of a single trace, which
 * may grow. False without memory. */
bool slice_source_open(slice_source *out, etl_trace *const *traces, u32 trace_count,
                       const timebase *base, u64 slice_bytes);

/* As plan_next(), and errors of plan_steps_go_on(). If steps.is_order_broken, it returns none:
 * begin again with traces that are indexed. */
etl_status slice_source_next(slice_source *source, plan_slice *slice, bool *more, etl_error *err);

void slice_source_close(slice_source *source);

/* Whether there is memory to read a file ahead of the work on it, at least as far as streams may
 * hold back. */
bool slice_source_may_grow(void);

#endif
