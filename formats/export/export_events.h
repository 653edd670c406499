/*
 * export_events.h - what became of a kind's blocks, in the order in which it happened.
 *
 * Formats of recorders have events, or what follows from going through events; we
 * have lifetimes. A lifetime is two events. Rows come by time of allocation; the ends
 * of those that are open wait in a heap, the next one first: what lives at once is
 * all that is kept.
 *
 * What happens in one tick happens together for us, but has an order in a list. Ends
 * of older blocks come first, then blocks without length, beginning and end one after
 * the other, then all other beginnings: so sums over the list are never higher within
 * a tick than at its end, but for a block without length.
 */
#ifndef ETLHEAP_EXPORT_EVENTS_H
#define ETLHEAP_EXPORT_EVENTS_H

#include "formats/formats.h"

typedef struct export_open_end {
    i64 ticks;
    i64 size_bytes;
    u32 item;
} export_open_end;

/* Members are for its functions alone, but for walk and kind. */
typedef struct export_events {
    etlheap_query query;
    etlheap_lifetimes *walk;
    etlheap_kind kind;
    export_open_end *ends; /* a heap: none is before its parent */
    size_t end_count, end_capacity;
    etlheap_lifetime *held; /* beginnings of this tick that others come before */
    size_t held_first, held_count, held_capacity;
    etlheap_lifetime ahead; /* the next row */
    bool has_ahead;
    i64 now_ticks;
    u64 memory_bytes_max;
    etl_status status;
} export_events;

/* One thing that happened. */
typedef struct export_event {
    bool is_end;
    i64 ticks;                 /* INT64_MIN: a beginning before the window */
    i64 size_bytes;            /* sizes that do not fit are INT64_MAX */
    u32 item;                  /* of an end: what the caller called the block */
    etlheap_lifetime lifetime; /* of a beginning */
} export_event;

/*
 * Kinds are never added up, so a file that has one sum has one kind: the query's, and
 * if it selects all, the first of heap, virtualalloc and extent that the trace has.
 * ETL_ERR_ARGUMENT (several are selected), and as of etlheap_lifetimes_open. To be
 * closed in every case. It does not move while it is open.
 */
etl_status export_events_open(const etlheap_export_request *request, export_events *events,
                              etl_error *err);

/* False after the last event, and when something went wrong: ask the status. */
bool export_events_next(export_events *events, export_event *out);

/* After a beginning: its end, if it has one, will be told with this item. Nothing is
 * kept of a lifetime for which it is not called. */
void export_events_expect(export_events *events, const etlheap_lifetime *lifetime, u32 item);

etl_status export_events_status(const export_events *events, etl_error *err);
void export_events_close(export_events *events);

/* "app.exe (4321)", the name of an outermost frame. */
void export_process_text(const etlheap_result *result, etlheap_process id, etlheap_text *text);

/* What ran, for formats that know of one program. Start from {0}. */
typedef struct export_program {
    etlheap_process process; /* the first one; 0: none yet */
    bool is_several;
} export_program;

static inline void export_program_meet(export_program *program, etlheap_process process)
{
    if (program->process.v == 0)
        program->process = process;
    program->is_several |= program->process.v != process.v;
}

/* Its command line, or that there is not one program. */
void export_program_text(const etlheap_result *result, const export_program *program,
                         etlheap_text *text);

#endif
