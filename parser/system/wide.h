/*
 * wide.h - names as Windows' system calls take them, in UTF-16 (private to the
 * libraries and the program).
 *
 * The first two are plain computation and work everywhere; the others exist on
 * Windows alone.
 */
#ifndef ETL_WIDE_H
#define ETL_WIDE_H

#include "parser/base.h"

/* Longer names need a prefix; 12 below MAX_PATH is the limit for folders. */
#define ETL_WIDE_PLAIN_MAX 247

/*
 * UTF-8 as UTF-16 with a NUL. Returns the units needed without the NUL, as snprintf
 * does; `out` holds at most `capacity` with it. 0, with *valid false, for what is not
 * UTF-8 (overlong, of surrogates, above U+10FFFF, cut): no name is made up.
 */
size_t etl_utf8_to_wide(const char *text, u16 *out, size_t capacity, bool *valid);

/*
 * The prefix that lifts the limit of MAX_PATH from a full, normalised name:
 *
 *   C:\a\b           \\?\ + C:\a\b
 *   \\server\share   \\?\UNC + \server\share
 *   \\?\..., \\.\... none: they go as they are
 *
 * *skip is how many units of the name it replaces.
 */
const char *etl_wide_prefix(const u16 *full, size_t *skip);

#if defined(_WIN32)

#include <wchar.h>

/* A name for system calls, full and prefixed when it is long; the caller frees it.
 * NULL with errno: ENOENT for what is not UTF-8, ENOMEM. */
wchar_t *etl_windows_path(const char *path);

/* Text of the system as UTF-8; the caller frees it. NULL without memory. */
char *etl_windows_text(const wchar_t *wide);

/* errno of GetLastError(). Returns -1. */
int etl_windows_fail(void);

#endif

#endif
