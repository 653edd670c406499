/*
 * ehs_open.h - the blocks that are open at a point of the event log, and checkpoints.
 *
 * To answer for a window late in a file, a reader needs the blocks that were open at its start. A
 * checkpoint before a segment lists them, so the reader need not go through all earlier segments. A
 * checkpoint is due when at least EHS_CHECKPOINT_EVENTS times as many events as open blocks came
 * since the last one, so checkpoints take a fraction of the space of the events.
 *
 * While a file is written, the open set follows the events: a bitmap by ordinal says which blocks
 * are open. Rows are made only for blocks still open some segments later, since most blocks live
 * shorter. Whenever the new rows outnumber those kept before, dead rows are dropped. So it holds at
 * most about twice as many rows as open blocks, and one bit per allocation.
 */
#ifndef ETLHEAP_EHS_OPEN_H
#define ETLHEAP_EHS_OPEN_H

#include "ehs_segment.h"

#define EHS_CHECKPOINT_EVENTS     16u
#define EHS_CHECKPOINT_EVENTS_MIN ((u64)16 * EHS_PART_ROWS)

/* Rows of open blocks, by ordinal. */
typedef struct ehs_open_rows {
    size_t count, capacity;
    u32 *ordinal;
    u32 *origin;
    u64 *size;
    i64 *ticks;
    u64 *address;
    u32 *thread;
    u8 *is_realloc;
} ehs_open_rows;

/* A segment for whose blocks no rows were made yet. */
typedef struct open_followed {
    const ehs_events *events; /* borrowed */
    u64 allocs_before;
} open_followed;

typedef struct ehs_open_set {
    ehs_open_rows rows; /* some of them dead */
    size_t kept;        /* live rows when dead ones were last dropped */
    u64 alive;
    u64 allocs;               /* so far */
    ETLHEAP_VECTOR(u64) open; /* a bit per ordinal */
    ETLHEAP_VECTOR(open_followed) followed;
    ETLHEAP_VECTOR(u32) reallocs; /* ordinals of blocks that turned out to be opened by a realloc */
} ehs_open_set;

/*
 * Follows the events of the next segment, which must not change until ehs_open_gather or
 * ehs_open_trim. ETL_ERR_MEMORY, ETL_ERR_ARGUMENT (the end of a block that is not open),
 * ETL_ERR_LIMIT (more than 2^32 - 1 allocations).
 */
etl_status ehs_open_follow(ehs_open_set *set, const ehs_events *events);

/* Makes rows for the segments that were followed. Then `rows` has all open blocks, and dead ones.
 * False if memory runs out. */
bool ehs_open_gather(ehs_open_set *set);

/* The same, and drops the dead rows. */
bool ehs_open_trim(ehs_open_set *set);
void ehs_open_free(ehs_open_set *set);

/* --- checkpoints ------------------------------------------------------------------ */

/* A row of the index of checkpoints. */
typedef struct ehs_checkpoint {
    u32 segment;    /* the segment after the checkpoint */
    u32 first_part; /* of the columns of table open */
    u64 rows;       /* EHS_PART_ROWS to a part, the last one fewer */
} ehs_checkpoint;

typedef ETLHEAP_VECTOR(ehs_checkpoint) ehs_checkpoints;

/* True if a checkpoint is due before the next event. */
bool ehs_checkpoint_due(u64 events_since_last, u64 open);

/* Appends the rows to *out as parts from row->first_part on, and sets their number in *row. False
 * if memory runs out. */
bool ehs_checkpoint_encode(ehs_blocks *out, ehs_codec *codec, const ehs_open_rows *rows,
                           ehs_checkpoint *row);

bool ehs_checkpoints_save(ehs_saver *saver, const ehs_checkpoints *list);

/* Reads the index, ordered by segment. The caller frees *out. ETL_ERR_CORRUPT, ETL_ERR_MEMORY,
 * ETL_ERR_LIMIT. */
etl_status ehs_checkpoints_load(ehs_loader *loader, ehs_checkpoints *out);

/* Like ehs_segments_lack, for the rows of all checkpoints. */
etl_status ehs_checkpoints_lack(const ehs_reader *reader, const ehs_checkpoints *list, u32 *lacks,
                                etl_error *err);

/* The last checkpoint at or before the segment; NULL: read from the first segment. */
const ehs_checkpoint *ehs_checkpoint_before(const ehs_checkpoints *list, u32 segment);

/* Reads the wanted columns of a checkpoint (EHS_WANT_*; ordinals always) into *out, which starts as
 * {0} and is freed by the caller in any case. */
etl_status ehs_checkpoint_load(ehs_loader *loader, const ehs_checkpoint *row, u32 wanted,
                               ehs_open_rows *out);
void ehs_open_rows_free(ehs_open_rows *rows);

#endif
