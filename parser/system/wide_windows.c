/*
 * wide_windows.c - names and errors of Windows' system calls.
 *
 * A name is made full by the system, which knows the current folder and what
 * "NUL", "C:x", "..", trailing dots and / mean; only then, and only when it is too
 * long without, it gets the prefix that turns all of that off.
 */
#include "wide.h"

#include <errno.h>
#include <stdlib.h>
#include <windows.h>

static wchar_t *wide_of(const char *text);
static wchar_t *full_of(const wchar_t *wide);
static wchar_t *extend(wchar_t *full);

wchar_t *etl_windows_path(const char *path)
{
    wchar_t *const wide = wide_of(path);
    wchar_t *const full = wide ? full_of(wide) : NULL;
    free(wide);
    return full && wcslen(full) > ETL_WIDE_PLAIN_MAX ? extend(full) : full;
}

static wchar_t *wide_of(const char *text)
{
    bool valid;
    const size_t capacity = etl_utf8_to_wide(text, NULL, 0, &valid) + 1;
    wchar_t *const wide = valid ? malloc(capacity * sizeof *wide) : NULL;
    if (wide)
        (void)etl_utf8_to_wide(text, wide, capacity, &valid);
    else
        errno = valid ? ENOMEM : ENOENT;
    return wide;
}

static wchar_t *full_of(const wchar_t *wide)
{
    const DWORD capacity = GetFullPathNameW(wide, 0, NULL, NULL);
    wchar_t *const full = capacity > 0 ? malloc(capacity * sizeof *full) : NULL;
    if (full && GetFullPathNameW(wide, capacity, full, NULL) < capacity)
        return full;
    errno = capacity > 0 ? ENOMEM : ENOENT;
    free(full);
    return NULL;
}

/* Takes the name over. */
static wchar_t *extend(wchar_t *full)
{
    size_t skip;
    const char *const prefix = etl_wide_prefix(full, &skip);
    const size_t prefix_size = strlen(prefix);
    const size_t size = wcslen(full + skip) + 1;
    wchar_t *const extended = malloc((prefix_size + size) * sizeof *extended);
    if (extended) {
        for (size_t i = 0; i < prefix_size; i++)
            extended[i] = (wchar_t)prefix[i];
        memcpy(extended + prefix_size, full + skip, size * sizeof *extended);
    } else {
        errno = ENOMEM;
    }
    free(full);
    return extended;
}

char *etl_windows_text(const wchar_t *wide)
{
    const int size = WideCharToMultiByte(CP_UTF8, 0, wide, -1, NULL, 0, NULL, NULL);
    char *const text = size > 0 ? malloc((size_t)size) : NULL;
    if (text && WideCharToMultiByte(CP_UTF8, 0, wide, -1, text, size, NULL, NULL) == size)
        return text;
    free(text);
    return NULL;
}

/* What people are told about is spelled out, the rest is an I/O error. */
int etl_windows_fail(void)
{
    static const struct {
        DWORD code;
        int error;
    } rows[] = {
        { ERROR_FILE_NOT_FOUND, ENOENT },
        { ERROR_PATH_NOT_FOUND, ENOENT },
        { ERROR_INVALID_DRIVE, ENOENT },
        { ERROR_BAD_NETPATH, ENOENT },
        { ERROR_BAD_NET_NAME, ENOENT },
        { ERROR_INVALID_NAME, ENOENT },
        { ERROR_BAD_PATHNAME, ENOENT },
        { ERROR_ACCESS_DENIED, EACCES },
        { ERROR_SHARING_VIOLATION, EACCES },
        { ERROR_LOCK_VIOLATION, EACCES },
        { ERROR_USER_MAPPED_FILE, EACCES },
        { ERROR_NETWORK_ACCESS_DENIED, EACCES },
        { ERROR_DELETE_PENDING, EACCES },
        { ERROR_WRITE_PROTECT, EROFS },
        { ERROR_FILE_EXISTS, EEXIST },
        { ERROR_ALREADY_EXISTS, EEXIST },
        { ERROR_DIRECTORY, ENOTDIR },
        { ERROR_DIR_NOT_EMPTY, ENOTEMPTY },
        { ERROR_DISK_FULL, ENOSPC },
        { ERROR_HANDLE_DISK_FULL, ENOSPC },
        { ERROR_NOT_ENOUGH_MEMORY, ENOMEM },
        { ERROR_OUTOFMEMORY, ENOMEM },
        { ERROR_COMMITMENT_LIMIT, ENOMEM },
        { ERROR_TOO_MANY_OPEN_FILES, EMFILE },
        { ERROR_FILENAME_EXCED_RANGE, ENAMETOOLONG },
        { ERROR_BROKEN_PIPE, EPIPE },
        { ERROR_NO_DATA, EPIPE },
        { ERROR_PIPE_NOT_CONNECTED, EPIPE },
        { ERROR_NOT_SAME_DEVICE, EXDEV },
        { ERROR_INVALID_HANDLE, EBADF },
    };
    const DWORD code = GetLastError();
    errno = EIO;
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        if (rows[i].code == code)
            errno = rows[i].error;
    }
    return -1;
}
