/*
 * ehs_file.h - the container of a `.ehs` file: blocks and their directory.
 *
 *     header     32 bytes
 *     blocks     one after the other, as they came
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
 * XXH3 is its 64-bit variant with seed 0; numbers are little endian. A block holds
 * one part of one column, as ehs_codec.h lays it out. The footer comes last, so a
 * file without one was not finished. A reader refuses any other major. Minors add
 * columns, lanes and tables, which older readers pass over. A file with something that
 * an older reader would get wrong names the least minor that reads it.
 *
 * Writing streams: what is kept is the directory. Reading takes any block alone
 * and checks its sum first; a damaged file is told of by block and offset.
 */
#ifndef ETLHEAP_EHS_FILE_H
#define ETLHEAP_EHS_FILE_H

#include "ehs_columns.h"

#define EHS_MAJOR 2u
#define EHS_MINOR 2u

#define EHS_MINOR_FOREIGN_TICKS 1u /* has foreign.ticks */

#define EHS_HEADER_BYTES 32u
#define EHS_ROW_BYTES    32u
#define EHS_FOOTER_BYTES 40u

/* The first byte is no text, and line ends and ^Z show what a copy in text mode
 * does to them. */
#define EHS_MAGIC                                                                                  \
    "\x89"                                                                                         \
    "EHS\r\n\x1A\n"
#define EHS_MAGIC_END   "EHSEND\r\n"
#define EHS_MAGIC_BYTES 8u

/* What the file answers. */
typedef enum ehs_content {
    EHS_CONTENT_JOURNAL = 1, /* everything a trace does */
    EHS_CONTENT_SUMMARY = 2  /* totals per window */
} ehs_content;

typedef struct ehs_row {
    u32 column, part;
    u64 offset;
    u32 size;
    u32 values; /* of the column */
    u64 checksum;
} ehs_row;

/* --- blocks on their way to a file ------------------------------------------- */

/* Encoded blocks in one piece of memory; offsets are into `bytes`. Start from {0}.
 * A task fills one by itself; whoever has the writer takes them in order. */
typedef struct ehs_blocks {
    ehs_bytes bytes;
    ETLHEAP_VECTOR(ehs_row) rows;
} ehs_blocks;

/* Encodes a part of a column as the column's row of ehs_columns.h says. False
 * without memory. */
bool ehs_blocks_add(ehs_blocks *blocks, ehs_codec *codec, ehs_column column, u32 part,
                    const void *values, u32 count);
void ehs_blocks_clear(ehs_blocks *blocks); /* keeps the memory */
void ehs_blocks_free(ehs_blocks *blocks);

/* --- writing -------------------------------------------------------------------- */

/* Takes the file's bytes in order; false when they cannot be kept. */
typedef bool ehs_sink_fn(void *user, const void *bytes, size_t size);

typedef struct ehs_writer {
    ehs_sink_fn *sink;
    void *user;
    u64 offset;
    ETLHEAP_VECTOR(ehs_row) rows;
    etl_status status; /* of the first failure; sticks */
} ehs_writer;

/* Each returns the writer's status: ETL_ERR_IO when the sink refused, MEMORY. */
etl_status ehs_writer_open(ehs_writer *writer, ehs_sink_fn *sink, void *user, ehs_content content);
etl_status ehs_writer_put(ehs_writer *writer, const ehs_blocks *blocks);

/* Writes the directory and the footer unless something failed before, and frees
 * what the writer holds. */
etl_status ehs_writer_close(ehs_writer *writer);

/* --- reading ------------------------------------------------------------------- */

/* An open file; does not change, and any number of threads may read from it. */
typedef struct ehs_reader {
    etl_bytes file; /* borrowed */
    ehs_content content;
    u32 minor;
    ehs_row *rows; /* by (column, part) */
    size_t row_count;
} ehs_reader;

/* Does it begin like a `.ehs` file? */
bool ehs_is_store(etl_bytes file);

/*
 * Reads header, footer and directory of bytes that stay as they are until
 * ehs_reader_close. ETL_ERR_UNSUPPORTED: a version this one does not read; the sentence
 * says which, and what to do. ETL_ERR_CORRUPT: damage,
 * or no end: the writing was not finished. ETL_ERR_MEMORY.
 */
etl_status ehs_reader_open(ehs_reader *out, etl_bytes file, etl_error *err);
void ehs_reader_close(ehs_reader *reader);

/* The block of a part, NULL: the file has none. */
const ehs_row *ehs_reader_find(const ehs_reader *reader, ehs_column column, u32 part);

/* Has the file any block of the column? */
bool ehs_reader_has(const ehs_reader *reader, ehs_column column);

/* Parts 0.. of a column that follow each other, and the sum of their values. */
u32 ehs_reader_parts(const ehs_reader *reader, ehs_column column, u64 *values);

/*
 * Checks and decodes a block into `values`, which has room for `capacity`; the
 * count must be the row's. ETL_ERR_CORRUPT names block and offset; MEMORY.
 */
etl_status ehs_reader_get(const ehs_reader *reader, ehs_codec *codec, const ehs_row *row,
                          void *values, u32 capacity, etl_error *err);

/* ETL_ERR_CORRUPT with "column heap.slot is missing". */
etl_status ehs_reader_miss(ehs_column column, etl_error *err);

/* A file has all columns of a table or none, which are `stride` bytes apart in memory. CORRUPT
 * names the first that is missing. */
etl_status ehs_reader_whole(const ehs_reader *reader, const ehs_column *first, size_t stride,
                            u32 count, etl_error *err);

/* ETL_ERR_CORRUPT with "block 3 of heap.slot at 0x1f40 <what>". */
etl_status ehs_reader_blame(const ehs_row *row, etl_error *err, const char *what);

#endif
