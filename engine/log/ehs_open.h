/*
 * ehs_open.h - the blocks open at a moment of the journal, and checkpoints.
 *
 * To answer for a window late in a file, a reader needs the blocks that were open
 * when it began. A checkpoint before a segment holds them, so that it need not go
 * through all segments before. One is due when the events since the last one are
 * at least EHS_CHECKPOINT_EVENTS times the open blocks, so what all checkpoints
 * take is a fraction of what the events do.
 *
 * While a file is written the open set follows the events by itself: a bit of a map by
 * ordinal says which blocks are open. Rows are made of what is still open some segments
 * later, since most blocks live shorter than that, and whenever the rows made outnumber
 * those kept before, the dead ones are dropped. So it holds at most about twice the open
 * blocks and one bit per allocation.
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
    u32 *slot;
    u64 *size;
    i64 *ticks;
    u64 *address;
    u32 *thread;
    u8 *is_realloc;
} ehs_open_rows;

/* A segment of whose blocks no rows were made yet. */
typedef struct open_followed {
    const ehs_events *events; /* borrowed */
    u64 allocs_before;
} open_followed;

typedef struct ehs_open_set {
    ehs_open_rows rows; /* some of them dead */
    size_t kept;        /* rows alive when the dead were dropped last */
    u64 alive;
    u64 allocs;               /* so far */
    ETLHEAP_VECTOR(u64) open; /* a bit per ordinal */
    ETLHEAP_VECTOR(open_followed) followed;
    ETLHEAP_VECTOR(u32) marks; /* ordinals of blocks that a realloc opened, as it turned out */
} ehs_open_set;

/*
 * Follows the events of the next segment, which stay as they are until the set has
 * gathered or settled. ETL_ERR_MEMORY; ARGUMENT: an end of a block that is not open; LIMIT:
 * more than 2^32 - 1 allocations.
 */
etl_status ehs_open_follow(ehs_open_set *set, const ehs_events *events);

/* Makes rows of what was followed: `rows` hold all open blocks then, and dead ones. False
 * without memory. */
bool ehs_open_gather(ehs_open_set *set);

/* And drops the dead rows. */
bool ehs_open_settle(ehs_open_set *set);
void ehs_open_free(ehs_open_set *set);

/* --- checkpoints ------------------------------------------------------------------ */

/* A checkpoint's row of their index. */
typedef struct ehs_checkpoint {
    u32 segment;    /* the segment it comes before */
    u32 first_part; /* of the columns of table open */
    u64 rows;       /* EHS_PART_ROWS to a part, the last one fewer */
} ehs_checkpoint;

typedef ETLHEAP_VECTOR(ehs_checkpoint) ehs_checkpoints;

/* Is one due before the next event? */
bool ehs_checkpoint_due(u64 events_since_last, u64 open);

/* Appends the rows to *out as parts from row->first_part on, and says in *row how
 * many there are. False without memory. */
bool ehs_checkpoint_encode(ehs_blocks *out, ehs_codec *codec, const ehs_open_rows *rows,
                           ehs_checkpoint *row);

bool ehs_checkpoints_save(ehs_saver *saver, const ehs_checkpoints *list);

/* By segment; the caller frees *out. CORRUPT, MEMORY, LIMIT. */
etl_status ehs_checkpoints_load(ehs_loader *loader, ehs_checkpoints *out);

/* As ehs_segments_lack, for the rows of all checkpoints. */
etl_status ehs_checkpoints_lack(const ehs_reader *reader, const ehs_checkpoints *list, u32 *lacks,
                                etl_error *err);

/* The last checkpoint at or before the segment; NULL: start from the first. */
const ehs_checkpoint *ehs_checkpoint_before(const ehs_checkpoints *list, u32 segment);

/* Reads the columns of a checkpoint that are wanted (EHS_WANT_*; the ordinals
 * always) into *out, which starts as {0}; the caller frees it in any case. */
etl_status ehs_checkpoint_load(ehs_loader *loader, const ehs_checkpoint *row, u32 wanted,
                               ehs_open_rows *out);
void ehs_open_rows_free(ehs_open_rows *rows);

#endif
