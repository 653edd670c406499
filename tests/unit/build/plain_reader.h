/*
 * plain_reader.h - reads a trace the strict and simple way, to check what the
 * builder writes: anything unusual is an error. Shares nothing with the parser
 * or the builder.
 */
#ifndef TESTS_PLAIN_READER_H
#define TESTS_PLAIN_READER_H

#include "parser/base.h"

typedef struct plain_buffer {
    u64 offset;
    u32 stored_size;
    u32 valid_size;
    i64 timestamp;
    i64 sequence;
    u16 cpu;
    u16 flags;
    u16 type;
    u8 *bytes; /* valid_size of them, uncompressed; owned */
    u32 record_first;
    u32 record_count;
} plain_buffer;

typedef struct plain_record {
    const u8 *at;
    u32 size;
    u32 buffer;        /* index */
    u32 hook;          /* UINT32_MAX when the header has none */
    u8 type;           /* header type; 0 for messages */
    i64 ticks;         /* 0 when the record has none */
    const u8 *payload; /* of records with a hook and no counters */
    u32 payload_size;
} plain_record;

typedef struct plain_file {
    plain_buffer *buffers; /* in file order */
    u32 buffer_count;
    plain_record *records; /* in file order */
    u32 record_count;
    char error[120]; /* the first thing wrong, or empty */
} plain_file;

/* Reads a file in memory; to be given to plain_free(). */
plain_file plain_read(const u8 *bytes, size_t size);
void plain_free(plain_file *file);

/* The first record of a hook at or after `from`, or NULL. */
const plain_record *plain_find(const plain_file *file, u32 hook, u32 from);
u32 plain_count(const plain_file *file, u32 hook);

u16 plain_u16(const u8 *at);
u32 plain_u32(const u8 *at);
u64 plain_u64(const u8 *at);

#endif
