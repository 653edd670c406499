/*
 * sources.h - lines of source code around places that symbols name. Part of formats.h.
 *
 *     place  C:\src\app\leak.cpp:42   root  C:\src\app = .   ──▶   ./leak.cpp, lines 38 to 46
 *
 * Paths come from PDBs, which anybody may have written. So a place is only looked up if its file is
 * one of those that the symbols name, if a root maps it, and if the mapped file is a regular one
 * below the root's folder, not reached through links that lead out of it. Without roots, no file is
 * read.
 */
#ifndef ETLHEAP_SOURCES_H
#define ETLHEAP_SOURCES_H

#include "formats.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A line of a source file: its path as the PDB has it, or the last names of that path. Case and the
 * kind of slashes do not matter. Borrowed. */
typedef struct etlheap_source_place {
    const char *file;
    uint32_t line;
} etlheap_source_place;

/* What links to source files open; X(enumerator, word). */
#define ETLHEAP_SOURCE_LINKS(X) X(VSCODE, "vscode") /* Visual Studio Code */

typedef enum etlheap_source_link {
    ETLHEAP_SOURCE_LINK_NONE,
#define ETLHEAP_SOURCE_LINK_ENUM(name, word) ETLHEAP_SOURCE_LINK_##name,
    ETLHEAP_SOURCE_LINKS(ETLHEAP_SOURCE_LINK_ENUM)
#undef ETLHEAP_SOURCE_LINK_ENUM
        ETLHEAP_SOURCE_LINK_COUNT
} etlheap_source_link;

const char *etlheap_source_link_word(etlheap_source_link link); /* "" for NONE and out of range */

/* The number of lines shown before and after a place if nobody chooses. */
#define ETLHEAP_SOURCE_LINES 4

/* How lines are found and shown. Borrowed. */
typedef struct etlheap_source_options {
    size_t size;                /* sizeof(etlheap_source_options) */
    etlheap_source_roots roots; /* `to` is a folder here; "" is the current one */
    uint32_t lines;             /* before and after a place */
    uint32_t link;              /* etlheap_source_link */
    const void *reserved[4];    /* NULL: room for later versions */
} etlheap_source_options;

/* The lines of several places. */
typedef struct etlheap_source_lines etlheap_source_lines;

/* True if the symbols, as far as they were looked up, name the file of the place. */
bool etlheap_source_is_named(const etlheap_symbols *symbols, const etlheap_source_place *place);

/*
 * Reads the lines of places, in their order; of a place whose file is several paths, all of them by
 * path. Files that no symbols name are left out. The caller owns *out (etlheap_source_lines_free).
 * What cannot be shown has a reason instead of lines. ETL_ERR_MEMORY, ETL_ERR_ARGUMENT (options).
 */
etl_status etlheap_source_lines_read(const etlheap_symbols *symbols,
                                     const etlheap_source_place *places, uint32_t count,
                                     const etlheap_source_options *options,
                                     etlheap_source_lines **out, etl_error *err);
void etlheap_source_lines_free(etlheap_source_lines *lines); /* NULL is allowed */

/* Write the lines as text, or as the document etlheap-sources-1. Results as for etlheap_format. */
etl_status etlheap_source_lines_write_text(const etlheap_source_lines *lines,
                                           const etlheap_layout *layout, etlheap_sink *sink);
etl_status etlheap_source_lines_write_json(const etlheap_source_lines *lines, etlheap_sink *sink);

#ifdef __cplusplus
}
#endif

#endif
