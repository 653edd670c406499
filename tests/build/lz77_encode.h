/*
 * lz77_encode.h - compresses bytes as XPRESS plain LZ77, the format of
 * compressed ETL buffers (MS-XCA 2.3 and 2.4). The encoder is for tests and
 * benches, which need compressed traces of any content at high speed.
 */
#ifndef TESTS_LZ77_ENCODE_H
#define TESTS_LZ77_ENCODE_H

#include "parser/base.h"

#define LZ77_HASH_BITS 13

/* Memory of the match finder; contents mean nothing between calls, so one may
 * serve any number of inputs, one at a time. About 64 KiB. */
typedef struct lz77_encoder {
    u32 newest[1u << LZ77_HASH_BITS];
    u32 older[1u << LZ77_HASH_BITS];
} lz77_encoder;

/* Bytes that the encoding of `size` input bytes never exceeds. */
static inline size_t lz77_bound(size_t size)
{
    return size + size / 8 + 16;
}

/*
 * Encodes `size` bytes (at most 2^31) into `out`, which has room for
 * lz77_bound(size). Returns the length of the encoding, also for size 0.
 * The same input gives the same output, whatever was encoded before.
 */
size_t lz77_encode(lz77_encoder *encoder, const u8 *in, size_t size, u8 *out);

#endif
