/*
 * map_posix.c - files mapped by mmap.
 */
#define _DEFAULT_SOURCE /* madvise */

#include "map.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Linux says of pages of another user's files that all are there. */
static bool is_own(int descriptor)
{
    struct stat status;
    return geteuid() == 0 || (fstat(descriptor, &status) == 0 && status.st_uid == geteuid());
}

bool etl_map_view(int descriptor, size_t size, etl_map *out)
{
    void *const memory = mmap(NULL, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (memory == MAP_FAILED)
        return false;
    *out = (etl_map){ .bytes = { memory, size },
                      .memory = memory,
                      .is_mapped = true,
                      .tells_present = is_own(descriptor) };
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

bool etl_map_is_present(void *page)
{
    unsigned char is_there = 0;
    return mincore(page, 1, &is_there) == 0 && (is_there & 1) != 0;
}

void etl_map_want(void *bytes, size_t size)
{
    (void)madvise(bytes, size, MADV_WILLNEED);
}

size_t etl_map_page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}
