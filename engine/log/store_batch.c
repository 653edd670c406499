/*
 * store_batch.c - turns chunks of the event list into segments of a file, a batch at a time.
 * store_batch.h has the two phases.
 *
 * In: complete chunks of the event list, in order of time. Out: encoded blocks, written in order,
 * and the index rows of the segments.
 *
 * Ranks of the event list count all events, ordinals of the file count only allocations; `fill`
 * converts one to the other, using the number of allocations before each segment. Invariant: the
 * batch has the same segments whatever the number of threads, so the file has the same bytes.
 */
#include "store_batch.h"

#include <stdlib.h>

/* About what a segment takes while it is written: chunks, columns, blocks and the compressor. */
#define SEGMENT_BYTES ((u64)8 << 20)
#define MEMORY_PARTS  4 /* a batch may take one of them */

#define FETCH_AHEAD 24u /* events whose block is looked for soon */

static void begin_events(const store_batch *batch, ehs_events *out);
static bool take_over(store_batch *batch, event_chunk *chunk, const late_entry *late,
                      u32 late_count);
static etl_status cut(store_batch *batch);
static u32 advance(const taken_chunk *taken, batch_place *place, u32 count_max);
static etl_status flush(store_batch *batch);
static void fill_one(void *context, u32 task);
static void fill(const store_batch *batch, batch_segment *segment);
static void encode_one(void *context, u32 task);
static void follow_all(store_batch *batch);
static bool add_to_index(store_batch *batch);
static etl_status write_unmatched(store_batch *batch, u32 least);
static void write_out(store_batch *batch);
static void drop_chunks(store_batch *batch);

u32 store_batch_segments_for(u64 memory_bytes_max)
{
    const u64 fit = memory_bytes_max / MEMORY_PARTS / SEGMENT_BYTES;
    return memory_bytes_max == 0 ? STORE_BATCH_SEGMENTS
                                 : (u32)etl_min_u64(etl_max_u64(fit, 1), STORE_BATCH_SEGMENTS);
}

etl_status store_batch_take(void *user, event_chunk *chunk, const late_entry *late,
                            size_t late_count)
{
    store_batch *const batch = user;
    if (late_count > UINT32_MAX)
        return ETL_ERR_LIMIT;
    if (chunk->wide.freers != NULL && !unmatched_take(&batch->unmatched, chunk))
        return ETL_ERR_MEMORY;
    if (!rank_map_add(&batch->ranks, chunk) || !take_over(batch, chunk, late, (u32)late_count))
        return ETL_ERR_MEMORY;
    const etl_status status = write_unmatched(batch, EHS_PART_ROWS);
    return status == ETL_OK ? cut(batch) : status;
}

etl_status store_batch_finish(store_batch *batch)
{
    if (batch->gathered > 0) {
        batch_segment *const last = &batch->segments[batch->segment_count++];
        last->from = batch->from;
        last->count = batch->gathered;
        batch->gathered = 0;
    }
    etl_status status = flush(batch);
    assert(status != ETL_OK || batch->is_temporary || batch->ranks.opened == 0 ||
           batch->open.allocs == batch->ranks.opened);
    if (status == ETL_OK)
        write_out(batch);
    if (status == ETL_OK)
        status = write_unmatched(batch, 1);
    return status == ETL_OK ? batch->writer->status : status;
}

ehs_events *store_batch_next(store_batch *batch)
{
    batch_segment *const segment = &batch->segments[batch->segment_count];
    ehs_events *const events = &segment->events;
    if (events->memory == NULL && !ehs_events_open(events))
        return NULL;
    segment->is_filled = true;
    begin_events(batch, events);
    return events;
}

etl_status store_batch_put(store_batch *batch)
{
    const u32 segments_max = batch->segments_max == 0 ? STORE_BATCH_SEGMENTS : batch->segments_max;
    batch->segment_count += batch->segments[batch->segment_count].events.count > 0;
    return batch->segment_count < segments_max ? ETL_OK : flush(batch);
}

etl_status store_batch_put_unmatched(store_batch *batch, const unmatched_free *row)
{
    return ETLHEAP_PUSH(&batch->unmatched, *row) ? write_unmatched(batch, EHS_PART_ROWS)
                                                 : ETL_ERR_MEMORY;
}

/* Writes full parts of frees whose block is unknown; nothing if there are fewer than `least`
 * rows. */
static etl_status write_unmatched(store_batch *batch, u32 least)
{
    unmatched_frees *const frees = &batch->unmatched;
    size_t at = 0;
    etl_status status = ETL_OK;
    while (status == ETL_OK && frees->count - at >= least) {
        const u32 count = (u32)etl_min_u64(frees->count - at, EHS_PART_ROWS);
        ehs_blocks blocks = { 0 };
        const bool ok = ehs_unmatched_encode(&blocks, &batch->unmatched_codec,
                                             batch->unmatched_parts++, &frees->at[at], count);
        status = ok ? ehs_writer_put(batch->writer, &blocks) : ETL_ERR_MEMORY;
        ehs_blocks_free(&blocks);
        at += count;
    }
    if (at > 0)
        memmove(frees->at, frees->at + at, (frees->count - at) * sizeof *frees->at);
    frees->count -= at;
    return status;
}

/* Takes over a chunk. An end from before the last event taken counts at that event's time, because
 * a file is in order of time. The event list gives none, but a file that was written must be
 * readable. */
static bool take_over(store_batch *batch, event_chunk *chunk, const late_entry *late,
                      u32 late_count)
{
    taken_chunk taken = { .chunk = *chunk, .late_count = late_count };
    if (late_count > 0) {
        taken.late = malloc(late_count * sizeof *taken.late);
        if (taken.late == NULL)
            return false;
        memcpy(taken.late, late, late_count * sizeof *taken.late);
    }
    if (!ETLHEAP_PUSH(&batch->chunks, taken)) {
        free(taken.late);
        return false;
    }
    for (u32 i = 0; i < late_count && taken.late[i].ticks < batch->taken_ticks; i++)
        taken.late[i].ticks = batch->taken_ticks;
    if (chunk->count > 0 && chunk->ticks[chunk->count - 1] > batch->taken_ticks)
        batch->taken_ticks = chunk->ticks[chunk->count - 1];
    if (late_count > 0 && taken.late[late_count - 1].ticks > batch->taken_ticks)
        batch->taken_ticks = taken.late[late_count - 1].ticks;
    chunk->entries = NULL;
    chunk->ticks = NULL;
    chunk->wide = (chunk_columns){ .addresses = NULL };
    return true;
}

/* Finds the segments that the last chunk completes. */
static etl_status cut(store_batch *batch)
{
    const u32 segments_max = batch->segments_max == 0 ? STORE_BATCH_SEGMENTS : batch->segments_max;
    batch_place place = { .chunk = (u32)batch->chunks.count - 1 };
    for (;;) {
        const taken_chunk *const taken = &batch->chunks.at[place.chunk];
        const u32 passed = advance(taken, &place, EHS_PART_ROWS - batch->gathered);
        batch->gathered += passed;
        batch->events += passed;
        if (batch->gathered < EHS_PART_ROWS)
            return ETL_OK;
        batch_segment *const segment = &batch->segments[batch->segment_count++];
        segment->from = batch->from;
        segment->count = batch->gathered;
        batch->from = place;
        batch->gathered = 0;
        if (batch->segment_count == segments_max) {
            const etl_status status = flush(batch);
            if (status != ETL_OK)
                return status;
            place = batch->from; /* the chunks before are gone */
        }
    }
}

/* Late entries come after all events of their tick. */
static inline bool is_late_next(const taken_chunk *taken, const batch_place *place)
{
    return place->late < taken->late_count &&
           (place->at == taken->chunk.count ||
            taken->late[place->late].ticks < taken->chunk.ticks[place->at]);
}

/* Skips up to `count` events of the chunk and returns their number. */
static u32 advance(const taken_chunk *taken, batch_place *place, u32 count_max)
{
    u32 passed = 0;
    while (passed < count_max) {
        if (is_late_next(taken, place)) {
            place->late++;
            passed++;
        } else if (place->at < taken->chunk.count) {
            passed += entry_kind_of(taken->chunk.entries[place->at]) != ENTRY_NONE;
            place->at++;
        } else {
            break;
        }
    }
    return passed;
}

static etl_status flush(store_batch *batch)
{
    for (u32 i = 0; i < batch->segment_count; i++) {
        batch_segment *const segment = &batch->segments[i];
        segment->failed = false;
        if (segment->events.memory == NULL && !ehs_events_open(&segment->events))
            return ETL_ERR_MEMORY;
    }
    etlheap_crew_run(batch->crew, batch->segment_count + 1, fill_one, batch);
    if (batch->writer->status != ETL_OK)
        return batch->writer->status;
    etlheap_crew_run(batch->crew, batch->segment_count + 1, encode_one, batch);
    if (batch->open_status != ETL_OK)
        return batch->open_status;
    if (!add_to_index(batch))
        return ETL_ERR_MEMORY;
    drop_chunks(batch);
    return ETL_OK;
}

/* The task that cannot be shared is first, here and below. */
static void fill_one(void *context, u32 task)
{
    store_batch *const batch = context;
    if (task == 0)
        write_out(batch);
    else
        fill(batch, &batch->segments[task - 1]);
}

/* A segment that is being filled. */
typedef struct filler {
    const rank_map *ranks;
    ehs_events *out;
    u64 first_ordinal; /* of the first block that it opens */
} filler;

/* How many allocations before the end its block was opened. */
static inline u32 back_to(const filler *to, u32 allocs, u32 rank)
{
    return (u32)(to->first_ordinal + allocs) - rank_map_ordinal(to->ranks, rank);
}

static void put_late(const filler *to, const late_entry *late)
{
    ehs_events *const out = to->out;
    const u32 row = out->end_count++;
    out->kind[out->count] = EHS_EVENT_END;
    out->back[row] = back_to(to, out->alloc_count, late->rank);
    out->how[row] = late->how;
    out->freer[row] = late->freer;
    out->freer_thread[row] = late->freer_thread;
    out->ticks[out->count++] = late->ticks;
}

static inline bool closes(entry_kind kind)
{
    return kind == ENTRY_FREE || kind == ENTRY_REALLOC;
}

/* The rank of the entry's block, chosen by a mask, because a compiler would branch. */
static inline u32 block_of(const event_chunk *chunk, u32 at)
{
    const u32 mask = 0u - (u32)closes(entry_kind_of(chunk->entries[at]));
    return (chunk->wide.partners[at] & mask) | ((chunk->first_rank + at) & ~mask);
}

/*
 * Writes entries from the place on, up to the next late one or `count_max` events; returns where it
 * stopped. Most entries are events of heap blocks; those of other memory are empty. Whether an
 * entry opens or ends a block is unpredictable, so the columns of both are written without a
 * branch, and overwritten if they do not count.
 */
static u32 put_entries(const filler *to, const taken_chunk *taken, const batch_place *place,
                       u32 count_max)
{
    /* Copies, so that the compiler sees that they do not change. */
    const filler own = *to;
    const ehs_events out = *to->out;
    const event_chunk chunk = taken->chunk;
    const u32 *const freers = chunk.wide.freers;
    const bool has_addresses = !out.lacks_addresses, has_threads = !out.lacks_threads;
    const i64 late_ticks =
        place->late < taken->late_count ? taken->late[place->late].ticks : INT64_MAX;
    u32 count = out.count, alloc = out.alloc_count, end = out.end_count, at = place->at;
    for (; at < chunk.count && count < count_max && chunk.ticks[at] <= late_ticks; at++) {
        const event_entry entry = chunk.entries[at];
        const entry_kind kind = entry_kind_of(entry);
        const bool opens = kind == ENTRY_ALLOC, ends = closes(kind);
        assert(opens || ends || kind == ENTRY_NONE);
        if (chunk.count - at > FETCH_AHEAD)
            rank_map_fetch(own.ranks, block_of(&chunk, at + FETCH_AHEAD));
        out.ticks[count] = chunk.ticks[at];
        out.kind[count] = ends ? EHS_EVENT_END : 0;
        out.origin[alloc] = entry_origin_of(entry);
        out.size[alloc] = chunk.wide.sizes[at];
        if (has_addresses)
            out.address[alloc] = chunk.wide.addresses[at];
        if (has_threads)
            out.thread[alloc] = chunk.wide.threads[at];
        out.is_realloc[alloc] = (entry & ENTRY_IS_REALLOC) != 0;
        out.back[end] = back_to(&own, alloc, block_of(&chunk, at));
        out.how[end] = kind == ENTRY_REALLOC ? EHS_HOW_REALLOC : ETLHEAP_FREE_FREE;
        if (freers != NULL) {
            out.freer[end] = freers[at];
            out.freer_thread[end] = chunk.wide.threads[at];
        }
        count += opens || ends;
        alloc += opens;
        end += ends;
    }
    to->out->count = count;
    to->out->alloc_count = alloc;
    to->out->end_count = end;
    return at;
}

/* Empties the columns and says which of them the file has. */
static void begin_events(const store_batch *batch, ehs_events *out)
{
    out->count = out->alloc_count = out->end_count = 0;
    out->has_freers = batch->has_freers;
    out->has_freer_threads = batch->has_freers && !batch->lacks_freer_threads;
    out->lacks_addresses = batch->lacks_addresses;
    out->lacks_threads = batch->lacks_threads;
}

static void fill(const store_batch *batch, batch_segment *segment)
{
    if (segment->is_filled)
        return;
    batch_place place = segment->from;
    const taken_chunk *taken = &batch->chunks.at[place.chunk];
    const u64 first_rank = (u64)taken->chunk.first_rank + place.at;
    ehs_events *const out = &segment->events;
    const filler to = { &batch->ranks, out, rank_map_ordinal(&batch->ranks, first_rank) };
    begin_events(batch, out);
    while (out->count < segment->count) {
        if (is_late_next(taken, &place)) {
            put_late(&to, &taken->late[place.late++]);
        } else if (place.at < taken->chunk.count) {
            place.at = put_entries(&to, taken, &place, segment->count);
        } else {
            place = (batch_place){ .chunk = place.chunk + 1 };
            taken = &batch->chunks.at[place.chunk];
        }
    }
}

static void encode_one(void *context, u32 task)
{
    store_batch *const batch = context;
    if (task == 0) {
        if (!batch->is_temporary)
            follow_all(batch);
        return;
    }
    batch_segment *const segment = &batch->segments[task - 1];
    const ehs_events *const before = task == 1 ? NULL : &segment[-1].events;
    const i64 ticks = before == NULL ? batch->encoded_ticks : before->ticks[before->count - 1];
    ehs_blocks_clear(&segment->blocks);
    segment->codec.is_quick = batch->is_temporary;
    segment->failed =
        !ehs_segment_encode(&segment->blocks, &segment->codec, (u32)batch->index.count + task - 1,
                            &segment->events, ticks, &segment->info);
}

static bool keep_checkpoint(store_batch *batch, u32 segment)
{
    ehs_checkpoint row = { .segment = segment, .first_part = batch->open_parts };
    batch_checkpoint fresh = { .segment = segment };
    const bool ok =
        ehs_open_trim(&batch->open) &&
        ehs_checkpoint_encode(&fresh.blocks, &batch->open_codec, &batch->open.rows, &row) &&
        ETLHEAP_PUSH(&batch->checkpoints, row) && ETLHEAP_PUSH(&batch->fresh, fresh);
    if (!ok)
        ehs_blocks_free(&fresh.blocks);
    batch->open_parts += (u32)((row.rows + EHS_PART_ROWS - 1) / EHS_PART_ROWS);
    batch->events_since_checkpoint = 0;
    return ok;
}

static void follow_all(store_batch *batch)
{
    for (u32 i = 0; i < batch->segment_count && batch->open_status == ETL_OK; i++) {
        const ehs_events *const events = &batch->segments[i].events;
        const bool is_due = ehs_checkpoint_due(batch->events_since_checkpoint, batch->open.alive);
        if (is_due && !keep_checkpoint(batch, (u32)batch->index.count + i))
            batch->open_status = ETL_ERR_MEMORY;
        else
            batch->open_status = ehs_open_follow(&batch->open, events);
        batch->events_since_checkpoint += events->count;
    }
    if (batch->open_status == ETL_OK && !ehs_open_gather(&batch->open))
        batch->open_status = ETL_ERR_MEMORY;
    /* The event list ends only open blocks; a file may be damaged. */
    assert(batch->open_status != ETL_ERR_ARGUMENT || batch->segments[0].is_filled);
    if (batch->open_status == ETL_ERR_ARGUMENT)
        batch->open_status = ETL_ERR_CORRUPT;
}

static bool add_to_index(store_batch *batch)
{
    for (u32 i = 0; i < batch->segment_count; i++) {
        const batch_segment *const segment = &batch->segments[i];
        if (segment->failed || !ETLHEAP_PUSH(&batch->index, segment->info))
            return false;
        batch->encoded_ticks = segment->info.last_ticks;
    }
    batch->unwritten = batch->segment_count;
    batch->segment_count = 0;
    return true;
}

/* Writes the batch; a checkpoint comes before its segment. The writer remembers failures. */
static void write_out(store_batch *batch)
{
    const u32 first = (u32)batch->index.count - batch->unwritten;
    size_t checkpoint = 0;
    for (u32 i = 0; i < batch->unwritten; i++) {
        const bool has_checkpoint =
            checkpoint < batch->fresh.count && batch->fresh.at[checkpoint].segment == first + i;
        if (has_checkpoint)
            ehs_writer_put(batch->writer, &batch->fresh.at[checkpoint++].blocks);
        ehs_writer_put(batch->writer, &batch->segments[i].blocks);
    }
    assert(checkpoint == batch->fresh.count);
    for (size_t i = 0; i < batch->fresh.count; i++)
        ehs_blocks_free(&batch->fresh.at[i].blocks);
    batch->fresh.count = 0;
    batch->unwritten = 0;
}

static void free_taken(taken_chunk *taken)
{
    event_chunk_free(&taken->chunk);
    free(taken->late);
}

/* Drops the chunks before the current segment, which are written. */
static void drop_chunks(store_batch *batch)
{
    const u32 gone = batch->from.chunk;
    for (u32 i = 0; i < gone; i++)
        free_taken(&batch->chunks.at[i]);
    batch->chunks.count -= gone;
    if (gone > 0 && batch->chunks.count > 0)
        memmove(batch->chunks.at, batch->chunks.at + gone,
                batch->chunks.count * sizeof *batch->chunks.at);
    batch->from.chunk = 0;
}

u64 store_batch_bytes(const store_batch *batch)
{
    const u64 row_bytes = sizeof(event_entry) + 3 * sizeof(u64) + 2 * sizeof(u32);
    u64 bytes = rank_map_bytes(&batch->ranks);
    for (size_t i = 0; i < batch->chunks.count; i++)
        bytes += batch->chunks.at[i].chunk.count * row_bytes +
                 batch->chunks.at[i].late_count * sizeof(late_entry);
    for (u32 i = 0; i < STORE_BATCH_SEGMENTS; i++)
        bytes += batch->segments[i].blocks.bytes.capacity +
                 (batch->segments[i].events.memory == NULL ? 0 : EHS_PART_ROWS * row_bytes);
    bytes += batch->open.rows.capacity * (row_bytes + 1);
    bytes += batch->open.open.capacity * sizeof *batch->open.open.at;
    bytes += batch->unmatched.capacity * sizeof *batch->unmatched.at;
    return bytes + batch->writer->rows.capacity * sizeof *batch->writer->rows.at;
}

void store_batch_free(store_batch *batch)
{
    for (size_t i = 0; i < batch->chunks.count; i++)
        free_taken(&batch->chunks.at[i]);
    ETLHEAP_VECTOR_FREE(&batch->chunks);
    for (u32 i = 0; i < STORE_BATCH_SEGMENTS; i++) {
        ehs_events_close(&batch->segments[i].events);
        ehs_codec_free(&batch->segments[i].codec);
        ehs_blocks_free(&batch->segments[i].blocks);
    }
    for (size_t i = 0; i < batch->fresh.count; i++)
        ehs_blocks_free(&batch->fresh.at[i].blocks);
    ETLHEAP_VECTOR_FREE(&batch->fresh);
    ETLHEAP_VECTOR_FREE(&batch->index);
    ETLHEAP_VECTOR_FREE(&batch->checkpoints);
    ehs_open_free(&batch->open);
    ehs_codec_free(&batch->open_codec);
    rank_map_free(&batch->ranks);
    ETLHEAP_VECTOR_FREE(&batch->unmatched);
    ehs_codec_free(&batch->unmatched_codec);
}
