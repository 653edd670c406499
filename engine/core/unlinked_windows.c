/*
 * unlinked_windows.c - temporary files that go with their last handle.
 *
 * They have a name while they are open, which nobody is told.
 */
#include "unlinked.h"

#include <errno.h>
#include <io.h>
#include <stdio.h>
#include <windows.h>

#include "parser/system/files.h"
#include "parser/system/wide.h"

#define WRITE_BYTES_MAX ((size_t)64 << 20) /* of one call */

static HANDLE handle_of(int file)
{
    return (HANDLE)_get_osfhandle(file);
}

int unlinked_file(const char *folder)
{
    char path[4096];
    const int length = snprintf(path, sizeof path, "%s/etlheap-XXXXXX", folder);
    if (length >= 0 && (size_t)length < sizeof path)
        return etl_temporary_open(path);
    errno = ENAMETOOLONG;
    return -1;
}

bool unlinked_write(int file, const void *bytes, size_t size, u64 offset)
{
    const u8 *at = bytes;
    while (size > 0) {
        OVERLAPPED where = { .Offset = (DWORD)offset, .OffsetHigh = (DWORD)(offset >> 32) };
        const DWORD wanted = (DWORD)etl_min_u64(size, WRITE_BYTES_MAX);
        DWORD written = 0;
        if (!WriteFile(handle_of(file), at, wanted, &written, &where) || written == 0)
            return etl_windows_fail() == 0;
        at += written;
        size -= written;
        offset += written;
    }
    return true;
}

const void *unlinked_map(int file, u64 offset, size_t size)
{
    const HANDLE section = CreateFileMappingW(handle_of(file), NULL, PAGE_READONLY, 0, 0, NULL);
    const void *at = NULL;
    if (section != NULL) {
        at = MapViewOfFile(section, FILE_MAP_READ, (DWORD)(offset >> 32), (DWORD)offset, size);
        (void)CloseHandle(section);
    }
    return at;
}

void unlinked_unmap(const void *at, size_t size)
{
    (void)size;
    (void)UnmapViewOfFile(at);
}
