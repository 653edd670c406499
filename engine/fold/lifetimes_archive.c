/* lifetimes_archive.c - see lifetimes_archive.h. */
#include "lifetimes_archive.h"

#include <stdlib.h>

static etl_status fill_open(lifetimes_archive *reader, store_segment *rows, etl_error *err);
static etl_status fill_segment(lifetimes_archive *reader, store_segment *rows, etl_error *err);
static bool is_useful(const lifetimes_archive *reader, u32 segment);
static etl_status add_rows(const lifetimes_archive *reader, const log_batch *batch, u64 *end,
                           store_segment *rows, etl_error *err);

static etl_status no_memory(etl_error *err)
{
    return etl_fail_with(err, ETL_ERR_MEMORY, 0, "out of memory");
}

etl_status lifetimes_archive_open(lifetimes_archive *out, const ehs_archive *archive,
                                  const lifetimes_wanted *wanted, etl_error *err)
{
    *out = (lifetimes_archive){ .next = 0 };
    etl_status status = lifetimes_source_open(&out->source, archive, wanted, err);
    if (status == ETL_OK)
        status = archive_read(archive, EHS_WANT_OPENS, &out->opens, err);
    if (status == ETL_OK && store_add_segment(&out->scratch, EHS_PART_ROWS) == NULL)
        status = no_memory(err);
    if (status == ETL_OK)
        lifetimes_archive_rewind(out);
    return status;
}

void lifetimes_archive_close(lifetimes_archive *reader)
{
    lifetimes_source_close(&reader->source);
    log_reader_close(&reader->opens);
    store_free(&reader->scratch);
    *reader = (lifetimes_archive){ .next = 0 };
}

/* The ends of the first chunk are good for every time through. */
void lifetimes_archive_rewind(lifetimes_archive *reader)
{
    reader->next = reader->source.first;
    reader->next_open = 0;
    reader->size_floor_bytes = 0;
    lifetimes_source_seek(&reader->source, reader->next);
}

void lifetimes_archive_raise_floor(lifetimes_archive *reader, u64 size_bytes)
{
    reader->size_floor_bytes = etl_max_u64(reader->size_floor_bytes, size_bytes);
}

static bool is_useful(const lifetimes_archive *reader, u32 segment)
{
    return lifetimes_source_wants(&reader->source, segment) &&
           reader->source.archive->segments.at[segment].size_max >= reader->size_floor_bytes;
}

u32 lifetimes_archive_done(const lifetimes_archive *reader, u32 *total)
{
    *total = reader->source.end - reader->source.first;
    return reader->next - reader->source.first;
}

etl_status lifetimes_archive_next(lifetimes_archive *reader, const store_segment **rows,
                                  etl_error *err)
{
    lifetimes_source *const source = &reader->source;
    store_segment *const segment = &reader->scratch.segments.at[0];
    *rows = NULL;
    const bool is_open_next = reader->next_open < source->open.count;
    while (!is_open_next && reader->next < source->end && !is_useful(reader, reader->next))
        reader->next++;
    if (!is_open_next && reader->next == source->end)
        return ETL_OK;
    if (!is_open_next && reader->next >= source->chunk.end)
        lifetimes_source_seek(source, reader->next);
    etl_status status = lifetimes_source_find_ends(source, err);
    if (status == ETL_OK)
        status =
            is_open_next ? fill_open(reader, segment, err) : fill_segment(reader, segment, err);
    if (status == ETL_OK)
        *rows = segment;
    return status;
}

/* What became of a block, by its place among the ends. */
static inline void put_end(const lifetimes_source *source, u64 end, store_segment *rows, u32 at)
{
    rows->free_type[at] = source->end_how[end];
    rows->free_ticks[at] = source->end_ticks[end];
    rows->is_realloc[at] |= source->is_marked[end];
}

static etl_status fill_open(lifetimes_archive *reader, store_segment *rows, etl_error *err)
{
    const ehs_open_rows *const open = &reader->source.open;
    const size_t first = reader->next_open;
    const u32 count = (u32)etl_min_u64(open->count - first, EHS_PART_ROWS);
    for (u32 at = 0; at < count; at++) {
        if (!archive_fill_slot(reader->source.archive, open->slot[first + at],
                               open->thread[first + at], rows, at))
            return etl_fail_with(err, ETL_ERR_CORRUPT, 0,
                                 "a checkpoint names a slot that there is not");
        rows->alloc_ticks[at] = open->ticks[first + at];
        rows->address[at] = open->address[first + at];
        rows->size_bytes[at] = open->size[first + at];
        rows->is_realloc[at] = open->is_realloc[first + at];
    }
    rows->rows = count;
    reader->next_open += count;
    for (u32 at = 0; at < count; at++)
        put_end(&reader->source, first + at, rows, at);
    return ETL_OK;
}

static etl_status fill_segment(lifetimes_archive *reader, store_segment *rows, etl_error *err)
{
    const lifetimes_source *const source = &reader->source;
    const u32 segment = reader->next++;
    const lifetimes_chunk *const chunk = &source->chunk;
    const ehs_segment_info *const info = &source->archive->segments.at[segment];
    const log_batch *batch = NULL;
    u64 end = chunk->open_count + (info->first_ordinal - chunk->first_ordinal);
    rows->rows = 0;
    log_reader_seek(&reader->opens, segment, segment + 1);
    etl_status status = log_next(&reader->opens, &batch, err);
    while (status == ETL_OK && batch != NULL) {
        status = add_rows(reader, batch, &end, rows, err);
        if (status == ETL_OK)
            status = log_next(&reader->opens, &batch, err);
    }
    return status;
}

/* The batch's blocks of a wanted size. `end` is where the end of the next block is. */
static etl_status add_rows(const lifetimes_archive *reader, const log_batch *batch, u64 *end,
                           store_segment *rows, etl_error *err)
{
    const lifetimes_source *const source = &reader->source;
    const u64 least = etl_max_u64(source->wanted.size_min_bytes, reader->size_floor_bytes);
    for (u32 i = 0; i < batch->count; i++) {
        const u32 row = batch->row[i], at = rows->rows;
        if (!log_opens(batch, i))
            continue;
        const u64 own_end = (*end)++;
        if (batch->size[row] < least || batch->size[row] > source->wanted.size_max_bytes)
            continue;
        if (!archive_fill_slot(source->archive, batch->slot[row], batch->thread[row], rows, at))
            return etl_fail_with(err, ETL_ERR_CORRUPT, 0,
                                 "segment %u names a slot that there is not", batch->segment);
        rows->alloc_ticks[at] = batch->ticks[i];
        rows->address[at] = batch->address[row];
        rows->size_bytes[at] = batch->size[row];
        rows->is_realloc[at] = batch->is_realloc[row];
        put_end(source, own_end, rows, at);
        rows->rows++;
    }
    return ETL_OK;
}
