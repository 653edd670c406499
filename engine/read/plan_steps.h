/*
 * plan_steps.h - plans a trace while its index still grows.
 *
 * A slice can be handed out when no buffer of it is missing, and that is known for certain only
 * when the whole file is indexed. But each stream (plan.h) is written in order: once a stream
 * has shown a buffer of time t, all its later buffers begin at t or later. So the time up to
 * which everything is known is the least of the streams' latest times. A stream that has been
 * silent for many bytes is taken for idle and holds nothing back any longer; neither does one
 * that has not been seen yet, but for the last buffers of the file, which are looked at first.
 *
 *     file      a1 b1 a2 a3 b2 | a4 ...        indexed up to the bar: a is known up to the
 *     complete  the time of b2, if b2 < a3     time of a3, b up to that of b2
 *
 * That is a guess. If a buffer turns up that belongs into a slice that was handed out, the
 * order is broken, and the caller begins again with the whole index. Slices are cut in other
 * places than with the whole index, which no result depends on.
 */
#ifndef ETLHEAP_PLAN_STEPS_H
#define ETLHEAP_PLAN_STEPS_H

#include "plan.h"

/* A stream's latest buffer. */
typedef struct stream_front {
    u64 stream;
    i64 ticks; /* base clock */
    u64 offset;
} stream_front;

/* Start from {0}, which is for plans that are whole. */
typedef struct plan_steps {
    etl_trace *trace; /* NULL: the plan is whole */
    const timebase *base;
    u64 silent_bytes; /* after so many of the file a stream is taken for idle */
    bool is_order_broken;
    ETLHEAP_VECTOR(stream_front) fronts;
} plan_steps;

/* Indexes the rest of all traces: for those who cannot begin with a part. Errors as of
 * etl_index_rest. */
etl_status traces_index_rest(etl_trace *const *traces, u32 trace_count, etl_error *err);

/* Begins to grow a plan of this one trace, with one session, as far as it is indexed. */
void plan_steps_open(plan_steps *out, etl_trace *trace, const timebase *base, u64 silent_bytes);

/*
 * Indexes and plans until the next slice is known, if it is not; slices up to `end_ticks` were
 * handed out. Sets is_order_broken if that was too early, or if the file turns out to have
 * several sessions: then nothing may be read by this plan any more. Errors as of
 * etl_index_more.
 */
etl_status plan_steps_go_on(plan_steps *steps, read_plan *plan, i64 end_ticks, etl_error *err);

void plan_steps_close(plan_steps *steps);

#endif
