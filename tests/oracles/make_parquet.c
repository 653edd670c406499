/*
 * make_parquet.c - writes a Parquet table that has everything the writer can write, for
 * readers of others to compare with.
 *
 *     make_parquet FILE.parquet ROWS GROUP_ROWS [GROUP_BYTES]
 *
 * The value of each column follows from the number of the row; oracle_parquet.py
 * reckons the same. Several pages a group want GROUP_ROWS above 32768.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/export/parquet_write.h"

static const parquet_column columns[] = {
    { .name = "row", .type = PARQUET_INT64 },
    { .name = "signed", .type = PARQUET_INT64 },
    { .name = "coded", .type = PARQUET_INT64, .is_optional = true, .repeats = true },
    { .name = "distinct", .type = PARQUET_INT64, .repeats = true },
    { .name = "constant", .type = PARQUET_INT64, .repeats = true },
    { .name = "unsigned", .type = PARQUET_UINT64, .is_optional = true },
    { .name = "truth", .type = PARQUET_BOOLEAN, .is_optional = true },
    { .name = "moment", .type = PARQUET_TIMESTAMP, .repeats = true },
    { .name = "word", .type = PARQUET_STRING },
    { .name = "unique", .type = PARQUET_STRING, .is_optional = true },
    { .name = "hostile", .type = PARQUET_STRING },
    { .name = "never", .type = PARQUET_STRING, .is_optional = true },
};

/* Bytes that are no UTF-8, what would end a C string, and what readers trip over. */
static const struct {
    const char *bytes;
    size_t size;
} hostile[] = {
    { "", 0 },
    { "\xFF\xFE", 2 },
    { "a\xC3", 2 },
    { "\xED\xA0\x80|", 4 },
    { "nul\0inside", 10 },
    { "\"quoted\", 'too'\\\n\r\t", 19 },
    { "\xF0\x9F\x98\x80 \xC3\xA9", 7 },
    { "<&;>", 4 },
};

static void put_row(parquet_writer *writer, u64 row, parquet_name *words)
{
    char text[64];
    parquet_put_number(writer, row);
    parquet_put_number(writer, row % 2 == 0 ? row : 0 - row * 1000000007u);
    if (row % 7 == 3)
        parquet_put_null(writer);
    else
        parquet_put_number(writer, 0 - (row / 100 % 1000));
    parquet_put_number(writer, row * row);
    parquet_put_number(writer, 42);
    if (row % 3 == 0)
        parquet_put_null(writer);
    else
        parquet_put_number(writer, UINT64_MAX - row);
    if (row % 11 == 5)
        parquet_put_null(writer);
    else
        parquet_put_number(writer, row % 5 == 0);
    parquet_put_number(writer, 1600000000000000u + row / 1000 * 1000000);
    snprintf(text, sizeof text, "word %" PRIu64, row % 10);
    parquet_put_name(writer, &words[row % 10], text);
    if (row % 13 == 1) {
        parquet_put_null(writer);
    } else {
        const int size = snprintf(text, sizeof text, "unique %" PRIu64 " of them", row);
        parquet_put_text(writer, text, (size_t)size);
    }
    const size_t which = row % ETL_COUNT_OF(hostile);
    parquet_put_text(writer, hostile[which].bytes, hostile[which].size);
    parquet_put_null(writer);
    parquet_end_row(writer);
}

int main(int argc, char **argv)
{
    etlheap_sink *sink = NULL;
    etl_error err;
    parquet_name words[10] = { 0 };
    if (argc < 4 || etlheap_sink_open_file(argv[1], &sink, &err) != ETL_OK) {
        fprintf(stderr, "usage: make_parquet FILE.parquet ROWS GROUP_ROWS [GROUP_BYTES]\n");
        return 2;
    }
    const parquet_options options = {
        .name = "made",
        .columns = columns,
        .column_count = ETL_COUNT_OF(columns),
        .group_rows = (u32)strtoul(argv[3], NULL, 10),
        .group_bytes = argc > 4 ? strtoul(argv[4], NULL, 10) : 0,
    };
    parquet_writer *const writer = parquet_open(&options, sink);
    if (!writer)
        return 3;
    const u64 rows = strtoul(argv[2], NULL, 10);
    for (u64 row = 0; row < rows; row++)
        put_row(writer, row, words);
    parquet_add_fact(writer, "made.rows", argv[2]);
    parquet_add_fact(writer, "made.hostile", "\xFF;");
    const etl_status status = parquet_close(writer);
    return etlheap_sink_close(sink, &err) == ETL_OK && status == ETL_OK ? 0 : 3;
}
