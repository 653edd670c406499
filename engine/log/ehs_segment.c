/*
 * ehs_segment.c - encodes the events of a segment as columns, and reads the table of segments.
 * ehs_segment.h has the idea.
 *
 * In (write): up to EHS_PART_ROWS events. Out: blocks of their columns, and a row of the index.
 * In (read): rows of the index and columns. Out: arrays of the wanted columns.
 *
 * Invariant: an end names a block by how many allocations back it was opened, so segments can be
 * read apart. Whether that block exists and is open is checked by the reader of a log
 * (log_reader.c), not here.
 */
#include "ehs_segment.h"

#include <stdlib.h>

#define POISON 0xA5

/* The rows of a segment that a column has values for. */
enum by { BY_EVENT, BY_ALLOC, BY_END };

/* A column of a segment and where its values are. */
typedef struct segment_column {
    ehs_column column;
    u32 wanted;
    enum by by;
    size_t values; /* offset of the pointer in ehs_events */
} segment_column;

/* The two bits of kind. */
static const segment_column is_end = { EHS_HEAP_IS_END, EHS_WANT_KIND, BY_EVENT,
                                       offsetof(ehs_events, kind) };
static const segment_column is_later = { EHS_HEAP_IS_LATER, EHS_WANT_LATER, BY_EVENT,
                                         offsetof(ehs_events, is_later) };

static const segment_column columns[] = {
    { EHS_HEAP_TICKS, EHS_WANT_TICKS, BY_EVENT, offsetof(ehs_events, ticks) },
    { EHS_HEAP_ORIGIN, EHS_WANT_ORIGIN, BY_ALLOC, offsetof(ehs_events, origin) },
    { EHS_HEAP_SIZE, EHS_WANT_SIZE, BY_ALLOC, offsetof(ehs_events, size) },
    { EHS_HEAP_ADDRESS, EHS_WANT_ADDRESS, BY_ALLOC, offsetof(ehs_events, address) },
    { EHS_HEAP_THREAD, EHS_WANT_THREAD, BY_ALLOC, offsetof(ehs_events, thread) },
    { EHS_HEAP_IS_REALLOC, EHS_WANT_IS_REALLOC, BY_ALLOC, offsetof(ehs_events, is_realloc) },
    { EHS_HEAP_BACK, EHS_WANT_BACK, BY_END, offsetof(ehs_events, back) },
    { EHS_HEAP_HOW, EHS_WANT_HOW, BY_END, offsetof(ehs_events, how) },
    { EHS_HEAP_FREER, EHS_WANT_FREER, BY_END, offsetof(ehs_events, freer) },
    { EHS_HEAP_FREER_THREAD, EHS_WANT_FREER_THREAD, BY_END, offsetof(ehs_events, freer_thread) },
};

static void *values_of(const ehs_events *events, const segment_column *column)
{
    void *values;
    memcpy(&values, (const u8 *)events + column->values, sizeof values);
    return values;
}

static u32 count_of(const ehs_events *events, enum by by)
{
    return by == BY_EVENT   ? events->count
           : by == BY_ALLOC ? events->alloc_count
                            : events->end_count;
}

bool ehs_events_open(ehs_events *events)
{
    const size_t row_bytes = 3 * sizeof(u64) + 5 * sizeof(u32) + 4;
    *events = (ehs_events){ .memory = malloc(EHS_PART_ROWS * row_bytes) };
    if (events->memory == NULL)
        return false;
    u64 *const wide = events->memory;
    u32 *const narrow = (u32 *)(wide + 3 * (size_t)EHS_PART_ROWS);
    u8 *const bytes = (u8 *)(narrow + 5 * (size_t)EHS_PART_ROWS);
    events->ticks = (i64 *)wide;
    events->size = wide + EHS_PART_ROWS;
    events->address = wide + 2 * (size_t)EHS_PART_ROWS;
    events->origin = narrow;
    events->thread = narrow + EHS_PART_ROWS;
    events->back = narrow + 2 * (size_t)EHS_PART_ROWS;
    events->freer = narrow + 3 * (size_t)EHS_PART_ROWS;
    events->freer_thread = narrow + 4 * (size_t)EHS_PART_ROWS;
    events->kind = bytes;
    events->is_realloc = bytes + EHS_PART_ROWS;
    events->how = bytes + 2 * (size_t)EHS_PART_ROWS;
    events->is_later = bytes + 3 * (size_t)EHS_PART_ROWS;
    return true;
}

void ehs_events_close(ehs_events *events)
{
    free(events->memory);
    *events = (ehs_events){ 0 };
}

static void describe(const ehs_events *events, ehs_segment_info *info)
{
    *info = (ehs_segment_info){ .first_ticks = events->ticks[0],
                                .last_ticks = events->ticks[events->count - 1],
                                .events = events->count,
                                .allocs = events->alloc_count };
    if (events->alloc_count == 0)
        return;
    info->size_min = info->size_max = events->size[0];
    for (u32 i = 1; i < events->alloc_count; i++) {
        info->size_min = etl_min_u64(info->size_min, events->size[i]);
        info->size_max = etl_max_u64(info->size_max, events->size[i]);
    }
}

/* True if the events have values for the column. */
static bool is_recorded(const ehs_events *events, const segment_column *column)
{
    switch (column->wanted) {
    case EHS_WANT_FREER:
        return events->has_freers;
    case EHS_WANT_FREER_THREAD:
        return events->has_freer_threads;
    case EHS_WANT_ADDRESS:
        return !events->lacks_addresses;
    case EHS_WANT_THREAD:
        return !events->lacks_threads;
    default:
        return true;
    }
}

bool ehs_segment_encode(ehs_blocks *out, ehs_codec *codec, u32 number, const ehs_events *events,
                        i64 previous_ticks, ehs_segment_info *info)
{
    assert(events->count > 0 && events->count <= EHS_PART_ROWS);
    assert(events->alloc_count + events->end_count == events->count);
    describe(events, info);
    u8 flags[EHS_PART_ROWS];
    for (u32 i = 0; i < events->count; i++)
        flags[i] = events->kind[i] & EHS_EVENT_END;
    if (!ehs_blocks_add(out, codec, EHS_HEAP_IS_END, number, flags, events->count))
        return false;
    i64 before = previous_ticks;
    for (u32 i = 0; i < events->count; i++) {
        flags[i] = events->ticks[i] > before;
        before = events->ticks[i];
    }
    if (!ehs_blocks_add(out, codec, EHS_HEAP_IS_LATER, number, flags, events->count))
        return false;
    for (size_t i = 0; i < ETL_COUNT_OF(columns); i++) {
        const segment_column *const column = &columns[i];
        if (is_recorded(events, column) &&
            !ehs_blocks_add(out, codec, column->column, number, values_of(events, column),
                            count_of(events, column->by)))
            return false;
    }
    return true;
}

static const ehs_field index_fields[] = {
    { EHS_SEGMENT_FIRST_TICKS, offsetof(ehs_segment_info, first_ticks), EHS_MEMBER_U64 },
    { EHS_SEGMENT_LAST_TICKS, offsetof(ehs_segment_info, last_ticks), EHS_MEMBER_U64 },
    { EHS_SEGMENT_EVENTS, offsetof(ehs_segment_info, events), EHS_MEMBER_U32 },
    { EHS_SEGMENT_ALLOCS, offsetof(ehs_segment_info, allocs), EHS_MEMBER_U32 },
    { EHS_SEGMENT_SIZE_MIN, offsetof(ehs_segment_info, size_min), EHS_MEMBER_U64 },
    { EHS_SEGMENT_SIZE_MAX, offsetof(ehs_segment_info, size_max), EHS_MEMBER_U64 },
};

static const ehs_table index_table = { index_fields, ETL_COUNT_OF(index_fields),
                                       sizeof(ehs_segment_info) };

bool ehs_segment_index_save(ehs_saver *saver, const ehs_segment_index *index)
{
    return ehs_table_save(saver, &index_table, index->at, index->count);
}

etl_status ehs_segment_index_load(ehs_loader *loader, ehs_segment_index *out)
{
    *out = (ehs_segment_index){ 0 };
    const etl_status status = ehs_table_load(loader, &index_table, &out->at, &out->count);
    if (status != ETL_OK)
        return status;
    out->capacity = out->count;
    u64 events = 0, allocs = 0;
    for (size_t i = 0; i < out->count; i++) {
        ehs_segment_info *const info = &out->at[i];
        const bool is_possible =
            info->events > 0 && info->events <= EHS_PART_ROWS && info->allocs <= info->events;
        if (!is_possible || allocs + info->allocs > UINT32_MAX) {
            ETLHEAP_VECTOR_FREE(out);
            return etl_fail_with(loader->err, ETL_ERR_CORRUPT, 0,
                                 "row %zu of the table of segments is damaged: it has an "
                                 "impossible number of events",
                                 i);
        }
        info->first_event = events;
        info->first_ordinal = allocs;
        events += info->events;
        allocs += info->allocs;
    }
    return ETL_OK;
}

bool ehs_leave_unrecorded(const ehs_reader *reader, ehs_column column, u32 wanted, void *values,
                          u64 count)
{
    if ((wanted & EHS_WANT_OPTIONAL) == 0 || ehs_reader_has(reader, column))
        return false;
    memset(values, 0xFF, (size_t)count * ehs_column_find(column)->format.value_bytes);
    return true;
}

etl_status ehs_column_lacks(const ehs_reader *reader, ehs_column column, u32 wanted, u32 *lacks,
                            etl_error *err)
{
    if (ehs_reader_has(reader, column))
        return ETL_OK;
    if ((wanted & EHS_WANT_OPTIONAL) == 0)
        return ehs_reader_miss(column, err);
    *lacks |= wanted;
    return ETL_OK;
}

etl_status ehs_segments_lack(const ehs_reader *reader, const ehs_segment_index *index, u32 *lacks,
                             etl_error *err)
{
    if (index->count == 0)
        return ehs_reader_has(reader, EHS_HEAP_IS_END) ? ehs_reader_miss(EHS_SEGMENT_EVENTS, err)
                                                       : ETL_OK;
    etl_status status = ehs_column_lacks(reader, is_end.column, is_end.wanted, lacks, err);
    if (status == ETL_OK)
        status = ehs_column_lacks(reader, is_later.column, is_later.wanted, lacks, err);
    for (size_t i = 0; status == ETL_OK && i < ETL_COUNT_OF(columns); i++)
        status = ehs_column_lacks(reader, columns[i].column, columns[i].wanted, lacks, err);
    return status;
}

/* Reads one column of a segment; it must have the expected number of values. */
static etl_status get(const ehs_segment_source *from, const segment_column *column,
                      const ehs_events *out, etl_error *err)
{
    const ehs_row *const row = ehs_reader_find(from->reader, column->column, from->number);
    const u32 count = count_of(out, column->by);
    void *const values = values_of(out, column);
    if (row == NULL &&
        ehs_leave_unrecorded(from->reader, column->column, column->wanted, values, count))
        return ETL_OK;
    if (row == NULL)
        return etl_fail_with(err, ETL_ERR_CORRUPT, 0, "block %u of %s is missing", from->number,
                             ehs_column_find(column->column)->name);
    if (row->values != count)
        return ehs_reader_blame(row, err, "has a different number of values than its segment");
    return ehs_reader_get(from->reader, from->codec, row, values, count, err);
}

/* The sum of bytes of 0 and 1, eight at a time. The bytes up to a multiple of eight are 0. */
static u32 count_ones(const u8 *bytes, u32 count)
{
    u32 ones = 0;
    for (u32 i = 0; i < count; i += sizeof(u64))
        ones += (u32)(etl_load_u64(bytes + i) * 0x0101010101010101 >> 56);
    return ones;
}

static void add_flag(u8 *kind, const u8 *flags, u32 count)
{
    for (u32 i = 0; i < count; i += sizeof(u64)) {
        const u64 both = etl_load_u64(kind + i) | etl_load_u64(flags + i) << 1;
        memcpy(kind + i, &both, sizeof both);
    }
}

static etl_status get_kind(const ehs_segment_source *from, u32 wanted, ehs_events *out,
                           etl_error *err)
{
    const u32 whole = (out->count + 7) & ~7u;
    etl_status status = get(from, &is_end, out, err);
    if (status != ETL_OK)
        return status;
    memset(out->kind + out->count, 0, whole - out->count);
    if (count_ones(out->kind, whole) != out->end_count)
        return ehs_reader_blame(ehs_reader_find(from->reader, EHS_HEAP_IS_END, from->number), err,
                                "has a different number of ends than its segment");
    if ((wanted & EHS_WANT_LATER) == 0)
        return ETL_OK;
    status = get(from, &is_later, out, err);
    memset(out->is_later + out->count, 0, whole - out->count);
    if (status == ETL_OK)
        add_flag(out->kind, out->is_later, whole);
    return status;
}

/* Builds with assertions fill columns that nobody asked for with values that no file has, so that
 * a fold which reads one gives an answer that is visibly wrong, or none. */
static void poison(const segment_column *column, const ehs_events *out)
{
#ifndef NDEBUG
    const size_t value_bytes = ehs_column_find(column->column)->format.value_bytes;
    memset(values_of(out, column), POISON, count_of(out, column->by) * value_bytes);
#else
    (void)column;
    (void)out;
#endif
}

etl_status ehs_segment_read(const ehs_segment_source *from, const ehs_segment_info *info,
                            u32 wanted, ehs_events *out, etl_error *err)
{
    out->count = info->events;
    out->alloc_count = info->allocs;
    out->end_count = info->events - info->allocs;
    etl_status status = ETL_OK;
    if ((wanted & EHS_WANT_KIND) != 0)
        status = get_kind(from, wanted, out, err);
    for (size_t i = 0; status == ETL_OK && i < ETL_COUNT_OF(columns); i++) {
        if ((wanted & columns[i].wanted) != 0)
            status = get(from, &columns[i], out, err);
        else
            poison(&columns[i], out);
    }
    return status;
}
