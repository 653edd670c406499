/*
 * rounding.h - estimates how many bytes a heap adds to a requested size.
 *
 * No event states the real size of a block. Windows heaps return multiples of 16 bytes in 64-bit
 * processes and of 8 in 32-bit ones. The low-fragmentation heap, which serves sizes that are
 * requested often, has coarser classes for larger blocks. Headers are not counted.
 *
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

/* Bytes added to reach the granularity. A block of size 0 takes one unit. */
static inline u64 rounding_to(u64 size, u64 granularity)
{
    const u64 over = size % granularity;
    return size == 0 ? granularity : over == 0 ? 0 : granularity - over;
}

/* Up to 256 bytes, classes are as fine as the granularity. Above, each doubling has 16 classes, and
 * beyond 16 KiB the heap itself serves the block. */
static inline u64 rounding_in_lfh(u64 size, u64 granularity)
{
    u64 step = 8;
    for (u64 most = 256; most < size && most < 16384; most *= 2)
        step *= 2;
    return rounding_to(size, size > 16384 || step < granularity ? granularity : step);
}

#endif
