/*
 * mark_events.h - which records are marks, and what they are called.
 *
 * A PerfInfo/Mark record is one by itself. Other events are matched with what the user described,
 * by provider and id or by the names that a description gives. A description may stand in the
 * record, or in MetaData records anywhere in the trace; these are read beforehand if there are
 * events to match.
 */
#ifndef ETLHEAP_MARK_EVENTS_H
#define ETLHEAP_MARK_EVENTS_H

#include "descriptions.h"
#include "engine/context/mark_list.h"

/* Made for one run, then read only. Starts from {0}. */
typedef struct mark_events {
    const etlheap_mark_event *at; /* borrowed */
    u32 count;
    description_set descriptions;
} mark_events;

/* Damage of descriptions is not counted: nothing but names depends on it. False without memory. */
bool mark_events_open(mark_events *out, const etlheap_mark_event *events, u32 count,
                      etl_trace *const *traces, u32 trace_count);
void mark_events_close(mark_events *events);

/* Adds a note if the record is one of the events; ticks are those of the base clock. The first
 * event that it matches names it. False without memory. */
bool mark_events_note(const mark_events *events, const etl_record *record, const mark_note *where,
                      mark_notes *notes, etlheap_arena *arena);

#endif
