/*
 * parquet_chunk.h - the values of one column in one row group, and their pages.
 *
 *     data page    header | zstd( [u32 size, NULL levels] values )
 *     NULL levels    one bit per row, 1 for a value; only in optional columns (hybrid).
 *                    For lists: whether a value continues the list before; and 0 no list,
 *                    1 an empty one, 2 a value (both hybrid, each after its u32 size)
 *     values         plain, or u8 width and numbers of dictionary entries (hybrid)
 *     dictionary     header | zstd( distinct values, plain )
 *     plain          i64 little endian, one bit for a boolean, u32 size and bytes for a text
 *
 * Part of parquet_write.c.
 */
#ifndef PARQUET_CHUNK_H
#define PARQUET_CHUNK_H

#include "parquet_dictionary.h"
#include "parquet_list.h"
#include "parquet_thrift.h"
#include "parquet_write.h"

#include <zstd.h>

typedef struct parquet_chunk {
    const parquet_column *column;
    bool has_dictionary;
    u32 row_count, value_count; /* rows, and values that are not NULL */
    u8 *present;                /* by row; only for optional columns */
    u64 *numbers;               /* by value, without a dictionary */
    u32 *entries;               /* by value, with a dictionary; for lists: their numbers */
    u64 text_bytes;             /* size of texts when written plainly */
    u64 item_count;             /* number of items in the lists of all rows */
    parquet_dictionary dictionary;
    parquet_lists lists;
} parquet_chunk;

/* The output for pages; the texts are scratch. */
typedef struct parquet_pages {
    etlheap_sink *sink;
    u64 offset; /* in the file */
    ZSTD_CCtx *zstd;
    u32 *numbers; /* room for PARQUET_PAGE_ROWS values */
    etlheap_text header, page, packed;
    bool failed; /* no memory */
} parquet_pages;

/* The facts about a chunk in the footer. */
typedef struct parquet_chunk_sizes {
    u64 offset;       /* of the first page */
    u64 data_offset;  /* of the first data page */
    u64 plain_bytes;  /* size of the pages before compression, with headers */
    u64 packed_bytes; /* size of the pages as written */
    bool is_coded;
} parquet_chunk_sizes;

/* Allocates room for `row_max` rows; false if memory runs out. Free the chunk in either case. */
bool parquet_chunk_init(parquet_chunk *chunk, const parquet_column *column, u32 row_max);
void parquet_chunk_clear(parquet_chunk *chunk);
void parquet_chunk_free(parquet_chunk *chunk);

void parquet_chunk_number(parquet_chunk *chunk, u64 value);
void parquet_chunk_null(parquet_chunk *chunk);
/* Finds or adds the entry of a text, and adds a value for an entry. */
u32 parquet_chunk_intern(parquet_chunk *chunk, const char *text, size_t size);
void parquet_chunk_entry(parquet_chunk *chunk, u32 entry);

/* Adds a text to the current list. */
void parquet_chunk_item(parquet_chunk *chunk, const char *text, size_t size);

/* The number of values including NULLs. A list counts as its items, or as one without any. */
u64 parquet_chunk_level_count(const parquet_chunk *chunk);

/* Encodes and writes the pages. */
parquet_chunk_sizes parquet_chunk_write(const parquet_chunk *chunk, parquet_pages *pages);

/* Writes the chunk's statistics as field `field` of an open structure. */
void parquet_chunk_statistics(const parquet_chunk *chunk, u32 field, parquet_thrift *thrift);

/* Numbers of the format. */
u32 parquet_physical_type(parquet_type type);

#define PARQUET_ENCODING_PLAIN          0
#define PARQUET_ENCODING_RLE            3
#define PARQUET_ENCODING_RLE_DICTIONARY 8
#define PARQUET_CODEC_ZSTD              6

#endif
