/* buffer_header.h - reads a buffer header, and recognizes one among other bytes (private to the
 * parser). */
#ifndef ETL_BUFFER_HEADER_H
#define ETL_BUFFER_HEADER_H

#include "parser/base.h"
#include "parser/parser.h"

/* The fields of a buffer header that are used, as in the file. */
typedef struct etl_buffer_header {
    u32 size; /* bytes in the file, including this header */
    i32 reference_count;
    i64 flush_ticks; /* see layout.h: in one of two clocks */
    i64 sequence;
    u16 processor;
    u32 state;
    u32 valid; /* valid bytes uncompressed, including this header */
    u16 flags;
    u16 type;
} etl_buffer_header;

/* Limits for this file; `zero_from`: from there on all bytes are zero. */
typedef struct etl_buffer_limits {
    u64 zero_from;
    u32 size_max;     /* largest size of a buffer in the file */
    u32 valid_max;    /* largest size of a buffer uncompressed */
    u32 size_nominal; /* size that the session states; 0 if impossible */
} etl_buffer_limits;

/* Reads a header. False if the file ends inside it. */
bool etl_buffer_header_read(etl_bytes file, u64 offset, etl_buffer_header *out);

/* True if a buffer of `size` bytes can have as many valid bytes as its header states. */
bool etl_buffer_valid_is_possible(const etl_buffer_header *header, u32 size,
                                  const etl_buffer_limits *limits);

/* True if all fields except the size are plausible for a buffer of `size` bytes. */
bool etl_buffer_header_is_sound(const etl_buffer_header *header, u32 size,
                                const etl_buffer_limits *limits);

/* True if there is a valid header at `offset`; the buffer itself may be cut off. */
bool etl_buffer_is_at(etl_bytes file, u64 offset, const etl_buffer_limits *limits);

/* True if a buffer may end at `offset`: before another one, before the zero tail, or at the end of
 * the file. */
bool etl_buffer_may_end_at(etl_bytes file, u64 offset, const etl_buffer_limits *limits);

/* Like etl_buffer_may_end_at, with `next` as the bytes of the file from `offset` on, or the first
 * of them. */
bool etl_buffer_may_end_before(etl_bytes next, u64 offset, const etl_buffer_limits *limits);

/* The offset after `broken` at which buffers continue, or that of the zero tail or the end of the
 * file. Takes time in proportion to the bytes it skips. */
u64 etl_buffer_find_next(etl_bytes file, u64 broken, const etl_buffer_limits *limits);

#endif
