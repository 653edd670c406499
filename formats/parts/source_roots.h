/*
 * source_roots.h - from where a compiler saw a source file to where the repository has it.
 *
 *     root    D:\a\app\app = .
 *     path    d:\A\app\app\src\leak.cpp  ──▶  src/leak.cpp
 *
 * PDBs name sources by their paths on the computer that compiled them; code hosts show a
 * line only of a path that is in the repository.
 */
#ifndef ETLHEAP_SOURCE_ROOTS_H
#define ETLHEAP_SOURCE_ROOTS_H

#include "formats/io/text_buffer.h"

/*
 * Appends the path as the roots map it, with slashes; a path below none of them as it is.
 * The longest root that a path is below counts, compared without regard to case and to which
 * slashes there are. Returns whether one did.
 */
bool etlheap_source_roots_add(const etlheap_source_roots *roots, const char *path,
                              etlheap_text *text);

/* Whether the path is below a root. */
bool etlheap_source_roots_have(const etlheap_source_roots *roots, const char *path);

/* How near a frame is to a line that people can change: 0 not at all, 1 a module, 2 a file of
 * the compiler's libraries, 3 a file, 4 a line of a file, 5 a line below one of the roots. */
u32 etlheap_source_rank(const etlheap_source_roots *roots, const etlheap_frame *frame);

/* The innermost of the frames nearest to source code; NULL: there are none. */
const etlheap_frame *etlheap_source_frame(const etlheap_source_roots *roots,
                                          const etlheap_table *table, etlheap_indices frames);

#endif
