/*
 * archive_moments.h - finds where moments are among the events of a store.
 *
 * A window begins and ends at times; a walk needs the events there. The index of segments leads to
 * the segment, whose times are read to find the event.
 */
#ifndef ETLHEAP_ARCHIVE_MOMENTS_H
#define ETLHEAP_ARCHIVE_MOMENTS_H

#include "engine/result/archive.h"

/* A position in the file: the first event at or after some time. */
typedef struct archive_moment {
    u32 segment, event; /* may be one past the last */
    u64 allocs;         /* allocations before it, in the file */
} archive_moment;

/* True if an event is at or after a position. */
static inline bool archive_moment_is_reached(const archive_moment *moment, u32 segment, u32 event)
{
    return moment->segment < segment || (moment->segment == segment && moment->event <= event);
}

/* The number of a batch's events before a position. */
static inline u32 archive_events_before(const archive_moment *moment, const log_batch *batch)
{
    if (batch->segment != moment->segment)
        return batch->segment < moment->segment ? batch->count : 0;
    const u32 left = moment->event > batch->first ? moment->event - batch->first : 0;
    return left < batch->count ? left : batch->count;
}

/* A time whose position is wanted. */
typedef struct moment_wanted {
    i64 ticks;
    archive_moment *out;
} moment_wanted;

typedef ETLHEAP_VECTOR(moment_wanted) moment_list;

/* Finds all moments, with as many threads as wanted. The list is sorted by time. ETL_ERR_CORRUPT,
 * ETL_ERR_MEMORY. */
etl_status archive_find_moments(const ehs_archive *archive, moment_list *moments, u32 threads,
                                const u32 *cancel, etl_error *err);

#endif
