/*
 * buffer_header.h - one buffer header, and telling one from other bytes
 * (private to the parser).
 */
#ifndef ETL_BUFFER_HEADER_H
#define ETL_BUFFER_HEADER_H

#include "parser/parser.h"

/* The fields of a buffer header we use, as they stand in the file. */
typedef struct etl_buffer_header {
    u32 size; /* in the file, this header included */
    i32 reference_count;
    i64 sequence;
    u16 processor;
    u32 state;
    u32 valid; /* uncompressed valid bytes, this header included */
    u16 flags;
    u16 type;
} etl_buffer_header;

/* What the file allows; `zero_from`: nothing but zero bytes from there on. */
typedef struct etl_buffer_limits {
    u64 zero_from;
    u32 size_max;     /* of a buffer in the file */
    u32 valid_max;    /* of a buffer uncompressed */
    u32 size_nominal; /* as the session says, 0 when that cannot be */
} etl_buffer_limits;

/* False when the file ends before the header does. */
bool etl_buffer_header_read(etl_bytes file, u64 offset, etl_buffer_header *out);

/* True when all fields but the size make sense for a buffer of `size` bytes. */
bool etl_buffer_header_is_sound(const etl_buffer_header *header, u32 size,
                                const etl_buffer_limits *limits);

/* True when a sound header is at `offset`; the buffer itself may be cut off. */
bool etl_buffer_is_at(etl_bytes file, u64 offset, const etl_buffer_limits *limits);

/* True where a buffer may end: before another, before the zero tail, at the end. */
bool etl_buffer_may_end_at(etl_bytes file, u64 offset, const etl_buffer_limits *limits);

/* The same where `next` is what the file has from `offset` on, or the start of that. */
bool etl_buffer_may_end_before(etl_bytes next, u64 offset, const etl_buffer_limits *limits);

/*
 * The offset behind `broken` where buffers go on, or that of the zero tail or the
 * end of the file, both of which lie behind `broken`. Its cost is proportional to
 * the bytes it passes over.
 */
u64 etl_buffer_find_next(etl_bytes file, u64 broken, const etl_buffer_limits *limits);

#endif
