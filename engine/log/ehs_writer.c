/*
 * ehs_writer.c - writes an .ehs file as a stream: header, blocks, directory, footer. ehs_file.h has
 * the layout.
 *
 * In: encoded blocks in any order. Out: bytes; only the directory stays in memory. Invariant:
 * nothing is ever patched, so the output may be a pipe, and a file without a footer is known to be
 * unfinished.
 */
#include <stdlib.h>
#include <xxhash.h>

#include "ehs_file.h"

static etl_status put(ehs_writer *writer, const void *bytes, size_t size);
static bool put_row(ehs_bytes *out, const ehs_row *row);

bool ehs_blocks_add(ehs_blocks *blocks, ehs_codec *codec, ehs_column column, u32 part,
                    const void *values, u32 count)
{
    const ehs_column_info *const info = ehs_column_find(column);
    assert(info != NULL);
    ehs_row row = { .column = column, .part = part, .values = count };
    row.offset = blocks->bytes.count;
    if (!ehs_encode(codec, &info->format, values, count, &blocks->bytes))
        return false;
    row.size = (u32)(blocks->bytes.count - row.offset);
    row.checksum = XXH3_64bits(blocks->bytes.at + row.offset, row.size);
    return ETLHEAP_PUSH(&blocks->rows, row);
}

void ehs_blocks_clear(ehs_blocks *blocks)
{
    blocks->bytes.count = 0;
    blocks->rows.count = 0;
}

void ehs_blocks_free(ehs_blocks *blocks)
{
    ETLHEAP_VECTOR_FREE(&blocks->bytes);
    ETLHEAP_VECTOR_FREE(&blocks->rows);
}

etl_status ehs_writer_open(ehs_writer *writer, ehs_sink_fn *sink, void *user, ehs_content content)
{
    return ehs_writer_open_for(writer, sink, user, content, 0);
}

etl_status ehs_writer_open_for(ehs_writer *writer, ehs_sink_fn *sink, void *user,
                               ehs_content content, u32 minor_needed)
{
    *writer = (ehs_writer){ .sink = sink, .user = user };
    u8 header[EHS_HEADER_BYTES] = { 0 };
    const u16 versions[] = { EHS_MAJOR, EHS_MINOR };
    const u32 content_word = content;
    const u16 needed = (u16)minor_needed;
    memcpy(header, EHS_MAGIC, EHS_MAGIC_BYTES);
    memcpy(header + 8, versions, sizeof versions);
    memcpy(header + 12, &content_word, sizeof content_word);
    memcpy(header + 16, &needed, sizeof needed);
    const u64 checksum = XXH3_64bits(header, 24);
    memcpy(header + 24, &checksum, sizeof checksum);
    return put(writer, header, sizeof header);
}

static etl_status put(ehs_writer *writer, const void *bytes, size_t size)
{
    if (writer->status != ETL_OK || size == 0)
        return writer->status;
    if (!writer->sink(writer->user, bytes, size))
        writer->status = ETL_ERR_IO;
    writer->offset += size;
    return writer->status;
}

etl_status ehs_writer_put(ehs_writer *writer, const ehs_blocks *blocks)
{
    if (writer->status == ETL_OK && !ETLHEAP_RESERVE(&writer->rows, blocks->rows.count))
        writer->status = ETL_ERR_MEMORY;
    for (size_t i = 0; writer->status == ETL_OK && i < blocks->rows.count; i++) {
        ehs_row row = blocks->rows.at[i];
        row.offset += writer->offset;
        writer->rows.at[writer->rows.count++] = row;
    }
    return put(writer, blocks->bytes.at, blocks->bytes.count);
}

static int by_column_and_part(const void *a, const void *b)
{
    const ehs_row *const x = a, *const y = b;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    return (x->part > y->part) - (x->part < y->part);
}

static etl_status put_directory(ehs_writer *writer)
{
    ehs_bytes directory = { 0 };
    const u64 offset = writer->offset, rows = writer->rows.count;
    bool ok = true;
    if (rows > 0)
        qsort(writer->rows.at, rows, sizeof *writer->rows.at, by_column_and_part);
    for (size_t i = 0; ok && i < rows; i++) {
        assert(i == 0 || by_column_and_part(&writer->rows.at[i - 1], &writer->rows.at[i]) < 0);
        ok = put_row(&directory, &writer->rows.at[i]);
    }
    u64 footer[EHS_FOOTER_BYTES / sizeof(u64)] = { offset, rows };
    footer[2] = XXH3_64bits(directory.at, directory.count);
    footer[3] = XXH3_64bits(footer, 3 * sizeof *footer);
    memcpy(&footer[4], EHS_MAGIC_END, EHS_MAGIC_BYTES);
    if (!ok || !ehs_put(&directory, footer, sizeof footer))
        writer->status = ETL_ERR_MEMORY;
    put(writer, directory.at, directory.count);
    ETLHEAP_VECTOR_FREE(&directory);
    return writer->status;
}

static bool put_row(ehs_bytes *out, const ehs_row *row)
{
    u8 bytes[EHS_ROW_BYTES];
    memcpy(bytes, &row->column, sizeof row->column);
    memcpy(bytes + 4, &row->part, sizeof row->part);
    memcpy(bytes + 8, &row->offset, sizeof row->offset);
    memcpy(bytes + 16, &row->size, sizeof row->size);
    memcpy(bytes + 20, &row->values, sizeof row->values);
    memcpy(bytes + 24, &row->checksum, sizeof row->checksum);
    return ehs_put(out, bytes, sizeof bytes);
}

etl_status ehs_writer_close(ehs_writer *writer)
{
    if (writer->status == ETL_OK)
        put_directory(writer);
    ETLHEAP_VECTOR_FREE(&writer->rows);
    return writer->status;
}
