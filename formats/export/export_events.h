/*
 * export_events.h - turns lifetimes into events in time order, one kind at a time.
 *
 * Formats of recorders have events; we have lifetimes. A lifetime is two events. Rows come in the
 * order of allocation. The frees of open blocks wait in a heap, the next one first, so only blocks
 * that live at the same time are kept.
 *
 * For us, everything in one tick happens together, but a list has an order. Frees of older blocks
 * come first, then blocks of zero duration, each with its allocation and free, then all other
 * allocations. So within a tick, sums over the list are never higher than at its end, except for a
 * block of zero duration.
 */
#ifndef ETLHEAP_EXPORT_EVENTS_H
#define ETLHEAP_EXPORT_EVENTS_H

#include "formats/formats.h"

#include "parser/base.h"

typedef struct export_open_end {
    i64 ticks;
    i64 size_bytes;
    u32 item;
} export_open_end;

/* Only walk and kind are for callers. */
typedef struct export_events {
    etlheap_query query;
    etlheap_lifetimes *walk;
    etlheap_kind kind;
    export_open_end *ends; /* a heap: no element is before its parent */
    size_t end_count, end_capacity;
    etlheap_lifetime *held; /* allocations of this tick that come later */
    size_t held_first, held_count, held_capacity;
    etlheap_lifetime ahead; /* the next row */
    bool has_ahead;
    i64 now_ticks;
    u64 memory_bytes_max;
    etl_status status;
} export_events;

/* One event. */
typedef struct export_event {
    bool is_end;
    i64 ticks;                 /* INT64_MIN: an allocation before the window */
    i64 size_bytes;            /* at most INT64_MAX */
    u32 item;                  /* of a free: the caller's number of the block */
    etlheap_lifetime lifetime; /* of an allocation */
} export_event;

/*
 * Opens the events of one kind, because kinds are never added up: the kind of the query, or if it
 * selects all, the first of heap, virtualalloc and extent in the trace. Close it in any case; it
 * must not move while it is open. ETL_ERR_ARGUMENT (several kinds are selected), and errors of
 * etlheap_lifetimes_open.
 */
etl_status export_events_open(const etlheap_export_request *request, export_events *events,
                              etl_error *err);

/* Reads the next event. False after the last one and after an error: see the status. */
bool export_events_next(export_events *events, export_event *out);

/* Call it after an allocation to get its free, if any, with this item. Lifetimes for which it is
 * not called are not kept. */
void export_events_expect(export_events *events, const etlheap_lifetime *lifetime, u32 item);

etl_status export_events_status(const export_events *events, etl_error *err);
void export_events_close(export_events *events);

/* Writes "app.exe (4321)", the name of an outermost frame. */
void export_process_text(const etlheap_result *result, etlheap_process id, etlheap_text *text);

/* The program that ran, for formats that have only one. Start from {0}. */
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

/* Writes its command line, or that there are several programs. */
void export_program_text(const etlheap_result *result, const export_program *program,
                         etlheap_text *text);

#endif
