/*
 * index_ahead.c - asks the system to read what indexing looks at next. index_ahead.h has the two
 * ways. Invariant: a wrong prediction costs a read and changes no result.
 */
#include "index_ahead.h"

#define HEADERS_AHEAD 64u
#define STRIDE_LEAST  (16u * 1024) /* closer together, headers are most of the file's pages */
#define HEADER_BYTES  1024u        /* as many as are peeked at */
#define BYTES_AHEAD   (64 * ETL_MIB)
#define ASK_BYTES     (8 * ETL_MIB)

static void ask_for_headers(etl_index_ahead *ahead, u64 offset, u32 stride);
static void ask_for_bytes(etl_index_ahead *ahead, u64 offset);

void etl_index_ahead_at(etl_index_ahead *ahead, u64 offset, u32 stored_size, bool is_compressed)
{
    if (ahead->map == NULL || !ahead->map->is_mapped)
        return;
    if (ahead->wants_bytes || is_compressed || stored_size < STRIDE_LEAST)
        ask_for_bytes(ahead, offset);
    else
        ask_for_headers(ahead, offset, stored_size);
}

/* Half of what is ahead at a time, so that as many reads are always under way. If the first
 * and the last one are in memory, so are the others. */
static void ask_for_headers(etl_index_ahead *ahead, u64 offset, u32 stride)
{
    const u64 size = ahead->map->bytes.size;
    u64 at = etl_max_u64(ahead->headers_to, offset + stride);
    if (at > offset + (u64)HEADERS_AHEAD * stride)
        return;
    const u64 last = at + (u64)(HEADERS_AHEAD - 1) * stride;
    ahead->headers_to = last + stride;
    if (at >= size)
        return;
    bool is_cold = etl_map_fetch(ahead->map, at, etl_min_u64(HEADER_BYTES, size - at));
    if (last < size)
        is_cold |= etl_map_fetch(ahead->map, last, etl_min_u64(HEADER_BYTES, size - last));
    for (at += stride; is_cold && at < last && at < size; at += stride)
        (void)etl_map_fetch(ahead->map, at, etl_min_u64(HEADER_BYTES, size - at));
}

static void ask_for_bytes(etl_index_ahead *ahead, u64 offset)
{
    const u64 end = etl_min_u64(offset + BYTES_AHEAD, ahead->map->bytes.size);
    ahead->bytes_to = etl_max_u64(ahead->bytes_to, offset);
    while (ahead->bytes_to + ASK_BYTES <= end ||
           (ahead->bytes_to < end && end == ahead->map->bytes.size)) {
        const u64 size = etl_min_u64(ASK_BYTES, end - ahead->bytes_to);
        (void)etl_map_fetch(ahead->map, ahead->bytes_to, size);
        ahead->bytes_to += size;
    }
}
