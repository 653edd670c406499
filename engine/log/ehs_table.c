/*
 * ehs_table.c - writes arrays of structs as columns and reads them back, driven by a const table
 * of members.
 *
 * In (save): rows and an ehs_table. Out: one column per member; texts become numbers of strings.
 * In (load): the columns. Out: an array of rows.
 *
 * Row counts come from the file, and a few bytes can claim millions of rows. Invariant: every
 * allocation is charged to the loader's allowance before it is made, and all columns of a table
 * must have the same number of values.
 */
#include "ehs_table.h"

#include <stdlib.h>

static bool gather(ehs_saver *saver, const ehs_field *field, const u8 *row, size_t row_bytes,
                   u32 count, u64 *out);
static u32 column_bytes(ehs_member member);
static etl_status scatter(ehs_loader *loader, const ehs_field *field, const ehs_row *block, u8 *row,
                          size_t row_bytes);
static etl_status load_text(ehs_loader *loader);

void ehs_saver_free(ehs_saver *saver)
{
    ehs_codec_free(&saver->codec);
    ehs_blocks_free(&saver->blocks);
    etlheap_strings_free(&saver->strings);
}

bool ehs_table_save(ehs_saver *saver, const ehs_table *table, const void *rows, size_t count)
{
    const size_t values_max = count < EHS_PART_ROWS ? count : EHS_PART_ROWS;
    u64 *const values = malloc((values_max + 1) * sizeof *values);
    bool ok = values != NULL;
    for (u32 f = 0; ok && f < table->field_count; f++) {
        const ehs_field *const field = &table->fields[f];
        for (size_t first = 0; ok && first < count; first += EHS_PART_ROWS) {
            const size_t left = count - first;
            const u32 part_rows = (u32)(left < EHS_PART_ROWS ? left : EHS_PART_ROWS);
            const u8 *const row = (const u8 *)rows + first * table->row_bytes + field->offset;
            ok = gather(saver, field, row, table->row_bytes, part_rows, values) &&
                 ehs_blocks_add(&saver->blocks, &saver->codec, field->column,
                                (u32)(first / EHS_PART_ROWS), values, part_rows);
        }
    }
    free(values);
    return ok;
}

/* Converts a member to the value of its column; false without memory. */
static bool member_value(ehs_saver *saver, ehs_member member, const u8 *at, u64 *value)
{
    switch (member) {
    case EHS_MEMBER_BOOL:
        *value = *at;
        return true;
    case EHS_MEMBER_U16:
        *value = etl_load_u16(at);
        return true;
    case EHS_MEMBER_U32:
        *value = etl_load_u32(at);
        return true;
    case EHS_MEMBER_U64:
        *value = etl_load_u64(at);
        return true;
    case EHS_MEMBER_TEXT:
        break;
    }
    const char *text;
    u32 id = 0;
    memcpy(&text, at, sizeof text);
    /* Names of files may be any bytes, the text of a store is UTF-8. */
    const bool ok = text == NULL ||
                    etlheap_strings_add_text(&saver->strings,
                                             (etl_bytes){ (const u8 *)text, strlen(text) }, &id);
    *value = id;
    return ok;
}

static u32 column_bytes(ehs_member member)
{
    return member == EHS_MEMBER_BOOL ? 1 : member == EHS_MEMBER_U64 ? 8 : 4;
}

/* Gathers a member of all rows in an array of the column's width. */
static bool gather(ehs_saver *saver, const ehs_field *field, const u8 *row, size_t row_bytes,
                   u32 count, u64 *out)
{
    const u32 width = column_bytes(field->member);
    u8 *to = (u8 *)out;
    for (u32 i = 0; i < count; i++, row += row_bytes, to += width) {
        u64 value;
        if (!member_value(saver, field->member, row, &value))
            return false;
        memcpy(to, &value, width);
    }
    return true;
}

bool ehs_strings_save(ehs_saver *saver)
{
    ehs_bytes text = { 0 };
    bool ok = true;
    for (size_t i = 0; ok && i < saver->strings.list.count; i++) {
        const char *const string = saver->strings.list.at[i];
        ok = ehs_put(&text, string, strlen(string) + 1);
    }
    for (size_t first = 0; ok && first < text.count; first += EHS_COLUMN_BYTES_MAX) {
        const size_t left = text.count - first;
        ok = ehs_blocks_add(&saver->blocks, &saver->codec, EHS_STRING_TEXT,
                            (u32)(first / EHS_COLUMN_BYTES_MAX), text.at + first,
                            (u32)(left < EHS_COLUMN_BYTES_MAX ? left : EHS_COLUMN_BYTES_MAX));
    }
    ETLHEAP_VECTOR_FREE(&text);
    return ok;
}

etl_status ehs_loader_open(ehs_loader *loader)
{
    loader->scratch = malloc(EHS_COLUMN_BYTES_MAX);
    if (loader->scratch == NULL)
        return etl_no_memory(loader->err);
    return load_text(loader);
}

void ehs_loader_free(ehs_loader *loader)
{
    ehs_codec_free(&loader->codec);
    free(loader->texts);
    free(loader->scratch);
    *loader = (ehs_loader){ 0 };
}

etl_status ehs_loader_charge(ehs_loader *loader, u64 count, size_t element_bytes)
{
    size_t bytes;
    if (!etl_mul_size((size_t)count, element_bytes, &bytes) || bytes > loader->bytes_left)
        return etl_fail_hint(loader->err, ETL_ERR_LIMIT, ETL_HINT_MORE_MEMORY,
                             "the store holds more than fits into the memory allowed");
    loader->bytes_left -= bytes;
    return ETL_OK;
}

void *ehs_loader_alloc(ehs_loader *loader, u64 count, size_t element_bytes, etl_status *status)
{
    *status = ehs_loader_charge(loader, count, element_bytes);
    if (*status != ETL_OK)
        return NULL;
    void *const memory = calloc((size_t)count + 1, element_bytes);
    if (memory == NULL)
        *status = etl_no_memory(loader->err);
    return memory;
}

etl_status ehs_column_load(ehs_loader *loader, ehs_column column, void *out, u64 count)
{
    const u32 width = ehs_column_find(column)->format.value_bytes;
    u64 at = 0;
    for (u32 part = 0; at < count; part++) {
        const ehs_row *const row = ehs_reader_find(loader->reader, column, part);
        assert(row != NULL); /* count is the parts' sum */
        const u64 left = count - at;
        const u32 capacity = (u32)etl_min_u64(left, EHS_COLUMN_BYTES_MAX / width);
        const etl_status status = ehs_reader_get(loader->reader, &loader->codec, row,
                                                 (u8 *)out + at * width, capacity, loader->err);
        if (status != ETL_OK)
            return status;
        at += row->values;
    }
    return ETL_OK;
}

static etl_status blame_text(ehs_loader *loader, const char *what)
{
    return ehs_reader_blame(ehs_reader_find(loader->reader, EHS_STRING_TEXT, 0), loader->err, what);
}

/* Notes where each string begins. */
static etl_status split_text(ehs_loader *loader, const char *text, u64 size)
{
    u64 count = 0;
    for (u64 i = 0; i < size; i++)
        count += text[i] == '\0';
    if (count > UINT32_MAX || (size > 0 && text[size - 1] != '\0'))
        return blame_text(loader, "is the first block of text whose last string is not terminated");
    etl_status status = ETL_OK;
    loader->texts = ehs_loader_alloc(loader, count, sizeof *loader->texts, &status);
    for (const char *at = text; status == ETL_OK && loader->text_count < count;) {
        const etl_bytes bytes = { (const u8 *)at, strlen(at) };
        if (etl_text_to_utf8(bytes, NULL, 0) != bytes.size)
            return blame_text(loader, "is the first block of text that is not UTF-8");
        loader->texts[loader->text_count++] = at;
        at += bytes.size + 1;
    }
    return status;
}

/* A part may end inside of a string. */
static etl_status load_text(ehs_loader *loader)
{
    u64 size;
    (void)ehs_reader_parts(loader->reader, EHS_STRING_TEXT, &size);
    const etl_status charged = ehs_loader_charge(loader, size, 1);
    if (charged != ETL_OK)
        return charged;
    char *const text = etlheap_arena_alloc(loader->arena, (size_t)size + 1);
    if (text == NULL)
        return etl_no_memory(loader->err);
    const etl_status status = ehs_column_load(loader, EHS_STRING_TEXT, text, size);
    return status == ETL_OK ? split_text(loader, text, size) : status;
}

/* Counts the rows. All columns of a table must have as many as the first. */
static etl_status count_rows(ehs_loader *loader, const ehs_table *table, u64 *count)
{
    const ehs_reader *const reader = loader->reader;
    const etl_status status = ehs_reader_whole(
        reader, &table->fields->column, sizeof *table->fields, table->field_count, loader->err);
    *count = 0;
    for (u32 f = 0; status == ETL_OK && f < table->field_count; f++) {
        u64 rows;
        const ehs_column column = table->fields[f].column;
        const u32 parts = ehs_reader_parts(reader, column, &rows);
        if (f == 0)
            *count = rows;
        else if (rows != *count && parts == 0)
            return ehs_reader_miss(column, loader->err);
        else if (rows != *count)
            return ehs_reader_blame(ehs_reader_find(reader, column, 0), loader->err,
                                    "is the first block of a column whose length differs from the "
                                    "other columns of its table");
    }
    return status;
}

static etl_status load_field(ehs_loader *loader, const ehs_table *table, const ehs_field *field,
                             u8 *rows)
{
    u64 total;
    const u32 parts = ehs_reader_parts(loader->reader, field->column, &total);
    u8 *to = rows + field->offset;
    for (u32 part = 0; part < parts; part++) {
        const ehs_row *const block = ehs_reader_find(loader->reader, field->column, part);
        const etl_status status = scatter(loader, field, block, to, table->row_bytes);
        if (status != ETL_OK)
            return status;
        to += (size_t)block->values * table->row_bytes;
    }
    return ETL_OK;
}

etl_status ehs_table_load(ehs_loader *loader, const ehs_table *table, void *rows, size_t *count)
{
    u64 total;
    etl_status status = count_rows(loader, table, &total);
    if (status != ETL_OK)
        return status;
    u8 *const at = ehs_loader_alloc(loader, total, table->row_bytes, &status);
    if (at == NULL)
        return status;
    for (u32 f = 0; status == ETL_OK && f < table->field_count; f++)
        status = load_field(loader, table, &table->fields[f], at);
    if (status != ETL_OK) {
        free(at);
        return status;
    }
    memcpy(rows, &at, sizeof at);
    *count = (size_t)total;
    return ETL_OK;
}

etl_status ehs_vector_load(ehs_loader *loader, const ehs_table *table, void *vector)
{
    struct {
        void *at;
        size_t count, capacity;
    } loaded = { NULL, 0, 0 };
    const etl_status status = ehs_table_load(loader, table, &loaded.at, &loaded.count);
    loaded.capacity = loaded.count;
    if (status == ETL_OK)
        memcpy(vector, &loaded, sizeof loaded);
    return status;
}

/* Puts a value into its member; false if the member cannot have it. */
static bool set_member(const ehs_loader *loader, ehs_member member, u64 value, u8 *at)
{
    const u32 narrow = (u32)value;
    const u16 half = (u16)value;
    const u8 byte = (u8)value;
    switch (member) {
    case EHS_MEMBER_BOOL:
        memcpy(at, &byte, sizeof byte);
        return value <= 1;
    case EHS_MEMBER_U16:
        memcpy(at, &half, sizeof half);
        return value <= UINT16_MAX;
    case EHS_MEMBER_U32:
        memcpy(at, &narrow, sizeof narrow);
        return true;
    case EHS_MEMBER_U64:
        memcpy(at, &value, sizeof value);
        return true;
    case EHS_MEMBER_TEXT:
        break;
    }
    if (value > loader->text_count)
        return false;
    const char *const text = value == 0 ? "" : loader->texts[value - 1];
    memcpy(at, &text, sizeof text);
    return true;
}

/* Copies values of plain members; false if the member is not plain. */
static bool set_plain(ehs_member member, const u8 *from, u32 count, u8 *row, size_t row_bytes)
{
    if (member == EHS_MEMBER_U64) {
        for (u32 i = 0; i < count; i++)
            memcpy(row + i * row_bytes, from + i * sizeof(u64), sizeof(u64));
    } else if (member == EHS_MEMBER_U32) {
        for (u32 i = 0; i < count; i++)
            memcpy(row + i * row_bytes, from + i * sizeof(u32), sizeof(u32));
    } else {
        return false;
    }
    return true;
}

static etl_status scatter(ehs_loader *loader, const ehs_field *field, const ehs_row *block, u8 *row,
                          size_t row_bytes)
{
    const u32 width = column_bytes(field->member);
    const etl_status status = ehs_reader_get(loader->reader, &loader->codec, block, loader->scratch,
                                             EHS_COLUMN_BYTES_MAX / width, loader->err);
    if (status != ETL_OK)
        return status;
    const u8 *from = loader->scratch;
    if (set_plain(field->member, from, block->values, row, row_bytes))
        return ETL_OK;
    for (u32 i = 0; i < block->values; i++, row += row_bytes, from += width) {
        u64 value = 0;
        memcpy(&value, from, width);
        if (!set_member(loader, field->member, value, row))
            return ehs_reader_blame(block, loader->err, "has a value that its table cannot hold");
    }
    return ETL_OK;
}
