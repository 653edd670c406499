/*
 * event_inventory.h - counts the events of providers, with the names in the trace.
 *
 * Hooks are counted by number and have built-in names. Events of providers are identified by id and
 * version; TraceLogging events by their names, because their ids mean nothing. The names of other
 * events are in MetaData records anywhere in the trace, so names and counts are joined at the end.
 * Only runs for `info` and for stores count them.
 */
#ifndef ETLHEAP_EVENT_INVENTORY_H
#define ETLHEAP_EVENT_INVENTORY_H

#include "engine/core/intern.h"
#include "engine/engine.h"

/* Limit on the rows of names and events. Known traces have up to 200. */
#define EVENT_INVENTORY_ROWS_MAX 65536u

/* An event, or the names of one, as string ids; 0: none. */
typedef struct event_inventory_row {
    etl_event_id id;
    u32 provider, name;
    u64 count, bytes;
} event_inventory_row;

typedef ETLHEAP_VECTOR(event_inventory_row) event_inventory_rows;

/* Starts from {0}. */
typedef struct event_inventory {
    etlheap_strings strings;
    event_inventory_rows events; /* one for each id and names */
    event_inventory_rows names;  /* names from MetaData records: one for each id */
    etlheap_index event_index, name_index;
    u32 last; /* number of the last event, because events come in runs */
} event_inventory;

/* Counts a record of a provider, or keeps the names in a MetaData record. False if memory runs out.
 * An unreadable description leaves an event without a name and is not counted as damage here:
 * `dump` does that, because a store must not report more damage than an analysis, which does not
 * use descriptions. */
bool event_inventory_add(event_inventory *inventory, const etl_record *record);

bool event_inventory_merge(event_inventory *into, const event_inventory *from);

/* Lists the events, ordered by provider, id and name. Adds texts to `strings`. */
bool event_inventory_finish(const event_inventory *inventory, etlheap_strings *strings,
                            etlheap_event_count **rows, size_t *count);

void event_inventory_free(event_inventory *inventory);

#endif
