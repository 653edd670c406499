/* fuzz_file.c - see fuzz.h. */
#define _GNU_SOURCE 1 /* memfd_create */

#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

/* A file in memory: whatever ends the process, nothing is left of it. */
const char *fuzz_file(const u8 *data, size_t size)
{
    static char path[64];
    if (path[0] == '\0') {
        const int made = memfd_create("fuzz", MFD_CLOEXEC);
        if (made < 0)
            abort();
        (void)snprintf(path, sizeof path, "/proc/self/fd/%d", made);
    }
    FILE *const file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        abort();
    return path;
}
