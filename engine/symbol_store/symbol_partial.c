/*
 * symbol_partial.c - files that are not complete yet.
 *
 * In: bytes, in order. Out: the file under its name, once all of them are written. Invariant: under
 * its own name a file is always complete, whenever a process or the machine stops.
 */
#include <errno.h>
#include <stdio.h>

#include "parser/system/files.h"
#include "symbol_partial.h"

#define ORIGIN_SUFFIX    ".from"
#define SUFFIX_BYTES_MAX sizeof ".4294967295.new" ORIGIN_SUFFIX
#define COPY_BYTES       ((size_t)64 << 10)

static bool make_folder_of(const char *target);
static bool open_shared(symbol_partial *partial);
static bool open_private(symbol_partial *partial);
static bool copy_bytes(int from, symbol_partial *to);
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
    partial->file = etl_file_open_exclusive(partial->name, &partial->size_bytes);
    partial->is_shared = partial->file >= 0;
    return partial->is_shared;
}

static bool open_private(symbol_partial *partial)
{
    (void)snprintf(partial->name + strlen(partial->target), SUFFIX_BYTES_MAX, ".%u.new",
                   (unsigned)etl_process_id());
    partial->file = etl_file_create(partial->name);
    partial->size_bytes = 0;
    return partial->file >= 0;
}

bool symbol_partial_origin(const symbol_partial *partial, char out[SYMBOL_FILE_SIZE])
{
    const int size = snprintf(out, SYMBOL_FILE_SIZE, "%s" ORIGIN_SUFFIX, partial->name);
    return partial->is_shared && size > 0 && size < SYMBOL_FILE_SIZE;
}

/* First of all: no bytes may be taken for those of another answer. */
static void remove_origin(const symbol_partial *partial)
{
    char name[SYMBOL_FILE_SIZE];
    if (symbol_partial_origin(partial, name))
        (void)etl_file_remove(name);
}

bool symbol_partial_clear(symbol_partial *partial)
{
    remove_origin(partial);
    if (!etl_file_truncate(partial->file))
        return false;
    partial->size_bytes = 0;
    return true;
}

bool symbol_partial_append(symbol_partial *partial, etl_bytes bytes)
{
    const bool is_done = etl_file_write(partial->file, bytes.at, bytes.size);
    if (is_done)
        partial->size_bytes += bytes.size;
    return is_done;
}

/* Renamed while still locked: nobody sees it under both names. */
bool symbol_partial_commit(symbol_partial *partial)
{
    remove_origin(partial);
    if (!etl_file_replace(partial->name, partial->target)) {
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
    remove_origin(partial);
    (void)etl_file_remove(partial->name);
    end(partial);
}

static void end(symbol_partial *partial)
{
    (void)etl_file_close(partial->file);
    partial->file = -1;
}

bool symbol_copy_file(const char *from, const char *to)
{
    const int file = etl_file_open(from);
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
    (void)etl_file_close(file);
    return is_done;
}

static bool copy_bytes(int from, symbol_partial *to)
{
    u8 block[COPY_BYTES];
    for (;;) {
        const i64 got = etl_file_read(from, block, sizeof block);
        if (got <= 0)
            return got == 0;
        if (!symbol_partial_append(to, (etl_bytes){ block, (size_t)got }))
            return false;
    }
}
