/*
 * recorded_spans.h - finds out from when to when each kind of memory was recorded.
 */
#ifndef ETLHEAP_RECORDED_SPANS_H
#define ETLHEAP_RECORDED_SPANS_H

#include "engine/read/stages.h"
#include "engine/result/result.h"

/* What a session's tasks tell about it. If it goes on in other files, each of them has all of
 * it. */
typedef struct recorded_session {
    u32 kinds; /* bit per etlheap_kind: of its memory events */
    i64 first_ticks, last_ticks;
} recorded_session;

/* The sessions of all traces, as in the timebase. Start from {0}. */
typedef struct recorded_sessions {
    const timebase *base;
    const u64 *steps_back; /* see slice_order */
    recorded_session *at;
    u32 *from; /* of each trace: the one that its first session goes on from; when all are read */
} recorded_sessions;

/* False if memory runs out. */
bool recorded_sessions_open(recorded_sessions *out, const timebase *base, const u64 *steps_back);
void recorded_sessions_close(recorded_sessions *sessions);

/* Adds the tasks of a slice. */
void recorded_sessions_note(recorded_sessions *sessions, const scan_output *tasks, u32 task_count);

/* Sets info.recorded of the result, when all traces are read, and counts steps of the clock. The
 * plan has all buffers. False if memory runs out. */
bool recorded_spans_find(recorded_sessions *sessions, etl_trace *const *traces, u32 trace_count,
                         const read_plan *plan, etlheap_result *result);

#endif
