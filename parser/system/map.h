/*
 * map.h - a whole file as read-only bytes (private to the parser).
 */
#ifndef ETL_MAP_H
#define ETL_MAP_H

#include "parser/parser.h"
#include "files.h"

/* The bytes of one file and how to give them back. Start from {0}. */
typedef struct etl_map {
    etl_bytes bytes; /* {NULL, 0} for an empty file */
    void *memory;    /* what etl_map_close releases */
    bool is_mapped;
    bool tells_present;   /* the system says which pages are in memory */
    void *kept;           /* on Windows: a handle of the file */
    char *path;           /* NULL: its changes are not noticed */
    etl_file_stamp stamp; /* as it was opened */
} etl_map;

/*
 * Maps the file read-only, or with `read_it` (and where it cannot be mapped)
 * reads it into memory. The size is that at opening: a file that grows later is
 * seen as it was. On success the caller owns *out (etl_map_close). Statuses:
 * ETL_ERR_IO for what is missing, unreadable or no regular file, ETL_ERR_MEMORY.
 */
etl_status etl_map_open(const char *path, bool read_it, etl_map *out, etl_error *err);

/* The same, and leaves the file open for reading: *file is the caller's, or -1 unless
 * ETL_OK. */
etl_status etl_map_open_file(const char *path, bool read_it, etl_map *out, int *file,
                             etl_error *err);

/* The same for a file that is open, for reading at its beginning, and stays the
 * caller's. */
etl_status etl_map_descriptor(int descriptor, bool read_it, etl_map *out, etl_error *err);

void etl_map_close(etl_map *map);

/* Gives back the memory of some of the bytes, by whole pages: they are mapped again when
 * they are asked for. Nothing of a file that was read into memory. */
void etl_map_release(const etl_map *map, u64 offset, u64 size);

/*
 * Asks the system to read some of the bytes into the page cache, and does not wait for them;
 * where many reads are under way already it waits for their turn. Does nothing for bytes
 * that were there at a few places that are looked at, and for a file that was read into
 * memory. True if something was asked for.
 */
bool etl_map_fetch(const etl_map *map, u64 offset, u64 size);

/* Whether more than a quarter of a mapped file is not in the page cache, by a few dozen places
 * that are looked at. False if the system does not say. */
bool etl_map_is_cold(const etl_map *map);

/*
 * Whether somebody has since written to the file: bytes may be mixed from before and
 * after, and those of a file that became shorter within its last page are zeros. False
 * of one that became longer, which is seen as it was, of one that was removed or
 * replaced, which stays what it was, and when it cannot be known. The name is looked at
 * again; no file is kept open, for there may be thousands.
 */
bool etl_map_changed(const etl_map *map);

/* What map.c asks of the system: a view of the first `size` bytes of an open file,
 * false when it cannot be mapped; the end of one; giving back pages of one; whether a
 * page of one is in memory; and reading pages of one ahead. */
bool etl_map_view(int descriptor, size_t size, etl_map *out);
void etl_map_unview(etl_map *map);
void etl_map_forget(void *bytes, size_t size); /* whole pages */
bool etl_map_is_present(void *page);
void etl_map_want(void *bytes, size_t size); /* whole pages, no more than a few */
size_t etl_map_page_size(void);

#endif
