/*
 * symbol_partial.c - files that are not complete yet.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol_partial.h"

/* Another process may rename the file between our opening and our locking it. */
#define OPEN_ATTEMPTS 16

#define SUFFIX_BYTES_MAX sizeof ".4294967295.new"
#define COPY_BYTES       ((size_t)64 << 10)

static bool make_folder_of(const char *target);
static bool open_shared(symbol_partial *partial);
static bool lock(int file);
static bool is_still_named(symbol_partial *partial);
static bool open_private(symbol_partial *partial);
static bool copy_bytes(int from, symbol_partial *to);
static ssize_t read_some(int file, u8 *into, size_t size);
static void end(symbol_partial *partial);

bool symbol_partial_open(symbol_partial *partial, const char *target)
{
    *partial = (symbol_partial){ .file = -1 };
    const size_t size = strlen(target);
    if (size + SUFFIX_BYTES_MAX > sizeof partial->target) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(partial->target, target, size + 1);
    return make_folder_of(target) && (open_shared(partial) || open_private(partial));
}

static bool make_folder_of(const char *target)
{
    char folder[SYMBOL_FILE_SIZE];
    const size_t size = (size_t)(symbol_base_name(target) - target);
    if (size == 0)
        return true;
    memcpy(folder, target, size);
    folder[size] = 0;
    return symbol_make_folders(folder);
}

/* The common name, if no other process has it. */
static bool open_shared(symbol_partial *partial)
{
    (void)snprintf(partial->name, sizeof partial->name, "%s", partial->target);
    memcpy(partial->name + strlen(partial->target), ".new", sizeof ".new");
    for (int i = 0; i < OPEN_ATTEMPTS; i++) {
        partial->file = open(partial->name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (partial->file < 0)
            return false;
        const bool is_locked = lock(partial->file);
        partial->is_shared = is_locked && is_still_named(partial);
        if (partial->is_shared)
            return true;
        (void)close(partial->file);
        if (!is_locked)
            return false;
    }
    return false;
}

/* Not by fcntl: such a lock ends when anyone in the process opens and closes the
 * file, as checks of what is in it do. */
static bool lock(int file)
{
    return flock(file, LOCK_EX | LOCK_NB) == 0;
}

/* Without this check we could lock, and then write into, a file that its former
 * owner has completed and renamed in the meantime. */
static bool is_still_named(symbol_partial *partial)
{
    struct stat opened;
    struct stat named;
    if (fstat(partial->file, &opened) != 0 || lstat(partial->name, &named) != 0)
        return false;
    if (opened.st_ino != named.st_ino || opened.st_dev != named.st_dev || !S_ISREG(opened.st_mode))
        return false;
    partial->size_bytes = (u64)opened.st_size;
    return lseek(partial->file, 0, SEEK_END) == opened.st_size;
}

static bool open_private(symbol_partial *partial)
{
    (void)snprintf(partial->name + strlen(partial->target), SUFFIX_BYTES_MAX, ".%u.new",
                   (unsigned)getpid());
    partial->file = open(partial->name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    partial->size_bytes = 0;
    return partial->file >= 0;
}

bool symbol_partial_clear(symbol_partial *partial)
{
    if (ftruncate(partial->file, 0) != 0 || lseek(partial->file, 0, SEEK_SET) != 0)
        return false;
    partial->size_bytes = 0;
    return true;
}

bool symbol_partial_append(symbol_partial *partial, etl_bytes bytes)
{
    while (bytes.size > 0) {
        const ssize_t put = write(partial->file, bytes.at, bytes.size);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        bytes.at += put;
        bytes.size -= (size_t)put;
        partial->size_bytes += (u64)put;
    }
    return true;
}

/* Renamed while still locked: nobody sees it under both names. */
bool symbol_partial_commit(symbol_partial *partial)
{
    if (rename(partial->name, partial->target) != 0) {
        const int reason = errno;
        symbol_partial_drop(partial);
        errno = reason;
        return false;
    }
    end(partial);
    return true;
}

void symbol_partial_keep(symbol_partial *partial)
{
    if (partial->is_shared && partial->size_bytes > 0)
        end(partial);
    else
        symbol_partial_drop(partial);
}

void symbol_partial_drop(symbol_partial *partial)
{
    (void)unlink(partial->name);
    end(partial);
}

static void end(symbol_partial *partial)
{
    (void)close(partial->file);
    partial->file = -1;
}

bool symbol_copy_file(const char *from, const char *to)
{
    const int file = open(from, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    symbol_partial partial;
    bool is_done = symbol_partial_open(&partial, to);
    if (is_done) {
        is_done = symbol_partial_clear(&partial) && copy_bytes(file, &partial);
        if (is_done)
            is_done = symbol_partial_commit(&partial);
        else
            symbol_partial_drop(&partial);
    }
    (void)close(file);
    return is_done;
}

static bool copy_bytes(int from, symbol_partial *to)
{
    u8 block[COPY_BYTES];
    for (;;) {
        const ssize_t got = read_some(from, block, sizeof block);
        if (got <= 0)
            return got == 0;
        if (!symbol_partial_append(to, (etl_bytes){ block, (size_t)got }))
            return false;
    }
}

static ssize_t read_some(int file, u8 *into, size_t size)
{
    ssize_t got;
    do {
        got = read(file, into, size);
    } while (got < 0 && errno == EINTR);
    return got;
}
