/*
 * name_fold.h - compares names of modules, processes and files without regard to case.
 *
 * Windows finds a file whatever the case of its name, and its events spell one file as
 * "KERNEL32.DLL", "kernel32.dll" and "Kernel32.dll". So all names are compared, hashed and matched
 * here, by Unicode's simple case folding: each character becomes one character, whatever the
 * language.
 *
 * Windows compares by upper-casing each UTF-16 unit with a table of the volume, NTFS's $UpCase.
 * Folding equates all that such a table equates, and a few more: the Kelvin sign and k, the long s
 * and s, capitals beyond the Basic Multilingual Plane. Two files with names that differ only by
 * these do not occur in one folder, and a table that differs between volumes is not in a trace. The
 * Turkic dotless i stays itself in both.
 *
 * Names are UTF-8. Bytes that are not UTF-8 stand for themselves and equal nothing else. Any
 * thread; nothing here allocates.
 */
#ifndef ETL_NAME_FOLD_H
#define ETL_NAME_FOLD_H

#include "parser/base.h"

/* The first character of a NUL-terminated name, folded; *at is moved past it. 0 at the end, where
 * *at stays. A byte that is not UTF-8 is a number above U+10FFFF. */
u32 etl_name_next(const char **at);

/* The bytes of one character in UTF-8. */
#define ETL_NAME_BYTES_MAX 4u

/* Like etl_name_next, but writes the folded character in UTF-8 and returns its size; 0 at the
 * end. */
size_t etl_name_next_utf8(const char **at, u8 bytes[ETL_NAME_BYTES_MAX]);

/* Returns < 0, 0 or > 0: compares the folded characters, whose order is that of their UTF-8. */
int etl_name_compare(const char *a, const char *b);

bool etl_name_same(const char *a, const char *b);

/* The number of bytes at the start of `name` that equal `start`, ignoring case; 0 if it begins
 * differently, or `start` is empty. Folded text may be longer or shorter. */
size_t etl_name_begins(const char *name, const char *start);

/* True if the name contains `part`, which may be empty. */
bool etl_name_contains(const char *name, const char *part);

/* True if the whole text matches, ignoring case. `*` stands for any text, `?` for one character.
 * Linear in practice, no recursion. */
bool etl_name_glob(const char *pattern, const char *text);

/* The room for the folded form of a name of `size` bytes, with its NUL: two bytes become at most
 * three. */
#define ETL_NAME_FOLDED_SIZE(size) ((size) + (size) / 2 + 1)

/* Writes the folded name to `out`, which must have room for ETL_NAME_FOLDED_SIZE and must not be
 * `name`. Returns its size without the NUL. */
size_t etl_name_fold(const char *name, char *out);

/* A hash that is equal for names that differ only in case; for tables, seeded by the caller. */
u64 etl_name_hash(const char *name, u64 seed);

/* FNV-1a over the folded name in UTF-8, continuing from `hash`. The same in every run, for stored
 * values. */
#define ETL_FNV1A_START ((u64)0xcbf29ce484222325u)
u64 etl_name_fnv1a(u64 hash, const char *name);

/* --- the table (name_folds.c) ---------------------------------------------------- */

/* From `first` to `last` every `step`-th character folds to itself + delta. */
typedef struct etl_name_fold_run {
    u32 first, last;
    i32 delta;
    u32 step;
} etl_name_fold_run;

extern const etl_name_fold_run etl_name_fold_runs[];
extern const u32 etl_name_fold_run_count;

#endif
