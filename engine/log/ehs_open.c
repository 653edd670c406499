/*
 * ehs_open.c - follows which blocks are open while segments are written, and writes and reads
 * checkpoints of them. ehs_open.h explains why.
 *
 * In: the events of each segment, in order. Out: rows of the blocks that are open before a
 * segment.
 *
 * A bit per allocation says whether its block is open; ends only clear bits. Rows are made some
 * segments late, when most blocks are closed already, and dead rows are dropped when they
 * outnumber the live ones. Invariant: after ehs_open_trim the rows are exactly the open blocks,
 * in the order of their ordinals.
 */
#include "ehs_open.h"

#include "log_reader.h"

#include <stdlib.h>

/* Dead rows are dropped only if there are at least this many rows. */
#define TRIM_ROWS_MIN ((size_t)EHS_PART_ROWS)

typedef struct open_column {
    ehs_column column;
    u32 wanted; /* 0: always */
    u32 value_bytes;
    size_t values; /* offset of the pointer in ehs_open_rows */
} open_column;

static const open_column columns[] = {
    { EHS_OPEN_ORDINAL, 0, 4, offsetof(ehs_open_rows, ordinal) },
    { EHS_OPEN_ORIGIN, EHS_WANT_ORIGIN, 4, offsetof(ehs_open_rows, origin) },
    { EHS_OPEN_SIZE, EHS_WANT_SIZE, 8, offsetof(ehs_open_rows, size) },
    { EHS_OPEN_TICKS, EHS_WANT_TICKS, 8, offsetof(ehs_open_rows, ticks) },
    { EHS_OPEN_ADDRESS, EHS_WANT_ADDRESS, 8, offsetof(ehs_open_rows, address) },
    { EHS_OPEN_THREAD, EHS_WANT_THREAD, 4, offsetof(ehs_open_rows, thread) },
    { EHS_OPEN_IS_REALLOC, EHS_WANT_IS_REALLOC, 1, offsetof(ehs_open_rows, is_realloc) },
};

static bool reserve(ehs_open_rows *rows, size_t more);
static bool make_room(ehs_open_set *set, const ehs_events *events);
static etl_status follow_ends(ehs_open_set *set, const log_batch *batch);

static u8 *values_of(const ehs_open_rows *rows, const open_column *column)
{
    u8 *values;
    memcpy(&values, (const u8 *)rows + column->values, sizeof values);
    return values;
}

etl_status ehs_open_follow(ehs_open_set *set, const ehs_events *events)
{
    log_numbers numbers;
    log_place place = { .allocs = set->allocs };
    if (set->allocs + events->alloc_count > UINT32_MAX)
        return ETL_ERR_LIMIT;
    const open_followed followed = { events, set->allocs };
    if (!make_room(set, events) || !ETLHEAP_PUSH(&set->followed, followed))
        return ETL_ERR_MEMORY;
    etl_status status = ETL_OK;
    while (status == ETL_OK && place.event < events->count) {
        log_batch batch;
        const bool is_right = log_number(events, true, &place, &numbers, &batch);
        status = is_right ? follow_ends(set, &batch) : ETL_ERR_ARGUMENT;
    }
    return status;
}

static bool reserve(ehs_open_rows *rows, size_t more)
{
    if (rows->capacity - rows->count >= more)
        return true;
    size_t capacity = rows->capacity < EHS_PART_ROWS ? EHS_PART_ROWS : rows->capacity;
    while (capacity - rows->count < more)
        capacity += capacity / 2;
    for (size_t i = 0; i < ETL_COUNT_OF(columns); i++) {
        const open_column *const column = &columns[i];
        u8 *const grown = realloc(values_of(rows, column), capacity * column->value_bytes);
        if (grown == NULL)
            return false;
        memcpy((u8 *)rows + column->values, &grown, sizeof grown);
    }
    rows->capacity = capacity;
    return true;
}

static void set_bits(u64 *words, u64 from, u64 to)
{
    while (from < to) {
        const u64 here = etl_min_u64(64 - from % 64, to - from);
        words[from / 64] |= (here == 64 ? UINT64_MAX : ((u64)1 << here) - 1) << from % 64;
        from += here;
    }
}

/* Makes room for a segment's blocks. They are all open at first: no block ends before it begins. */
static bool make_room(ehs_open_set *set, const ehs_events *events)
{
    const u64 end = set->allocs + events->alloc_count;
    const size_t words = (size_t)(end / 64 + 1);
    const size_t more_words = words > set->open.count ? words - set->open.count : 0;
    if (!ETLHEAP_RESERVE(&set->open, more_words))
        return false;
    if (more_words > 0)
        memset(set->open.at + set->open.count, 0, more_words * sizeof *set->open.at);
    set->open.count += more_words;
    set_bits(set->open.at, set->allocs, end);
    set->alive += events->alloc_count;
    set->allocs = end;
    return true;
}

static bool is_open(const ehs_open_set *set, u64 ordinal)
{
    return (set->open.at[ordinal / 64] >> ordinal % 64 & 1) != 0;
}

/* Finds the row of an open block; rows are in order of ordinals. */
static size_t find_row(const ehs_open_rows *rows, u32 ordinal)
{
    size_t low;
    ETL_BISECT(low, 0, rows->count, rows->ordinal[low] < ordinal);
    return low;
}

/* Clears the bits of blocks that end. Whether an event opens or ends a block is unpredictable, so
 * ends are listed first, without a branch. */
static etl_status follow_ends(ehs_open_set *set, const log_batch *batch)
{
    u32 ends[LOG_BATCH_ROWS];
    u32 count = 0, first_row = 0;
    for (u32 i = 0; i < batch->count; i++) {
        const bool is_end = !log_opens(batch, i);
        first_row = is_end && count == 0 ? batch->row[i] : first_row;
        ends[count] = batch->ordinal[i];
        count += is_end;
    }
    u64 dead = 0;
    for (u32 i = 0; i < count; i++) {
        const bool is_realloc = batch->how[first_row + i] == EHS_HOW_REALLOC;
        u64 *const word = &set->open.at[ends[i] / 64];
        const u64 bit = (u64)1 << ends[i] % 64;
        dead |= ~*word & bit;
        *word &= is_realloc ? UINT64_MAX : ~bit;
        set->alive -= !is_realloc;
        if (is_realloc && !ETLHEAP_PUSH(&set->reallocs, ends[i]))
            return ETL_ERR_MEMORY;
    }
    return dead == 0 ? ETL_OK : ETL_ERR_ARGUMENT;
}

static void append(ehs_open_set *set, const log_batch *batch, u32 event)
{
    ehs_open_rows *const rows = &set->rows;
    const size_t at = rows->count++;
    const u32 row = batch->row[event];
    rows->ordinal[at] = batch->ordinal[event];
    rows->ticks[at] = batch->ticks[event];
    rows->origin[at] = batch->origin[row];
    rows->size[at] = batch->size[row];
    rows->address[at] = batch->address[row];
    rows->thread[at] = batch->thread[row];
    rows->is_realloc[at] = batch->is_realloc[row];
}

static bool append_open(ehs_open_set *set, const log_batch *batch)
{
    u32 events[LOG_BATCH_ROWS];
    u32 count = 0;
    for (u32 i = 0; i < batch->count; i++) {
        events[count] = i;
        count += log_opens(batch, i) && is_open(set, batch->ordinal[i]);
    }
    if (!reserve(&set->rows, count))
        return false;
    for (u32 i = 0; i < count; i++)
        append(set, batch, events[i]);
    return true;
}

static void drop_dead(ehs_open_set *set)
{
    ehs_open_rows *const rows = &set->rows;
    size_t to = 0;
    for (size_t from = 0; from < rows->count; from++) {
        const bool stays = is_open(set, rows->ordinal[from]);
        rows->ordinal[to] = rows->ordinal[from];
        rows->origin[to] = rows->origin[from];
        rows->size[to] = rows->size[from];
        rows->ticks[to] = rows->ticks[from];
        rows->address[to] = rows->address[from];
        rows->thread[to] = rows->thread[from];
        rows->is_realloc[to] = rows->is_realloc[from];
        to += stays;
    }
    assert(to == set->alive);
    rows->count = set->kept = to;
}

bool ehs_open_gather(ehs_open_set *set)
{
    log_numbers numbers;
    for (size_t i = 0; i < set->followed.count; i++) {
        const ehs_events *const events = set->followed.at[i].events;
        log_place place = { .allocs = set->followed.at[i].allocs_before };
        while (place.event < events->count) {
            log_batch batch;
            (void)log_number(events, false, &place, &numbers, &batch);
            if (!append_open(set, &batch))
                return false;
        }
    }
    set->followed.count = 0;
    for (size_t i = 0; i < set->reallocs.count; i++) {
        if (is_open(set, set->reallocs.at[i]))
            set->rows.is_realloc[find_row(&set->rows, set->reallocs.at[i])] = 1;
    }
    set->reallocs.count = 0;
    const size_t limit = set->kept < TRIM_ROWS_MIN ? 2 * TRIM_ROWS_MIN : 2 * set->kept;
    if (set->rows.count > limit)
        drop_dead(set);
    return true;
}

bool ehs_open_trim(ehs_open_set *set)
{
    if (!ehs_open_gather(set))
        return false;
    drop_dead(set);
    return true;
}

void ehs_open_free(ehs_open_set *set)
{
    ehs_open_rows_free(&set->rows);
    ETLHEAP_VECTOR_FREE(&set->open);
    ETLHEAP_VECTOR_FREE(&set->followed);
    ETLHEAP_VECTOR_FREE(&set->reallocs);
    *set = (ehs_open_set){ 0 };
}

void ehs_open_rows_free(ehs_open_rows *rows)
{
    for (size_t i = 0; i < ETL_COUNT_OF(columns); i++)
        free(values_of(rows, &columns[i]));
    *rows = (ehs_open_rows){ 0 };
}

bool ehs_checkpoint_due(u64 events_since_last, u64 open)
{
    return events_since_last >= EHS_CHECKPOINT_EVENTS_MIN &&
           events_since_last / EHS_CHECKPOINT_EVENTS >= open;
}

bool ehs_checkpoint_encode(ehs_blocks *out, ehs_codec *codec, const ehs_open_rows *rows,
                           ehs_checkpoint *row)
{
    u32 part = row->first_part;
    row->rows = rows->count;
    for (size_t first = 0; first < rows->count; first += EHS_PART_ROWS, part++) {
        const size_t left = rows->count - first;
        const u32 count = (u32)(left < EHS_PART_ROWS ? left : EHS_PART_ROWS);
        for (size_t i = 0; i < ETL_COUNT_OF(columns); i++) {
            const u8 *const values = values_of(rows, &columns[i]) + first * columns[i].value_bytes;
            if (!ehs_blocks_add(out, codec, columns[i].column, part, values, count))
                return false;
        }
    }
    return true;
}

static const ehs_field checkpoint_fields[] = {
    { EHS_CHECKPOINT_SEGMENT, offsetof(ehs_checkpoint, segment), EHS_MEMBER_U32 },
    { EHS_CHECKPOINT_FIRST_PART, offsetof(ehs_checkpoint, first_part), EHS_MEMBER_U32 },
    { EHS_CHECKPOINT_ROWS, offsetof(ehs_checkpoint, rows), EHS_MEMBER_U64 },
};

static const ehs_table checkpoint_table = { checkpoint_fields, ETL_COUNT_OF(checkpoint_fields),
                                            sizeof(ehs_checkpoint) };

bool ehs_checkpoints_save(ehs_saver *saver, const ehs_checkpoints *list)
{
    return ehs_table_save(saver, &checkpoint_table, list->at, list->count);
}

etl_status ehs_checkpoints_load(ehs_loader *loader, ehs_checkpoints *out)
{
    *out = (ehs_checkpoints){ 0 };
    const etl_status status = ehs_table_load(loader, &checkpoint_table, &out->at, &out->count);
    out->capacity = out->count;
    for (size_t i = 1; i < out->count; i++) {
        if (out->at[i].segment <= out->at[i - 1].segment) {
            ETLHEAP_VECTOR_FREE(out);
            return etl_fail_with(loader->err, ETL_ERR_CORRUPT, 0,
                                 "row %zu of the table of checkpoints is out of order", i);
        }
    }
    return status;
}

etl_status ehs_checkpoints_lack(const ehs_reader *reader, const ehs_checkpoints *list, u32 *lacks,
                                etl_error *err)
{
    etl_status status = ETL_OK;
    u64 rows = 0;
    for (size_t i = 0; i < list->count; i++)
        rows |= list->at[i].rows;
    for (size_t i = 0; rows > 0 && status == ETL_OK && i < ETL_COUNT_OF(columns); i++)
        status = ehs_column_lacks(reader, columns[i].column, columns[i].wanted, lacks, err);
    return status;
}

const ehs_checkpoint *ehs_checkpoint_before(const ehs_checkpoints *list, u32 segment)
{
    size_t low;
    ETL_BISECT(low, 0, list->count, list->at[low].segment <= segment);
    return low == 0 ? NULL : &list->at[low - 1];
}

static etl_status load_part(ehs_loader *loader, const open_column *column, u32 part, u32 count,
                            u8 *values)
{
    const ehs_row *const row = ehs_reader_find(loader->reader, column->column, part);
    if (row == NULL &&
        ehs_leave_unrecorded(loader->reader, column->column, column->wanted, values, count))
        return ETL_OK;
    if (row == NULL)
        return etl_fail_with(loader->err, ETL_ERR_CORRUPT, 0, "block %u of %s is missing", part,
                             ehs_column_find(column->column)->name);
    if (row->values != count)
        return ehs_reader_blame(row, loader->err,
                                "has a different number of values than its checkpoint");
    return ehs_reader_get(loader->reader, &loader->codec, row, values, count, loader->err);
}

etl_status ehs_checkpoint_load(ehs_loader *loader, const ehs_checkpoint *row, u32 wanted,
                               ehs_open_rows *out)
{
    etl_status status = ETL_OK;
    for (size_t i = 0; i < ETL_COUNT_OF(columns); i++) {
        const open_column *const column = &columns[i];
        if (column->wanted != 0 && (wanted & column->wanted) == 0)
            continue;
        u8 *const values = ehs_loader_alloc(loader, row->rows, column->value_bytes, &status);
        if (values == NULL)
            return status;
        memcpy((u8 *)out + column->values, &values, sizeof values);
        for (u64 first = 0; status == ETL_OK && first < row->rows; first += EHS_PART_ROWS) {
            const u32 count = (u32)etl_min_u64(row->rows - first, EHS_PART_ROWS);
            status = load_part(loader, column, row->first_part + (u32)(first / EHS_PART_ROWS),
                               count, values + first * column->value_bytes);
        }
        if (status != ETL_OK)
            return status;
    }
    out->count = out->capacity = (size_t)row->rows;
    return status;
}
