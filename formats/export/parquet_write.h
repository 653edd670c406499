/*
 * parquet_write.h - writes tables as Apache Parquet files, streamed into a sink.
 *
 *     "PAR1"
 *     row group      a chunk for each column: [dictionary page] data page...
 *     row group ...
 *     footer         schema, positions of the chunks, ranges of their values, facts
 *     u32 size of the footer   "PAR1"
 *
 * A table is flat, except for lists of texts. Put values in the order of its columns. A row group
 * stays in memory until it is full, and is then encoded and written. Columns with repeated values
 * are written as a dictionary and the numbers of its entries, if that is smaller; pages are
 * compressed with zstd. Each chunk states its smallest and largest value, so that readers can skip
 * row groups that a filter excludes.
 *
 * Sums have 64 bits: there are no decimals and no 128-bit numbers. Invalid UTF-8 in texts is
 * replaced with U+FFFD.
 *
 * Source of everything written here and in parquet_chunk.c: the format's specification,
 * github.com/apache/parquet-format, README.md, Encodings.md, LogicalTypes.md and
 * src/main/thrift/parquet.thrift (2.9 and later).
 */
#ifndef PARQUET_WRITE_H
#define PARQUET_WRITE_H

#include "formats/io/text_buffer.h"

/* X(enumerator, physical type, converted type or -1): the types of columns. */
#define PARQUET_TYPES(X)                                                                           \
    X(BOOLEAN, 0, -1)   /* 0 or 1 */                                                               \
    X(INT64, 2, -1)     /* signed */                                                               \
    X(UINT64, 2, 14)    /* addresses */                                                            \
    X(TIMESTAMP, 2, 10) /* microseconds since 1970, UTC */                                         \
    X(STRING, 6, 0)     /* UTF-8 */

typedef enum parquet_type {
#define PARQUET_TYPE_ENUM(name, physical, converted) PARQUET_##name,
    PARQUET_TYPES(PARQUET_TYPE_ENUM)
#undef PARQUET_TYPE_ENUM
        PARQUET_TYPE_COUNT
} parquet_type;

typedef struct parquet_column {
    const char *name;
    u8 type;          /* parquet_type */
    bool is_optional; /* may be NULL */
    bool repeats;     /* numbers: try a dictionary; texts always have one */
    bool is_list;     /* list of texts; the list may be NULL, its texts may not */
} parquet_column;

#define PARQUET_GROUP_ROWS  ((u32)256 * 1024)
#define PARQUET_GROUP_BYTES (32 * ETL_MIB) /* largest size of texts in a row group */
#define PARQUET_PAGE_ROWS   32768

typedef struct parquet_options {
    const char *name;              /* of the table */
    const parquet_column *columns; /* borrowed until parquet_close */
    u32 column_count;
    u32 group_rows;       /* rows per group; 0: PARQUET_GROUP_ROWS */
    u64 group_bytes;      /* 0: PARQUET_GROUP_BYTES */
    u64 memory_bytes_max; /* row groups are made smaller to stay well below; 0: no limit */
} parquet_options;

typedef struct parquet_writer parquet_writer;

/* Opens a writer. The sink is borrowed until parquet_close. NULL if memory runs out. */
parquet_writer *parquet_open(const parquet_options *options, etlheap_sink *sink);

/* Puts the value of the row's next column. Its type, and whether it may be NULL, must fit. Numbers
 * of signed columns are in two's complement. */
void parquet_put_number(parquet_writer *writer, u64 value);
void parquet_put_null(parquet_writer *writer);
void parquet_put_text(parquet_writer *writer, const char *text, size_t size);

/*
 * For repeated texts, which are looked up once per row group: put_known puts the text last put
 * under this name, or returns false; then call put_new. A name belongs to one column and starts
 * from {0}.
 */
typedef struct parquet_name {
    u32 group, entry;
} parquet_name;

bool parquet_put_known(parquet_writer *writer, const parquet_name *name);
void parquet_put_new(parquet_writer *writer, parquet_name *name, const char *text, size_t size);

/* Does the same for the texts of a list, the first PARQUET_PAGE_ROWS of which are kept. */
void parquet_put_new_list(parquet_writer *writer, parquet_name *name, const etl_bytes *texts,
                          u32 count);

/* Puts a text under a name in one step. NULL is a NULL value. */
void parquet_put_name(parquet_writer *writer, parquet_name *name, const char *text);

/* Ends a row. All columns must have a value. */
void parquet_end_row(parquet_writer *writer);

/* Adds a text about the whole table to the footer; at any time. */
void parquet_add_fact(parquet_writer *writer, const char *key, const char *text);

/* Writes the rest and the footer, and frees the writer. ETL_ERR_MEMORY: the output is then not a
 * valid Parquet file. */
etl_status parquet_close(parquet_writer *writer);

#endif
