/*
 * nameless.h - temporary files without a name.
 */
#ifndef ETLHEAP_NAMELESS_H
#define ETLHEAP_NAMELESS_H

#include "parser/base.h"

/* Parts of a file that are mapped begin at multiples of it, on every system. */
#define NAMELESS_ALIGNMENT ((u64)1 << 16)

/*
 * A file in the folder for reading and writing, which is gone when it is closed,
 * however that happens. The caller closes it; -1 with errno when there is none.
 */
int nameless_file(const char *folder);

/* Writes all bytes at an offset, wherever the file stands; false with errno. */
bool nameless_write(int file, const void *bytes, size_t size, u64 offset);

/* A part of the file for reading, until nameless_unmap; NULL when it cannot be mapped. */
const void *nameless_map(int file, u64 offset, size_t size);
void nameless_unmap(const void *at, size_t size);

#endif
