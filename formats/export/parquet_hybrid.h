/*
 * parquet_hybrid.h - small numbers of a fixed width, as Parquet has them for the
 * entries of dictionaries and for what is NULL.
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

/* width: 1 to PARQUET_WIDTH_MAX bits, which all values fit in; count < 2^31. */
void parquet_hybrid_add(etlheap_text *out, const u32 *values, u32 count, u32 width);

/* Bits that numbers below `limit` take, at least 1: some readers refuse none. */
u32 parquet_hybrid_width(u32 limit);

#endif
