/*
 * archive_rows.c - heap events of a store to lifetimes.
 *
 * Each segment of events gives a segment of rows, one per allocation, open at
 * first. An end names its block by ordinal and closes that row.
 */
#include <stdlib.h>

#include "archive.h"

typedef struct row_maker {
    const ehs_archive *archive;
    ehs_codec codec;
    ehs_events events;
    allocation_store *store;
    size_t first_segment; /* of the store, for the archive's first */
    etl_error *err;
} row_maker;

static etl_status make_segment(row_maker *maker, u32 number);
static etl_status end_blocks(row_maker *maker, u32 number);

etl_status archive_add_rows(const ehs_archive *archive, allocation_store *store, etl_error *err)
{
    row_maker maker = {
        .archive = archive, .store = store, .first_segment = store->segments.count, .err = err
    };
    etl_status status = ehs_events_open(&maker.events)
                            ? ETL_OK
                            : etl_fail_with(err, ETL_ERR_MEMORY, 0, "out of memory");
    for (u32 i = 0; status == ETL_OK && i < archive->segments.count; i++)
        status = make_segment(&maker, i);
    ehs_events_close(&maker.events);
    ehs_codec_free(&maker.codec);
    return status;
}

/* Rows of the blocks that the segment opens, and the end of those it ends. */
static etl_status make_segment(row_maker *maker, u32 number)
{
    const ehs_archive *const archive = maker->archive;
    const ehs_segment_info *const info = &archive->segments.at[number];
    const ehs_segment_source from = { &archive->reader, &maker->codec, number };
    ehs_events *const events = &maker->events;
    const u32 wanted = EHS_WANT_KIND | EHS_WANT_TICKS | EHS_WANT_SLOT | EHS_WANT_SIZE |
                       EHS_WANT_ADDRESS | EHS_WANT_THREAD | EHS_WANT_IS_REALLOC | EHS_WANT_BACK |
                       EHS_WANT_HOW;
    const etl_status status = ehs_segment_read(&from, info, wanted, events, maker->err);
    if (status != ETL_OK)
        return status;
    store_segment *const rows = store_add_segment(maker->store, events->alloc_count);
    if (rows == NULL)
        return etl_fail_with(maker->err, ETL_ERR_MEMORY, 0, "out of memory");
    const etl_status filled = archive_fill_rows(archive, number, events, rows, maker->err);
    if (filled != ETL_OK)
        return filled;
    maker->store->rows += rows->rows;
    return end_blocks(maker, number);
}

etl_status archive_fill_rows(const ehs_archive *archive, u32 number, const ehs_events *events,
                             store_segment *rows, etl_error *err)
{
    u32 at = 0;
    for (u32 i = 0; i < events->count; i++) {
        if ((events->kind[i] & EHS_EVENT_END) != 0)
            continue;
        if (!archive_fill_slot(archive, events->slot[at], events->thread[at], rows, at))
            return etl_fail_with(err, ETL_ERR_CORRUPT, 0,
                                 "segment %u names a slot that there is not", number);
        rows->alloc_ticks[at] = events->ticks[i];
        rows->address[at] = events->address[at];
        rows->size_bytes[at] = events->size[at];
        rows->is_realloc[at] = events->is_realloc[at];
        at++;
    }
    rows->rows = at;
    return ETL_OK;
}

bool archive_fill_slot(const ehs_archive *archive, u32 slot, u32 thread, store_segment *rows,
                       u32 at)
{
    const ehs_slots *const slots = &archive->slots;
    if (slot == 0 || slot > slots->slots.count)
        return false;
    const ehs_slot *const row = &slots->slots.at[slot - 1];
    const ehs_handle *const handle = &slots->handles.at[slots->owners.at[row->owner - 1].heap - 1];
    rows->heap_handle[at] = handle->value;
    rows->process[at] = handle->process;
    rows->stack[at] = row->stack;
    rows->thread[at] = thread == ETL_NO_ID ? row->thread : thread;
    rows->kind[at] = ETLHEAP_KIND_HEAP;
    rows->free_ticks[at] = ETLHEAP_TICKS_NEVER;
    rows->free_type[at] = ETLHEAP_FREE_NONE;
    return true;
}

/* The segment of rows that has an ordinal; segments up to `number` exist. */
static store_segment *find_rows(const row_maker *maker, u32 number, u64 ordinal, u32 *at)
{
    const ehs_segment_info *const segments = maker->archive->segments.at;
    u32 low = 0, high = number;
    while (low < high) {
        const u32 middle = low + (high - low + 1) / 2;
        if (segments[middle].first_ordinal <= ordinal)
            low = middle;
        else
            high = middle - 1;
    }
    store_segment *const rows = &maker->store->segments.at[maker->first_segment + low];
    *at = (u32)(ordinal - segments[low].first_ordinal);
    return *at < rows->rows ? rows : NULL;
}

static etl_status end_blocks(row_maker *maker, u32 number)
{
    const ehs_events *const events = &maker->events;
    u64 allocs = maker->archive->segments.at[number].first_ordinal;
    u32 end = 0;
    for (u32 i = 0; i < events->count; i++) {
        if ((events->kind[i] & EHS_EVENT_END) == 0) {
            allocs++;
            continue;
        }
        u64 ordinal;
        u32 at = 0;
        store_segment *const rows = ehs_ordinal(allocs, events->back[end], &ordinal)
                                        ? find_rows(maker, number, ordinal, &at)
                                        : NULL;
        if (rows == NULL)
            return etl_fail_with(maker->err, ETL_ERR_CORRUPT, 0,
                                 "segment %u ends a block that there is not", number);
        const u8 how = events->how[end++];
        if (how == EHS_HOW_REALLOC) {
            rows->is_realloc[at] = 1;
        } else {
            rows->free_ticks[at] = events->ticks[i];
            rows->free_type[at] = how < ETLHEAP_FREE_TYPE_COUNT ? how : ETLHEAP_FREE_FREE;
        }
    }
    return ETL_OK;
}
