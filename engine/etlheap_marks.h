/*
 * etlheap_marks.h - moments with a name: marks, and events that are taken for marks.
 *
 * Part of engine.h. A mark is a PerfInfo/Mark record (xperf -m, wpr -marker, and WPR's own), or an
 * event that an etlheap_mark_event describes. Marks are in the order of time; equal names are
 * numbered from 1. At most ETLHEAP_MARKS_MAX of them, the earliest, are kept, with names of at most
 * ETLHEAP_MARK_NAME_MAX bytes: what is left out or cut is counted as a diagnostic.
 */
#ifndef ETLHEAP_MARKS_H
#define ETLHEAP_MARKS_H

#include "parser/parser.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ETLHEAP_MARKS_MAX     ((u32)65536)
#define ETLHEAP_MARK_NAME_MAX ((u32)255)

typedef struct etlheap_mark {
    i64 ticks;        /* of the first trace's clock */
    i64 time_ns;      /* since time zero */
    const char *name; /* UTF-8, never empty */
    u32 number;       /* 1: the first of its name */
    bool is_end;      /* an event with the opcode Stop: something ends, and nothing begins */
} etlheap_mark;

/* In order of ticks; owned by whoever handed it out. */
typedef struct etlheap_marks {
    const etlheap_mark *at;
    u32 count;
    etl_diag_counts diagnostics; /* marks_left_out, mark_name_cut */
} etlheap_marks;

/*
 * Events that are marks. `provider` is a GUID without braces, or a name; `event` an id in decimal
 * (of a classic event its opcode), or a name, "Task" or "Task/Opcode". With a field, only events
 * whose value of that field matches `value` are marks, and they are called by the value; otherwise
 * they are called by the event's name. Names and values may have * and ?, and match
 * without regard to case. Fields are known of events that describe themselves, or that the traces
 * describe; see described.h.
 */
typedef struct etlheap_mark_event {
    const char *provider, *event;
    const char *field, *value; /* NULL, both: any such event */
} etlheap_mark_event;

typedef struct etlheap_marks_options {
    size_t size; /* sizeof(etlheap_marks_options) */
    const etlheap_mark_event *events;
    u32 event_count;
    u32 jobs;                           /* threads; 0: etlheap_default_jobs() */
    bool (*progress)(void *, u64, u64); /* as etlheap_progress_fn; NULL: none */
    void *progress_user;
} etlheap_marks_options;

/*
 * Reads the marks of traces, taken as one recording, and nothing else: to name moments before an
 * analysis that depends on them. The marks are those that etlheap_analyze finds. *out is owned by
 * the caller and borrows nothing. options may be NULL. ETL_ERR_MEMORY, ETL_ERR_CANCELLED,
 * ETL_ERR_ARGUMENT (no trace).
 */
etl_status etlheap_marks_read(etl_trace *const *traces, u32 trace_count,
                              const etlheap_marks_options *options, etlheap_marks **out,
                              etl_error *err);
void etlheap_marks_free(etlheap_marks *marks); /* NULL is allowed */

/* The mark of a name and number, NULL: there is none. */
const etlheap_mark *etlheap_marks_find(const etlheap_marks *marks, const char *name, u32 number);

#ifdef __cplusplus
}
#endif

#endif
