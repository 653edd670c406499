/*
 * files_windows.c - files and folders, by Windows' own calls. files.h has the contract.
 *
 * In: paths in UTF-8. Out: descriptors, stamps, listings; errors in errno.
 *
 * The C library's calls take names in the code page of the machine, at most 260 characters of them,
 * and keep others from renaming and removing open files. So files are opened by CreateFileW, with
 * everything shared, and get a descriptor afterwards.
 *
 * A mapped file can be neither removed nor written over here. But it can be marked: it then goes
 * when the last handle is closed, and a mapping keeps one (map_windows.c). Invariant: temporary
 * files are marked as soon as they are open, so that nothing is left behind however the program
 * ends.
 */
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdlib.h>
#include <windows.h>

#include "wide.h"

#define SHARE_ALL       (FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE)
#define IO_BYTES_MAX    ((size_t)64 << 20) /* of one call */
#define REPLACE_TRIES   8                  /* virus scanners look into what was just written */
#define TEMPORARY_TRIES 100
#define SUFFIX_SIZE     6 /* XXXXXX */

struct etl_listing {
    HANDLE search;
    bool is_fresh; /* `found` has not been given out */
    WIN32_FIND_DATAW found;
    char *name;
};

/* How to open, the arguments of CreateFileW. */
typedef struct opening {
    DWORD access, share, disposition, flags;
} opening;

/* The programs' own folder may be absent; this one is always there. */
const char etl_temporary_default[] = "C:/Windows/Temp";

static HANDLE open_handle(const char *path, opening how);
static int open_file(const char *path, opening how);
static int number_of(HANDLE handle);
static HANDLE handle_of(int file);
static etl_path_kind kind_of(HANDLE handle);
static i64 read_all(int file, void *into, size_t size, const u64 *offset);
static bool replace_open(const wchar_t *from, const wchar_t *to);
static bool replace_aside(const wchar_t *from, const wchar_t *to);
static bool remove_marked(const wchar_t *name);
static bool make_unique(char *path, bool (*make)(void *user, const char *path), void *user);
static bool make_temporary(void *user, const char *path);
static bool make_folder(void *user, const char *path);

static HANDLE open_handle(const char *path, opening how)
{
    wchar_t *const name = etl_windows_path(path);
    if (!name)
        return INVALID_HANDLE_VALUE;
    const HANDLE handle =
        CreateFileW(name, how.access, how.share, NULL, how.disposition, how.flags, NULL);
    if (handle == INVALID_HANDLE_VALUE)
        (void)etl_windows_fail();
    free(name);
    return handle;
}

static int open_file(const char *path, opening how)
{
    const HANDLE handle = open_handle(path, how);
    return handle == INVALID_HANDLE_VALUE ? -1 : number_of(handle);
}

/* Turns a handle into a descriptor, which owns it. */
static int number_of(HANDLE handle)
{
    const int file = _open_osfhandle((intptr_t)handle, _O_BINARY | _O_NOINHERIT);
    if (file < 0)
        (void)CloseHandle(handle);
    return file;
}

static HANDLE handle_of(int file)
{
    return (HANDLE)_get_osfhandle(file);
}

/* --- looking ---------------------------------------------------------------- */

/* With backup semantics a folder can be opened too. */
static HANDLE open_to_look(const char *path)
{
    return open_handle(path, (opening){ FILE_READ_ATTRIBUTES, SHARE_ALL, OPEN_EXISTING,
                                        FILE_FLAG_BACKUP_SEMANTICS });
}

etl_path_kind etl_path_kind_of(const char *path)
{
    const HANDLE handle = open_to_look(path);
    if (handle == INVALID_HANDLE_VALUE)
        return ETL_PATH_ABSENT;
    const etl_path_kind kind = kind_of(handle);
    (void)CloseHandle(handle);
    return kind;
}

static etl_path_kind kind_of(HANDLE handle)
{
    BY_HANDLE_FILE_INFORMATION facts;
    if (GetFileType(handle) != FILE_TYPE_DISK || !GetFileInformationByHandle(handle, &facts))
        return ETL_PATH_OTHER;
    return facts.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY ? ETL_PATH_FOLDER : ETL_PATH_FILE;
}

bool etl_path_is_same(const char *a, const char *b)
{
    BY_HANDLE_FILE_INFORMATION left;
    BY_HANDLE_FILE_INFORMATION right;
    const HANDLE handles[] = { open_to_look(a), open_to_look(b) };
    const bool known = handles[0] != INVALID_HANDLE_VALUE && handles[1] != INVALID_HANDLE_VALUE &&
                       GetFileInformationByHandle(handles[0], &left) &&
                       GetFileInformationByHandle(handles[1], &right);
    for (size_t i = 0; i < ETL_COUNT_OF(handles); i++) {
        if (handles[i] != INVALID_HANDLE_VALUE)
            (void)CloseHandle(handles[i]);
    }
    return known && left.dwVolumeSerialNumber == right.dwVolumeSerialNumber &&
           left.nFileIndexHigh == right.nFileIndexHigh && left.nFileIndexLow == right.nFileIndexLow;
}

char *etl_path_resolve(const char *path)
{
    const HANDLE handle = open_to_look(path);
    if (handle == INVALID_HANDLE_VALUE)
        return NULL;
    const DWORD capacity = GetFinalPathNameByHandleW(handle, NULL, 0, FILE_NAME_NORMALIZED);
    wchar_t *const name = capacity > 0 ? malloc((capacity + (size_t)1) * sizeof *name) : NULL;
    char *text = NULL;
    if (name && GetFinalPathNameByHandleW(handle, name, capacity + 1, FILE_NAME_NORMALIZED) > 0)
        text = etl_windows_text(name);
    else if (capacity == 0)
        (void)etl_windows_fail();
    free(name);
    (void)CloseHandle(handle);
    return text;
}

bool etl_path_is_separator(char c)
{
    return c == '/' || c == '\\';
}

size_t etl_path_root_size(const char *path)
{
    const char letter = (char)(path[0] | 0x20);
    size_t size = 0;
    if (letter >= 'a' && letter <= 'z' && path[1] == ':')
        return etl_path_is_separator(path[2]) ? 3 : 2;
    if (!etl_path_is_separator(path[0]) || !etl_path_is_separator(path[1]))
        return etl_path_is_separator(path[0]);
    /* "\\server\share\": two names, each with what parts it from the next. */
    size = 2;
    for (int i = 0; i < 2; i++) {
        while (path[size] != '\0' && !etl_path_is_separator(path[size]))
            size++;
        size += path[size] != '\0';
    }
    return size;
}

/* --- files ------------------------------------------------------------------ */

int etl_file_open(const char *path)
{
    return open_file(
        path, (opening){ GENERIC_READ, SHARE_ALL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS });
}

int etl_file_create(const char *path)
{
    return open_file(path, (opening){ GENERIC_READ | GENERIC_WRITE | DELETE,
                                      FILE_SHARE_READ | FILE_SHARE_DELETE, CREATE_ALWAYS,
                                      FILE_ATTRIBUTE_NORMAL });
}

int etl_file_create_new(const char *path)
{
    return open_file(path, (opening){ GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_DELETE,
                                      CREATE_NEW, FILE_ATTRIBUTE_NORMAL });
}

int etl_file_open_device(const char *path)
{
    return open_file(path, (opening){ GENERIC_WRITE, SHARE_ALL, OPEN_EXISTING, 0 });
}

/* Opening without shared writing gives exclusive access; a former owner has renamed or closed the
 * file before we can. */
int etl_file_open_exclusive(const char *path, u64 *size_bytes)
{
    const int file = open_file(path, (opening){ GENERIC_READ | GENERIC_WRITE,
                                                FILE_SHARE_READ | FILE_SHARE_DELETE, OPEN_ALWAYS,
                                                FILE_ATTRIBUTE_NORMAL });
    etl_path_kind kind;
    if (file < 0 && GetLastError() == ERROR_SHARING_VIOLATION)
        errno = EWOULDBLOCK;
    if (file < 0)
        return -1;
    if (etl_file_examine(file, &kind, size_bytes) && kind == ETL_PATH_FILE &&
        etl_file_seek(file, *size_bytes))
        return file;
    (void)etl_file_close(file);
    return -1;
}

FILE *etl_file_stream(const char *path)
{
    const int file = etl_file_open(path);
    FILE *const stream = file >= 0 ? _fdopen(file, "rb") : NULL;
    if (file >= 0 && !stream)
        (void)etl_file_close(file);
    return stream;
}

int etl_file_lock(int file)
{
    (void)file;
    return -1;
}

/* Fails while anybody has the file open. */
bool etl_file_remove_abandoned(const char *path, u32 seconds)
{
    (void)seconds;
    const int file =
        open_file(path, (opening){ GENERIC_READ | DELETE, 0, OPEN_EXISTING,
                                   FILE_FLAG_DELETE_ON_CLOSE | FILE_FLAG_OPEN_REPARSE_POINT });
    return file >= 0 && etl_file_close(file);
}

bool etl_file_examine(int file, etl_path_kind *kind, u64 *size_bytes)
{
    LARGE_INTEGER size = { .QuadPart = 0 };
    *kind = kind_of(handle_of(file));
    if (*kind == ETL_PATH_FILE && !GetFileSizeEx(handle_of(file), &size))
        return etl_windows_fail() == 0;
    *size_bytes = (u64)size.QuadPart;
    return true;
}

bool etl_file_stamp_of(int file, etl_file_stamp *out)
{
    BY_HANDLE_FILE_INFORMATION facts;
    if (!GetFileInformationByHandle(handle_of(file), &facts))
        return etl_windows_fail() == 0;
    *out = (etl_file_stamp){
        .device = facts.dwVolumeSerialNumber,
        .number = (u64)facts.nFileIndexHigh << 32 | facts.nFileIndexLow,
        .size_bytes = (u64)facts.nFileSizeHigh << 32 | facts.nFileSizeLow,
        .changed = (i64)((u64)facts.ftLastWriteTime.dwHighDateTime << 32 |
                         facts.ftLastWriteTime.dwLowDateTime),
    };
    return true;
}

/* If the writer of a pipe has gone, the pipe is at its end. */
i64 etl_file_read(int file, void *into, size_t size)
{
    return read_all(file, into, size, NULL);
}

i64 etl_file_read_at(int file, u64 offset, void *into, size_t size)
{
    return read_all(file, into, size, &offset);
}

/* Reads from *offset on; with NULL from the current position. */
static i64 read_all(int file, void *into, size_t size, const u64 *offset)
{
    size_t filled = 0;
    while (filled < size) {
        const u64 at = offset ? *offset + filled : 0;
        OVERLAPPED where = { .Offset = (DWORD)at, .OffsetHigh = (DWORD)(at >> 32) };
        const DWORD wanted = (DWORD)etl_min_u64(size - filled, IO_BYTES_MAX);
        DWORD got = 0;
        if (!ReadFile(handle_of(file), (u8 *)into + filled, wanted, &got, offset ? &where : NULL) &&
            GetLastError() != ERROR_BROKEN_PIPE && GetLastError() != ERROR_HANDLE_EOF)
            return etl_windows_fail();
        if (got == 0)
            break;
        filled += got;
    }
    return (i64)filled;
}

bool etl_file_write(int file, const void *bytes, size_t size)
{
    const u8 *at = bytes;
    while (size > 0) {
        DWORD written = 0;
        if (!WriteFile(handle_of(file), at, (DWORD)etl_min_u64(size, IO_BYTES_MAX), &written, NULL))
            return etl_windows_fail() == 0;
        if (written == 0) {
            errno = EIO;
            return false;
        }
        at += written;
        size -= written;
    }
    return true;
}

bool etl_file_sync(int file)
{
    return kind_of(handle_of(file)) != ETL_PATH_FILE || FlushFileBuffers(handle_of(file)) ||
           etl_windows_fail() == 0;
}

bool etl_file_seek(int file, u64 offset)
{
    const LARGE_INTEGER to = { .QuadPart = (LONGLONG)offset };
    return SetFilePointerEx(handle_of(file), to, NULL, FILE_BEGIN) || etl_windows_fail() == 0;
}

bool etl_file_truncate(int file)
{
    return etl_file_seek(file, 0) && (SetEndOfFile(handle_of(file)) || etl_windows_fail() == 0);
}

/* Does nothing: a new file has the permissions of its folder, as it should. */
bool etl_file_chmod_as(int file, const char *path)
{
    (void)file;
    (void)path;
    return true;
}

bool etl_file_close(int file)
{
    return _close(file) == 0;
}

/* Replaces a file, also one that is open, if Windows can do that; a file in use only for a moment
 * is waited for. */
bool etl_file_replace(const char *from, const char *to)
{
    wchar_t *const old_name = etl_windows_path(from);
    wchar_t *const new_name = old_name ? etl_windows_path(to) : NULL;
    bool is_done = false;
    for (DWORD i = 0; new_name && !is_done && i < REPLACE_TRIES; i++) {
        is_done = MoveFileExW(old_name, new_name, MOVEFILE_REPLACE_EXISTING);
        const DWORD code = GetLastError();
        if (!is_done)
            (void)etl_windows_fail();
        if (is_done || (code != ERROR_ACCESS_DENIED && code != ERROR_SHARING_VIOLATION))
            break;
        is_done = replace_open(old_name, new_name) || replace_aside(old_name, new_name);
        if (!is_done)
            Sleep(5u << i);
    }
    free(old_name);
    free(new_name);
    return is_done;
}

/* Names of FILE_RENAME_INFO that older headers lack. */
#define RENAME_INFO_EX       ((FILE_INFO_BY_HANDLE_CLASS)22)
#define RENAME_REPLACE_POSIX 3u /* FILE_RENAME_REPLACE_IF_EXISTS, _POSIX_SEMANTICS */

static bool replace_open(const wchar_t *from, const wchar_t *to)
{
    const size_t name_bytes = wcslen(to) * sizeof *to;
    FILE_RENAME_INFO *const info = calloc(1, sizeof *info + name_bytes);
    const HANDLE file = CreateFileW(from, DELETE | SYNCHRONIZE, SHARE_ALL, NULL, OPEN_EXISTING,
                                    FILE_FLAG_BACKUP_SEMANTICS, NULL);
    bool is_done = false;
    if (info && file != INVALID_HANDLE_VALUE) {
        const DWORD flags = RENAME_REPLACE_POSIX;
        memcpy(info, &flags, sizeof flags); /* in the place of ReplaceIfExists */
        info->FileNameLength = (DWORD)name_bytes;
        memcpy(info->FileName, to, name_bytes);
        is_done = SetFileInformationByHandle(file, RENAME_INFO_EX, info,
                                             (DWORD)(sizeof *info + name_bytes));
    }
    if (file != INVALID_HANDLE_VALUE)
        (void)CloseHandle(file);
    free(info);
    return is_done;
}

/* If the file system cannot do that, or the file is mapped, the old file is renamed first. So for a
 * moment the name is free. */
static bool replace_aside(const wchar_t *from, const wchar_t *to)
{
    const DWORD attributes = GetFileAttributesW(to);
    const size_t size = wcslen(to) + sizeof ".4294967295.old";
    wchar_t *const aside = malloc(size * sizeof *aside);
    if (!aside || attributes == INVALID_FILE_ATTRIBUTES || attributes & FILE_ATTRIBUTE_DIRECTORY) {
        free(aside);
        return false;
    }
    (void)swprintf(aside, size, L"%ls.%lu.old", to, GetCurrentProcessId());
    bool is_done = MoveFileExW(to, aside, 0);
    if (is_done) {
        is_done = MoveFileExW(from, to, 0);
        if (is_done) {
            (void)SetFileAttributesW(aside, FILE_ATTRIBUTE_NORMAL); /* it may be read-only */
            (void)remove_marked(aside);
        } else {
            (void)MoveFileExW(aside, to, 0);
        }
    }
    free(aside);
    return is_done;
}

/* Marks a file, which goes with its last handle. */
static bool remove_marked(const wchar_t *name)
{
    const HANDLE file =
        CreateFileW(name, DELETE, SHARE_ALL, NULL, OPEN_EXISTING, FILE_FLAG_DELETE_ON_CLOSE, NULL);
    return file != INVALID_HANDLE_VALUE && CloseHandle(file);
}

/* Removes a file. A mapped file cannot be deleted, but marked. */
bool etl_file_remove(const char *path)
{
    wchar_t *const name = etl_windows_path(path);
    bool is_done = name && DeleteFileW(name);
    if (name && !is_done)
        (void)etl_windows_fail();
    if (name && !is_done && errno == EACCES)
        is_done = remove_marked(name);
    free(name);
    return is_done;
}

/* --- temporary files -------------------------------------------------------- */

int etl_temporary_open(char *path)
{
    int file = -1;
    return make_unique(path, make_temporary, &file) ? file : -1;
}

/* Writes letters of the clock and a counter where XXXXXX is, until `make` succeeds. */
static bool make_unique(char *path, bool (*make)(void *user, const char *path), void *user)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";
    const size_t size = strlen(path);
    LARGE_INTEGER clock;
    (void)QueryPerformanceCounter(&clock);
    u64 seed = (u64)clock.QuadPart ^ (u64)GetCurrentProcessId() << 20;
    for (u32 i = 0; i < TEMPORARY_TRIES && size >= SUFFIX_SIZE; i++) {
        seed = (seed + i + 1) * 0x9e3779b97f4a7c15u;
        for (u32 k = 0; k < SUFFIX_SIZE; k++)
            path[size - SUFFIX_SIZE + k] = letters[seed >> (64 - 5 * (k + 1)) & 31];
        if (make(user, path))
            return true;
        if (errno != EEXIST)
            return false;
    }
    errno = EEXIST;
    return false;
}

/* Makes a temporary file, which goes with its last handle. It is shared for deletion. */
static bool make_temporary(void *user, const char *path)
{
    int *const file = user;
    *file = open_file(path, (opening){ GENERIC_READ | GENERIC_WRITE | DELETE, SHARE_ALL, CREATE_NEW,
                                       FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE });
    return *file >= 0;
}

u32 etl_process_id(void)
{
    return GetCurrentProcessId();
}

/* --- folders ---------------------------------------------------------------- */

bool etl_folder_make(const char *path)
{
    wchar_t *const name = etl_windows_path(path);
    const bool is_done = name && CreateDirectoryW(name, NULL);
    if (name && !is_done)
        (void)etl_windows_fail();
    free(name);
    return is_done;
}

bool etl_folder_make_temporary(char *path)
{
    return make_unique(path, make_folder, NULL);
}

static bool make_folder(void *user, const char *path)
{
    (void)user;
    return etl_folder_make(path);
}

bool etl_folder_remove(const char *path)
{
    wchar_t *const name = etl_windows_path(path);
    const bool is_done = name && RemoveDirectoryW(name);
    if (name && !is_done)
        (void)etl_windows_fail();
    free(name);
    return is_done;
}

/* Is the folder usable? Only writing tells for sure; its access list does not. */
bool etl_folder_is_usable(const char *path, bool to_write)
{
    (void)to_write;
    return etl_path_kind_of(path) == ETL_PATH_FOLDER;
}

bool etl_folder_room(const char *path, u64 *block_bytes, u64 *blocks)
{
    ULARGE_INTEGER free_bytes;
    wchar_t *const name = etl_windows_path(path);
    const bool is_done = name && GetDiskFreeSpaceExW(name, &free_bytes, NULL, NULL);
    if (name && !is_done)
        (void)etl_windows_fail();
    free(name);
    *block_bytes = 1;
    *blocks = is_done ? free_bytes.QuadPart : 0;
    return is_done;
}

etl_listing *etl_listing_open(const char *folder)
{
    etl_listing *const listing = calloc(1, sizeof *listing);
    const size_t size = strlen(folder) + sizeof "/*";
    char *const all = malloc(size);
    wchar_t *name = NULL;
    if (listing && all) {
        (void)snprintf(all, size, "%s/*", folder);
        name = etl_windows_path(all);
    }
    const HANDLE search = name ? FindFirstFileW(name, &listing->found) : INVALID_HANDLE_VALUE;
    if (name && search == INVALID_HANDLE_VALUE)
        (void)etl_windows_fail();
    free(name);
    free(all);
    if (search == INVALID_HANDLE_VALUE) {
        free(listing);
        return NULL;
    }
    listing->search = search;
    listing->is_fresh = true;
    return listing;
}

const char *etl_listing_next(etl_listing *listing)
{
    if (!listing->is_fresh && !FindNextFileW(listing->search, &listing->found))
        return NULL;
    listing->is_fresh = false;
    free(listing->name);
    listing->name = etl_windows_text(listing->found.cFileName);
    return listing->name;
}

void etl_listing_close(etl_listing *listing)
{
    (void)FindClose(listing->search);
    free(listing->name);
    free(listing);
}
