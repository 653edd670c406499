/*
 * event_census.h - counts of the events of providers, with the names that the trace gives.
 *
 * Hooks are counted by number and have names of ours; events of providers are told apart
 * by id and version, and those of TraceLogging, whose ids mean nothing, by their names.
 * Names of the others are in MetaData records anywhere in the trace, so they meet at
 * the end. For `info` and for stores; other runs do not count.
 */
#ifndef ETLHEAP_EVENT_CENSUS_H
#define ETLHEAP_EVENT_CENSUS_H

#include "engine/core/intern.h"
#include "engine/engine.h"

/* Names and kinds of events that are kept; traces at hand have up to 200. */
#define EVENT_CENSUS_ROWS_MAX 65536u

/* An event, or the names of one: numbers of strings, 0 for none. */
typedef struct event_census_row {
    etl_event_id id;
    u32 provider, name;
    u64 count, bytes;
} event_census_row;

typedef ETLHEAP_VECTOR(event_census_row) event_census_rows;

/* Starts from {0}. */
typedef struct event_census {
    etlheap_strings strings;
    event_census_rows events; /* one for each id and names */
    event_census_rows names;  /* what MetaData records say: one for each id */
    etlheap_index event_index, name_index;
    u32 last; /* the latest event's number: they come in runs */
} event_census;

/* Counts a record of a provider, or notes what a MetaData record says. False without
 * memory. Descriptions that cannot be read leave an event without a name: `dump` counts them,
 * because a store must not find more wrong than an analysis, which has no use for them. */
bool event_census_add(event_census *census, const etl_record *record);

bool event_census_merge(event_census *into, const event_census *from);

/* The events in order of provider, id and name; texts are added to `strings`. */
bool event_census_finish(const event_census *census, etlheap_strings *strings,
                         etlheap_event_count **rows, size_t *count);

void event_census_free(event_census *census);

#endif
