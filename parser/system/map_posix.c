/*
 * map_posix.c - files mapped by mmap.
 */
#define _DEFAULT_SOURCE /* madvise */

#include "map.h"

#include <sys/mman.h>
#include <unistd.h>

bool etl_map_view(int descriptor, size_t size, etl_map *out)
{
    void *const memory = mmap(NULL, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (memory == MAP_FAILED)
        return false;
    *out = (etl_map){ .bytes = { memory, size }, .memory = memory, .is_mapped = true };
    return true;
}

void etl_map_unview(etl_map *map)
{
    (void)munmap(map->memory, map->bytes.size);
}

void etl_map_forget(void *bytes, size_t size)
{
    (void)madvise(bytes, size, MADV_DONTNEED);
}

size_t etl_map_page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}
