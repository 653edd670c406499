/*
 * source_roots.h - maps source paths of the compiler to paths in the repository.
 *
 *     root    D:\a\app\app = .
 *     path    d:\A\app\app\src\leak.cpp  ──▶  src/leak.cpp
 *
 * PDBs have source paths of the computer that compiled them. Code hosts show a line only for a path
 * in the repository.
 */
#ifndef ETLHEAP_SOURCE_ROOTS_H
#define ETLHEAP_SOURCE_ROOTS_H

#include "formats/io/text_buffer.h"

/*
 * Appends the path as mapped by the roots, with slashes; a path below no root is unchanged. The
 * longest matching root counts; case and the kind of slashes are ignored. True if a root matched.
 */
bool etlheap_source_roots_add(const etlheap_source_roots *roots, const char *path,
                              etlheap_text *text);

/* The root that the path is below, and the rest of the path, which begins with a name; NULL: there
 * is none. */
const etlheap_source_root *etlheap_source_roots_find(const etlheap_source_roots *roots,
                                                     const char *path, const char **rest);

/* True if paths differ at most in case and in the kind of slashes. */
bool etlheap_source_paths_same(const char *a, const char *b);

/* True if the path is below a root. */
bool etlheap_source_roots_have(const etlheap_source_roots *roots, const char *path);

/* How close a frame is to a line that people can change: 0 not at all, 1 a module, 2 a file of the
 * compiler's libraries, 3 a file, 4 a line of a file, 5 a line below one of the roots. */
u32 etlheap_source_rank(const etlheap_source_roots *roots, const etlheap_frame *frame);

/* The innermost of the frames closest to source code; NULL: there are none. */
const etlheap_frame *etlheap_source_frame(const etlheap_source_roots *roots,
                                          const etlheap_table *table, etlheap_indices frames);

#endif
