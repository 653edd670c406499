/*
 * cold_file.h - files of which nothing is in the page cache, and what of them is there later.
 */
#ifndef TESTS_COLD_FILE_H
#define TESTS_COLD_FILE_H

#include "parser/base.h"

/* Writes a file to the disk and drops it from the page cache. False where that cannot be
 * done, as on file systems that are memory: then there is nothing to test. */
bool cold_file_write(const char *path, const void *bytes, size_t size);
bool cold_file_evict(const char *path);

/* Bytes of the range that are in the page cache, in whole pages. */
u64 cold_file_present(const char *path, u64 offset, u64 size);

/* Whether the pages of the range are in the page cache at some time within ten seconds, but for
 * a sixteenth of them. */
bool cold_file_arrives(const char *path, u64 offset, u64 size);

#endif
