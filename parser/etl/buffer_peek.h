/*
 * buffer_peek.h - the beginnings of buffers, without mapping them (private to the
 * parser).
 *
 * Indexing looks at one header per buffer, one after the other. Through the mapping
 * each is a page fault that nothing else goes on beside; read from the file it is not,
 * and the pages are mapped later, by the threads that read all of them.
 */
#ifndef ETL_BUFFER_PEEK_H
#define ETL_BUFFER_PEEK_H

#include "parser/parser.h"

/* A buffer's header, and its first record but for giants. */
#define ETL_PEEK_BYTES 1024u

/* The beginning of one buffer. */
typedef struct etl_peeked {
    u64 offset;
    size_t size; /* 0: nothing here */
    u8 bytes[ETL_PEEK_BYTES];
} etl_peeked;

/* The two beginnings looked at last: of the buffer at hand and of the next. Start
 * from { .file, .descriptor, .ahead }. */
typedef struct etl_peek {
    etl_bytes file;                       /* what is mapped, or in memory */
    int descriptor;                       /* the same file, open for reading; -1: not at hand */
    const struct etl_index_begins *ahead; /* what was read before it was looked at */
    u32 latest;                           /* of the two */
    etl_peeked begins[2];
} etl_peek;

/* Reads the beginning at the offset, which lies in the file of so many bytes; size 0 if it
 * cannot be read. Any thread. */
void etl_peek_read(int descriptor, u64 file_bytes, u64 offset, etl_peeked *out);

/*
 * What the file holds from `offset` on: at least a header's bytes, if it has so many,
 * and no more than it has. Valid until the second call from here with another offset, and as long as `ahead` keeps it.
 */
etl_bytes etl_peek_at(etl_peek *peek, u64 offset);

#endif
