/* fuzz_file.c - see fuzz.h. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char path[64];

static void remove_file(void)
{
    unlink(path);
}

const char *fuzz_file(const u8 *data, size_t size)
{
    if (path[0] == '\0') {
        strcpy(path, "/tmp/etlheap-fuzz-XXXXXX");
        const int made = mkstemp(path);
        if (made < 0 || atexit(remove_file) != 0)
            abort();
        close(made);
    }
    FILE *const file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        abort();
    return path;
}
