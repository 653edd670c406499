/*
 * plan.h - the order in which buffers are read: time slices and tasks.
 *
 * The file has buffers in flush order, so a buffer may come seconds of trace time after later
 * events. The time of a buffer's first record is cheap to get. Buffers are sorted by it, and a
 * slice is a run of them up to a number of bytes. A slice ends at the first time of the next slice,
 * because every record before that time lies in buffers already handed out. Later records wait:
 * their buffer is handed out again, with the place to continue from. So after a slice, all records
 * before its end were read exactly once, and a slice bounds the memory.
 *
 *     buffers by first time   |--a--|  |---b------|   |-c-|
 *                                |------d-----|     |--e--|
 *     slice 1 = a d b, its end = first time of e; the rest of b (and of d, if
 *     it reached so far) goes to slice 2 together with e and c.
 *
 * If the index of the only trace still grows, the plan does too (plan_steps.h): a slice then
 * ends at the latest where later buffers may still begin.
 *
 * A stream is the buffers of one CPU of one session of one file; its times never go back. A task is
 * a run of one stream's buffers in a slice.
 */
#ifndef ETLHEAP_PLAN_H
#define ETLHEAP_PLAN_H

#include "engine/core/arena.h"
#include "engine/core/timebase.h"

typedef struct plan_buffer {
    i64 first_ticks; /* base clock */
    i64 sequence;
    u64 stream; /* trace << 32 | session << 16 | cpu */
    u32 buffer; /* index in its trace */
    u32 resume; /* offset of the first unread record; 0: the start */
    u32 bytes;  /* uncompressed */
} plan_buffer;

static inline u32 plan_trace(u64 stream)
{
    return (u32)(stream >> 32);
}

static inline u32 plan_session(u64 stream)
{
    return (u32)(stream >> 16) & 0xFFFF;
}

/* True if a buffer of the session begins with its log-file header, which is not an event. */
static inline bool plan_has_header(const etl_session *session, const etl_buffer_info *info)
{
    return info->offset < session->header_offset &&
           session->header_offset - info->offset < info->stored_size;
}

typedef struct plan_task {
    u32 first, count; /* into plan_slice.buffers */
} plan_task;

typedef struct plan_slice {
    i64 end_ticks; /* records before it belong to the slice; INT64_MAX: last slice */
    ETLHEAP_VECTOR(plan_buffer) buffers; /* by stream, then time */
    ETLHEAP_VECTOR(plan_task) tasks;
} plan_slice;

typedef struct read_plan {
    plan_buffer *buffers; /* by first time */
    u32 count;
    u32 next;           /* first buffer not handed out */
    i64 complete_ticks; /* no buffer is missing that begins before; INT64_MAX: all are here */
    i64 *latest;        /* by CPU of the session in hand: first time of its latest buffer ... */
    i64 *sequences;     /* ... and its number */
    u32 taken;          /* of the trace that was planned last: buffers, */
    i64 taken_ticks;    /* and the time of the last of them */
    u64 slice_bytes;
    u64 task_bytes;
} read_plan;

/* Plans the slices. slice_bytes must be > 0. False if memory runs out. */
bool plan_open(read_plan *out, etl_trace *const *traces, u32 trace_count, const timebase *base,
               u64 slice_bytes);
void plan_close(read_plan *plan);

/* Appends the buffers of the only trace that were indexed since. They are in file order until
 * plan_sort() puts all that were not handed out in order of time. False without memory. */
bool plan_extend(read_plan *plan, const etl_trace *trace, const timebase *base);
void plan_sort(read_plan *plan);

/*
 * Fills *slice, which starts as {0}, with the next slice. Before each further call, set `resume` of
 * the slice's buffers: to the offset where reading stopped, or to PLAN_DONE. *more is false after
 * the last slice.
 */
#define PLAN_DONE UINT32_MAX
bool plan_next(read_plan *plan, plan_slice *slice, bool *more);
void plan_slice_free(plan_slice *slice);

#endif
