/*
 * etlheap_marks.h - marks: named moments of a recording. Part of engine.h.
 *
 * A mark is a PerfInfo/Mark record (from xperf -m, wpr -marker, or WPR itself), or an event that an
 * etlheap_mark_event describes. Marks are in time order, and marks with the same name are numbered
 * from 1. Only the earliest ETLHEAP_MARKS_MAX marks are kept, with names of up to
 * ETLHEAP_MARK_NAME_MAX bytes; what is left out or cut is counted in diagnostics.
 *
 * etlheap_result_marks returns the marks of a result. etlheap_marks_read reads them from traces
 * before an analysis whose window depends on them.
 */
#ifndef ETLHEAP_MARKS_H
#define ETLHEAP_MARKS_H

#include "parser/parser.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ETLHEAP_MARKS_MAX     ((uint32_t)65536)
#define ETLHEAP_MARK_NAME_MAX ((uint32_t)255)

/* A mark. */
typedef struct etlheap_mark {
    int64_t ticks;    /* of the first trace's clock */
    int64_t time_ns;  /* since time zero */
    const char *name; /* UTF-8, never empty */
    uint32_t number;  /* 1 for the first mark with this name */
    bool is_end;      /* an event with opcode Stop, which ends something and begins nothing */
} etlheap_mark;

/* Marks in time order, owned by the function that returned them. */
typedef struct etlheap_marks {
    const etlheap_mark *at;
    uint32_t count;
    etl_diag_counts diagnostics; /* marks_left_out, mark_name_cut */
} etlheap_marks;

/*
 * Describes events to treat as marks. `provider` is a GUID without braces, or a name. `event` is an
 * id in decimal (of a classic event: its opcode), or a name, "Task" or "Task/Opcode". With a field,
 * only events whose value of the field matches `value` are marks, named by that value; otherwise
 * the event's name is the mark's name. Names and values may contain the wildcards * and ?, and
 * ignore case. Fields are known for events that describe themselves or that the trace describes
 * (described.h).
 */
typedef struct etlheap_mark_event {
    const char *provider, *event;
    const char *field, *value; /* both NULL: any such event */
} etlheap_mark_event;

/* Options of etlheap_marks_read. Start from {0} with `size` set. Events are borrowed for the
 * call. */
typedef struct etlheap_marks_options {
    size_t size; /* sizeof(etlheap_marks_options) */
    const etlheap_mark_event *events;
    uint32_t event_count;
    uint32_t jobs;                                /* threads; 0: etlheap_default_jobs() */
    bool (*progress)(void *, uint64_t, uint64_t); /* as etlheap_progress_fn; NULL: none */
    void *progress_user;
} etlheap_marks_options;

/*
 * Reads only the marks of traces, which are treated as one recording; finds the same marks as
 * etlheap_analyze. options may be NULL. The caller owns *out (etlheap_marks_free), which borrows
 * nothing. ETL_ERR_MEMORY, ETL_ERR_CANCELLED, ETL_ERR_ARGUMENT (no trace).
 */
etl_status etlheap_marks_read(etl_trace *const *traces, uint32_t trace_count,
                              const etlheap_marks_options *options, etlheap_marks **out,
                              etl_error *err);
void etlheap_marks_free(etlheap_marks *marks); /* NULL is allowed */

/* The mark with this name and number, or NULL. Case matters. */
const etlheap_mark *etlheap_marks_find(const etlheap_marks *marks, const char *name,
                                       uint32_t number);

#ifdef __cplusplus
}
#endif

#endif
