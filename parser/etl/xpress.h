/*
 * xpress.h - decoders of compressed buffers (private to the parser).
 *
 * Both decoders are total: any input gives some output and a verdict, no byte
 * outside input and output is touched, and what was decoded before a defect is
 * kept, because the records in it are good.
 */
#ifndef ETL_XPRESS_H
#define ETL_XPRESS_H

#include "parser/parser.h"

/* Why a decoder stopped. */
typedef enum etl_xpress_end {
    ETL_XPRESS_DONE,   /* all wanted bytes are there and the last symbol ended with them */
    ETL_XPRESS_CUT,    /* all wanted bytes are there, the last match went on: a prefix */
    ETL_XPRESS_SHORT,  /* the input ended first */
    ETL_XPRESS_INVALID /* a match before the start, an impossible length or code */
} etl_xpress_end;

/* With this much slack behind the wanted bytes the fast path runs to the end. */
#define ETL_XPRESS_SLACK 32u

typedef struct etl_xpress_output {
    u8 *at;
    size_t wanted; /* stop after so many bytes; may be fewer than the stream holds */
    size_t slack;  /* bytes behind them that may be overwritten with anything; 0 is fine */
    size_t size;   /* set by the decoder: bytes decoded, at most `wanted` */
} etl_xpress_output;

/* Plain LZ77, [MS-XCA] 2.4. Input behind the last wanted byte is not looked at. */
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
