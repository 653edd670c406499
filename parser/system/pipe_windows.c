/*
 * pipe_windows.c - reading what another program writes bit by bit, on Windows.
 */
#include "files.h"

#include <io.h>
#include <windows.h>

#include "wide.h"

#define WAIT_STEP_MS   10u
#define READ_BYTES_MAX ((size_t)64 << 20) /* of one call */

static HANDLE handle_of(int file)
{
    return file < 0 ? INVALID_HANDLE_VALUE : (HANDLE)_get_osfhandle(file);
}

/* The system cannot wait for the bytes of a pipe, so they are asked for time and again. What
 * is no pipe has its bytes, or is a console, which nobody reads here. */
bool etl_file_wait(int file, u32 milliseconds)
{
    for (u32 waited = 0; GetFileType(handle_of(file)) == FILE_TYPE_PIPE; waited += WAIT_STEP_MS) {
        DWORD available = 0;
        if (!PeekNamedPipe(handle_of(file), NULL, 0, NULL, &available, NULL) || available > 0)
            break; /* reading says why */
        if (waited >= milliseconds)
            return false;
        Sleep(WAIT_STEP_MS);
    }
    return true;
}

/* A pipe whose writer has gone is at its end. */
i64 etl_file_read_some(int file, void *into, size_t size)
{
    DWORD got = 0;
    if (!ReadFile(handle_of(file), into, (DWORD)etl_min_u64(size, READ_BYTES_MAX), &got, NULL) &&
        GetLastError() != ERROR_BROKEN_PIPE && GetLastError() != ERROR_HANDLE_EOF)
        return etl_windows_fail();
    return got;
}
