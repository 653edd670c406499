/*
 * files_posix.c - files and folders on POSIX systems. files.h has the contract.
 *
 * In: paths in UTF-8. Out: descriptors, stamps, listings; errors in errno.
 *
 * Invariants: files are opened without blocking on pipes. A file that is locked is the one with
 * that name (is_still_named): another process may rename it between opening and locking. Reads and
 * writes are repeated until they are complete, or fail.
 */
#define _XOPEN_SOURCE 700 /* realpath is in the X/Open part of POSIX */

#include "files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

/* Another process may rename the file between our opening and our locking it. */
#define OPEN_ATTEMPTS 16

const char etl_temporary_default[] = "/tmp";

static etl_path_kind kind_of(const struct stat *facts);
static bool lock(int file);
static bool is_still_named(int file, const char *path, u64 *size_bytes);
static i64 read_all(int file, void *into, size_t size, i64 offset);

etl_path_kind etl_path_kind_of(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 ? kind_of(&facts) : ETL_PATH_ABSENT;
}

static etl_path_kind kind_of(const struct stat *facts)
{
    if (S_ISREG(facts->st_mode))
        return ETL_PATH_FILE;
    return S_ISDIR(facts->st_mode) ? ETL_PATH_FOLDER : ETL_PATH_OTHER;
}

bool etl_path_is_same(const char *a, const char *b)
{
    struct stat left;
    struct stat right;
    return stat(a, &left) == 0 && stat(b, &right) == 0 && left.st_dev == right.st_dev &&
           left.st_ino == right.st_ino;
}

char *etl_path_resolve(const char *path)
{
    return realpath(path, NULL);
}

bool etl_path_is_separator(char c)
{
    return c == '/';
}

size_t etl_path_root_size(const char *path)
{
    return path[0] == '/';
}

/* Without O_NONBLOCK, opening a pipe without a writer would block. */
int etl_file_open(const char *path)
{
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

int etl_file_create(const char *path)
{
    return open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
}

/* Not mkstemp: the umask applies as it does to any other file a program writes. */
int etl_file_create_new(const char *path)
{
    return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

int etl_file_open_device(const char *path)
{
    return open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
}

int etl_file_open_exclusive(const char *path, u64 *size_bytes)
{
    for (int i = 0; i < OPEN_ATTEMPTS; i++) {
        const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (file < 0)
            return -1;
        const bool is_locked = lock(file);
        if (is_locked && is_still_named(file, path, size_bytes))
            return file;
        (void)close(file);
        if (!is_locked)
            return -1;
    }
    return -1;
}

/* Locks a file, not by fcntl: such a lock ends when anyone in the process opens and closes the
 * file, as checks of its contents do. */
static bool lock(int file)
{
    return flock(file, LOCK_EX | LOCK_NB) == 0;
}

/* Without this check we could lock, and then write into, a file that its former
 * owner has completed and renamed in the meantime. */
static bool is_still_named(int file, const char *path, u64 *size_bytes)
{
    struct stat opened;
    struct stat named;
    if (fstat(file, &opened) != 0 || lstat(path, &named) != 0)
        return false;
    if (opened.st_ino != named.st_ino || opened.st_dev != named.st_dev || !S_ISREG(opened.st_mode))
        return false;
    *size_bytes = (u64)opened.st_size;
    return lseek(file, 0, SEEK_END) == opened.st_size;
}

FILE *etl_file_stream(const char *path)
{
    const int file = etl_file_open(path);
    FILE *const stream = file >= 0 ? fdopen(file, "rb") : NULL;
    if (file >= 0 && !stream)
        (void)close(file);
    return stream;
}

bool etl_file_examine(int file, etl_path_kind *kind, u64 *size_bytes)
{
    struct stat facts;
    if (fstat(file, &facts) != 0)
        return false;
    *kind = kind_of(&facts);
    *size_bytes = *kind == ETL_PATH_FILE ? (u64)facts.st_size : 0;
    return true;
}

bool etl_file_stamp_of(int file, etl_file_stamp *out)
{
    struct stat facts;
    if (fstat(file, &facts) != 0)
        return false;
    const i64 seconds = facts.st_mtim.tv_sec;
    *out = (etl_file_stamp){ .device = facts.st_dev,
                             .number = facts.st_ino,
                             .size_bytes = (u64)facts.st_size,
                             .changed = seconds * 1000000000 + facts.st_mtim.tv_nsec };
    return true;
}

i64 etl_file_read(int file, void *into, size_t size)
{
    return read_all(file, into, size, -1);
}

i64 etl_file_read_at(int file, u64 offset, void *into, size_t size)
{
    return read_all(file, into, size, (i64)offset);
}

/* Reads from `offset` on; with -1 from the current position. */
static i64 read_all(int file, void *into, size_t size, i64 offset)
{
    size_t filled = 0;
    while (filled < size) {
        u8 *const at = (u8 *)into + filled;
        const ssize_t got = offset < 0 ? read(file, at, size - filled)
                                       : pread(file, at, size - filled, offset + (off_t)filled);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        filled += (size_t)got;
    }
    return (i64)filled;
}

bool etl_file_write(int file, const void *bytes, size_t size)
{
    const u8 *at = bytes;
    while (size > 0) {
        const ssize_t written = write(file, at, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written == 0)
            errno = EIO;
        if (written <= 0)
            return false;
        at += written;
        size -= (size_t)written;
    }
    return true;
}

/* Waits until the file is on the disk. EINVAL means that it is not on one. */
bool etl_file_sync(int file)
{
    return fsync(file) == 0 || errno == EINVAL;
}

bool etl_file_seek(int file, u64 offset)
{
    return lseek(file, (off_t)offset, SEEK_SET) == (off_t)offset;
}

bool etl_file_truncate(int file)
{
    return ftruncate(file, 0) == 0 && lseek(file, 0, SEEK_SET) == 0;
}

bool etl_file_chmod_as(int file, const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && fchmod(file, facts.st_mode & 0777) == 0;
}

bool etl_file_close(int file)
{
    return close(file) == 0;
}

bool etl_file_replace(const char *from, const char *to)
{
    return rename(from, to) == 0;
}

bool etl_file_remove(const char *path)
{
    return unlink(path) == 0;
}

int etl_temporary_open(char *path)
{
    return mkstemp(path);
}

int etl_file_lock(int file)
{
    return lock(file) ? fcntl(file, F_DUPFD_CLOEXEC, 0) : -1;
}

/* The file is removed while it is locked, so nobody can begin to use it meanwhile. */
bool etl_file_remove_abandoned(const char *path, u32 seconds)
{
    struct stat facts;
    u64 size_bytes;
    bool is_removed = false;
    const int file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0)
        return false;
    if (fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_uid == geteuid() &&
        facts.st_mtim.tv_sec <= time(NULL) - (time_t)seconds && lock(file) &&
        is_still_named(file, path, &size_bytes))
        is_removed = unlink(path) == 0;
    (void)close(file);
    return is_removed;
}

u32 etl_process_id(void)
{
    return (u32)getpid();
}

bool etl_folder_make(const char *path)
{
    return mkdir(path, 0777) == 0;
}

bool etl_folder_make_temporary(char *path)
{
    return mkdtemp(path) != NULL;
}

bool etl_folder_remove(const char *path)
{
    return rmdir(path) == 0;
}

bool etl_folder_is_usable(const char *path, bool to_write)
{
    return access(path, to_write ? W_OK | X_OK : X_OK) == 0;
}

bool etl_folder_room(const char *path, u64 *block_bytes, u64 *blocks)
{
    struct statvfs room;
    if (statvfs(path, &room) != 0)
        return false;
    *block_bytes = room.f_frsize ? room.f_frsize : 1;
    *blocks = room.f_bavail;
    return true;
}

/* A listing is the system's own. */
etl_listing *etl_listing_open(const char *folder)
{
    return (etl_listing *)opendir(folder);
}

const char *etl_listing_next(etl_listing *listing)
{
    const struct dirent *const entry = readdir((DIR *)listing);
    return entry ? entry->d_name : NULL;
}

void etl_listing_close(etl_listing *listing)
{
    (void)closedir((DIR *)listing);
}
