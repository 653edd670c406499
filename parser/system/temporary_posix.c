/* temporary_posix.c - temporary files once they are open; files.h has the contract. */
#define _GNU_SOURCE 1 /* O_TMPFILE */

#include "files.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Names of open files: proc(5), /proc/PID/fd. False if there are none here. */
static bool name_by_descriptor(int file, char *path, size_t size)
{
    char hidden[32];
    snprintf(hidden, sizeof hidden, "/proc/self/fd/%d", file);
    if (strlen(hidden) >= size || access(hidden, R_OK) != 0)
        return false;
    memcpy(path, hidden, strlen(hidden) + 1);
    return true;
}

int etl_temporary_open_unnamed(const char *folder)
{
#ifdef O_TMPFILE
    return open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
#else
    (void)folder;
    return -1;
#endif
}

static int open_unnamed_beside(const char *path)
{
    char folder[4096];
    const char *const slash = strrchr(path, '/');
    const size_t size = slash ? (size_t)(slash - path) : 0;
    if (size == 0 || size >= sizeof folder)
        return -1;
    memcpy(folder, path, size);
    folder[size] = '\0';
    return etl_temporary_open_unnamed(folder);
}

int etl_temporary_open_hidden(char *path, size_t size)
{
    int file = open_unnamed_beside(path);
    if (file >= 0 && name_by_descriptor(file, path, size))
        return file;
    if (file >= 0)
        (void)close(file);
    file = etl_temporary_open(path);
    char hidden[4096];
    if (file >= 0 && size <= sizeof hidden && name_by_descriptor(file, hidden, size) &&
        unlink(path) == 0)
        memcpy(path, hidden, strlen(hidden) + 1);
    return file;
}

/* No blocks are taken for it: the file's size is stated by whoever packed it, who may lie. */
bool etl_temporary_size(int file, u64 size_bytes)
{
    return size_bytes <= INT64_MAX && ftruncate(file, (off_t)size_bytes) == 0;
}

bool etl_temporary_finish(int *file)
{
    const int finished = *file;
    *file = -1;
    return close(finished) == 0;
}

void etl_temporary_remove(int file, const char *path)
{
    (void)unlink(path);
    if (file >= 0)
        (void)close(file);
}
