/*
 * file_start.c - the first bytes of a file, by which its kind is told.
 *
 * They are read, not mapped: another program may be writing to the file, and what is not of
 * the kind looked for is opened once more by whoever knows it.
 */
#include "files.h"

size_t etl_file_start(const char *path, void *into, size_t size)
{
    const int file = etl_path_kind_of(path) == ETL_PATH_FILE ? etl_file_open(path) : -1;
    if (file < 0)
        return 0;
    const i64 got = etl_file_read(file, into, size);
    (void)etl_file_close(file);
    return got > 0 ? (size_t)got : 0;
}
