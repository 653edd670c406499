/*
 * wide.h - file names in UTF-16 for Windows' system calls (private to the libraries and the
 * program).
 *
 * The first two functions are pure and work everywhere; the others exist only on Windows.
 */
#ifndef ETL_WIDE_H
#define ETL_WIDE_H

#include "parser/base.h"

/* Longer names need a prefix; folders are limited to 12 below MAX_PATH. */
#define ETL_WIDE_PLAIN_MAX 247

/*
 * Converts UTF-8 to UTF-16 with a NUL. Returns the units needed without the NUL, as snprintf does;
 * `out` gets at most `capacity` including it. 0, with *valid false, for text that is not valid
 * UTF-8 (overlong, surrogates, above U+10FFFF, cut): no name is invented.
 */
size_t etl_utf8_to_wide(const char *text, u16 *out, size_t capacity, bool *valid);

/*
 * The prefix that removes the limit of MAX_PATH from a full, normalised name:
 *
 *   C:\a\b           \\?\ + C:\a\b
 *   \\server\share   \\?\UNC + \server\share
 *   \\?\..., \\.\... none: used unchanged
 *
 * Sets *skip to the number of units of the name that it replaces.
 */
const char *etl_wide_prefix(const u16 *full, size_t *skip);

#if defined(_WIN32)

#include <wchar.h>

/* A name for system calls, in full, with a prefix if it is long; the caller frees it. NULL, with
 * errno: ENOENT for text that is not UTF-8, ENOMEM. */
wchar_t *etl_windows_path(const char *path);

/* Converts text of the system to UTF-8; the caller frees it. NULL if memory runs out. */
char *etl_windows_text(const wchar_t *wide);

/* Sets errno from GetLastError(). Returns -1. */
int etl_windows_fail(void);

#endif

#endif
