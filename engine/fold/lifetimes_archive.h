/*
 * lifetimes_archive.h - heap lifetimes of a log as rows, a segment at a time, in the order of
 * their allocations.
 */
#ifndef ETLHEAP_LIFETIMES_ARCHIVE_H
#define ETLHEAP_LIFETIMES_ARCHIVE_H

#include "lifetimes_source.h"

typedef struct lifetimes_archive {
    lifetimes_source source;
    log_reader opens;
    allocation_store scratch; /* one segment of rows */
    u32 next;                 /* segment to hand out */
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
