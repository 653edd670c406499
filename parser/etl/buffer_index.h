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

/*
 * Indexes all buffers of the file, which is mapped as `map` or in memory, and open for reading as
 * `descriptor`, or -1. Set options->buffer_bytes_max. Free *index even after a failure. Errors as
 * for etl_session_read on the first header, ETL_ERR_MEMORY, ETL_ERR_LIMIT (more than 2^32 buffers).
 */
etl_status etl_buffer_index_build(etl_buffer_index *index, etl_bytes file, const etl_map *map,
                                  int descriptor, const etl_open_options *options, etl_error *err);

/* True if buffers of this type have records. */
bool etl_buffer_has_records(const etl_buffer_info *info);

/* Finds the time of the first record that has one, from the buffer's position on. Leaves *ticks
 * unchanged if none has. */
bool etl_buffer_find_ticks(etl_buffer buffer, i64 *ticks);

void etl_buffer_index_free(etl_buffer_index *index);

#endif
