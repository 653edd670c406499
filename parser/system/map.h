/* map.h - a whole file as read-only bytes (private to the parser). */
#ifndef ETL_MAP_H
#define ETL_MAP_H

#include "parser/parser.h"
#include "files.h"

/* The bytes of a file, and how to release them. Start from {0}. */
typedef struct etl_map {
    etl_bytes bytes; /* {NULL, 0} for an empty file */
    void *memory;    /* released by etl_map_close */
    bool is_mapped;
    bool tells_present;   /* the system tells which pages are in memory */
    void *kept;           /* on Windows: a handle of the file */
    char *path;           /* NULL: changes are not detected */
    etl_file_stamp stamp; /* when it was opened, or accepted */
} etl_map;

/*
 * Maps the file read-only, or reads it into memory with `read_it` or if it cannot be mapped. Its
 * size is that at opening, even if the file grows. On success the caller owns *out (etl_map_close).
 * ETL_ERR_IO (missing, unreadable or not a regular file), ETL_ERR_MEMORY.
 */
etl_status etl_map_open(const char *path, bool read_it, etl_map *out, etl_error *err);

/* Like etl_map_open, and leaves the file open for reading: the caller owns *file; -1 unless
 * ETL_OK. */
etl_status etl_map_open_file(const char *path, bool read_it, etl_map *out, int *file,
                             etl_error *err);

/* What etl_map_changed() compares with is the file as it is now, not as it was opened: for a file
 * that was written on purpose since. `file` is the file that was mapped. */
void etl_map_accept(etl_map *map, int file);

/* Like etl_map_open, for an open file at its beginning, which the caller keeps. */
etl_status etl_map_descriptor(int descriptor, bool read_it, etl_map *out, etl_error *err);

void etl_map_close(etl_map *map);

/* Releases the memory of some bytes, by whole pages; they are mapped again when needed. Does
 * nothing for a file that was read into memory. */
void etl_map_release(const etl_map *map, u64 offset, u64 size);

/*
 * Asks the system to read some bytes into the page cache, and does not wait for them, unless many
 * reads are pending. Does nothing for bytes that a sample shows to be in memory, nor for a file
 * that was read into memory. True if something was requested.
 */
bool etl_map_fetch(const etl_map *map, u64 offset, u64 size);

/* Whether more than a quarter of a mapped file is not in the page cache, by a few dozen places
 * that are looked at. False if the system does not say. */
bool etl_map_is_cold(const etl_map *map);

/* Whether all of a file is in memory, by a few hundred places that are looked at. False if the
 * system does not say. */
bool etl_map_is_warm(const etl_map *map);

/*
 * True if the file was written to after opening: bytes may then mix old and new data, and if it
 * became shorter within its last page, the missing bytes are zeros. False if it only grew, if it
 * was removed or replaced, and if that cannot be known. Examines the name again, because there may
 * be too many files to keep them open.
 */
bool etl_map_changed(const etl_map *map);

/* The system's part of map.c: maps the first `size` bytes of an open file (false: it cannot be
 * mapped), unmaps them, releases pages, tells whether a page is in memory, and reads pages
 * ahead. */
bool etl_map_view(int descriptor, size_t size, etl_map *out);
void etl_map_unview(etl_map *map);
void etl_map_forget(void *bytes, size_t size); /* whole pages */
bool etl_map_is_present(void *page);
void etl_map_want(void *bytes, size_t size); /* a few whole pages */
size_t etl_map_page_size(void);

#endif
