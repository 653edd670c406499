/*
 * buffer_peek.h - reads the beginnings of buffers without mapping them (private to the parser).
 *
 * Indexing reads one header per buffer, one after the other. Through the mapping, each is a page
 * fault during which nothing else runs. Reading from the file avoids that, and the pages are mapped
 * later by the threads that read all of them.
 */
#ifndef ETL_BUFFER_PEEK_H
#define ETL_BUFFER_PEEK_H

#include "parser/base.h"
#include "parser/parser.h"

/* Enough for a buffer header and its first record, unless that is huge. */
#define ETL_PEEK_BYTES 1024u

/* The beginning of one buffer. */
typedef struct etl_peeked {
    u64 offset;
    size_t size; /* 0: empty */
    u8 bytes[ETL_PEEK_BYTES];
} etl_peeked;

/* The last two beginnings: of the current buffer and of the next. Start from { .file, .descriptor,
 * .ahead }. */
typedef struct etl_peek {
    etl_bytes file;                       /* mapped, or in memory */
    int descriptor;                       /* the same file, open for reading; -1: not available */
    const struct etl_index_begins *ahead; /* beginnings that were read ahead */
    u32 latest;                           /* index of the latest one */
    etl_peeked begins[2];
} etl_peek;

/* Reads the beginning at an offset within a file of `file_bytes` bytes; size 0 if it cannot be
 * read. Any thread. */
void etl_peek_read(int descriptor, u64 file_bytes, u64 offset, etl_peeked *out);

/* The bytes of the file from `offset` on: at least as many as a header, if the file has them. Valid
 * until the second call from here with another offset, and as long as `ahead` keeps it. */
etl_bytes etl_peek_at(etl_peek *peek, u64 offset);

#endif
