/*
 * buffer_index.h - where the buffers of a file are (private to the parser).
 */
#ifndef ETL_BUFFER_INDEX_H
#define ETL_BUFFER_INDEX_H

#include "parser/parser.h"
#include "parser/system/map.h"

/* A log-file header with what loading its buffers needs to know besides. */
typedef struct etl_log_header {
    etl_session session;
    u32 first_buffer;       /* index of its HEADER buffer; it owns all up to the next */
    u32 valid_max;          /* most bytes one of its buffers may hold uncompressed */
    u32 events_lost_flags;  /* its buffers that say events were lost */
    u32 buffers_lost_flags; /* its buffers that say buffers were lost */
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

/*
 * Indexes all buffers of the file, which is also open for reading as `descriptor`, or
 * -1, and mapped as `map`, or in memory. options->buffer_bytes_max is set. Fails as
 * etl_session_read does for the first header, with ETL_ERR_MEMORY, or with
 * ETL_ERR_LIMIT for more than 2^32 buffers; free *index also then.
 */
etl_status etl_buffer_index_build(etl_buffer_index *index, etl_bytes file, const etl_map *map,
                                  int descriptor, const etl_open_options *options, etl_error *err);

/* Whether buffers of its type hold records. */
bool etl_buffer_has_records(const etl_buffer_info *info);

/* Time of the first record that has one, from the buffer's position on; *ticks is left
 * alone when none has. */
bool etl_buffer_find_ticks(etl_buffer buffer, i64 *ticks);

void etl_buffer_index_free(etl_buffer_index *index);

#endif
