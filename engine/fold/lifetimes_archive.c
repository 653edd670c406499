/*
 * lifetimes_archive.c - hands out heap lifetimes of a log as rows, segment by segment, in order
 * of allocation.
 *
 * In: segments and the ends of their blocks. Out: rows with start, end, size, origin and what else
 * is wanted.
 *
 * Several segments are decoded at once, each by a worker, and handed out one by one. Invariant: the
 * order of rows does not depend on the number of workers.
 */
#include "lifetimes_archive.h"

#include <stdlib.h>

static etl_status fill_open(lifetimes_archive *reader, store_segment *rows, etl_error *err);
static void fill_one(void *context, u32 number);
static etl_status fill_all(lifetimes_archive *reader, etl_error *err);
static bool is_useful(const lifetimes_archive *reader, u32 segment);
static etl_status add_rows(const lifetimes_archive *reader, const log_batch *batch, u64 *end,
                           store_segment *rows, etl_error *err);

/* A worker holds megabytes of rows, so there is only one if memory is limited. */
etl_status lifetimes_archive_open(lifetimes_archive *out, const ehs_archive *archive,
                                  const lifetimes_wanted *wanted, etl_error *err)
{
    *out = (lifetimes_archive){ .next = 0 };
    etl_status status = lifetimes_source_open(&out->source, archive, wanted, err);
    const u32 useful = (u32)etl_min_u64(out->source.wanted.jobs, archive->segments.count);
    const u32 workers = archive->memory_bytes_max != 0 ? 1 : useful;
    while (status == ETL_OK && (out->worker_count == 0 ||
                                out->worker_count < etl_min_u64(workers, SEGMENT_WORKERS_MAX))) {
        status = archive_read(archive, EHS_WANT_OPENS, wanted->cancel,
                              &out->workers[out->worker_count++].opens, err);
        if (status == ETL_OK && store_add_segment(&out->scratch, EHS_PART_ROWS) == NULL)
            status = etl_no_memory(err);
    }
    if (status == ETL_OK) {
        out->crew = etlheap_crew_open(out->worker_count);
        status = out->crew == NULL ? etl_no_memory(err) : ETL_OK;
    }
    if (status == ETL_OK)
        lifetimes_archive_rewind(out);
    return status;
}

void lifetimes_archive_close(lifetimes_archive *reader)
{
    lifetimes_source_close(&reader->source);
    for (u32 i = 0; i < reader->worker_count; i++)
        log_reader_close(&reader->workers[i].opens);
    etlheap_crew_close(reader->crew);
    store_free(&reader->scratch);
    *reader = (lifetimes_archive){ .next = 0 };
}

/* Starts over. The ends of the first chunk are kept for each pass. */
void lifetimes_archive_rewind(lifetimes_archive *reader)
{
    reader->next = reader->source.first;
    reader->next_open = 0;
    reader->filled = reader->handed_out = 0;
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
    store_segment *const segments = reader->scratch.segments.at;
    etl_status status = ETL_OK;
    *rows = NULL;
    if (reader->next_open < source->open.count) {
        status = lifetimes_source_find_ends(source, err);
        if (status == ETL_OK)
            status = fill_open(reader, &segments[0], err);
        *rows = status == ETL_OK ? &segments[0] : NULL;
        return status;
    }
    if (reader->handed_out == reader->filled)
        status = fill_all(reader, err);
    if (status == ETL_OK && reader->handed_out < reader->filled)
        *rows = &segments[reader->handed_out++];
    return status;
}

/* Decodes the next useful segments of one chunk, whose ends are all known. */
static etl_status fill_all(lifetimes_archive *reader, etl_error *err)
{
    lifetimes_source *const source = &reader->source;
    reader->filled = reader->handed_out = 0;
    for (; reader->next < source->end && reader->filled < reader->worker_count; reader->next++) {
        if (!is_useful(reader, reader->next))
            continue;
        if (reader->next >= source->chunk.end && reader->filled > 0)
            break;
        if (reader->next >= source->chunk.end)
            lifetimes_source_seek(source, reader->next);
        reader->workers[reader->filled++].segment = reader->next;
    }
    if (reader->filled == 0)
        return ETL_OK;
    const etl_status status = lifetimes_source_find_ends(source, err);
    if (status != ETL_OK)
        return status;
    etlheap_crew_run(reader->crew, reader->filled, fill_one, reader);
    return task_ends_first(&reader->workers->outcome, sizeof *reader->workers, reader->filled, err);
}

/* Puts the end of a block into its row, by its place among the ends. */
static inline void put_end(const lifetimes_source *source, u64 end, store_segment *rows, u32 at)
{
    rows->free_type[at] = source->end_how[end];
    rows->free_ticks[at] = source->end_ticks[end];
    rows->is_realloc[at] |= source->is_marked[end];
    if (!source->wanted.has_frees)
        return;
    rows->free_stack[at] = archive_freer_stack(source->archive, source->end_freer[end]);
    rows->free_thread[at] = source->end_thread[end];
}

static etl_status fill_open(lifetimes_archive *reader, store_segment *rows, etl_error *err)
{
    const ehs_open_rows *const open = &reader->source.open;
    const size_t first = reader->next_open;
    const u32 count = (u32)etl_min_u64(open->count - first, EHS_PART_ROWS);
    for (u32 at = 0; at < count; at++) {
        if (!archive_fill_origin(reader->source.archive, open->origin[first + at],
                                 open->thread[first + at], rows, at))
            return etl_fail_with(err, ETL_ERR_CORRUPT, 0,
                                 "a checkpoint names an origin that does not exist");
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

static void fill_one(void *context, u32 number)
{
    lifetimes_archive *const reader = context;
    const lifetimes_source *const source = &reader->source;
    const lifetimes_chunk *const chunk = &source->chunk;
    segment_worker *const worker = &reader->workers[number];
    store_segment *const rows = &reader->scratch.segments.at[number];
    const ehs_segment_info *const info = &source->archive->segments.at[worker->segment];
    const log_batch *batch = NULL;
    u64 end = chunk->open_count + (info->first_ordinal - chunk->first_ordinal);
    rows->rows = 0;
    log_reader_seek(&worker->opens, worker->segment, worker->segment + 1);
    worker->outcome.status = log_next(&worker->opens, &batch, &worker->outcome.err);
    while (worker->outcome.status == ETL_OK && batch != NULL) {
        worker->outcome.status = add_rows(reader, batch, &end, rows, &worker->outcome.err);
        if (worker->outcome.status == ETL_OK)
            worker->outcome.status = log_next(&worker->opens, &batch, &worker->outcome.err);
    }
}

/* Adds the batch's blocks of a wanted size. `end` is the place of the next block's end. */
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
        if (!archive_fill_origin(source->archive, batch->origin[row], batch->thread[row], rows, at))
            return etl_fail_with(err, ETL_ERR_CORRUPT, 0,
                                 "segment %u names an origin that does not exist", batch->segment);
        rows->alloc_ticks[at] = batch->ticks[i];
        rows->address[at] = batch->address[row];
        rows->size_bytes[at] = batch->size[row];
        rows->is_realloc[at] = batch->is_realloc[row];
        put_end(source, own_end, rows, at);
        rows->rows++;
    }
    return ETL_OK;
}
