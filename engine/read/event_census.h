/*
 * event_census.h - counts the events of providers, with the names in the trace.
 *
 * Hooks are counted by number and have built-in names. Events of providers are identified by id and
 * version; TraceLogging events by their names, because their ids mean nothing. The names of other
 * events are in MetaData records anywhere in the trace, so names and counts are joined at the end.
 * Only runs for `info` and for stores count them.
 */
#ifndef ETLHEAP_EVENT_CENSUS_H
#define ETLHEAP_EVENT_CENSUS_H

#include "engine/core/intern.h"
#include "engine/engine.h"

/* Limit on the rows of names and events. Known traces have up to 200. */
#define EVENT_CENSUS_ROWS_MAX 65536u

/* An event, or the names of one, as string ids; 0: none. */
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
    event_census_rows names;  /* names from MetaData records: one for each id */
    etlheap_index event_index, name_index;
    u32 last; /* number of the last event, because events come in runs */
} event_census;

/* Counts a record of a provider, or keeps the names in a MetaData record. False if memory runs out.
 * An unreadable description leaves an event without a name and is not counted as damage here:
 * `dump` does that, because a store must not report more damage than an analysis, which does not
 * use descriptions. */
bool event_census_add(event_census *census, const etl_record *record);

bool event_census_merge(event_census *into, const event_census *from);

/* Lists the events, ordered by provider, id and name. Adds texts to `strings`. */
bool event_census_finish(const event_census *census, etlheap_strings *strings,
                         etlheap_event_count **rows, size_t *count);

void event_census_free(event_census *census);

#endif
