/*
 * store_batch.h - writes the heap events of a run to a store, a batch of segments at a time.
 *
 * The run's event list is wide, and hands its complete chunks over here. A chunk is as long as its
 * slice, and a segment of a file has EHS_PART_ROWS events, so chunks are cut: a segment knows where
 * it begins and how many events it has. When STORE_BATCH_SEGMENTS are complete, all threads work on
 * them in parallel:
 *
 *     fill    chunks -> the columns of each segment, ranks made ordinals; meanwhile
 *             one task writes the blocks of the previous batch, in order
 *     encode  columns -> blocks; meanwhile one task follows the open blocks
 *             through all segments and encodes the checkpoints that are due
 *
 * The size of a batch does not depend on the number of threads, so the output depends only on the
 * input and the memory limit. With little memory, batches have fewer segments: the same blocks,
 * perhaps in another order.
 */
#ifndef ETLHEAP_STORE_BATCH_H
#define ETLHEAP_STORE_BATCH_H

#include "engine/core/workers.h"
#include "ehs_open.h"
#include "ehs_unmatched.h"
#include "rank_map.h"

#define STORE_BATCH_SEGMENTS 16u

/* A chunk taken over from the event list, and the late entries that belong into it. */
typedef struct taken_chunk {
    event_chunk chunk;
    late_entry *late;
    u32 late_count;
} taken_chunk;

/* A position between two events of the chunks. */
typedef struct batch_place {
    u32 chunk; /* index into store_batch.chunks */
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
    bool is_filled; /* by the caller: no chunks are cut for it */
} batch_segment;

typedef struct batch_checkpoint {
    u32 segment; /* number in the file */
    ehs_blocks blocks;
} batch_checkpoint;

/* Start from {0} with the first three members set; the first two are borrowed. */
typedef struct store_batch {
    ehs_writer *writer;
    etlheap_crew *crew;
    bool is_temporary; /* write fast, without checkpoints */
    bool has_freers;   /* chunks have who freed */
    /* Left out, because no question needs them; only with is_temporary. */
    bool lacks_addresses, lacks_threads, lacks_freer_threads;
    u32 segments_max; /* segments per batch; 0: STORE_BATCH_SEGMENTS */
    rank_map ranks;
    unmatched_frees unmatched; /* not yet written */
    u32 unmatched_parts;       /* written */
    ehs_codec unmatched_codec;
    ETLHEAP_VECTOR(taken_chunk) chunks;
    batch_segment segments[STORE_BATCH_SEGMENTS]; /* memory is reused */
    u32 segment_count;                            /* complete ones */
    u32 unwritten;     /* encoded but unwritten ones, the last of the index */
    batch_place from;  /* where the next segment begins ... */
    u32 gathered;      /* ... and its number of events so far */
    u64 events;        /* events taken so far */
    i64 taken_ticks;   /* time of the last event taken ... */
    i64 encoded_ticks; /* ... and encoded */
    ehs_segment_index index;
    ehs_open_set open;
    ehs_codec open_codec;
    u64 events_since_checkpoint;
    u32 open_parts;
    ehs_checkpoints checkpoints;
    ETLHEAP_VECTOR(batch_checkpoint) fresh; /* not yet written */
    etl_status open_status;
} store_batch;

/* The number of segments in a batch that the memory limit allows (0: no limit). */
u32 store_batch_segments_for(u64 memory_bytes_max);

/* A chunk_take_fn; `user` is the store_batch. Also returns errors of the writer. */
etl_status store_batch_take(void *user, event_chunk *chunk, const late_entry *late,
                            size_t late_count);

/* Call it after the last chunk. Writes the rest, as a segment that may be shorter. */
etl_status store_batch_finish(store_batch *batch);

/*
 * For events that are not in chunks, such as those of another file: the empty columns of the next
 * segment, for the caller to fill with up to EHS_PART_ROWS events, and whatever the batch says it
 * lacks left out. NULL if memory runs out. store_batch_put then takes the filled segment.
 * ETL_ERR_CORRUPT: an event ends a block that is not open. Segments that are not full come last.
 */
ehs_events *store_batch_next(store_batch *batch);
etl_status store_batch_put(store_batch *batch);

/* Takes a free of an unknown block, for the same files. */
etl_status store_batch_put_unmatched(store_batch *batch, const unmatched_free *row);

/* The approximate memory held between batches. */
u64 store_batch_bytes(const store_batch *batch);
void store_batch_free(store_batch *batch);

#endif
