/*
 * index_ahead.h - has the disk read what indexing will look at next (private to the parser).
 *
 * Indexing goes from header to header. In a file that nobody has read lately each header
 * would be a read of its own that nothing goes on beside. So the system is asked for what
 * lies ahead: where buffers are large, for the headers that the size of the buffer at hand
 * predicts, many at a time; where they are small or compressed, and can lie anywhere, for
 * all bytes, which are looked at again soon. A wrong prediction costs a read. Nothing is
 * asked for that is in memory already.
 */
#ifndef ETL_INDEX_AHEAD_H
#define ETL_INDEX_AHEAD_H

#include "parser/system/map.h"

/* Start from { .map }. */
typedef struct etl_index_ahead {
    const etl_map *map; /* NULL: nothing to ask for */
    u64 headers_to;     /* asked for so far, up to this offset */
    u64 bytes_to;
    bool wants_bytes; /* all bytes, whatever the buffers are like */
} etl_index_ahead;

/* Indexing has got to the buffer at `offset`, of so many bytes in the file. */
void etl_index_ahead_at(etl_index_ahead *ahead, u64 offset, u32 stored_size, bool is_compressed);

#endif
