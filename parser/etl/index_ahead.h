/*
 * index_ahead.h - reads from disk ahead of indexing (private to the parser).
 *
 * Indexing goes from header to header. In a file that is not in memory, each header would be a
 * separate read during which nothing else runs. So the system is asked to read ahead. If buffers
 * are large, it reads many headers at a time, at the offsets that the current buffer's size
 * predicts. If buffers are small or compressed and can be anywhere, it reads all bytes, which are
 * needed soon anyway. A wrong prediction costs a read. Bytes that are in memory are not requested.
 */
#ifndef ETL_INDEX_AHEAD_H
#define ETL_INDEX_AHEAD_H

#include "parser/system/map.h"

/* Start from { .map }. */
typedef struct etl_index_ahead {
    const etl_map *map; /* NULL: nothing to read */
    u64 headers_to;     /* requested up to this offset */
    u64 bytes_to;
    bool wants_bytes; /* all bytes, whatever the buffers are like */
} etl_index_ahead;

/* Call it when indexing reaches the buffer at `offset`, which takes `stored_size` bytes in the
 * file. */
void etl_index_ahead_at(etl_index_ahead *ahead, u64 offset, u32 stored_size, bool is_compressed);

#endif
