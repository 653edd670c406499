/*
 * unlinked_posix.c - temporary files without a name.
 *
 * Where the file system can make them, they never have one. Elsewhere they lose it
 * at once, and a program killed in between leaves an empty file.
 */
#define _XOPEN_SOURCE 700

#include "unlinked.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "parser/system/files.h"

int unlinked_file(const char *folder)
{
    char path[4096];
    const int made = etl_temporary_open_unnamed(folder);
    if (made >= 0)
        return made;
    const int length = snprintf(path, sizeof path, "%s/etlheap-XXXXXX", folder);
    if (length < 0 || (size_t)length >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    const int file = mkstemp(path);
    if (file >= 0)
        (void)unlink(path);
    return file;
}

bool unlinked_write(int file, const void *bytes, size_t size, u64 offset)
{
    const u8 *at = bytes;
    while (size > 0) {
        const ssize_t written = pwrite(file, at, size, (off_t)offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        at += written;
        size -= (size_t)written;
        offset += (u64)written;
    }
    return true;
}

const void *unlinked_map(int file, u64 offset, size_t size)
{
    void *const at = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, (off_t)offset);
    return at == MAP_FAILED ? NULL : at;
}

void unlinked_unmap(const void *at, size_t size)
{
    munmap((void *)(uintptr_t)at, size);
}
