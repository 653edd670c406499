/*
 * ehs_unmatched.h - frees of heap blocks whose allocation was not recorded.
 *
 * They end no block of the file, so they are no events of it; who asks what was allocated
 * before the recording finds them here, in the order of time. They leave in parts while a
 * trace is read, and are read back part by part.
 */
#ifndef ETLHEAP_EHS_UNMATCHED_H
#define ETLHEAP_EHS_UNMATCHED_H

#include "ehs_table.h"
#include "journal.h"

typedef struct unmatched_free {
    i64 ticks;
    u64 address;
    u32 heap;   /* row n - 1 of table heap_handle */
    u32 actor;  /* row n - 1 of table actor; 0: no stack was recorded */
    u32 thread; /* ETL_NO_ID unknown */
} unmatched_free;

typedef ETLHEAP_VECTOR(unmatched_free) unmatched_frees;

/* Appends those of a chunk that has actors. False without memory. */
bool unmatched_take(unmatched_frees *frees, const journal_chunk *chunk);

/* Encodes up to EHS_PART_ROWS of them as part `part`. False without memory. */
bool ehs_unmatched_encode(ehs_blocks *out, ehs_codec *codec, u32 part, const unmatched_free *frees,
                          u32 count);

/* How many parts the file has; CORRUPT: it has not all columns. */
etl_status ehs_unmatched_parts(const ehs_reader *reader, u32 *parts, etl_error *err);

/* Reads a part into `out`, which has room for EHS_PART_ROWS; heaps and actors are the file's,
 * to be checked. CORRUPT, MEMORY. */
etl_status ehs_unmatched_read(const ehs_reader *reader, ehs_codec *codec, u32 part,
                              unmatched_free *out, u32 *count, etl_error *err);

#endif
