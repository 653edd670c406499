/*
 * log_reader.h - heap events in time order, a few thousand at a time.
 *
 * The columns of a segment have a value for each event, for each allocation or for each
 * end, and an end says only how many allocations back its block is (ehs_segment.h). Whoever
 * asks something of the events needs to know of each what block it concerns and where its
 * values are. A batch says that:
 *
 *     kind      OPENS  OPENS  ENDS  OPENS  ENDS
 *     ordinal     7      8      7     9      3      the block: opened, ended or marked
 *     row         0      1      0     2      1      place in slot, size, ... or in how
 *
 * log_number() is the only loop over those columns. A reader goes through segments of a
 * file with it; what is about to be written goes through it as it is.
 */
#ifndef ETLHEAP_LOG_READER_H
#define ETLHEAP_LOG_READER_H

#include "ehs_segment.h"

#define LOG_BATCH_ROWS 4096u

/* Consecutive events of a segment. Columns that were not asked for have no meaning. */
typedef struct log_batch {
    u32 count;
    u32 segment;
    u32 first; /* event of the segment that at 0 is */
    const i64 *ticks;
    const u8 *kind;     /* EHS_EVENT_* */
    const u32 *ordinal; /* of the block; of ends only with EHS_WANT_BACK */
    const u32 *row;
    const u32 *slot; /* by row of what opens a block, as in the file: not checked */
    const u64 *size;
    const u64 *address;
    const u32 *thread;
    const u8 *is_realloc;
    const u8 *how;                   /* by row of what does not */
    const u32 *actor, *actor_thread; /* likewise; not checked */
} log_batch;

static inline bool log_opens(const log_batch *batch, u32 at)
{
    return (batch->kind[at] & EHS_EVENT_END) == 0;
}

/* Where numbering goes on: counts of what came before. */
typedef struct log_place {
    u32 event, alloc; /* in the segment */
    u64 allocs;       /* in the file */
} log_place;

typedef struct log_numbers {
    u32 ordinal[LOG_BATCH_ROWS], row[LOG_BATCH_ROWS];
} log_numbers;

/*
 * The next events of a segment, numbered; *out is empty after the last. It borrows the
 * events and the numbers. `has_ends`: `back` is there. False: an end names a block that
 * there is not.
 */
bool log_number(const ehs_events *events, bool has_ends, log_place *place, log_numbers *numbers,
                log_batch *out);

/* A file's events. One thread uses a reader at a time. */
typedef struct log_reader {
    const ehs_reader *file;
    const ehs_segment_index *segments;
    u32 wanted;    /* EHS_WANT_* */
    u32 at_hand;   /* segment whose events are there, + 1; 0: none */
    u32 next, end; /* segments to be read */
    ehs_codec codec;
    ehs_events events;
    log_place place;
    log_numbers *numbers;
    log_batch batch;
} log_reader;

/* The file and the index stay with the caller; KIND is always read. To be closed in any
 * case. False without memory. */
bool log_reader_open(log_reader *out, const ehs_reader *file, const ehs_segment_index *segments,
                     u32 wanted);
void log_reader_close(log_reader *reader);

/* The next batch is the first one of segment `first`; the last is that before `end`. A
 * segment that is at hand is not read again. */
void log_reader_seek(log_reader *reader, u32 first, u32 end);

/*
 * The next batch, valid until the next call; *out is NULL after the last one. No batch
 * spans two segments. ETL_ERR_CORRUPT, MEMORY.
 */
etl_status log_next(log_reader *reader, const log_batch **out, etl_error *err);

#endif
