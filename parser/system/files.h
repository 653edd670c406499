/*
 * files.h - files and folders by name, on every system (private to the libraries
 * and the program).
 *
 * Names are UTF-8. POSIX systems get them as they are. On Windows their parts may
 * be parted by / or \, they may begin with a drive or \\server\share, and are as
 * long as the file system allows, not MAX_PATH; a name that is not UTF-8 leads
 * nowhere. An open file is a number as for read(2) and write(2), everywhere; bytes
 * are never translated.
 *
 * What fails sets errno, on Windows too, so that strerror() says why. There is no
 * state: any thread may call anything.
 */
#ifndef ETL_FILES_H
#define ETL_FILES_H

#include "parser/base.h"

#include <stdio.h>

/* What every program has open at its start. */
enum { ETL_STDIN = 0, ETL_STDOUT = 1, ETL_STDERR = 2 };

typedef enum etl_path_kind {
    ETL_PATH_ABSENT, /* nothing there, or it cannot be looked at: errno says why */
    ETL_PATH_FILE,
    ETL_PATH_FOLDER,
    ETL_PATH_OTHER, /* a pipe, a terminal, another device */
} etl_path_kind;

/* --- looking ---------------------------------------------------------------- */

/* Links are followed. */
etl_path_kind etl_path_kind_of(const char *path);

/* Whether both lead to the same thing on the disk, however they are spelled. False
 * when either leads nowhere. */
bool etl_path_is_same(const char *a, const char *b);

/* The name of what `path` leads to, without links; the caller frees it. */
char *etl_path_resolve(const char *path);

/* Whether the character parts a name: / and, on Windows, \. */
bool etl_path_is_separator(char c);

/* Bytes of `path` that no folder can be made of: "/", "C:\" or "\\server\share\". 0
 * for a relative name. */
size_t etl_path_root_size(const char *path);

/* --- files ------------------------------------------------------------------ */

/* Each gives an open file, which programs we start do not inherit, or -1. */
int etl_file_open(const char *path);        /* to read; waits for no pipe, and allows writers */
int etl_file_create(const char *path);      /* to read and write; what was there is gone */
int etl_file_create_new(const char *path);  /* to write; EEXIST when it is there */
int etl_file_open_device(const char *path); /* to write to what is no file of ours */

/*
 * Opens, or makes, a file to read and write that no other process writes at the
 * same time, at its end; *size_bytes is what it holds. -1, with EWOULDBLOCK when
 * another has it.
 */
int etl_file_open_exclusive(const char *path, u64 *size_bytes);

/* A stream to read, as fopen(path, "rb"); NULL when it cannot be opened. */
FILE *etl_file_stream(const char *path);

/* Of an open file: its kind and, of a file, its size. */
bool etl_file_examine(int file, etl_path_kind *kind, u64 *size_bytes);

/* Which file it is, how large, and when its bytes were last changed: two are compared
 * with each other only. */
typedef struct etl_file_stamp {
    u64 device, number, size_bytes;
    i64 changed; /* in the system's own unit */
} etl_file_stamp;

bool etl_file_stamp_of(int file, etl_file_stamp *out);

/* Bytes read, fewer than `size` only at the end of what there is; -1. */
i64 etl_file_read(int file, void *into, size_t size);

/* The same from `offset` on, wherever reading has got to, which on Windows moves. */
i64 etl_file_read_at(int file, u64 offset, void *into, size_t size);

/* How many bytes there are, `size` at most, of the beginning of a file; 0 if it cannot be read
 * or the path is no file's. */
size_t etl_file_start(const char *path, void *into, size_t size);

/* For pipes, whose bytes come when another program writes them. Waits until a read would not
 * have to, since there are bytes, the end or an error; false if none came in the milliseconds. */
bool etl_file_wait(int file, u32 milliseconds);

/* What one read gives: 1 to `size` bytes, 0 at the end, or -1. */
i64 etl_file_read_some(int file, void *into, size_t size);

/* All of them, or false. */
bool etl_file_write(int file, const void *bytes, size_t size);

/* Waits until what was written is on the disk, if that is where it goes. */
bool etl_file_settle(int file);

bool etl_file_seek(int file, u64 offset);
bool etl_file_truncate(int file);                   /* to nothing, and goes to its beginning */
bool etl_file_chmod_as(int file, const char *path); /* the permissions of another; best effort */
bool etl_file_close(int file);

/* In one step: who looks at `to` sees what was there or what comes, never nothing. (On
 * Windows that is so unless somebody has `to` open and the file system does not know
 * POSIX' renaming: then there is nothing for a moment.) */
bool etl_file_replace(const char *from, const char *to);

/* The name goes at once. What is mapped from it stays readable; on Windows it keeps the
 * file until it is unmapped. */
bool etl_file_remove(const char *path);

/* --- temporary files -------------------------------------------------------- */

/* A folder for them where nothing says another: "/tmp", "C:/Windows/Temp". */
extern const char etl_temporary_default[];

/* Makes a file to read and write. `path` ends in XXXXXX, which becomes its own. */
int etl_temporary_open(char *path);

/* All is written: it will be opened by its name. The number may be gone (-1), or stay
 * open because on Windows the file goes with it. False as etl_file_close. */
bool etl_temporary_settle(int *file);

/* Removes it, open (file >= 0) or settled. What is mapped from it stays readable. */
void etl_temporary_remove(int file, const char *path);

/* A number that no other running process has, for names. */
u32 etl_process_id(void);

/* --- folders ---------------------------------------------------------------- */

bool etl_folder_make(const char *path);     /* EEXIST when something is there */
bool etl_folder_make_temporary(char *path); /* ends in XXXXXX, as etl_temporary_open */
bool etl_folder_remove(const char *path);   /* an empty one */
bool etl_folder_is_usable(const char *path, bool to_write); /* as far as can be known before */

/* What the user may still write there: blocks of so many bytes. */
bool etl_folder_room(const char *path, u64 *block_bytes, u64 *blocks);

/* The names in a folder, in any order, "." and ".." among them. NULL with errno. */
typedef struct etl_listing etl_listing;
etl_listing *etl_listing_open(const char *folder);
const char *etl_listing_next(etl_listing *listing); /* until the next call; NULL at the end */
void etl_listing_close(etl_listing *listing);

#endif
