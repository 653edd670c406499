/*
 * archive_places.h - finds where times are among the events of a store.
 *
 * A window begins and ends at times; a walk needs the events there. The index of segments leads to
 * the segment, whose times are read to find the event.
 */
#ifndef ETLHEAP_ARCHIVE_PLACES_H
#define ETLHEAP_ARCHIVE_PLACES_H

#include "engine/result/archive.h"

/* A position in the file: the first event at or after some time. */
typedef struct archive_place {
    u32 segment, event; /* may be one past the last */
    u64 allocs;         /* allocations before it, in the file */
} archive_place;

/* True if an event is at or after a position. */
static inline bool archive_place_is_reached(const archive_place *place, u32 segment, u32 event)
{
    return place->segment < segment || (place->segment == segment && place->event <= event);
}

/* The number of a batch's events before a position. */
static inline u32 archive_events_before(const archive_place *place, const log_batch *batch)
{
    if (batch->segment != place->segment)
        return batch->segment < place->segment ? batch->count : 0;
    const u32 left = place->event > batch->first ? place->event - batch->first : 0;
    return left < batch->count ? left : batch->count;
}

/* A time whose position is wanted. */
typedef struct place_wanted {
    i64 ticks;
    archive_place *out;
} place_wanted;

typedef ETLHEAP_VECTOR(place_wanted) place_list;

/* Finds all places, with as many threads as wanted. The list is sorted by time. ETL_ERR_CORRUPT,
 * ETL_ERR_MEMORY. */
etl_status archive_find_places(const ehs_archive *archive, place_list *places, u32 threads,
                               const u32 *cancel, etl_error *err);

#endif
