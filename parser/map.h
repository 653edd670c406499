/*
 * map.h - a whole file as read-only bytes (private to the parser).
 */
#ifndef ETL_MAP_H
#define ETL_MAP_H

#include "parser.h"

/* The bytes of one file and how to give them back. Start from {0}. */
typedef struct etl_map {
    etl_bytes bytes; /* {NULL, 0} for an empty file */
    void *memory;    /* what etl_map_close releases */
    bool is_mapped;
} etl_map;

/*
 * Maps the file read-only, or with `read_it` (and where it cannot be mapped)
 * reads it into memory. The size is that at opening: a file that grows later is
 * seen as it was. On success the caller owns *out (etl_map_close). Statuses:
 * ETL_ERR_IO for what is missing, unreadable or no regular file, ETL_ERR_MEMORY.
 */
etl_status etl_map_open(const char *path, bool read_it, etl_map *out, etl_error *err);

/* The same for a file that is open, for reading at its beginning, and stays the
 * caller's. */
etl_status etl_map_descriptor(int descriptor, bool read_it, etl_map *out, etl_error *err);

void etl_map_close(etl_map *map);

#endif
