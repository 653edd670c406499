/* temporary_windows.c - temporary files once they are open; files.h has the contract. */
#include "files.h"

#include <io.h>

int etl_temporary_open_hidden(char *path, size_t size)
{
    (void)size;
    return etl_temporary_open(path);
}

bool etl_temporary_size(int file, u64 size_bytes)
{
    (void)file;
    (void)size_bytes;
    return false;
}

bool etl_temporary_finish(int *file)
{
    (void)file;
    return true;
}

void etl_temporary_remove(int file, const char *path)
{
    (void)path;
    if (file >= 0)
        (void)_close(file);
}
