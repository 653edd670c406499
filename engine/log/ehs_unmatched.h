/*
 * ehs_unmatched.h - frees of heap blocks whose allocation was not recorded.
 *
 * They end no block of the file, so they are not among its events. Questions about memory allocated
 * before the recording find them here, in time order. They are written in parts while a trace is
 * read, and read back part by part.
 */
#ifndef ETLHEAP_EHS_UNMATCHED_H
#define ETLHEAP_EHS_UNMATCHED_H

#include "ehs_table.h"
#include "event_list.h"

typedef struct unmatched_free {
    i64 ticks;
    u64 address;
    u32 heap;   /* row n - 1 of table heap_handle */
    u32 freer;  /* row n - 1 of table freer; 0: no stack was recorded */
    u32 thread; /* ETL_NO_ID unknown */
} unmatched_free;

typedef ETLHEAP_VECTOR(unmatched_free) unmatched_frees;

/* Appends the unmatched frees of a chunk with freers. False if memory runs out. */
bool unmatched_take(unmatched_frees *frees, const event_chunk *chunk);

/* Encodes up to EHS_PART_ROWS of them as part `part`. False if memory runs out. */
bool ehs_unmatched_encode(ehs_blocks *out, ehs_codec *codec, u32 part, const unmatched_free *frees,
                          u32 count);

/* Sets *parts to the number of parts in the file. ETL_ERR_CORRUPT: columns are missing. */
etl_status ehs_unmatched_parts(const ehs_reader *reader, u32 *parts, etl_error *err);

/* Reads a part into `out`, which has room for EHS_PART_ROWS. The caller checks heaps and freers.
 * ETL_ERR_CORRUPT, ETL_ERR_MEMORY. */
etl_status ehs_unmatched_read(const ehs_reader *reader, ehs_codec *codec, u32 part,
                              unmatched_free *out, u32 *count, etl_error *err);

#endif
