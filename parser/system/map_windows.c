/*
 * map_windows.c - files mapped by sections.
 *
 * A handle of the file is kept as long as the view. A file that was removed in the
 * meantime then goes when both are gone, and not before: with a view alone Windows
 * does not let it go.
 */
#include "map.h"

#include <io.h>
#include <windows.h>

bool etl_map_view(int descriptor, size_t size, etl_map *out)
{
    const HANDLE file = (HANDLE)_get_osfhandle(descriptor);
    const HANDLE self = GetCurrentProcess();
    HANDLE kept = NULL;
    void *memory = NULL;
    const HANDLE section = CreateFileMappingW(file, NULL, PAGE_READONLY, 0, 0, NULL);
    if (section != NULL) {
        memory = MapViewOfFile(section, FILE_MAP_READ, 0, 0, size);
        (void)CloseHandle(section);
    }
    if (memory == NULL)
        return false;
    if (!DuplicateHandle(self, file, self, &kept, 0, FALSE, DUPLICATE_SAME_ACCESS))
        kept = NULL;
    *out =
        (etl_map){ .bytes = { memory, size }, .memory = memory, .is_mapped = true, .kept = kept };
    return true;
}

void etl_map_unview(etl_map *map)
{
    (void)UnmapViewOfFile(map->memory);
    if (map->kept != NULL)
        (void)CloseHandle(map->kept);
}

/* Pages that are not locked leave the working set by being unlocked: documented of
 * VirtualUnlock. */
void etl_map_forget(void *bytes, size_t size)
{
    (void)VirtualUnlock(bytes, size);
}

/* Windows says which pages are in the working set alone, not which are in the cache. */
bool etl_map_is_present(void *page)
{
    (void)page;
    return false;
}

void etl_map_want(void *bytes, size_t size)
{
    WIN32_MEMORY_RANGE_ENTRY range = { .VirtualAddress = bytes, .NumberOfBytes = size };
    (void)PrefetchVirtualMemory(GetCurrentProcess(), 1, &range, 0);
}

size_t etl_map_page_size(void)
{
    SYSTEM_INFO system;
    GetSystemInfo(&system);
    return system.dwPageSize;
}
