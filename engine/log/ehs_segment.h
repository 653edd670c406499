/*
 * ehs_segment.h - heap events in time order, as the columns of a segment.
 *
 * A segment is up to EHS_PART_ROWS consecutive events. An event opens a block or ends one. Blocks
 * have ordinals, 0 for the first allocation in the file. An end identifies its block by the number
 * of allocations since it was opened, so it repeats nothing of the block:
 *
 *     ordinal = allocations before the event, in the whole file - back
 *
 * Columns of a segment can be read separately, and segments independently of each other: what spans
 * them (first ordinal, times) is in the segment's row of the index.
 */
#ifndef ETLHEAP_EHS_SEGMENT_H
#define ETLHEAP_EHS_SEGMENT_H

#include "engine/engine.h"
#include "ehs_table.h"

/* Bits of ehs_events.kind. */
#define EHS_EVENT_END   ((u8)1) /* ends a block, or shows its realloc; else opens one */
#define EHS_EVENT_LATER ((u8)2) /* later than the previous event in the file */

/* ehs_events.how is the etlheap_free_type of an event that ends a block. An event that only marks a
 * block as opened by a realloc has this value. */
#define EHS_HOW_REALLOC ((u8)ETLHEAP_FREE_NONE)

/* Columns by event, by allocation and by end, each in the order of the events. */
typedef struct ehs_events {
    u32 count, alloc_count, end_count;
    i64 *ticks; /* by event, ascending */
    u8 *kind;
    u32 *origin; /* by allocation; ids as in the origin table */
    u64 *size;
    u64 *address;
    u32 *thread;
    u8 *is_realloc;
    u32 *back; /* by end, at least 1 */
    u8 *how;
    u32 *freer, *freer_thread; /* by end; only with has_freers */
    /* What is not encoded has no values. */
    bool has_freers, has_freer_threads, lacks_addresses, lacks_threads;
    u8 *is_later; /* by event; for reading only */
    void *memory;
} ehs_events;

/* Allocates all columns with room for EHS_PART_ROWS. False if memory runs out. */
bool ehs_events_open(ehs_events *events);
void ehs_events_close(ehs_events *events);

/* The row of a segment in the index. */
typedef struct ehs_segment_info {
    i64 first_ticks, last_ticks;
    u32 events, allocs;
    u64 size_min, size_max; /* of its allocations; 0 if there are none */
    u64 first_event;        /* events and allocations before the segment: not */
    u64 first_ordinal;      /* in the file, computed when the index is read */
} ehs_segment_info;

typedef ETLHEAP_VECTOR(ehs_segment_info) ehs_segment_index;

/*
 * Encodes segment `number`, with at least one event. `previous_ticks` is the time of the event
 * before it, INT64_MIN for the first segment; EHS_EVENT_LATER is computed from the times. False if
 * memory runs out. Segments may be encoded in parallel.
 */
bool ehs_segment_encode(ehs_blocks *out, ehs_codec *codec, u32 number, const ehs_events *events,
                        i64 previous_ticks, ehs_segment_info *info);

/* Writes the index of the file, after the last segment. False if memory runs out. */
bool ehs_segment_index_save(ehs_saver *saver, const ehs_segment_index *index);

/* Reads the index. The caller frees *out. ETL_ERR_CORRUPT, ETL_ERR_MEMORY, ETL_ERR_LIMIT. */
etl_status ehs_segment_index_load(ehs_loader *loader, ehs_segment_index *out);

/* Columns to read; the others are left unchanged. */
#define EHS_WANT_KIND         1u
#define EHS_WANT_LATER        2u /* sets EHS_EVENT_LATER; with KIND */
#define EHS_WANT_TICKS        4u
#define EHS_WANT_ORIGIN       8u
#define EHS_WANT_SIZE         16u
#define EHS_WANT_ADDRESS      32u
#define EHS_WANT_THREAD       64u
#define EHS_WANT_IS_REALLOC   128u
#define EHS_WANT_BACK         256u
#define EHS_WANT_HOW          512u
#define EHS_WANT_FREER        1024u
#define EHS_WANT_FREER_THREAD 2048u

/* Columns that a file may lack. Their values then read as all ones, and result_answers() refuses
 * questions that need them. */
#define EHS_WANT_OPTIONAL                                                                          \
    (EHS_WANT_ADDRESS | EHS_WANT_THREAD | EHS_WANT_FREER | EHS_WANT_FREER_THREAD)

/* True if the column is optional and the file does not have it. Then all values are set to ones. */
bool ehs_leave_unrecorded(const ehs_reader *reader, ehs_column column, u32 wanted, void *values,
                          u64 count);

/* Adds to *lacks the optional columns (EHS_WANT_*) that the file's events lack. ETL_ERR_CORRUPT:
 * another column, or the index of segments, is missing. */
etl_status ehs_segments_lack(const ehs_reader *reader, const ehs_segment_index *index, u32 *lacks,
                             etl_error *err);

/* The same for a single column. */
etl_status ehs_column_lacks(const ehs_reader *reader, ehs_column column, u32 wanted, u32 *lacks,
                            etl_error *err);

/* All columns of allocations, and of ends, including ticks. */
#define EHS_WANT_OPENS                                                                             \
    (EHS_WANT_KIND | EHS_WANT_TICKS | EHS_WANT_ORIGIN | EHS_WANT_SIZE | EHS_WANT_ADDRESS |         \
     EHS_WANT_THREAD | EHS_WANT_IS_REALLOC)
#define EHS_WANT_ENDS (EHS_WANT_KIND | EHS_WANT_TICKS | EHS_WANT_BACK | EHS_WANT_HOW)

/* The source of a segment; each thread needs its own codec. */
typedef struct ehs_segment_source {
    const ehs_reader *reader;
    ehs_codec *codec;
    u32 number;
} ehs_segment_source;

/*
 * Reads the wanted columns of a segment. With KIND, checks that the other columns have as many
 * events and ends. Other values are as in the file: the caller checks origins and ordinals. Any
 * thread. ETL_ERR_CORRUPT, ETL_ERR_MEMORY.
 */
etl_status ehs_segment_read(const ehs_segment_source *from, const ehs_segment_info *info,
                            u32 wanted, ehs_events *out, etl_error *err);

#endif
