/* buffer_index.h - the index of a file's buffers (private to the parser). */
#ifndef ETL_BUFFER_INDEX_H
#define ETL_BUFFER_INDEX_H

#include "parser/parser.h"
#include "parser/system/map.h"

/* A log-file header, and what is needed to load its buffers. */
typedef struct etl_log_header {
    etl_session session;
    u32 first_buffer; /* index of its HEADER buffer; all buffers up to the next one are its own */
    u32 valid_max;    /* largest uncompressed size of its buffers */
    u32 events_lost_flags;  /* number of its buffers that report lost events */
    u32 buffers_lost_flags; /* number of its buffers that report lost buffers */
    u8 compression;         /* ETL_COMPRESSION_*, or any other number */
} etl_log_header;

/* Owned by the trace; does not change once built. Start from {0}. */
typedef struct etl_buffer_index {
    etl_buffer_info *buffers;
    u32 buffer_count;
    u32 buffer_capacity;
    etl_log_header *headers;
    u32 header_count;
    u32 header_capacity;
    etl_diag_counts diag;
} etl_buffer_index;

/* What is indexed. All borrowed, but for the options, as long as the walk is open. */
typedef struct etl_index_source {
    etl_bytes file;
    const etl_map *map;              /* of it; empty for a file in memory */
    int descriptor;                  /* the same file, open for reading, or -1 */
    const etl_open_options *options; /* buffer_bytes_max is set */
} etl_index_source;

/* A walk from buffer to buffer, in as many steps as the caller likes. */
typedef struct etl_index_walk etl_index_walk;

/* Begins to index the file. On success *out is the caller's (etl_index_walk_close); free *index
 * in every case. Fails as etl_session_read does for the first header, with ETL_ERR_MEMORY, or
 * as options->arrival does. */
etl_status etl_index_walk_open(etl_buffer_index *index, const etl_index_source *from,
                               etl_index_walk **out, etl_error *err);

/*
 * Goes on to the first buffer at or behind the offset; from the end of the file on, which
 * UINT64_MAX is too, the index is complete. ETL_ERR_MEMORY, ETL_ERR_LIMIT for more than 2^32
 * buffers, or as options->arrival; the walk is over then.
 */
etl_status etl_index_walk_to(etl_index_walk *walk, u64 offset, etl_error *err);

u64 etl_index_walk_offset(const etl_index_walk *walk);

/* Who asks for bytes before the walk looks at them: nobody, which is for callers that do it
 * themselves; the walk, for headers or bytes as it sees fit; the walk, for all bytes. */
typedef enum etl_index_asks {
    ETL_INDEX_ASKS_NOTHING,
    ETL_INDEX_ASKS_AS_NEEDED,
    ETL_INDEX_ASKS_BYTES
} etl_index_asks;

void etl_index_walk_ask(etl_index_walk *walk, etl_index_asks asks);

/* Whether the file is still being written. */
bool etl_index_walk_is_arriving(const etl_index_walk *walk);

/* The last buffers of the file, as far as they can be found from behind: as many rows as are
 * returned, at most `max`. They belong to the first session, and have no first_ticks. Only of a
 * file that is there. */
u32 etl_index_walk_tail(const etl_index_walk *walk, etl_buffer_info *rows, u32 max);

void etl_index_walk_close(etl_index_walk *walk); /* NULL is allowed */

/* True if buffers of this type have records. */
bool etl_buffer_has_records(const etl_buffer_info *info);

/* Finds the time of the first record that has one, from the buffer's position on. Leaves *ticks
 * unchanged if none has. */
bool etl_buffer_find_ticks(etl_buffer buffer, i64 *ticks);

void etl_buffer_index_free(etl_buffer_index *index);

#endif
