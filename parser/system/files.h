/*
 * files.h - files and folders on every system (private to the libraries and the program).
 *
 * Names are UTF-8. POSIX systems get them unchanged. On Windows, names may use / or \, may begin
 * with a drive or \\server\share, and may be as long as the file system allows, beyond MAX_PATH; a
 * name that is not UTF-8 finds nothing. On every system an open file is a number, as for read(2)
 * and write(2), and bytes are never translated.
 *
 * Failures set errno, on Windows too, so strerror() gives the reason. There is no state: any thread
 * may call anything.
 */
#ifndef ETL_FILES_H
#define ETL_FILES_H

#include "parser/base.h"

#include <stdio.h>

/* The files that every program has open when it starts. */
enum { ETL_STDIN = 0, ETL_STDOUT = 1, ETL_STDERR = 2 };

typedef enum etl_path_kind {
    ETL_PATH_ABSENT, /* missing, or cannot be examined: errno has the reason */
    ETL_PATH_FILE,
    ETL_PATH_FOLDER,
    ETL_PATH_OTHER, /* a pipe, a terminal, another device */
} etl_path_kind;

/* --- looking ---------------------------------------------------------------- */

/* The kind of a path. Follows links. */
etl_path_kind etl_path_kind_of(const char *path);

/* True if both paths name the same file or folder, however they are spelled. False if either does
 * not exist. */
bool etl_path_is_same(const char *a, const char *b);

/* The name that `path` stands for, without links; the caller frees it. */
char *etl_path_resolve(const char *path);

/* True for separators of names: / and, on Windows, \. */
bool etl_path_is_separator(char c);

/* The length of the root of `path`: "/", "C:\" or "\\server\share\". 0 for a relative name. */
size_t etl_path_root_size(const char *path);

/* --- files ------------------------------------------------------------------ */

/* Return an open file, which child processes do not inherit, or -1. */
int etl_file_open(const char *path);   /* to read; does not wait for a pipe, and allows writers */
int etl_file_create(const char *path); /* to read and write; truncates an existing file */
int etl_file_create_new(const char *path);  /* to write; EEXIST if it exists */
int etl_file_open_device(const char *path); /* to write to a device */

/*
 * Opens or creates a file to read and write, positioned at its end, which no other process can
 * write at the same time. Sets *size_bytes to its size. -1, with EWOULDBLOCK if another process has
 * it.
 */
int etl_file_open_exclusive(const char *path, u64 *size_bytes);

/*
 * Opens a regular file below `folder` to read, where `path` is not trusted: relative, with / or \
 * between names, which may differ in case from those that are there. Neither ".." nor a link leads
 * out of the folder, and only a regular file is opened. Sets *found to its name without links,
 * which the caller frees. -1, with errno: ENOENT or ENOTDIR if there is no such file, EPERM if it
 * is outside the folder or not a regular file, or another reason.
 */
int etl_file_open_below(const char *folder, const char *path, char **found);

/* Opens a stream to read, like fopen(path, "rb"), but does not wait for a pipe; NULL on failure. */
FILE *etl_file_stream(const char *path);

/* Opens a small file that a person wrote. On failure, *why is the reason; pipes and devices, which
 * may have no end, are refused. */
FILE *etl_file_stream_regular(const char *path, const char **why);

/* Finds the kind of an open file and, for a regular file, its size. */
bool etl_file_examine(int file, etl_path_kind *kind, u64 *size_bytes);

/* Identifies the state of a file: which file it is, its size, and when its bytes last changed. Only
 * for comparing two. */
typedef struct etl_file_stamp {
    u64 device, number, size_bytes;
    i64 changed; /* in units of the system */
} etl_file_stamp;

bool etl_file_stamp_of(int file, etl_file_stamp *out);

/* Reads up to `size` bytes, fewer only at the end. Returns the number of bytes, or -1. */
i64 etl_file_read(int file, void *into, size_t size);

/* Reads from `offset` on, independent of the file position, which on Windows moves. */
i64 etl_file_read_at(int file, u64 offset, void *into, size_t size);

/* Reads up to `size` bytes from the beginning of a file. Returns their number; 0 if it cannot be
 * read or is not a file. */
size_t etl_file_start(const char *path, void *into, size_t size);

/* For pipes: waits until a read would not block, because there are bytes, the end or an error.
 * False if none came within `milliseconds`. */
bool etl_file_wait(int file, u32 milliseconds);

/* Reads once: 1 to `size` bytes, 0 at the end, or -1. */
i64 etl_file_read_some(int file, void *into, size_t size);

/* Writes all bytes; false on failure. */
bool etl_file_write(int file, const void *bytes, size_t size);

/* Waits until written bytes are on disk, if the file is on one. */
bool etl_file_sync(int file);

bool etl_file_seek(int file, u64 offset);
bool etl_file_truncate(int file);                   /* to size 0, and rewinds */
bool etl_file_chmod_as(int file, const char *path); /* copies the permissions of a file */
bool etl_file_close(int file);

/* Renames `from` to `to` in one step: other programs see the old or the new file, never none.
 * (Exception: on Windows, if another program has `to` open and the file system has no POSIX
 * renaming, `to` is missing for a moment.) */
bool etl_file_replace(const char *from, const char *to);

/* Removes a file. The name goes at once; mappings stay readable, and on Windows keep the file until
 * they are unmapped. */
bool etl_file_remove(const char *path);

/*
 * Locks an open file, so that no other run takes it for what a killed run left. Returns a second
 * handle of the file that keeps the lock until it is closed; -1 if the file system has no locks,
 * and on Windows, where nobody can remove a file that is open.
 */
int etl_file_lock(int file);

/* Removes what a killed run left: a regular file of this user, not a link, that no process has
 * locked or, on Windows, open, and that has not been written to for `seconds`. True if it was
 * removed. */
bool etl_file_remove_abandoned(const char *path, u32 seconds);

/* --- temporary files -------------------------------------------------------- */

/* The default folder for temporary files: "/tmp", "C:/Windows/Temp". */
extern const char etl_temporary_default[];

/* Creates a file to read and write. `path` ends in XXXXXX, which is replaced. */
int etl_temporary_open(char *path);

/*
 * Gives an empty temporary file its size before its bytes are written, so that it can be mapped and
 * read as far as it is written. False if that is not possible: on Windows, whose mappings need not
 * show what is written by other means (CreateFileMapping), so there, and if the size is refused,
 * the file must be complete before it is mapped.
 */
bool etl_temporary_size(int file, u64 size_bytes);

/* Call it when everything is written and the file will be opened by name. Closes it and sets *file
 * to -1, or on Windows keeps it open, because the file is deleted when it is closed. Fails like
 * etl_file_close. */
bool etl_temporary_finish(int *file);

/* Opens a temporary file in a folder that never has a name; -1 if the file system makes none. POSIX
 * only: on Windows a temporary file goes when it is closed. */
int etl_temporary_open_unnamed(const char *folder);

/*
 * Opens a temporary file as etl_temporary_open does, so that nothing is left of it if the program
 * is killed, and writes to `path`, of `size` bytes, a name by which only this process can open the
 * file while it is open. Where the file system makes no files without names, it has its name for a
 * moment; without /proc it keeps it. On Windows the file goes when it is closed anyway.
 */
int etl_temporary_open_hidden(char *path, size_t size);

/* Removes a temporary file, open (file >= 0) or finished. Mappings stay readable. */
void etl_temporary_remove(int file, const char *path);

/* A number unique among running processes, for names. */
u32 etl_process_id(void);

/* --- folders ---------------------------------------------------------------- */

bool etl_folder_make(const char *path);     /* EEXIST if the name exists */
bool etl_folder_make_temporary(char *path); /* ends in XXXXXX, as etl_temporary_open */
bool etl_folder_remove(const char *path);   /* an empty one */
bool etl_folder_is_usable(const char *path, bool to_write); /* as far as can be known in advance */

/* Finds the free space for the user, as a number of blocks and their size. */
bool etl_folder_room(const char *path, u64 *block_bytes, u64 *blocks);

/* The names in a folder, in any order, including "." and "..". NULL, with errno, on failure. */
typedef struct etl_listing etl_listing;
etl_listing *etl_listing_open(const char *folder);
const char *etl_listing_next(etl_listing *listing); /* until the next call; NULL at the end */
void etl_listing_close(etl_listing *listing);

#endif
