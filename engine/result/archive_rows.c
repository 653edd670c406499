/*
 * archive_rows.c - makes lifetimes in memory from the heap events of a store.
 *
 * In: batches of events in order. Out: segments of rows in an lifetime_table.
 *
 *     events     alloc 0 | alloc 1 | free of 0 | alloc 2 | ...
 *     rows       [0: ended] [1: open] [2: open]          row n of the store is allocation n
 *
 * Each segment of events gives a segment of rows, one for each allocation, open at first. An end
 * names its block by ordinal and closes that row. Invariant: numbers come from a file, so origins,
 * freers and ordinals are checked before a row is written.
 */
#include "archive.h"

#include "engine/log/log_reader.h"

typedef struct row_maker {
    const ehs_archive *archive;
    lifetime_table *store;
    size_t first_segment; /* of the store, for the archive's first */
    bool has_frees;       /* the archive says who freed */
    etl_error *err;
} row_maker;

static etl_status add_batch(row_maker *maker, const log_batch *batch);
static etl_status end_blocks(row_maker *maker, const log_batch *batch);

etl_status archive_add_rows(const ehs_archive *archive, const u32 *cancel, lifetime_table *store,
                            etl_error *err)
{
    row_maker maker = {
        .archive = archive,
        .store = store,
        .first_segment = store->segments.count,
        .has_frees = (archive->lacks & (EHS_WANT_FREER | EHS_WANT_FREER_THREAD)) == 0,
        .err = err,
    };
    log_reader reader;
    const log_batch *batch = NULL;
    const u32 freers = maker.has_frees ? EHS_WANT_FREER | EHS_WANT_FREER_THREAD : 0;
    const u32 wanted = EHS_WANT_OPENS | EHS_WANT_ENDS | freers;
    etl_status status = archive_read(archive, wanted, cancel, &reader, err);
    if (status == ETL_OK)
        status = log_next(&reader, &batch, err);
    while (status == ETL_OK && batch != NULL) {
        status = add_batch(&maker, batch);
        if (status == ETL_OK)
            status = log_next(&reader, &batch, err);
    }
    log_reader_close(&reader);
    return status;
}

/* Adds rows for the blocks that the events open, and ends those that they end. */
static etl_status add_batch(row_maker *maker, const log_batch *batch)
{
    lifetime_table *const store = maker->store;
    const u32 allocs = maker->archive->segments.at[batch->segment].allocs;
    if (batch->first == 0 && store_add_segment(store, allocs) == NULL)
        return etl_no_memory(maker->err);
    store_segment *const rows = &store->segments.at[store->segments.count - 1];
    const u32 before = rows->rows;
    const etl_status status = archive_fill_rows(maker->archive, batch, rows, maker->err);
    store->rows += rows->rows - before;
    return status == ETL_OK ? end_blocks(maker, batch) : status;
}

etl_status archive_fill_rows(const ehs_archive *archive, const log_batch *batch,
                             store_segment *rows, etl_error *err)
{
    for (u32 i = 0; i < batch->count; i++) {
        if (!log_opens(batch, i))
            continue;
        const u32 row = batch->row[i], at = rows->rows;
        if (!archive_fill_origin(archive, batch->origin[row], batch->thread[row], rows, at))
            return etl_fail_with(err, ETL_ERR_CORRUPT, 0,
                                 "segment %u names an origin that does not exist", batch->segment);
        rows->alloc_ticks[at] = batch->ticks[i];
        rows->address[at] = batch->address[row];
        rows->size_bytes[at] = batch->size[row];
        rows->is_realloc[at] = batch->is_realloc[row];
        rows->rows++;
    }
    return ETL_OK;
}

bool archive_open_block(const ehs_archive *archive, u32 origin, u32 thread, lifetime *out)
{
    const ehs_origins *const origins = &archive->origins;
    if (origin == 0 || origin > origins->origins.count)
        return false;
    const ehs_origin *const row = &origins->origins.at[origin - 1];
    const ehs_heap *const handle = &origins->heaps.at[origins->owners.at[row->owner - 1].heap - 1];
    *out = (lifetime){ .free_ticks = ETLHEAP_TICKS_NEVER,
                       .heap = handle->value,
                       .process = handle->process,
                       .stack = row->stack,
                       .thread = thread == ETL_NO_ID ? row->thread : thread,
                       .free_thread = ETL_NO_ID,
                       .kind = ETLHEAP_KIND_HEAP,
                       .free_type = ETLHEAP_FREE_NONE };
    return true;
}

bool archive_fill_origin(const ehs_archive *archive, u32 origin, u32 thread, store_segment *rows,
                         u32 at)
{
    lifetime block;
    if (!archive_open_block(archive, origin, thread, &block))
        return false;
    rows->heap_handle[at] = block.heap;
    rows->process[at] = block.process;
    rows->stack[at] = block.stack;
    rows->thread[at] = block.thread;
    rows->free_stack[at] = block.free_stack;
    rows->free_thread[at] = block.free_thread;
    rows->kind[at] = block.kind;
    rows->free_ticks[at] = block.free_ticks;
    rows->free_type[at] = block.free_type;
    return true;
}

/* Finds the segment of rows with an ordinal; segments up to `number` exist. */
static store_segment *find_rows(const row_maker *maker, u32 number, u64 ordinal, u32 *at)
{
    const ehs_segment_info *const segments = maker->archive->segments.at;
    u32 next;
    ETL_BISECT(next, 1, number + 1, segments[next].first_ordinal <= ordinal);
    store_segment *const rows = &maker->store->segments.at[maker->first_segment + next - 1];
    *at = (u32)(ordinal - segments[next - 1].first_ordinal);
    return *at < rows->rows ? rows : NULL;
}

/* Notes who ended a row's block; false if the freer does not exist. */
static bool end_by(const row_maker *maker, const log_batch *batch, u32 event, store_segment *rows,
                   u32 at)
{
    const u32 freer = batch->freer[batch->row[event]];
    if (freer > maker->archive->origins.freers.count)
        return false;
    rows->free_stack[at] = archive_freer_stack(maker->archive, freer);
    rows->free_thread[at] = batch->freer_thread[batch->row[event]];
    return true;
}

static etl_status end_blocks(row_maker *maker, const log_batch *batch)
{
    for (u32 i = 0; i < batch->count; i++) {
        if (log_opens(batch, i))
            continue;
        u32 at;
        store_segment *const rows = find_rows(maker, batch->segment, batch->ordinal[i], &at);
        if (rows == NULL)
            return etl_fail_with(maker->err, ETL_ERR_CORRUPT, 0,
                                 "segment %u ends a block that does not exist", batch->segment);
        const u8 how = batch->how[batch->row[i]];
        if (how == EHS_HOW_REALLOC) {
            rows->is_realloc[at] = 1;
        } else {
            rows->free_ticks[at] = batch->ticks[i];
            rows->free_type[at] = how < ETLHEAP_FREE_TYPE_COUNT ? how : ETLHEAP_FREE_FREE;
        }
        if (how != EHS_HOW_REALLOC && maker->has_frees && !end_by(maker, batch, i, rows, at))
            return etl_fail_with(maker->err, ETL_ERR_CORRUPT, 0,
                                 "segment %u names a freeing stack that does not exist",
                                 batch->segment);
    }
    return ETL_OK;
}
