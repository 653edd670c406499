/*
 * xpress.h - decompresses buffers (private to the parser).
 *
 * Both decoders accept any input: they return some output and a verdict, and touch no byte outside
 * input and output. What was decoded before a defect is kept, because its records are good.
 */
#ifndef ETL_XPRESS_H
#define ETL_XPRESS_H

#include "parser/base.h"
#include "parser/parser.h"

/* Why a decoder stopped. */
typedef enum etl_xpress_end {
    ETL_XPRESS_DONE,   /* all wanted bytes, and the last symbol ended with them */
    ETL_XPRESS_CUT,    /* all wanted bytes, but the last match continues: a prefix */
    ETL_XPRESS_SHORT,  /* the input ended first */
    ETL_XPRESS_INVALID /* a match before the start, an impossible length or code */
} etl_xpress_end;

/* With this many bytes after the wanted ones, the fast path runs to the end. */
#define ETL_XPRESS_SLACK 32u

typedef struct etl_xpress_output {
    u8 *at;
    size_t wanted; /* stop after this many bytes; the stream may have more */
    size_t slack;  /* bytes after them that may be overwritten; may be 0 */
    size_t size;   /* set by the decoder: bytes decoded, at most `wanted` */
} etl_xpress_output;

/* Plain LZ77, [MS-XCA] 2.4. Does not read input after the last wanted byte. */
etl_xpress_end etl_xpress_plain(etl_bytes in, etl_xpress_output *out);

/* LZ77 with Huffman codes, [MS-XCA] 2.2; xpress_huffman.c. */
etl_xpress_end etl_xpress_huffman(etl_bytes in, etl_xpress_output *out);

/*
 * Copies `length` bytes to `out` from `distance` bytes before it, front to back:
 * a source that overlaps the target repeats. Needs distance >= 1 bytes before
 * `out`, and `room` >= length writable bytes from `out` on, all of which may be
 * overwritten.
 */
void etl_xpress_copy(u8 *out, size_t distance, size_t length, size_t room);

#endif
