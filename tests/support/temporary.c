/*
 * temporary.c - temporary files of tests.
 */
#include "temporary.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "parser/system/files.h"

const char *temporary_folder(void)
{
#ifdef _WIN32
    const char *const folder = getenv("TMP");
#else
    const char *const folder = getenv("TMPDIR");
#endif
    return folder != NULL && folder[0] != '\0' ? folder : etl_temporary_default;
}

static bool pattern_of(char path[TEMPORARY_PATH_BYTES], const char *name)
{
    const int length =
        snprintf(path, TEMPORARY_PATH_BYTES, "%s/%s-XXXXXX", temporary_folder(), name);
    return length > 0 && length < TEMPORARY_PATH_BYTES;
}

int temporary_file(char path[TEMPORARY_PATH_BYTES], const char *name)
{
    return pattern_of(path, name) ? mkstemp(path) : -1;
}

bool temporary_subfolder(char path[TEMPORARY_PATH_BYTES], const char *name)
{
    return pattern_of(path, name) && mkdtemp(path) != NULL;
}

FILE *temporary_stream(void)
{
#ifdef _WIN32
    return tmpfile(); /* that of posix_calls.h, since an open file cannot be unlinked */
#else
    char path[TEMPORARY_PATH_BYTES];
    const int file = temporary_file(path, "stream");
    if (file < 0)
        return NULL;
    (void)unlink(path);
    return fdopen(file, "w+b");
#endif
}
