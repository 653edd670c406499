/*
 * small_file.c - opens files that people write: lists of patterns, stack tags, descriptions.
 */
#include "files.h"

#include <errno.h>

FILE *etl_file_stream_regular(const char *path, const char **why)
{
    FILE *const file = etl_file_stream(path);
    etl_path_kind kind = ETL_PATH_ABSENT;
    u64 size_bytes;
    *why = file ? "" : strerror(errno);
    if (!file || !etl_file_examine(fileno(file), &kind, &size_bytes) || kind != ETL_PATH_OTHER)
        return file;
    fclose(file);
    *why = "it is a pipe or a device; write its contents to a file, and name that";
    return NULL;
}
