/*
 * ehs_codec.h - encodes and decodes one column of values as a block of bytes.
 *
 * A column is an array of integers of one width, at most EHS_COLUMN_BYTES_MAX long. Its block
 * describes itself, so a reader needs nothing else:
 *
 *     u8   layout       how the values are stored, below
 *     u8   transform    0 none; 1 delta: each value less the one before it
 *     u8   value_bytes  1, 4 or 8
 *     u8   shift        low bits that are 0 in all values and left out, 0..63
 *     u32  count
 *     u64  first        with delta only: the first value, whose delta is 0
 *     ...  values
 *
 *     1 packed  chunks of ehs_pack.h; 4 or 8 bytes. For columns that every answer reads.
 *     2 planes  byte k of all values, for each k: u8 mode, then
 *                 0: one byte that all have; 1: the bytes;
 *                 2: u32 size and one zstd frame of the bytes.
 *               For columns that few answers read, and for text, which has one plane.
 *     3 bits    one bit per value, lowest first, as one plane of bytes whose
 *               unused bits are 0; 1 byte, values 0 and 1.
 *
 * Values of 1 byte have neither transform nor shift. Low bits are removed first, then deltas are
 * taken.
 *
 * In integers of one kind, bytes at the same place have much in common, which zstd's entropy coder
 * finds plane by plane: addresses of heap blocks take 21 bits this way, and 35 packed. Removing the
 * bits that alignment makes 0 saves a little more.
 */
#ifndef ETLHEAP_EHS_CODEC_H
#define ETLHEAP_EHS_CODEC_H

#include "ehs_pack.h"

#define EHS_COLUMN_BYTES_MAX ((u32)ETL_MIB)

typedef enum ehs_layout {
    EHS_LAYOUT_PACKED = 1,
    EHS_LAYOUT_PLANES = 2,
    EHS_LAYOUT_BITS = 3
} ehs_layout;

typedef enum ehs_transform { EHS_TRANSFORM_NONE = 0, EHS_TRANSFORM_DELTA = 1 } ehs_transform;

/* How a column is written. */
typedef struct ehs_format {
    u8 layout;      /* ehs_layout */
    u8 transform;   /* ehs_transform */
    u8 value_bytes; /* 1, 4 or 8 */
} ehs_format;

/* Working memory of one thread; start from {0}. One may serve both directions. */
typedef struct ehs_codec {
    ehs_pack_scratch *pack;
    u64 *wide; /* values of a column, for writing */
    u8 *plane;
    struct ZSTD_CCtx_s *compressor;
    struct ZSTD_DCtx_s *decompressor;
    bool is_quick; /* for a file that is read once, soon: always packed */
} ehs_codec;

void ehs_codec_free(ehs_codec *codec);

/* Appends the column to *out. False if memory runs out. */
bool ehs_encode(ehs_codec *codec, const ehs_format *format, const void *values, u32 count,
                ehs_bytes *out);

/* The place for the values of a block. */
typedef struct ehs_target {
    void *values;    /* of value_bytes each */
    u32 value_bytes; /* the block must have this width */
    u32 capacity;    /* larger blocks are refused */
    u32 count;       /* out: number of values */
} ehs_target;

/*
 * Decodes a whole block. ETL_ERR_CORRUPT: it is not such a column, has too few or too many bytes,
 * or does not fit; *reason says which, as in "<block> <reason>", and the values are undefined.
 * ETL_ERR_MEMORY.
 */
etl_status ehs_decode(ehs_codec *codec, etl_bytes block, ehs_target *target, const char **reason);

#endif
