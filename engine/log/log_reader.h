/*
 * log_reader.h - reads heap events in time order, a few thousand at a time.
 *
 * The columns of a segment have a value for each event, each allocation or each end, and an end
 * says only how many allocations ago its block was opened (ehs_segment.h). A reader of events
 * needs, for each, the block and the place of its values. A batch has both:
 *
 *     kind      OPENS  OPENS  ENDS  OPENS  ENDS
 *     ordinal     7      8      7     9      3      the block: opened, ended or resized
 *     row         0      1      0     2      1      place in origin, size, ... or in how
 *
 * Only log_number() loops over these columns, for segments of a file as well as for events about to
 * be written.
 */
#ifndef ETLHEAP_LOG_READER_H
#define ETLHEAP_LOG_READER_H

#include "ehs_segment.h"

#define LOG_BATCH_ROWS 4096u

/* Consecutive events of a segment. Columns that were not requested are undefined. */
typedef struct log_batch {
    u32 count;
    u32 segment;
    u32 first; /* number in the segment of the event at index 0 */
    const i64 *ticks;
    const u8 *kind;     /* EHS_EVENT_* */
    const u32 *ordinal; /* of the block; for ends only with EHS_WANT_BACK */
    const u32 *row;
    const u32 *origin; /* by row of an allocation; not checked */
    const u64 *size;
    const u64 *address;
    const u32 *thread;
    const u8 *is_realloc;
    const u8 *how;                   /* by row of an end */
    const u32 *freer, *freer_thread; /* by row of an end; not checked */
} log_batch;

static inline bool log_opens(const log_batch *batch, u32 at)
{
    return (batch->kind[at] & EHS_EVENT_END) == 0;
}

/* The blocks that a segment opens, which have consecutive ordinals. Columns that were not requested
 * are undefined. */
typedef struct log_blocks {
    u32 count;
    u32 segment;
    u64 first_ordinal;
    const u32 *origin; /* not checked */
    const u64 *size;
    const u8 *is_realloc;
} log_blocks;

/* The ends among consecutive events of a segment, in their order. */
typedef struct log_ends {
    log_batch batch; /* the events: count, segment, first and kind; nothing else is defined */
    u32 count;
    const u32 *ordinal; /* of the block */
    const u8 *how;
} log_ends;

/* The number of ends among the first `events` events. */
u32 log_ends_before(const log_ends *ends, u32 events);

/* Where numbering continues: counts of what came before. */
typedef struct log_place {
    u32 event, alloc; /* in the segment */
    u64 allocs;       /* in the file */
} log_place;

typedef struct log_numbers {
    u32 ordinal[LOG_BATCH_ROWS], row[LOG_BATCH_ROWS];
} log_numbers;

/*
 * Numbers the next events of a segment; *out is empty after the last. It borrows the events and the
 * numbers. `has_ends`: the column `back` was read. False: an end names a block that does not exist.
 */
bool log_number(const ehs_events *events, bool has_ends, log_place *place, log_numbers *numbers,
                log_batch *out);

/* Reads a file's events. Only one thread may use a reader at a time. */
typedef struct log_reader {
    const ehs_reader *file;
    const ehs_segment_index *segments;
    const u32 *cancel; /* see cancel.h */
    u32 wanted;        /* EHS_WANT_* */
    u32 at_hand;       /* number + 1 of the loaded segment; 0: none */
    u32 next, end;     /* segments to read */
    ehs_codec codec;
    ehs_events events;
    log_place place;
    log_numbers *numbers;
    log_batch batch;
    log_blocks blocks;
    log_ends ends;
} log_reader;

/* Opens a reader. The file and the index are borrowed; events are always read with KIND. Close it
 * in any case. False if memory runs out. */
bool log_reader_open(log_reader *out, const ehs_reader *file, const ehs_segment_index *segments,
                     u32 wanted, const u32 *cancel);
void log_reader_close(log_reader *reader);

/* Continues with the first batch of segment `first` and ends before segment `end`. A loaded segment
 * is not read again. */
void log_reader_seek(log_reader *reader, u32 first, u32 end);

/* Reads the next batch, valid until the next call; *out is NULL after the last. No batch spans two
 * segments. ETL_ERR_CORRUPT, ETL_ERR_MEMORY, ETL_ERR_CANCELLED. */
etl_status log_next(log_reader *reader, const log_batch **out, etl_error *err);

/* Like log_next, of ends only: half the work, for those who know the blocks already. Needs
 * EHS_WANT_BACK and EHS_WANT_HOW. */
etl_status log_next_ends(log_reader *reader, const log_ends **out, etl_error *err);

/* Reads the blocks of the next segment without its events, valid until the next call; *out is NULL
 * after the last. Seek before events are read. Errors as for log_next. */
etl_status log_next_blocks(log_reader *reader, const log_blocks **out, etl_error *err);

#endif
