/*
 * below_windows.c - opens files whose names are not trusted, on Windows. files.h has the contract.
 *
 * In: a folder and a path in UTF-8. Out: a descriptor and a name, or a reason in errno.
 *
 * The name is put behind the folder's real one, which begins with \\?\: so the system takes each
 * name as it stands, and none is a device. Links are followed, and then the open file is asked for
 * its own name. Invariant: that name, not the one that was asked for, decides.
 */
#include "below.h"
#include "files.h"
#include "name_fold.h"

#include <errno.h>
#include <io.h>
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

#include "wide.h"

/* "FOLDER\A\B"; NULL, with errno. A colon would name a stream of a file. */
static char *name_below(const char *folder, const char *path)
{
    char names[ETL_BELOW_BYTES_MAX];
    const u32 count = etl_below_names(path, names);
    const size_t size = strlen(folder) + strlen(path) + ETL_BELOW_NAMES_MAX + 1;
    char *const joined = count > 0 && !strchr(path, ':') ? malloc(size) : NULL;
    if (count == 0 || strchr(path, ':'))
        errno = EPERM;
    size_t used = joined ? (size_t)snprintf(joined, size, "%s", folder) : 0;
    const char *name = names;
    for (u32 i = 0; i < count && joined; i++) {
        used += (size_t)snprintf(joined + used, size - used, "\\%s", name);
        name += strlen(name) + 1;
    }
    return joined;
}

/* The name of an open file, without links; the caller frees it. NULL, with errno. */
static char *name_of(int file)
{
    const HANDLE handle = (HANDLE)_get_osfhandle(file);
    const DWORD capacity = GetFinalPathNameByHandleW(handle, NULL, 0, FILE_NAME_NORMALIZED);
    wchar_t *const name = capacity > 0 ? malloc((capacity + (size_t)1) * sizeof *name) : NULL;
    char *text = NULL;
    if (name && GetFinalPathNameByHandleW(handle, name, capacity + 1, FILE_NAME_NORMALIZED) > 0)
        text = etl_windows_text(name);
    else
        (void)etl_windows_fail();
    free(name);
    return text;
}

static bool is_below(const char *folder, const char *path)
{
    const size_t size = etl_name_begins(path, folder);
    return size > 0 && (path[size] == '\\' || path[size - 1] == '\\');
}

/* A name as people write it: \\?\C:\a is C:\a, and \\?\UNC\server\a is \\server\a. */
static void take_prefix(char *path)
{
    const bool is_share = strncmp(path, "\\\\?\\UNC\\", 8) == 0;
    const size_t size = is_share ? 8 : strncmp(path, "\\\\?\\", 4) == 0 ? 4 : 0;
    const size_t kept = is_share ? 2 : 0;
    memmove(path + kept, path + size, strlen(path + size) + 1);
}

int etl_file_open_below(const char *folder, const char *path, char **found)
{
    char *const root = etl_path_resolve(folder);
    char *const joined = root ? name_below(root, path) : NULL;
    const int file = joined ? etl_file_open(joined) : -1;
    char *const name = file >= 0 ? name_of(file) : NULL;
    etl_path_kind kind = ETL_PATH_ABSENT;
    u64 size_bytes;
    const bool is_good = name && is_below(root, name) &&
                         etl_file_examine(file, &kind, &size_bytes) && kind == ETL_PATH_FILE;
    if (name && !is_good)
        errno = EPERM;
    const int reason = errno;
    free(root);
    free(joined);
    *found = is_good ? name : NULL;
    if (!is_good) {
        free(name);
        if (file >= 0)
            (void)etl_file_close(file);
        errno = reason;
        return -1;
    }
    take_prefix(*found);
    return file;
}
