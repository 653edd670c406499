/*
 * pdb_writer.h - writes the container of a large PDB, stream after stream.
 *
 * Unlike the builder of the tests it holds only what is in hand: a stream leaves
 * memory when it is written.
 */
#ifndef PDB_WRITER_H
#define PDB_WRITER_H

#include "parser/base.h"

#include <stdio.h>

#define PDB_WRITER_BLOCK_BYTES 4096u

/* Bytes that grow; start from {0}, end with free(at). */
typedef struct pdb_buffer {
    u8 *at;
    size_t size, capacity;
} pdb_buffer;

/* Zeroed bytes at the end of the buffer, valid until it grows again. */
u8 *pdb_grow(pdb_buffer *b, size_t size);
void pdb_put(pdb_buffer *b, const void *bytes, size_t size);
void pdb_put_u16(pdb_buffer *b, u32 value);
void pdb_put_u32(pdb_buffer *b, u32 value);
void pdb_put_text(pdb_buffer *b, const char *text); /* with its NUL */
void pdb_set_u32(pdb_buffer *b, size_t at, u32 value);
void pdb_align(pdb_buffer *b); /* to 4 */

/* Symbol and type records: begin, put the payload, end with what begin gave. */
size_t pdb_begin_record(pdb_buffer *b, u32 kind);
void pdb_end_record(pdb_buffer *b, size_t at);
void pdb_put_record(pdb_buffer *b, u32 kind, size_t payload_size); /* of zeros */

/* A stream that was written: all of its blocks are neighbours. */
typedef struct pdb_stream {
    u32 first_block, size;
} pdb_stream;

typedef struct pdb_writer {
    FILE *file;
    u32 block_count;
    pdb_stream *streams; /* owned */
    u32 stream_count;
} pdb_writer;

/* Streams below `first_stream` are written by number, others get the next one. */
void pdb_writer_begin(pdb_writer *w, FILE *file, u32 first_stream, u32 stream_count_max);
void pdb_write_stream_as(pdb_writer *w, u32 index, const pdb_buffer *b);
u32 pdb_write_stream(pdb_writer *w, const pdb_buffer *b);

/* Writes the directory and the superblock; what failed shows in ferror(file). */
void pdb_writer_end(pdb_writer *w);

#endif
