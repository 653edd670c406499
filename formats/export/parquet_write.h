/*
 * parquet_write.h - tables as Apache Parquet files, streamed into a sink.
 *
 *     "PAR1"
 *     row group      a chunk for each column: [dictionary page] data page...
 *     row group ...
 *     footer         schema, where the chunks are, what values they have, facts
 *     u32 size of the footer   "PAR1"
 *
 * A table is flat but for lists of texts. Values are put in the order of its columns; a row group is in
 * memory until it is full and then encoded and written. Columns whose values repeat
 * are written as a dictionary and the numbers of its entries, if that is smaller;
 * pages are compressed with zstd. Each chunk tells its smallest and largest value, so
 * that readers pass over row groups that a filter excludes.
 *
 * Sums of 64 bits are what there is: no decimals, no numbers of 128 bits. Texts that
 * are not valid UTF-8 have U+FFFD in the place of what is not.
 *
 * Source of all that is written here and in parquet_chunk.c: the format's
 * specification, github.com/apache/parquet-format, README.md, Encodings.md,
 * LogicalTypes.md and src/main/thrift/parquet.thrift (2.9 and later).
 */
#ifndef PARQUET_WRITE_H
#define PARQUET_WRITE_H

#include "formats/io/text_buffer.h"

/* X(enumerator, physical type, its converted type or -1) - what a column holds */
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
    bool repeats;     /* numbers: a dictionary is tried; texts always have one */
    bool is_list;     /* of texts, which may be NULL as a whole but not one by one */
} parquet_column;

#define PARQUET_GROUP_ROWS  ((u32)256 * 1024)
#define PARQUET_GROUP_BYTES (32 * ETL_MIB) /* of texts: a row group ends early */
#define PARQUET_PAGE_ROWS   32768

typedef struct parquet_options {
    const char *name;              /* of the table */
    const parquet_column *columns; /* borrowed until the close */
    u32 column_count;
    u32 group_rows;       /* rows of a group; 0: PARQUET_GROUP_ROWS */
    u64 group_bytes;      /* 0: PARQUET_GROUP_BYTES */
    u64 memory_bytes_max; /* row groups are smaller, to keep well below it; 0: no limit */
} parquet_options;

typedef struct parquet_writer parquet_writer;

/* The sink is borrowed until the close. NULL: no memory. */
parquet_writer *parquet_open(const parquet_options *options, etlheap_sink *sink);

/* The next column's value in the row; its type and whether it may be NULL must fit.
 * Numbers of signed columns are put as their two's complement. */
void parquet_put_number(parquet_writer *writer, u64 value);
void parquet_put_null(parquet_writer *writer);
void parquet_put_text(parquet_writer *writer, const char *text, size_t size);

/*
 * Texts that come again and again are looked up once a row group: put_known says
 * whether it could put the text that was put for this name before; if not, put_new
 * must put it. A name belongs to one column and starts from {0}.
 */
typedef struct parquet_name {
    u32 group, entry;
} parquet_name;

bool parquet_put_known(parquet_writer *writer, const parquet_name *name);
void parquet_put_new(parquet_writer *writer, parquet_name *name, const char *text, size_t size);

/* The same for the texts of a list, of which the first PARQUET_PAGE_ROWS are kept. */
void parquet_put_new_list(parquet_writer *writer, parquet_name *name, const etl_bytes *texts,
                          u32 count);

/* The same at once. NULL text is a NULL value. */
void parquet_put_name(parquet_writer *writer, parquet_name *name, const char *text);

/* After all columns have a value. */
void parquet_end_row(parquet_writer *writer);

/* Text about the whole table, for the footer; at any time. */
void parquet_add_fact(parquet_writer *writer, const char *key, const char *text);

/* Writes what is left, and the footer, and frees the writer; ETL_ERR_MEMORY if there
 * was too little of it: what is in the sink is then no Parquet file. */
etl_status parquet_close(parquet_writer *writer);

#endif
