/*
 * parquet_write.c - streams rows into a Parquet file: row groups of column chunks, then the
 * footer. parquet_write.h draws the file.
 *
 * In: values in the order of columns, row by row. Out: bytes of the file, in a sink.
 *
 * A row group is kept in memory until it is full, then each column is encoded (parquet_chunk.c)
 * and written. The footer needs the position and statistics of every chunk, so these are kept
 * until the end. Invariant: positions are counted from the first byte written; nothing is ever
 * patched afterwards, so the sink may be a pipe.
 */
#include "parquet_write.h"

#include "formats/io/units.h"
#include "parquet_chunk.h"

#include <stdlib.h>

#define MAGIC       "PAR1"
#define MAGIC_BYTES 4
#define FORMAT      2 /* FileMetaData.version */
#define REPLACEMENT "\xEF\xBF\xBD"
#define BITS_OF_64  64
#define UNIT_MICROS 2 /* of TimeUnit */
#define TYPE_ORDER  1 /* of ColumnOrder */

#define VALUE_BYTES     ((u64)16) /* of memory for a value, with its share in a dictionary */
#define GROUP_ROWS_MIN  4096
#define GROUP_BYTES_MIN ETL_MIB

/* LogicalType, a union: the field of each. */
#define REQUIRED          0
#define OPTIONAL          1
#define REPEATED          2
#define CONVERTED_LIST    3
#define LOGICAL_LIST      3
#define LIST_NAME         "list"
#define ELEMENT_NAME      "element"
#define LIST_GROUPS       2
#define LOGICAL_STRING    1
#define LOGICAL_TIMESTAMP 8
#define LOGICAL_INTEGER   10

struct parquet_writer {
    parquet_options options;
    parquet_pages pages;
    parquet_chunk *chunks; /* by column */
    u32 column;            /* whose value is next */
    u32 group;             /* number of the row group, from 1 */
    u32 group_count;
    u64 row_count;       /* in groups that are written */
    u64 text_bytes;      /* of the group, distinct ones */
    etlheap_text groups; /* what the footer says of them */
    etlheap_text facts;
    u32 fact_count;
    etlheap_text scratch;
};

static void choose_groups(parquet_options *options);
static bool prepare(parquet_writer *writer);
static parquet_chunk *next_chunk(parquet_writer *writer);
static etl_bytes valid_text(parquet_writer *writer, const char *text, size_t size);
static void write_group(parquet_writer *writer);
static void add_chunk(const parquet_chunk *chunk, const parquet_chunk_sizes *sizes,
                      parquet_thrift *thrift);
static void write_footer(parquet_writer *writer);
static void add_schema(const parquet_writer *writer, parquet_thrift *thrift);
static void add_list_groups(const parquet_column *column, parquet_thrift *thrift);
static void add_leaf(const parquet_column *column, parquet_thrift *thrift);
static void add_logical_type(parquet_type type, parquet_thrift *thrift);
static void send(parquet_writer *writer, const void *bytes, size_t size);
static void writer_free(parquet_writer *writer);

parquet_writer *parquet_open(const parquet_options *options, etlheap_sink *sink)
{
    parquet_writer *const writer = calloc(1, sizeof *writer);
    if (!writer)
        return NULL;
    writer->options = *options;
    writer->pages.sink = sink;
    choose_groups(&writer->options);
    if (!prepare(writer)) {
        writer_free(writer);
        return NULL;
    }
    writer->group = 1;
    send(writer, MAGIC, MAGIC_BYTES);
    return writer;
}

/* Chooses the size of row groups. A sixteenth of the memory is for rows and a thirty-second for
 * texts, which exist up to three times while they are written; most of the memory holds the result
 * itself. */
static void choose_groups(parquet_options *options)
{
    if (options->group_rows == 0)
        options->group_rows = PARQUET_GROUP_ROWS;
    if (options->group_bytes == 0)
        options->group_bytes = PARQUET_GROUP_BYTES;
    if (options->memory_bytes_max == 0)
        return;
    const u64 rows = options->memory_bytes_max / 16 / (options->column_count * VALUE_BYTES);
    const u64 bytes = options->memory_bytes_max / 32;
    options->group_rows = (u32)etl_min_u64(options->group_rows, etl_max_u64(rows, GROUP_ROWS_MIN));
    options->group_bytes = etl_min_u64(options->group_bytes, etl_max_u64(bytes, GROUP_BYTES_MIN));
}

static bool prepare(parquet_writer *writer)
{
    const parquet_options *const options = &writer->options;
    writer->chunks = calloc(options->column_count, sizeof *writer->chunks);
    writer->pages.numbers = malloc(PARQUET_PAGE_ROWS * sizeof *writer->pages.numbers);
    writer->pages.zstd = ZSTD_createCCtx();
    bool good = writer->chunks && writer->pages.numbers && writer->pages.zstd;
    for (u32 i = 0; good && i < options->column_count; i++)
        good = parquet_chunk_init(&writer->chunks[i], &options->columns[i], options->group_rows);
    return good;
}

void parquet_put_number(parquet_writer *writer, u64 value)
{
    parquet_chunk_number(next_chunk(writer), value);
}

void parquet_put_null(parquet_writer *writer)
{
    parquet_chunk_null(next_chunk(writer));
}

void parquet_put_text(parquet_writer *writer, const char *text, size_t size)
{
    parquet_name name = { 0 };
    parquet_put_new(writer, &name, text, size);
}

bool parquet_put_known(parquet_writer *writer, const parquet_name *name)
{
    if (name->group != writer->group)
        return false;
    parquet_chunk_entry(next_chunk(writer), name->entry);
    return true;
}

void parquet_put_new(parquet_writer *writer, parquet_name *name, const char *text, size_t size)
{
    const etl_bytes valid = valid_text(writer, text, size);
    parquet_chunk *const chunk = next_chunk(writer);
    const size_t before = chunk->dictionary.bytes.size;
    name->group = writer->group;
    name->entry = parquet_chunk_intern(chunk, (const char *)valid.at, valid.size);
    writer->text_bytes += chunk->dictionary.bytes.size - before;
    parquet_chunk_entry(chunk, name->entry);
}

void parquet_put_new_list(parquet_writer *writer, parquet_name *name, const etl_bytes *texts,
                          u32 count)
{
    parquet_chunk *const chunk = next_chunk(writer);
    const size_t before = chunk->dictionary.bytes.size;
    const u32 kept = (u32)etl_min_u64(count, PARQUET_PAGE_ROWS);
    name->group = writer->group;
    name->entry = parquet_lists_begin(&chunk->lists);
    for (u32 i = 0; i < kept; i++) {
        const etl_bytes valid = valid_text(writer, (const char *)texts[i].at, texts[i].size);
        parquet_chunk_item(chunk, (const char *)valid.at, valid.size);
    }
    writer->text_bytes += chunk->dictionary.bytes.size - before + kept * sizeof *chunk->lists.items;
    parquet_chunk_entry(chunk, name->entry);
}

void parquet_put_name(parquet_writer *writer, parquet_name *name, const char *text)
{
    if (text == NULL)
        parquet_put_null(writer);
    else if (!parquet_put_known(writer, name))
        parquet_put_new(writer, name, text, strlen(text));
}

void parquet_end_row(parquet_writer *writer)
{
    assert(writer->column == writer->options.column_count);
    writer->column = 0;
    if (writer->chunks[0].row_count == writer->options.group_rows ||
        writer->text_bytes >= writer->options.group_bytes)
        write_group(writer);
}

void parquet_add_fact(parquet_writer *writer, const char *key, const char *text)
{
    const etl_bytes valid = valid_text(writer, text, strlen(text));
    parquet_thrift thrift = { .out = &writer->facts };
    parquet_thrift_open(&thrift);
    parquet_thrift_string(&thrift, 1, key);
    parquet_thrift_bytes(&thrift, 2, (const char *)valid.at, valid.size);
    parquet_thrift_close(&thrift);
    writer->fact_count++;
}

etl_status parquet_close(parquet_writer *writer)
{
    assert(writer->column == 0);
    if (writer->chunks[0].row_count > 0)
        write_group(writer);
    write_footer(writer);
    const bool failed = writer->pages.failed;
    writer_free(writer);
    return failed ? ETL_ERR_MEMORY : ETL_OK;
}

static parquet_chunk *next_chunk(parquet_writer *writer)
{
    assert(writer->column < writer->options.column_count);
    return &writer->chunks[writer->column++];
}

/* The text itself if it is valid UTF-8, as nearly all are; else a corrected copy. */
static etl_bytes valid_text(parquet_writer *writer, const char *text, size_t size)
{
    size_t at = 0;
    size_t length = 1;
    while (at < size && (length = etlheap_units_utf8_length(text + at, size - at)) > 0)
        at += length;
    if (at == size)
        return (etl_bytes){ (const u8 *)text, size };
    etlheap_text_clear(&writer->scratch);
    etlheap_text_add(&writer->scratch, text, at);
    while (at < size) {
        length = etlheap_units_utf8_length(text + at, size - at);
        if (length > 0)
            etlheap_text_add(&writer->scratch, text + at, length);
        else
            etlheap_text_add_string(&writer->scratch, REPLACEMENT);
        at += length > 0 ? length : 1;
    }
    return (etl_bytes){ (const u8 *)etlheap_text_of(&writer->scratch), writer->scratch.size };
}

/* RowGroup: what its chunks are, its sizes and where it begins. */
static void write_group(parquet_writer *writer)
{
    parquet_thrift thrift = { .out = &writer->groups };
    const u64 offset = writer->pages.offset;
    const u32 rows = writer->chunks[0].row_count;
    u64 plain_bytes = 0;
    parquet_thrift_open(&thrift);
    parquet_thrift_list(&thrift, 1, PARQUET_THRIFT_STRUCT, writer->options.column_count);
    for (u32 i = 0; i < writer->options.column_count; i++) {
        parquet_chunk *const chunk = &writer->chunks[i];
        assert(chunk->row_count == rows);
        const parquet_chunk_sizes sizes = parquet_chunk_write(chunk, &writer->pages);
        if (!writer->pages.failed)
            add_chunk(chunk, &sizes, &thrift);
        plain_bytes += sizes.plain_bytes;
        parquet_chunk_clear(chunk);
    }
    parquet_thrift_i64(&thrift, 2, (i64)plain_bytes);
    parquet_thrift_i64(&thrift, 3, rows);
    parquet_thrift_i64(&thrift, 5, (i64)offset);
    parquet_thrift_i64(&thrift, 6, (i64)(writer->pages.offset - offset));
    parquet_thrift_close(&thrift);
    writer->row_count += rows;
    writer->group_count++;
    writer->group++;
    writer->text_bytes = 0;
}

/* ColumnChunk with its ColumnMetaData. */
static void add_chunk(const parquet_chunk *chunk, const parquet_chunk_sizes *sizes,
                      parquet_thrift *thrift)
{
    const parquet_column *const column = chunk->column;
    parquet_thrift_open(thrift);
    parquet_thrift_i64(thrift, 2, 0); /* no second copy of this elsewhere */
    parquet_thrift_struct(thrift, 3);
    parquet_thrift_i32(thrift, 1, parquet_physical_type((parquet_type)column->type));
    parquet_thrift_list(thrift, 2, PARQUET_THRIFT_I32, sizes->is_coded ? 3 : 2);
    parquet_thrift_member_i32(thrift, PARQUET_ENCODING_PLAIN);
    parquet_thrift_member_i32(thrift, PARQUET_ENCODING_RLE);
    if (sizes->is_coded)
        parquet_thrift_member_i32(thrift, PARQUET_ENCODING_RLE_DICTIONARY);
    parquet_thrift_list(thrift, 3, PARQUET_THRIFT_BYTES, column->is_list ? 3 : 1);
    parquet_thrift_member_string(thrift, column->name);
    if (column->is_list) {
        parquet_thrift_member_string(thrift, LIST_NAME);
        parquet_thrift_member_string(thrift, ELEMENT_NAME);
    }
    parquet_thrift_i32(thrift, 4, PARQUET_CODEC_ZSTD);
    parquet_thrift_i64(thrift, 5, (i64)parquet_chunk_level_count(chunk));
    parquet_thrift_i64(thrift, 6, (i64)sizes->plain_bytes);
    parquet_thrift_i64(thrift, 7, (i64)sizes->packed_bytes);
    parquet_thrift_i64(thrift, 9, (i64)sizes->data_offset);
    if (sizes->is_coded)
        parquet_thrift_i64(thrift, 11, (i64)sizes->offset);
    parquet_chunk_statistics(chunk, 12, thrift);
    parquet_thrift_close(thrift);
    parquet_thrift_close(thrift);
}

/* FileMetaData. Statistics are in the order of the columns' types. */
static void write_footer(parquet_writer *writer)
{
    etlheap_text *const footer = &writer->scratch;
    parquet_thrift thrift = { .out = footer };
    const u32 columns = writer->options.column_count;
    etlheap_text_clear(footer);
    parquet_thrift_open(&thrift);
    parquet_thrift_i32(&thrift, 1, FORMAT);
    add_schema(writer, &thrift);
    parquet_thrift_i64(&thrift, 3, (i64)writer->row_count);
    parquet_thrift_list(&thrift, 4, PARQUET_THRIFT_STRUCT, writer->group_count);
    etlheap_text_add(footer, etlheap_text_of(&writer->groups), writer->groups.size);
    parquet_thrift_list(&thrift, 5, PARQUET_THRIFT_STRUCT, writer->fact_count);
    etlheap_text_add(footer, etlheap_text_of(&writer->facts), writer->facts.size);
    parquet_thrift_string(&thrift, 6, "etlheap version " ETLHEAP_VERSION);
    parquet_thrift_list(&thrift, 7, PARQUET_THRIFT_STRUCT, columns);
    for (u32 i = 0; i < columns; i++) {
        parquet_thrift_open(&thrift);
        parquet_thrift_struct(&thrift, TYPE_ORDER);
        parquet_thrift_close(&thrift);
        parquet_thrift_close(&thrift);
    }
    parquet_thrift_close(&thrift);
    const u32 size = (u32)footer->size;
    writer->pages.failed |=
        footer->failed || footer->size > INT32_MAX || writer->groups.failed || writer->facts.failed;
    if (writer->pages.failed)
        return;
    send(writer, footer->bytes, footer->size);
    send(writer, &size, sizeof size);
    send(writer, MAGIC, MAGIC_BYTES);
}

/* SchemaElement: the root, then the columns. */
static void add_schema(const parquet_writer *writer, parquet_thrift *thrift)
{
    const parquet_options *const options = &writer->options;
    u64 elements = (u64)options->column_count + 1;
    for (u32 i = 0; i < options->column_count; i++)
        elements += options->columns[i].is_list ? LIST_GROUPS : 0;
    parquet_thrift_list(thrift, 2, PARQUET_THRIFT_STRUCT, elements);
    parquet_thrift_open(thrift);
    parquet_thrift_string(thrift, 4, options->name);
    parquet_thrift_i32(thrift, 5, options->column_count);
    parquet_thrift_close(thrift);
    for (u32 i = 0; i < options->column_count; i++) {
        const parquet_column *const column = &options->columns[i];
        if (column->is_list)
            add_list_groups(column, thrift);
        add_leaf(column, thrift);
    }
}

/* Adds the groups of a list: a group with its name, and in it a repeated group with the elements.
 * Source: LogicalTypes.md of the format, "Lists". */
static void add_list_groups(const parquet_column *column, parquet_thrift *thrift)
{
    parquet_thrift_open(thrift);
    parquet_thrift_i32(thrift, 3, column->is_optional ? OPTIONAL : REQUIRED);
    parquet_thrift_string(thrift, 4, column->name);
    parquet_thrift_i32(thrift, 5, 1);
    parquet_thrift_i32(thrift, 6, CONVERTED_LIST);
    parquet_thrift_struct(thrift, 10);
    parquet_thrift_struct(thrift, LOGICAL_LIST);
    parquet_thrift_close(thrift);
    parquet_thrift_close(thrift);
    parquet_thrift_close(thrift);
    parquet_thrift_open(thrift);
    parquet_thrift_i32(thrift, 3, REPEATED);
    parquet_thrift_string(thrift, 4, LIST_NAME);
    parquet_thrift_i32(thrift, 5, 1);
    parquet_thrift_close(thrift);
}

static void add_leaf(const parquet_column *column, parquet_thrift *thrift)
{
    static const signed char converted[] = {
#define PARQUET_CONVERTED(name, physical_type, converted_type) converted_type,
        PARQUET_TYPES(PARQUET_CONVERTED)
#undef PARQUET_CONVERTED
    };
    const parquet_type type = (parquet_type)column->type;
    const bool may_be_null = column->is_optional && !column->is_list;
    parquet_thrift_open(thrift);
    parquet_thrift_i32(thrift, 1, parquet_physical_type(type));
    parquet_thrift_i32(thrift, 3, may_be_null ? OPTIONAL : REQUIRED);
    parquet_thrift_string(thrift, 4, column->is_list ? ELEMENT_NAME : column->name);
    if (converted[type] >= 0)
        parquet_thrift_i32(thrift, 6, converted[type]);
    add_logical_type(type, thrift);
    parquet_thrift_close(thrift);
}

/* Adds the logical type, which replaced the converted type. */
static void add_logical_type(parquet_type type, parquet_thrift *thrift)
{
    if (type != PARQUET_STRING && type != PARQUET_TIMESTAMP && type != PARQUET_UINT64)
        return;
    parquet_thrift_struct(thrift, 10);
    if (type == PARQUET_STRING) {
        parquet_thrift_struct(thrift, LOGICAL_STRING);
    } else if (type == PARQUET_TIMESTAMP) {
        parquet_thrift_struct(thrift, LOGICAL_TIMESTAMP);
        parquet_thrift_bool(thrift, 1, true); /* in UTC */
        parquet_thrift_struct(thrift, 2);
        parquet_thrift_struct(thrift, UNIT_MICROS);
        parquet_thrift_close(thrift);
        parquet_thrift_close(thrift);
    } else {
        parquet_thrift_struct(thrift, LOGICAL_INTEGER);
        parquet_thrift_byte(thrift, 1, BITS_OF_64);
        parquet_thrift_bool(thrift, 2, false); /* not signed */
    }
    parquet_thrift_close(thrift);
    parquet_thrift_close(thrift);
}

static void send(parquet_writer *writer, const void *bytes, size_t size)
{
    etlheap_sink_write(writer->pages.sink, bytes, size);
    writer->pages.offset += size;
}

static void writer_free(parquet_writer *writer)
{
    for (u32 i = 0; writer->chunks && i < writer->options.column_count; i++)
        parquet_chunk_free(&writer->chunks[i]);
    free(writer->chunks);
    free(writer->pages.numbers);
    ZSTD_freeCCtx(writer->pages.zstd);
    etlheap_text_free(&writer->pages.header);
    etlheap_text_free(&writer->pages.page);
    etlheap_text_free(&writer->pages.packed);
    etlheap_text_free(&writer->groups);
    etlheap_text_free(&writer->facts);
    etlheap_text_free(&writer->scratch);
    free(writer);
}
