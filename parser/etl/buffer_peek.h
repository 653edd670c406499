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
 * from { .file, .descriptor }. */
typedef struct etl_peek {
    etl_bytes file; /* what is mapped, or in memory */
    int descriptor; /* the same file, open for reading; -1: not at hand */
    u32 latest;     /* of the two */
    etl_peeked begins[2];
} etl_peek;

/*
 * What the file holds from `offset` on: at least a header's bytes, if it has so many,
 * and no more than it has. Valid until the second call from here with another offset.
 */
etl_bytes etl_peek_at(etl_peek *peek, u64 offset);

#endif
