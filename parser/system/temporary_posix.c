/* temporary_posix.c - temporary files once they are open; files.h has the contract. */
#define _XOPEN_SOURCE 700

#include "files.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Names of open files: proc(5), /proc/PID/fd. */
void etl_temporary_hide(int file, char *path, size_t size)
{
    char hidden[32];
    snprintf(hidden, sizeof hidden, "/proc/self/fd/%d", file);
    if (strlen(hidden) < size && access(hidden, R_OK) == 0 && unlink(path) == 0)
        memcpy(path, hidden, strlen(hidden) + 1);
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
