/*
 * ehs_segment.h - heap events in time order, as the columns of a segment.
 *
 * A segment is up to EHS_PART_ROWS consecutive events of the journal. An event
 * opens a block or ends one. Blocks have ordinals, 0 for the first allocation of
 * the file; an end tells its block by how many allocations back that was, so it
 * repeats nothing of it:
 *
 *     ordinal = allocations before the event, in the whole file - back
 *
 * A segment's columns can be read alone and segments apart from each other: what
 * lies across them (first ordinal, times) is in the segment's row of the index.
 */
#ifndef ETLHEAP_EHS_SEGMENT_H
#define ETLHEAP_EHS_SEGMENT_H

#include "engine/engine.h"
#include "ehs_table.h"

/* Bits of ehs_events.kind. */
#define EHS_EVENT_END   ((u8)1) /* ends a block or marks one; else it opens one */
#define EHS_EVENT_LATER ((u8)2) /* later than the event before it in the file */

/* ehs_events.how of what ends a block is its etlheap_free_type. An event that
 * ends nothing but finds a block to have been opened by a realloc has this. */
#define EHS_HOW_REALLOC ((u8)ETLHEAP_FREE_NONE)

/* Columns by event, by allocation and by end, each in the order of the events. */
typedef struct ehs_events {
    u32 count, alloc_count, end_count;
    i64 *ticks; /* by event, ascending */
    u8 *kind;
    u32 *slot; /* by allocation; ids as in the slot table */
    u64 *size;
    u64 *address;
    u32 *thread;
    u8 *is_realloc;
    u32 *back; /* by end, at least 1 */
    u8 *how;
    u32 *actor, *actor_thread; /* by end; written only with has_actors */
    bool has_actors;
    u8 *is_later; /* by event; for reading only */
    void *memory;
} ehs_events;

/* Makes room for EHS_PART_ROWS of everything. False without memory. */
bool ehs_events_open(ehs_events *events);
void ehs_events_close(ehs_events *events);

/* A segment's row of the index. */
typedef struct ehs_segment_info {
    i64 first_ticks, last_ticks;
    u32 events, allocs;
    u64 size_min, size_max; /* of its allocations; 0 without any */
    u64 first_event;        /* events and allocations of all segments before: not */
    u64 first_ordinal;      /* in the file, added up when the index is read */
} ehs_segment_info;

typedef ETLHEAP_VECTOR(ehs_segment_info) ehs_segment_index;

/*
 * Encodes segment `number`, of at least one event. `previous_ticks` are those of
 * the event before it, INT64_MIN for the first segment; EHS_EVENT_LATER of `kind`
 * is worked out, not read. False without memory. Segments may be encoded at once.
 */
bool ehs_segment_encode(ehs_blocks *out, ehs_codec *codec, u32 number, const ehs_events *events,
                        i64 previous_ticks, ehs_segment_info *info);

/* The index of the file, after the last segment. False without memory. */
bool ehs_segment_index_save(ehs_saver *saver, const ehs_segment_index *index);

/* The caller frees *out. CORRUPT, MEMORY, LIMIT. */
etl_status ehs_segment_index_load(ehs_loader *loader, ehs_segment_index *out);

/* Columns to read; what is not asked for is left as it is. */
#define EHS_WANT_KIND       1u
#define EHS_WANT_LATER      2u /* sets EHS_EVENT_LATER; with KIND */
#define EHS_WANT_TICKS      4u
#define EHS_WANT_SLOT       8u
#define EHS_WANT_SIZE       16u
#define EHS_WANT_ADDRESS    32u
#define EHS_WANT_THREAD     64u
#define EHS_WANT_IS_REALLOC 128u
#define EHS_WANT_BACK       256u
#define EHS_WANT_HOW        512u
#define EHS_WANT_ACTOR      1024u /* and the thread */

/* Columns that a file may lack. Their values then read as all ones, and result_answers()
 * refuses what cannot be answered without them. */
#define EHS_WANT_OPTIONAL (EHS_WANT_ADDRESS | EHS_WANT_THREAD | EHS_WANT_ACTOR)

/* Is the column optional, and has the file no block of it? Then all values become ones. */
bool ehs_leave_unrecorded(const ehs_reader *reader, ehs_column column, u32 wanted, void *values,
                          u64 count);

/*
 * Adds to *lacks the optional columns (EHS_WANT_*) that the events of the file have not.
 * CORRUPT: a column that is not optional is missing, or the index of the segments.
 */
etl_status ehs_segments_lack(const ehs_reader *reader, const ehs_segment_index *index, u32 *lacks,
                             etl_error *err);

/* The same for one column. */
etl_status ehs_column_lacks(const ehs_reader *reader, ehs_column column, u32 wanted, u32 *lacks,
                            etl_error *err);

/* All there is of allocations, and of ends; with ticks. */
#define EHS_WANT_OPENS                                                                             \
    (EHS_WANT_KIND | EHS_WANT_TICKS | EHS_WANT_SLOT | EHS_WANT_SIZE | EHS_WANT_ADDRESS |           \
     EHS_WANT_THREAD | EHS_WANT_IS_REALLOC)
#define EHS_WANT_ENDS (EHS_WANT_KIND | EHS_WANT_TICKS | EHS_WANT_BACK | EHS_WANT_HOW)

/* Where a segment is read from, and with what: one codec per thread. */
typedef struct ehs_segment_source {
    const ehs_reader *reader;
    ehs_codec *codec;
    u32 number;
} ehs_segment_source;

/*
 * Reads the wanted columns of a segment. With KIND, its events and ends are as
 * many as the other columns have. Values are the file's: slots and ordinals are
 * for the caller to check. By any thread. ETL_ERR_CORRUPT, MEMORY.
 */
etl_status ehs_segment_read(const ehs_segment_source *from, const ehs_segment_info *info,
                            u32 wanted, ehs_events *out, etl_error *err);

#endif
