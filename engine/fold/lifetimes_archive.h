/*
 * lifetimes_archive.h - reads heap lifetimes of a log as rows, a segment at a time, in the order of
 * their allocations.
 *
 * Several segments are decoded in parallel, each by a worker of its own, and returned one by one.
 */
#ifndef ETLHEAP_LIFETIMES_ARCHIVE_H
#define ETLHEAP_LIFETIMES_ARCHIVE_H

#include "engine/core/workers.h"
#include "lifetimes_source.h"

#define SEGMENT_WORKERS_MAX 8u

/* A segment being decoded. */
typedef struct segment_worker {
    log_reader opens;
    u32 segment;
    task_end outcome;
} segment_worker;

typedef struct lifetimes_archive {
    lifetimes_source source;
    segment_worker workers[SEGMENT_WORKERS_MAX];
    u32 worker_count, filled, handed_out; /* workers: all, with rows, and returned */
    etlheap_crew *crew;
    lifetime_table scratch; /* one segment of rows per worker */
    u32 next;               /* segment to decode */
    u64 size_floor_bytes;   /* smaller blocks are skipped */
    size_t next_open;       /* next row of the checkpoint to return */
} lifetimes_archive;

/* Opens a reader. Close it in any case. ETL_ERR_MEMORY, ETL_ERR_CORRUPT. */
etl_status lifetimes_archive_open(lifetimes_archive *out, const ehs_archive *archive,
                                  const lifetimes_wanted *wanted, etl_error *err);
void lifetimes_archive_close(lifetimes_archive *reader);

/* Reads the next rows, in the order of their allocations, valid until the next call; *rows is NULL
 * after the last. ETL_ERR_MEMORY, ETL_ERR_CORRUPT. */
etl_status lifetimes_archive_next(lifetimes_archive *reader, const store_segment **rows,
                                  etl_error *err);

/* Skips smaller blocks from now on, until lifetimes_archive_rewind. Most segments have no block as
 * large as the largest ones, and are then not read. */
void lifetimes_archive_raise_floor(lifetimes_archive *reader, u64 size_bytes);

/* Starts again from the first row. */
void lifetimes_archive_rewind(lifetimes_archive *reader);

/* Progress: returns the parts done, and sets *total to the parts in total. */
u32 lifetimes_archive_done(const lifetimes_archive *reader, u32 *total);

#endif
