/*
 * stamp_windows.c - what Windows says; see stamp.h.
 *
 * The times that a file has can all be set there, so that no stamp is ever reliable:
 * whether something changed is found out by reading it.
 */
#include "stamp.h"

#include <errno.h>
#include <stdlib.h>
#include <windows.h>

#include <psapi.h>

#include "parser/system/files.h"
#include "parser/system/wide.h"

etl_status cli_stamp_take(const char *path, cli_stamp *out, etl_error *err)
{
    etl_path_kind kind = ETL_PATH_ABSENT;
    *out = (cli_stamp){ 0 };
    const int file = etl_file_open(path);
    const bool ok = file >= 0 && etl_file_examine(file, &kind, &out->size_bytes);
    if (!ok)
        etl_fail_with(err, ETL_ERR_IO, 0, "cannot be opened: %s", strerror(errno));
    else if (kind != ETL_PATH_FILE)
        etl_fail_with(err, ETL_ERR_IO, 0, "is not a regular file; copy it into one first");
    if (file >= 0)
        (void)etl_file_close(file);
    out->id = etlheap_content_of(&out->size_bytes, sizeof out->size_bytes);
    return ok && kind == ETL_PATH_FILE ? ETL_OK : ETL_ERR_IO;
}

bool cli_stamp_is_same(const cli_stamp *a, const cli_stamp *b)
{
    return a->id.high == b->id.high && a->id.low == b->id.low;
}

bool cli_is_link(const char *path)
{
    WIN32_FIND_DATAW found;
    wchar_t *const name = etl_windows_path(path);
    const HANDLE search = name ? FindFirstFileW(name, &found) : INVALID_HANDLE_VALUE;
    free(name);
    if (search == INVALID_HANDLE_VALUE)
        return false;
    (void)FindClose(search);
    /* Files that a cloud keeps are marked in the same way, but are files. */
    return (found.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0 &&
           (found.dwReserved0 == IO_REPARSE_TAG_SYMLINK ||
            found.dwReserved0 == IO_REPARSE_TAG_MOUNT_POINT);
}

etlheap_run_id cli_boot_id(void)
{
    return (etlheap_run_id){ .given = false };
}

/* Not asked: a file that another process writes cannot be removed there anyway. */
bool cli_is_running(u64 process)
{
    (void)process;
    return false;
}

u64 cli_peak_memory_bytes(void)
{
    PROCESS_MEMORY_COUNTERS counters = { .cb = sizeof counters };
    return K32GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters)
               ? counters.PeakWorkingSetSize
               : 0;
}

void cli_give_back_memory(void)
{
}
