/*
 * store_batch.h - heap events of a run, a batch of segments at a time, to a file.
 *
 * The journal of the run is wide, and its complete chunks come here. A chunk is
 * as long as its slice, a segment of a file has EHS_PART_ROWS events, so chunks
 * are cut: a segment knows where it begins and how many events it has. Once
 * STORE_BATCH_SEGMENTS are complete, all threads work on them at once:
 *
 *     fill    chunks -> the columns of each segment, ranks made ordinals; beside
 *             that, one task writes the blocks of the batch before, in order
 *     encode  columns -> blocks; beside that, one task follows the open blocks
 *             through all segments and encodes the checkpoints that are due
 *
 * The batch is as large with one thread as with many, so what is written depends
 * on the input and the memory allowed alone. Little memory makes batches of fewer
 * segments: the same blocks, which may stand in another order.
 */
#ifndef ETLHEAP_STORE_BATCH_H
#define ETLHEAP_STORE_BATCH_H

#include "engine/core/workers.h"
#include "ehs_open.h"
#include "ehs_unmatched.h"
#include "rank_map.h"

#define STORE_BATCH_SEGMENTS 16u

/* A chunk of the journal that was taken over, and what belongs into it by time. */
typedef struct taken_chunk {
    journal_chunk chunk;
    journal_late *late;
    u32 late_count;
} taken_chunk;

/* Between two events of the chunks taken. */
typedef struct batch_place {
    u32 chunk; /* in store_batch.chunks */
    u32 at;    /* in its entries */
    u32 late;  /* in its late entries */
} batch_place;

typedef struct batch_segment {
    batch_place from;
    u32 count; /* events */
    ehs_events events;
    ehs_codec codec;
    ehs_blocks blocks;
    ehs_segment_info info;
    bool failed;
} batch_segment;

typedef struct batch_checkpoint {
    u32 segment; /* number in the file */
    ehs_blocks blocks;
} batch_checkpoint;

/* Start from {0} with the first three set; the first two are borrowed. */
typedef struct store_batch {
    ehs_writer *writer;
    etlheap_crew *crew;
    bool is_temporary; /* quick columns, and no checkpoints */
    bool has_actors;   /* chunks say who freed */
    u32 segments_max;  /* of a batch; 0: STORE_BATCH_SEGMENTS */
    rank_map ranks;
    unmatched_frees unmatched; /* not yet written */
    u32 unmatched_parts;       /* written */
    ehs_codec unmatched_codec;
    ETLHEAP_VECTOR(taken_chunk) chunks;
    batch_segment segments[STORE_BATCH_SEGMENTS]; /* memory is used again */
    u32 segment_count;                            /* complete ones */
    u32 unwritten;                                /* encoded ones, the index' last */
    batch_place from;                             /* where the next one begins, ... */
    u32 gathered;                                 /* ... and its events so far */
    u64 events;                                   /* taken in all */
    i64 taken_ticks;                              /* of the last event taken, ... */
    i64 encoded_ticks;                            /* ... and encoded */
    ehs_segment_index index;
    ehs_open_set open;
    ehs_codec open_codec;
    u64 events_since_checkpoint;
    u32 open_parts;
    ehs_checkpoints checkpoints;
    ETLHEAP_VECTOR(batch_checkpoint) fresh; /* not yet written */
    etl_status open_status;
} store_batch;

/* How many segments a batch may have, by the memory allowed (0: no limit). */
u32 store_batch_segments_for(u64 memory_bytes_max);

/* A journal_take_fn; `user` is the store_batch. Besides its errors those of the
 * writer. */
etl_status store_batch_take(void *user, journal_chunk *chunk, const journal_late *late,
                            size_t late_count);

/* After the last chunk: what is left, a segment that may be shorter. */
etl_status store_batch_finish(store_batch *batch);

/* Memory held between batches, about. */
u64 store_batch_bytes(const store_batch *batch);
void store_batch_free(store_batch *batch);

#endif
