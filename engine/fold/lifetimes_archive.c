/*
 * lifetimes_archive.c - see lifetimes_archive.h.
 *
 * Segments hold allocations and ends in order of time, so a row is complete only
 * when the segment with its end was read, which may be any later one. Making all
 * rows first, as archive_rows.c does, takes 60 bytes for each block of the file.
 * Here a first reading keeps the ends alone, 9 bytes a block, and only of a chunk
 * of segments at a time; it stops where the last of its blocks has ended. A second
 * reading makes rows of the chunk's allocations, a segment at a time.
 *
 *     segments     0   1   2   3   4   5   6   7
 *     chunk               [first   end)
 *     ends read           |-----------|...  as far as its blocks live
 *     rows read           |-------|
 *
 * A window that begins late starts at the checkpoint before it, whose blocks come
 * first. Segments without a block of a wanted size are read for ends alone.
 */
#include "lifetimes_archive.h"

#include <stdlib.h>

#define END_MARKED ((u8)0x80) /* in end_how: opened by a realloc, found out later */

static etl_status load_checkpoint(lifetimes_archive *reader, u32 segment, etl_error *err);
static void plan_chunk(lifetimes_archive *reader, u32 first);
static etl_status find_ends(lifetimes_archive *reader, etl_error *err);
static void note_ends(lifetimes_archive *reader, const log_batch *batch, u64 *alive);
static bool find_block(const lifetimes_archive *reader, u64 ordinal, u64 *at);
static bool is_wanted(const lifetimes_archive *reader, u32 segment);
static etl_status fill_open(lifetimes_archive *reader, store_segment *rows, etl_error *err);
static etl_status fill_segment(lifetimes_archive *reader, store_segment *rows, etl_error *err);
static void put_ends(const lifetimes_archive *reader, u64 first, store_segment *rows);

static etl_status no_memory(etl_error *err)
{
    return etl_fail_with(err, ETL_ERR_MEMORY, 0, "out of memory");
}

etl_status lifetimes_archive_open(lifetimes_archive *out, const ehs_archive *archive,
                                  const lifetimes_wanted *wanted, etl_error *err)
{
    const ehs_segment_index *const segments = &archive->segments;
    *out = (lifetimes_archive){ .archive = archive, .wanted = *wanted };
    out->end = archive_segment_at(archive, wanted->to_ticks);
    if (out->end < segments->count && segments->at[out->end].first_ticks < wanted->to_ticks)
        out->end++;
    etl_status status = archive_read(archive, EHS_WANT_ENDS, &out->ends, err);
    if (status == ETL_OK)
        status = archive_read(archive, EHS_WANT_OPENS, &out->opens, err);
    if (status == ETL_OK && store_add_segment(&out->scratch, EHS_PART_ROWS) == NULL)
        status = no_memory(err);
    if (status != ETL_OK)
        return status;
    status = load_checkpoint(out, archive_segment_at(archive, wanted->from_ticks), err);
    out->end = out->end < out->first ? out->first : out->end;
    lifetimes_archive_rewind(out);
    return status;
}

void lifetimes_archive_close(lifetimes_archive *reader)
{
    ehs_open_rows_free(&reader->open);
    log_reader_close(&reader->ends);
    log_reader_close(&reader->opens);
    store_free(&reader->scratch);
    free(reader->end_ticks);
    free(reader->end_how);
    *reader = (lifetimes_archive){ 0 };
}

/* The ends of the first chunk are good for every time through. */
void lifetimes_archive_rewind(lifetimes_archive *reader)
{
    reader->next = reader->first;
    reader->next_open = 0;
    if (reader->chunk.first != reader->first || !reader->has_ends)
        plan_chunk(reader, reader->first);
}

u32 lifetimes_archive_done(const lifetimes_archive *reader, u32 *total)
{
    *total = reader->end - reader->first;
    return reader->next - reader->first;
}

etl_status lifetimes_archive_next(lifetimes_archive *reader, const store_segment **rows,
                                  etl_error *err)
{
    store_segment *const segment = &reader->scratch.segments.at[0];
    etl_status status = ETL_OK;
    *rows = NULL;
    const bool is_open_next = reader->next_open < reader->open.count;
    while (!is_open_next && reader->next < reader->end && !is_wanted(reader, reader->next))
        reader->next++;
    if (!is_open_next && reader->next == reader->end)
        return ETL_OK;
    if (!is_open_next && reader->next >= reader->chunk.end)
        plan_chunk(reader, reader->next);
    if (!reader->has_ends)
        status = find_ends(reader, err);
    if (status == ETL_OK)
        status =
            is_open_next ? fill_open(reader, segment, err) : fill_segment(reader, segment, err);
    if (status == ETL_OK)
        *rows = segment;
    return status;
}

/* The blocks open before a segment, or before the nearest one that has them. */
static etl_status load_checkpoint(lifetimes_archive *reader, u32 segment, etl_error *err)
{
    const ehs_archive *const archive = reader->archive;
    const ehs_checkpoint *const row = ehs_checkpoint_before(&archive->checkpoints, segment);
    if (row == NULL)
        return ETL_OK;
    const u64 memory = archive->memory_bytes_max;
    ehs_loader loader = { .reader = &archive->reader,
                          .bytes_left = memory == 0 ? UINT64_MAX : memory,
                          .err = err };
    const etl_status status =
        ehs_checkpoint_load(&loader, row,
                            EHS_WANT_SLOT | EHS_WANT_SIZE | EHS_WANT_TICKS | EHS_WANT_ADDRESS |
                                EHS_WANT_THREAD | EHS_WANT_IS_REALLOC,
                            &reader->open);
    ehs_loader_free(&loader);
    reader->first = row->segment;
    return status;
}

/* As many segments as there is room for ends of their blocks, but one at least. */
static void plan_chunk(lifetimes_archive *reader, u32 first)
{
    const ehs_segment_index *const segments = &reader->archive->segments;
    lifetimes_chunk *const chunk = &reader->chunk;
    *chunk = (lifetimes_chunk){ .first = first,
                                .end = first,
                                .open_count = first == reader->first ? reader->open.count : 0 };
    chunk->count = chunk->open_count;
    if (first < segments->count)
        chunk->first_ordinal = segments->at[first].first_ordinal;
    while (chunk->end < reader->end &&
           (chunk->end == first ||
            chunk->count + segments->at[chunk->end].allocs <= reader->wanted.ends_max))
        chunk->count += segments->at[chunk->end++].allocs;
    reader->has_ends = false;
}

static bool is_wanted(const lifetimes_archive *reader, u32 segment)
{
    const ehs_segment_info *const info = &reader->archive->segments.at[segment];
    return info->allocs > 0 && info->size_max >= reader->wanted.size_min_bytes &&
           info->size_min <= reader->wanted.size_max_bytes;
}

/* --- ends ------------------------------------------------------------------------- */

static etl_status find_ends(lifetimes_archive *reader, etl_error *err)
{
    const u64 count = reader->chunk.count;
    if (count > reader->end_capacity) {
        free(reader->end_ticks);
        free(reader->end_how);
        reader->end_capacity = count;
        reader->end_ticks = malloc(count * sizeof *reader->end_ticks);
        reader->end_how = malloc(count);
    }
    if (count > 0 && (reader->end_ticks == NULL || reader->end_how == NULL)) {
        reader->end_capacity = 0;
        return no_memory(err);
    }
    if (count > 0)
        memset(reader->end_how, 0, count);
    u64 alive = count;
    const log_batch *batch = NULL;
    log_reader_seek(&reader->ends, reader->chunk.first, (u32)reader->archive->segments.count);
    etl_status status = log_next(&reader->ends, &batch, err);
    while (status == ETL_OK && batch != NULL && alive > 0) {
        note_ends(reader, batch, &alive);
        status = log_next(&reader->ends, &batch, err);
    }
    reader->has_ends = status == ETL_OK;
    return status;
}

/* Ends of blocks that are not the chunk's are passed over. */
static void note_ends(lifetimes_archive *reader, const log_batch *batch, u64 *alive)
{
    for (u32 i = 0; i < batch->count; i++) {
        u64 at;
        if (log_opens(batch, i) || !find_block(reader, batch->ordinal[i], &at))
            continue;
        const u8 how = batch->how[batch->row[i]];
        if (how == EHS_HOW_REALLOC) {
            reader->end_how[at] |= END_MARKED;
        } else {
            *alive -= (reader->end_how[at] & ~END_MARKED) == 0;
            reader->end_how[at] &= END_MARKED;
            reader->end_how[at] |= how < ETLHEAP_FREE_TYPE_COUNT ? how : (u8)ETLHEAP_FREE_FREE;
            reader->end_ticks[at] = batch->ticks[i];
        }
    }
}

/* Where the end of a block goes; false: it is none of the chunk's. */
static bool find_block(const lifetimes_archive *reader, u64 ordinal, u64 *at)
{
    const lifetimes_chunk *const chunk = &reader->chunk;
    if (ordinal >= chunk->first_ordinal) {
        *at = chunk->open_count + (ordinal - chunk->first_ordinal);
        return *at < chunk->count;
    }
    u64 low = 0, high = chunk->open_count;
    while (low < high) {
        const u64 middle = low + (high - low) / 2;
        if (reader->open.ordinal[middle] < ordinal)
            low = middle + 1;
        else
            high = middle;
    }
    *at = low;
    return low < chunk->open_count && reader->open.ordinal[low] == ordinal;
}

/* --- rows -------------------------------------------------------------------------- */

static etl_status fill_open(lifetimes_archive *reader, store_segment *rows, etl_error *err)
{
    const ehs_open_rows *const open = &reader->open;
    const size_t first = reader->next_open;
    const u32 count = (u32)etl_min_u64(open->count - first, EHS_PART_ROWS);
    for (u32 at = 0; at < count; at++) {
        if (!archive_fill_slot(reader->archive, open->slot[first + at], open->thread[first + at],
                               rows, at))
            return etl_fail_with(err, ETL_ERR_CORRUPT, 0,
                                 "a checkpoint names a slot that there is not");
        rows->alloc_ticks[at] = open->ticks[first + at];
        rows->address[at] = open->address[first + at];
        rows->size_bytes[at] = open->size[first + at];
        rows->is_realloc[at] = open->is_realloc[first + at];
    }
    rows->rows = count;
    reader->next_open += count;
    put_ends(reader, first, rows);
    return ETL_OK;
}

static etl_status fill_segment(lifetimes_archive *reader, store_segment *rows, etl_error *err)
{
    const u32 segment = reader->next++;
    const lifetimes_chunk *const chunk = &reader->chunk;
    const ehs_segment_info *const info = &reader->archive->segments.at[segment];
    const log_batch *batch = NULL;
    rows->rows = 0;
    log_reader_seek(&reader->opens, segment, segment + 1);
    etl_status status = log_next(&reader->opens, &batch, err);
    while (status == ETL_OK && batch != NULL) {
        status = archive_fill_rows(reader->archive, batch, rows, err);
        if (status == ETL_OK)
            status = log_next(&reader->opens, &batch, err);
    }
    if (status == ETL_OK)
        put_ends(reader, chunk->open_count + (info->first_ordinal - chunk->first_ordinal), rows);
    return status;
}

/* The ends from `first` on are those of the rows. */
static void put_ends(const lifetimes_archive *reader, u64 first, store_segment *rows)
{
    for (u32 at = 0; at < rows->rows; at++) {
        const u8 how = reader->end_how[first + at];
        const u8 free_type = (u8)(how & ~END_MARKED);
        rows->free_type[at] = free_type;
        if (free_type != ETLHEAP_FREE_NONE)
            rows->free_ticks[at] = reader->end_ticks[first + at];
        rows->is_realloc[at] |= (how & END_MARKED) != 0;
    }
}
