/*
 * nameless.c - temporary files without a name.
 *
 * Where the file system can make them, they never have one. Elsewhere they lose it
 * at once, and a program killed in between leaves an empty file.
 */
#define _GNU_SOURCE 1 /* O_TMPFILE */

#include "nameless.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int nameless_file(const char *folder)
{
    char path[4096];
#ifdef O_TMPFILE
    const int made = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (made >= 0)
        return made;
#endif
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
