/*
 * ehs_mutate.c - stores for the target ehs that a fuzzer does not come upon.
 *
 * Header, blocks, directory and footer of a store have checksums. A changed byte is
 * found out there and then, so hardly anything behind is reached. Here a store is
 * taken apart, the values of one column are changed, and all of it is written again
 * with the sums that belong to it: a sound container of columns that lie.
 *
 * Of the seed's bits 0..2 choose between that and changing bytes, 3..5 what is done,
 * the others where.
 */
#include <stdlib.h>

#include "engine/log/ehs_file.h"
#include "fuzz.h"

typedef struct rebuilt {
    u8 *at;
    size_t size, size_max;
} rebuilt;

/* One part of a column, taken out of its block. */
typedef struct part_values {
    u8 *at;
    u32 width, count, capacity;
} part_values;

static bool rebuild(const ehs_reader *reader, u32 seed, rebuilt *out);
static bool take(const ehs_reader *reader, const ehs_row *row, part_values *values);
static void change(const ehs_reader *reader, u32 seed, part_values *values);

size_t LLVMFuzzerCustomMutator(u8 *data, size_t size, size_t size_max, unsigned seed)
{
    ehs_reader reader;
    rebuilt out = { .at = NULL, .size_max = size_max };
    if (seed % 8 == 0 || ehs_reader_open(&reader, (etl_bytes){ data, size }, NULL) != ETL_OK)
        return LLVMFuzzerMutate(data, size, size_max);
    const bool ok = reader.row_count > 0 && rebuild(&reader, seed >> 3, &out);
    ehs_reader_close(&reader);
    if (ok)
        memcpy(data, out.at, out.size);
    free(out.at);
    return ok ? out.size : LLVMFuzzerMutate(data, size, size_max);
}

static bool keep(void *user, const void *bytes, size_t size)
{
    rebuilt *const out = user;
    if (size > out->size_max - out->size)
        return false;
    u8 *const grown = realloc(out->at, out->size + size + 1);
    if (grown == NULL)
        return false;
    memcpy(grown + out->size, bytes, size);
    out->at = grown;
    out->size += size;
    return true;
}

/* Making a codec takes longer than all the rest. */
static ehs_codec codec;

static bool rebuild(const ehs_reader *reader, u32 seed, rebuilt *out)
{
    const size_t victim = seed / 8 % reader->row_count;
    part_values values = { .at = malloc(EHS_COLUMN_BYTES_MAX) };
    ehs_blocks blocks = { .bytes = { 0 } };
    ehs_writer writer;
    bool ok = values.at != NULL;
    (void)ehs_writer_open(&writer, keep, out, reader->content);
    for (size_t i = 0; ok && i < reader->row_count; i++) {
        const ehs_row *const row = &reader->rows[i];
        if (i == victim && seed % 8 == 7)
            continue;
        ok = take(reader, row, &values);
        if (ok && i == victim)
            change(reader, seed, &values);
        ehs_blocks_clear(&blocks);
        ok = ok &&
             ehs_blocks_add(&blocks, &codec, (ehs_column)row->column, row->part, values.at,
                            values.count) &&
             ehs_writer_put(&writer, &blocks) == ETL_OK;
    }
    ok = ehs_writer_close(&writer) == ETL_OK && ok;
    ehs_blocks_free(&blocks);
    free(values.at);
    return ok;
}

static bool take(const ehs_reader *reader, const ehs_row *row, part_values *values)
{
    const ehs_column_info *const column = ehs_column_find(row->column);
    if (column == NULL)
        return false;
    values->width = column->format.value_bytes;
    values->capacity = EHS_COLUMN_BYTES_MAX / values->width;
    values->count = row->values;
    return row->values <= values->capacity &&
           ehs_reader_get(reader, &codec, row, values->at, values->capacity, NULL) == ETL_OK;
}

static void put(const part_values *values, u32 index, u64 value)
{
    memcpy(values->at + (size_t)index * values->width, &value, values->width);
}

static void change(const ehs_reader *reader, u32 seed, part_values *values)
{
    const u32 at = seed / 64 % (values->count + 1);
    const size_t bytes = (size_t)values->count * values->width;
    const u64 odd[] = { 0, 1, values->count, UINT64_MAX, INT64_MAX, UINT32_MAX, at, 1u << 31 };
    part_values other = *values;
    switch (seed % 8) {
    case 0: /* one value more, or one less */
        values->count = at < values->count ? at : values->count - (values->count > 0);
        break;
    case 1:
        if (values->count < values->capacity)
            put(values, values->count++, odd[seed / 512 % 8]);
        break;
    case 2:
    case 3:
        if (at < values->count)
            put(values, at, odd[seed / 512 % 8]);
        break;
    case 4: /* another column of this width has them */
        if (ehs_column_find(reader->rows[at % reader->row_count].column)->format.value_bytes ==
                values->width &&
            take(reader, &reader->rows[at % reader->row_count], &other))
            values->count = other.count;
        break;
    default:
        if (bytes > 0)
            values->count = (u32)(LLVMFuzzerMutate(values->at, bytes, bytes) / values->width);
        break;
    }
}
