/*
 * map.c - a whole file as read-only bytes, mapped or read into memory.
 *
 * In: a path or a descriptor. Out: an etl_map: bytes that stay valid until it is closed.
 *
 * A file is mapped if possible. Pages are fetched ahead in small pieces and released after use, so
 * that a file larger than memory can be read. Invariant: a mapped file may change under us. A stamp
 * of the file, taken when it was opened, tells afterwards (etl_map_changed); if it became shorter,
 * access beyond its new end is a bus error, which the program guards against.
 */
#include "map.h"

#include <errno.h>
#include <stdlib.h>

#include "files.h"

#define PIECE_BYTES (128 * ETL_KIB)
#define PROBE_BYTES (512 * ETL_KIB)
#define COLD_PROBES 64u
#define WARM_PROBES 256u

static etl_status check_regular(int file, size_t *size, etl_error *err);
static etl_status read_file(int file, size_t size, etl_map *out, etl_error *err);

etl_status etl_map_open(const char *path, bool read_it, etl_map *out, etl_error *err)
{
    int file;
    const etl_status status = etl_map_open_file(path, read_it, out, &file, err);
    if (status == ETL_OK)
        (void)etl_file_close(file);
    return status;
}

etl_status etl_map_open_file(const char *path, bool read_it, etl_map *out, int *file,
                             etl_error *err)
{
    *out = (etl_map){ 0 };
    *file = etl_file_open(path);
    if (*file < 0)
        return etl_fail_with(err, ETL_ERR_IO, 0, "cannot be opened: %s", strerror(errno));
    etl_file_stamp stamp;
    const bool is_stamped = etl_file_stamp_of(*file, &stamp);
    const etl_status status = etl_map_descriptor(*file, read_it, out, err);
    if (status != ETL_OK) {
        (void)etl_file_close(*file);
        *file = -1;
        return status;
    }
    if (is_stamped) {
        out->path = strdup(path);
        out->stamp = stamp;
    }
    return ETL_OK;
}

void etl_map_accept(etl_map *map, int file)
{
    etl_file_stamp stamp;
    if (map->path != NULL && etl_file_stamp_of(file, &stamp))
        map->stamp = stamp;
}

etl_status etl_map_descriptor(int descriptor, bool read_it, etl_map *out, etl_error *err)
{
    *out = (etl_map){ 0 };
    size_t size = 0;
    const etl_status status = check_regular(descriptor, &size, err);
    if (status == ETL_OK && size > 0 && (read_it || !etl_map_view(descriptor, size, out)))
        return read_file(descriptor, size, out, err);
    return status;
}

void etl_map_close(etl_map *map)
{
    free(map->path);
    if (map->is_mapped)
        etl_map_unview(map);
    else
        free(map->memory);
    *map = (etl_map){ 0 };
}

void etl_map_release(const etl_map *map, u64 offset, u64 size)
{
    if (!map->is_mapped)
        return;
    assert(offset <= map->bytes.size && size <= map->bytes.size - offset);
    const u64 page = etl_map_page_size();
    const u64 first = (offset + page - 1) / page * page;
    const u64 end = (offset + size) / page * page;
    if (first < end)
        etl_map_forget((u8 *)map->memory + first, (size_t)(end - first));
}

/* Are the pages in memory? Looks at pages with odd numbers: even ones may be there because headers
 * were read, which usually lie at multiples of two pages or more. */
static bool is_present(const etl_map *map, u64 first, u64 end, u64 page)
{
    if (!map->tells_present)
        return false;
    for (u64 at = first; at < end; at += PROBE_BYTES) {
        const u64 probe = at + page < end ? (at / page | 1) * page : at;
        if (!etl_map_is_present((u8 *)map->memory + probe))
            return false;
    }
    return true;
}

/* Fetches in small pieces: of a large one, Linux reads no more than its own read-ahead. */
bool etl_map_fetch(const etl_map *map, u64 offset, u64 size)
{
    if (!map->is_mapped || size == 0)
        return false;
    assert(offset <= map->bytes.size && size <= map->bytes.size - offset);
    const u64 page = etl_map_page_size();
    const u64 first = offset / page * page, end = offset + size;
    if (is_present(map, first, end, page))
        return false;
    for (u64 at = first; at < end; at += PIECE_BYTES)
        etl_map_want((u8 *)map->memory + at, (size_t)etl_min_u64(PIECE_BYTES, end - at));
    return true;
}

/* How many of so many places of a mapped file are not in memory. Their pages have odd numbers, for
 * the same reason as above. */
static u32 count_missing(const etl_map *map, u32 probes)
{
    const u64 page = etl_map_page_size(), pages = map->bytes.size / page;
    u32 missing = 0;
    for (u64 i = 0; i < probes && pages > 1; i++) {
        const u64 at = etl_min_u64((pages - 1) * i / (probes - 1) | 1, pages - 1);
        missing += !etl_map_is_present((u8 *)map->memory + at * page);
    }
    return missing;
}

bool etl_map_is_cold(const etl_map *map)
{
    return map->is_mapped && map->tells_present &&
           count_missing(map, COLD_PROBES) > COLD_PROBES / 4;
}

bool etl_map_is_warm(const etl_map *map)
{
    return !map->is_mapped || (map->tells_present && count_missing(map, WARM_PROBES) == 0);
}

bool etl_map_changed(const etl_map *map)
{
    etl_file_stamp now;
    const int file = map->path == NULL ? -1 : etl_file_open(map->path);
    if (file < 0)
        return false;
    const bool is_known = etl_file_stamp_of(file, &now);
    (void)etl_file_close(file);
    if (!is_known || now.device != map->stamp.device || now.number != map->stamp.number)
        return false;
    return now.size_bytes < map->stamp.size_bytes ||
           (now.size_bytes == map->stamp.size_bytes && now.changed != map->stamp.changed);
}

static etl_status check_regular(int file, size_t *size, etl_error *err)
{
    etl_path_kind kind;
    u64 size_bytes;
    if (!etl_file_examine(file, &kind, &size_bytes))
        return etl_fail_with(err, ETL_ERR_IO, 0, "cannot be examined: %s", strerror(errno));
    if (kind == ETL_PATH_FOLDER)
        return etl_fail_with(err, ETL_ERR_IO, 0, "is a directory, not a file");
    if (kind != ETL_PATH_FILE)
        return etl_fail_with(err, ETL_ERR_IO, 0, "is not a regular file; copy it into one first");
    *size = (size_t)size_bytes;
    return ETL_OK;
}

static etl_status read_file(int file, size_t size, etl_map *out, etl_error *err)
{
    u8 *const memory = malloc(size);
    if (!memory)
        return etl_fail_with(err, ETL_ERR_MEMORY, 0, "no memory for its %zu bytes", size);
    const i64 filled = etl_file_read(file, memory, size);
    if (filled < 0) {
        (void)etl_fail_with(err, ETL_ERR_IO, 0, "cannot be read: %s", strerror(errno));
        free(memory);
        return ETL_ERR_IO;
    }
    /* Fewer bytes if the file shrank since it was examined; those are the file. */
    *out = (etl_map){ .bytes = { memory, (size_t)filled }, .memory = memory };
    return ETL_OK;
}
