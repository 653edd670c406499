/*
 * ehs_unmatched.c - saves and loads heap frees whose allocation was not recorded.
 *
 * In (save): frees in order of time, while a trace is read. Out: parts of columns. In (load): a
 * part. Out: unmatched_free rows, with numbers that the caller must check against the tables.
 */
#include "ehs_unmatched.h"

#include <stdlib.h>

/* A column, and where its values are in a row. */
typedef struct unmatched_column {
    ehs_column column;
    u32 offset, bytes;
} unmatched_column;

#define UNMATCHED(name, member)                                                                    \
    {                                                                                              \
        EHS_UNMATCHED_##name, offsetof(unmatched_free, member),                                    \
            sizeof(((unmatched_free *)NULL)->member)                                               \
    }

static const unmatched_column columns[] = {
    UNMATCHED(TICKS, ticks),   UNMATCHED(FREER, freer), UNMATCHED(ADDRESS, address),
    UNMATCHED(THREAD, thread), UNMATCHED(HEAP, heap),
};

bool unmatched_take(unmatched_frees *frees, const event_chunk *chunk)
{
    const chunk_columns *const wide = &chunk->wide;
    const event_entry mask = ENTRY_UNMATCHED | 7;
    for (u32 i = 0; i < chunk->count; i++) {
        if ((chunk->entries[i] & mask) != ENTRY_UNMATCHED)
            continue;
        const unmatched_free row = { .ticks = chunk->ticks[i],
                                     .address = wide->addresses[i],
                                     .heap = wide->partners[i],
                                     .freer = wide->freers[i],
                                     .thread = wide->threads[i] };
        if (!ETLHEAP_PUSH(frees, row))
            return false;
    }
    return true;
}

bool ehs_unmatched_encode(ehs_blocks *out, ehs_codec *codec, u32 part, const unmatched_free *frees,
                          u32 count)
{
    assert(count <= EHS_PART_ROWS);
    u8 *const values = malloc((size_t)count * sizeof(u64) + 1);
    bool ok = values != NULL;
    for (size_t c = 0; ok && c < ETL_COUNT_OF(columns); c++) {
        const unmatched_column *const column = &columns[c];
        for (u32 i = 0; i < count; i++)
            memcpy(values + (size_t)i * column->bytes, (const u8 *)&frees[i] + column->offset,
                   column->bytes);
        ok = ehs_blocks_add(out, codec, column->column, part, values, count);
    }
    free(values);
    return ok;
}

etl_status ehs_unmatched_parts(const ehs_reader *reader, u32 *parts, etl_error *err)
{
    u64 total;
    *parts = ehs_reader_parts(reader, EHS_UNMATCHED_TICKS, &total);
    return ehs_reader_whole(reader, &columns->column, sizeof *columns, ETL_COUNT_OF(columns), err);
}

static etl_status read_column(const ehs_reader *reader, ehs_codec *codec, const ehs_row *row,
                              const unmatched_column *column, unmatched_free *out, u8 *values,
                              etl_error *err)
{
    const etl_status status = ehs_reader_get(reader, codec, row, values, EHS_PART_ROWS, err);
    for (u32 i = 0; status == ETL_OK && i < row->values; i++)
        memcpy((u8 *)&out[i] + column->offset, values + (size_t)i * column->bytes, column->bytes);
    return status;
}

etl_status ehs_unmatched_read(const ehs_reader *reader, ehs_codec *codec, u32 part,
                              unmatched_free *out, u32 *count, etl_error *err)
{
    u8 *const values = malloc(EHS_PART_ROWS * sizeof(u64));
    etl_status status = values == NULL ? etl_no_memory(err) : ETL_OK;
    *count = 0;
    for (size_t c = 0; status == ETL_OK && c < ETL_COUNT_OF(columns); c++) {
        const ehs_row *const row = ehs_reader_find(reader, columns[c].column, part);
        if (row == NULL)
            status = etl_fail_with(err, ETL_ERR_CORRUPT, 0, "block %u of %s is missing", part,
                                   ehs_column_find(columns[c].column)->name);
        else if (row->values > EHS_PART_ROWS || (c > 0 && row->values != *count))
            status = ehs_reader_blame(row, err, "has another number of values than its table");
        if (status != ETL_OK)
            break;
        *count = row->values;
        status = read_column(reader, codec, row, &columns[c], out, values, err);
    }
    free(values);
    return status;
}
