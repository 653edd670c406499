/*
 * ehs_file.h - the container format of a store (.ehs): blocks and their directory.
 *
 *     header     32 bytes
 *     blocks     one after the other, in the order in which they were written
 *     directory  one row of 32 bytes per block, by (column, part)
 *     footer     40 bytes, the last of the file
 *
 *     header     +0 magic  +8 u16 major  +10 u16 minor  +12 u32 content
 *                +16 u16 least minor that a reader needs  +18 6 bytes of 0
 *                +24 u64 XXH3 of the bytes before
 *     row        +0 u32 column  +4 u32 part  +8 u64 offset  +16 u32 size
 *                +20 u32 values  +24 u64 XXH3 of the block
 *     footer     +0 u64 offset of the directory  +8 u64 rows  +16 u64 XXH3 of the
 *                directory  +24 u64 XXH3 of the footer before  +32 magic
 *
 * XXH3 is the 64-bit variant with seed 0; numbers are little endian. A block holds one part of one
 * column, in the format of ehs_codec.h. The footer comes last, so a file without one is unfinished.
 * A reader refuses any other major version. Minor versions add columns, kinds and tables, which
 * older readers skip. A file that an older reader would misread states the least minor version that
 * reads it.
 *
 * Writing is a stream and keeps only the directory in memory. Reading takes single blocks and
 * checks their hash first; damage is reported by block and offset.
 */
#ifndef ETLHEAP_EHS_FILE_H
#define ETLHEAP_EHS_FILE_H

#include "ehs_columns.h"

#define EHS_MAJOR 2u
#define EHS_MINOR 4u

#define EHS_MINOR_FOREIGN_TICKS 1u /* has foreign.ticks */
#define EHS_MINOR_PART          3u /* needed to read a store of a part of a recording */
#define EHS_MINOR_DECOMMITTED   4u /* has heap_size.decommitted */

#define EHS_HEADER_BYTES 32u
#define EHS_ROW_BYTES    32u
#define EHS_FOOTER_BYTES 40u

/* The first byte is not text, and line ends and ^Z reveal a copy in text mode. */
#define EHS_MAGIC                                                                                  \
    "\x89"                                                                                         \
    "EHS\r\n\x1A\n"
#define EHS_MAGIC_END   "EHSEND\r\n"
#define EHS_MAGIC_BYTES 8u

/* The kind of questions that the file answers. */
typedef enum ehs_content {
    EHS_CONTENT_STORE = 1,  /* everything that a trace answers */
    EHS_CONTENT_SUMMARY = 2 /* totals per window */
} ehs_content;

typedef struct ehs_row {
    u32 column, part;
    u64 offset;
    u32 size;
    u32 values; /* number of values */
    u64 checksum;
} ehs_row;

/* --- blocks on their way to a file ------------------------------------------- */

/* Encoded blocks in one piece of memory; offsets are relative to `bytes`. Start from {0}. Each task
 * fills its own; the thread with the writer takes them in order. */
typedef struct ehs_blocks {
    ehs_bytes bytes;
    ETLHEAP_VECTOR(ehs_row) rows;
} ehs_blocks;

/* Encodes a part of a column in the column's format in ehs_columns.h. False if memory runs out. */
bool ehs_blocks_add(ehs_blocks *blocks, ehs_codec *codec, ehs_column column, u32 part,
                    const void *values, u32 count);
void ehs_blocks_clear(ehs_blocks *blocks); /* keeps the memory */
void ehs_blocks_free(ehs_blocks *blocks);

/* --- writing -------------------------------------------------------------------- */

/* Writes the next bytes of the file; false if they could not be written. */
typedef bool ehs_sink_fn(void *user, const void *bytes, size_t size);

typedef struct ehs_writer {
    ehs_sink_fn *sink;
    void *user;
    u64 offset;
    ETLHEAP_VECTOR(ehs_row) rows;
    etl_status status; /* of the first failure; stays set */
} ehs_writer;

/* Each returns the writer's status: ETL_ERR_IO if the sink failed, ETL_ERR_MEMORY. */
etl_status ehs_writer_open(ehs_writer *writer, ehs_sink_fn *sink, void *user, ehs_content content);

/* The same for a file that readers of minor versions below `minor_needed` would misread. */
etl_status ehs_writer_open_for(ehs_writer *writer, ehs_sink_fn *sink, void *user,
                               ehs_content content, u32 minor_needed);
etl_status ehs_writer_put(ehs_writer *writer, const ehs_blocks *blocks);

/* Writes directory and footer, unless an earlier step failed, and frees the writer's memory. */
etl_status ehs_writer_close(ehs_writer *writer);

/* --- reading ------------------------------------------------------------------- */

/* An open file. Does not change; any number of threads may read from it. */
typedef struct ehs_reader {
    etl_bytes file; /* borrowed */
    ehs_content content;
    u32 minor;
    ehs_row *rows; /* by (column, part) */
    size_t row_count;
} ehs_reader;

/* True if the bytes begin like a store. */
bool ehs_is_store(etl_bytes file);

/* True if they begin like a store, of any version, that is not a summary. */
bool ehs_is_full_store(etl_bytes file);

/* True if it is also not a part of a recording, and has its own names. */
bool ehs_is_whole_store(etl_bytes file);

/*
 * Reads header, footer and directory. The bytes must stay unchanged until ehs_reader_close.
 * ETL_ERR_UNSUPPORTED: a version that cannot be read; the message says which, and what to do.
 * ETL_ERR_CORRUPT: damaged, or unfinished. ETL_ERR_MEMORY.
 */
etl_status ehs_reader_open(ehs_reader *out, etl_bytes file, etl_error *err);
void ehs_reader_close(ehs_reader *reader);

/* The block of a part; NULL if the file has none. */
const ehs_row *ehs_reader_find(const ehs_reader *reader, ehs_column column, u32 part);

/* True if the file has a block of the column. */
bool ehs_reader_has(const ehs_reader *reader, ehs_column column);

/* The number of consecutive parts of a column from 0 on; *values is set to the sum of their
 * values. */
u32 ehs_reader_parts(const ehs_reader *reader, ehs_column column, u64 *values);

/* Checks and decodes a block into `values`, which has room for `capacity`. The count must match the
 * row. ETL_ERR_CORRUPT (names block and offset), ETL_ERR_MEMORY. */
etl_status ehs_reader_get(const ehs_reader *reader, ehs_codec *codec, const ehs_row *row,
                          void *values, u32 capacity, etl_error *err);

/* Returns ETL_ERR_CORRUPT with "column heap.origin is missing". */
etl_status ehs_reader_miss(ehs_column column, etl_error *err);

/* Checks that the file has all columns of a table, or none. The columns are `stride` bytes apart in
 * memory. ETL_ERR_CORRUPT names the first one missing. */
etl_status ehs_reader_whole(const ehs_reader *reader, const ehs_column *first, size_t stride,
                            u32 count, etl_error *err);

/* Returns ETL_ERR_CORRUPT with "block 3 of heap.origin at 0x1f40 <what>". */
etl_status ehs_reader_blame(const ehs_row *row, etl_error *err, const char *what);

#endif
