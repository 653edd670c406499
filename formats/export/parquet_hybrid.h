/*
 * parquet_hybrid.h - Parquet's encoding for small numbers of a fixed width: entries of
 * dictionaries, and NULL levels.
 *
 *     run       varint(count << 1), then the value in whole bytes: a repeated value
 *     literals  varint(groups << 1 | 1), then groups of eight values, each in `width`
 *               bits, the first in the lowest; the last group is filled up with zeros
 *
 * Source: parquet-format, Encodings.md, "Run Length Encoding / Bit-Packing Hybrid".
 */
#ifndef PARQUET_HYBRID_H
#define PARQUET_HYBRID_H

#include "formats/io/text_buffer.h"

#define PARQUET_WIDTH_MAX 32

/* Adds `count` values (count < 2^31) in `width` bits each, 1 to PARQUET_WIDTH_MAX. All values must
 * fit. */
void parquet_hybrid_add(etlheap_text *out, const u32 *values, u32 count, u32 width);

/* The number of bits for numbers below `limit`, at least 1, because some readers refuse 0. */
u32 parquet_hybrid_width(u32 limit);

#endif
