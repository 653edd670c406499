/*
 * pipe_posix.c - reading what another program writes bit by bit, by POSIX.
 */
#include "files.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

/* poll() passes over a negative number, which reading refuses. An interrupted wait is one in
 * which nothing came. */
bool etl_file_wait(int file, u32 milliseconds)
{
    struct pollfd one = { .fd = file, .events = POLLIN };
    return file < 0 || poll(&one, 1, (int)milliseconds) > 0;
}

i64 etl_file_read_some(int file, void *into, size_t size)
{
    ssize_t got;
    do {
        got = read(file, into, size);
    } while (got < 0 && errno == EINTR);
    return got;
}
