/*
 * event_list_clock.h - the times of an event list's words, kept so that moments can be found later.
 *
 * An event list for windows cuts time while it is written, so a word needs no time once its chunk
 * is closed. The samples of growth are not known by then: they depend on when the trace ends. So a
 * event list may keep a clock, a byte or two for each word.
 */
#ifndef ETLHEAP_EVENT_LIST_CLOCK_H
#define ETLHEAP_EVENT_LIST_CLOCK_H

#include "event_list.h"

/* Winds the clock of a chunk, from its ticks. False if memory runs out. */
bool event_list_clock_wind(event_list *list, event_chunk *chunk);

/* Finds the first word at or after each moment, and appends it, with the moment. The moments must
 * ascend, and the event list must be closed and have a clock. Words before the first moment get a
 * row as well, with INT64_MIN. Any thread. False if memory runs out. */
bool event_list_clock_find(const event_list *list, const i64 *moments, u32 count,
                           window_crossings *out);

#endif
