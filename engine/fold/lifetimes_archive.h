/*
 * lifetimes_archive.h - heap lifetimes of a store, a segment of rows at a time.
 */
#ifndef ETLHEAP_LIFETIMES_ARCHIVE_H
#define ETLHEAP_LIFETIMES_ARCHIVE_H

#include "engine/result/archive.h"

/* Ends found at once unless less memory is allowed: 288 MiB of them. */
#define LIFETIMES_ENDS_MAX ((u64)32 << 20)

/* What a reader is to find: blocks that may belong to a window. */
typedef struct lifetimes_wanted {
    i64 from_ticks, to_ticks;
    u64 size_min_bytes, size_max_bytes;
    u64 ends_max; /* blocks whose ends are kept at once; at least a segment's */
} lifetimes_wanted;

/* A run of segments whose blocks have their ends. */
typedef struct lifetimes_chunk {
    u32 first, end;    /* segments */
    u64 first_ordinal; /* of their blocks */
    u64 open_count;    /* rows of the checkpoint before them, in front; else 0 */
    u64 count;         /* of ends: rows of the checkpoint and blocks */
} lifetimes_chunk;

typedef struct lifetimes_archive {
    const ehs_archive *archive;
    lifetimes_wanted wanted;
    u32 first, end;     /* segments that open blocks of the window */
    ehs_open_rows open; /* blocks open before the first of them */
    log_reader ends, opens;
    allocation_store scratch; /* one segment of rows */
    lifetimes_chunk chunk;
    i64 *end_ticks;
    u8 *end_how; /* etlheap_free_type, and END_MARKED */
    u64 end_capacity;
    bool has_ends;    /* those of the chunk are there */
    u32 next;         /* segment to hand out */
    size_t next_open; /* row of the checkpoint to hand out */
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

/* From the beginning again. */
void lifetimes_archive_rewind(lifetimes_archive *reader);

/* How many parts of the way through the segments are done, and all there are. */
u32 lifetimes_archive_done(const lifetimes_archive *reader, u32 *total);

#endif
