/*
 * rounding.h - how many bytes a heap adds to a size that was asked for: an estimate.
 *
 * No event says how large a block really is. Heaps of Windows hand out multiples of 16 bytes in
 * 64-bit processes and of 8 in 32-bit ones. The low-fragmentation heap, which serves sizes that
 * are asked for often, has coarser classes for larger blocks. Headers are not counted.
 * Source: Microsoft's pages "HeapAlloc" (alignment) and "Low-fragmentation Heap" (the table of
 * buckets, ranges and granularities).
 */
#ifndef ETLHEAP_ROUNDING_H
#define ETLHEAP_ROUNDING_H

#include "parser/base.h"

static inline u64 rounding_granularity(u32 pointer_bits)
{
    return pointer_bits == 32 ? 8 : 16;
}

/* Bytes beyond the size; a block of no bytes takes some, too. */
static inline u64 rounding_to(u64 size, u64 granularity)
{
    const u64 over = size % granularity;
    return size == 0 ? granularity : over == 0 ? 0 : granularity - over;
}

/* Up to 256 bytes classes are as fine as they can be; then each doubling has 16 of them, and
 * beyond 16 KiB the heap itself serves. */
static inline u64 rounding_in_lfh(u64 size, u64 granularity)
{
    u64 step = 8;
    for (u64 most = 256; most < size && most < 16384; most *= 2)
        step *= 2;
    return rounding_to(size, size > 16384 || step < granularity ? granularity : step);
}

#endif
