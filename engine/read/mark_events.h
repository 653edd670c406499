/*
 * mark_events.h - decides which records are marks, and names them.
 *
 * A PerfInfo/Mark record always is a mark. Other events are compared with what the user described:
 * by provider and id, or by the names in a description. The description may be in the record, or in
 * MetaData records anywhere in the trace, which are read first if events are described.
 */
#ifndef ETLHEAP_MARK_EVENTS_H
#define ETLHEAP_MARK_EVENTS_H

#include "descriptions.h"
#include "engine/context/mark_list.h"

/* Made for one run and then read only. Starts from {0}. */
typedef struct mark_events {
    const etlheap_mark_event *at; /* borrowed */
    u32 count;
    description_set descriptions;
} mark_events;

/* Reads what mark_events_note needs. Damaged descriptions are not counted, because they affect only
 * names. False if memory runs out. */
bool mark_events_open(mark_events *out, const etlheap_mark_event *events, u32 count,
                      etl_trace *const *traces, u32 trace_count);
void mark_events_close(mark_events *events);

/* Adds a note if the record matches one of the events; the first match names it. Ticks are those of
 * the base clock. False if memory runs out. */
bool mark_events_note(const mark_events *events, const etl_record *record, const mark_note *where,
                      mark_notes *notes, etlheap_arena *arena);

#endif
