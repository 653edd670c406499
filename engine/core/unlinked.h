/*
 * unlinked.h - temporary files without a name.
 */
#ifndef ETLHEAP_UNLINKED_H
#define ETLHEAP_UNLINKED_H

#include "parser/base.h"

/* On every system, mapped parts of a file begin at multiples of this. */
#define UNLINKED_ALIGNMENT ((u64)1 << 16)

/* Creates a file in the folder for reading and writing. It has no name, and is gone when it is
 * closed or the process ends. The caller closes it. -1, with errno, on failure. */
int unlinked_file(const char *folder);

/* Writes all bytes at an offset, independent of the file position; false, with errno, on
 * failure. */
bool unlinked_write(int file, const void *bytes, size_t size, u64 offset);

/* Maps a part of the file for reading, until unlinked_unmap; NULL on failure. */
const void *unlinked_map(int file, u64 offset, size_t size);
void unlinked_unmap(const void *at, size_t size);

#endif
