/*
 * lifetimes_archive.h - heap lifetimes of a log as rows, a segment at a time, in the order of
 * their allocations.
 *
 * Segments are decoded some at once, each by a lane of its own, and handed out one by one.
 */
#ifndef ETLHEAP_LIFETIMES_ARCHIVE_H
#define ETLHEAP_LIFETIMES_ARCHIVE_H

#include "engine/core/workers.h"
#include "lifetimes_source.h"

#define LIFETIMES_LANES_MAX 8u

/* A segment being decoded. */
typedef struct lifetimes_lane {
    log_reader opens;
    u32 segment;
    etl_status status;
    etl_error err;
} lifetimes_lane;

typedef struct lifetimes_archive {
    lifetimes_source source;
    lifetimes_lane lanes[LIFETIMES_LANES_MAX];
    u32 lane_count, filled, handed_out; /* lanes: all, those with rows, and of these */
    etlheap_crew *crew;
    allocation_store scratch; /* a segment of rows for each lane */
    u32 next;                 /* segment to decode */
    u64 size_floor_bytes;     /* smaller blocks are not handed out any more */
    size_t next_open;         /* row of the checkpoint to hand out */
} lifetimes_archive;

/* To be closed in any case. MEMORY, CORRUPT. */
etl_status lifetimes_archive_open(lifetimes_archive *out, const ehs_archive *archive,
                                  const lifetimes_wanted *wanted, etl_error *err);
void lifetimes_archive_close(lifetimes_archive *reader);

/*
 * The next rows, in order of their allocations; *rows is NULL after the last ones.
 * They are valid until the next call. MEMORY, CORRUPT.
 */
etl_status lifetimes_archive_next(lifetimes_archive *reader, const store_segment **rows,
                                  etl_error *err);

/* Smaller blocks are of no use from now on, until the next time through. Most segments have no
 * block as large as the largest ones, and are not read then. */
void lifetimes_archive_raise_floor(lifetimes_archive *reader, u64 size_bytes);

/* From the beginning again. */
void lifetimes_archive_rewind(lifetimes_archive *reader);

/* How many parts of the way through the segments are done, and all there are. */
u32 lifetimes_archive_done(const lifetimes_archive *reader, u32 *total);

#endif
