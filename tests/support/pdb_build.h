/*
 * pdb_build.h - small PDB files made in memory, record by record.
 *
 * For tests only: the files are sound unless a test breaks them, hold what is
 * put in and nothing else, and are the same bytes every time. Numbers are as in
 * the format: sections and their offsets, type indices, stream offsets.
 *
 *     pdb_build b;
 *     pdb_build_open(&b);
 *     pdb_build_section(&b, 0x1000, 0x1000);
 *     pdb_build_module(&b);
 *     pdb_build_contribution(&b, 1, 0, 0x100);
 *     pdb_build_procedure(&b, 1, 0x10, 0x20, "main");
 *     pdb_build_end(&b, PDB_S_END);
 *     pdb_build_finish(&b, &bytes);
 *     pdb_build_close(&b);
 */
#ifndef TESTS_PDB_BUILD_H
#define TESTS_PDB_BUILD_H

#include "hand_bytes.h"
#include "parser/symbols/layout_pdb.h"

#define PDB_BUILD_STREAMS_MAX 48u
#define PDB_BUILD_MODULES_MAX 16u
#define PDB_BUILD_ROWS_MAX    64u
#define PDB_BUILD_SCOPES_MAX  1024u

typedef struct pdb_build_row {
    hand_bytes symbols, lines, inlinee_lines, checksums;
} pdb_build_row;

typedef struct pdb_build_piece {
    u32 section, offset, size, module;
} pdb_build_piece;

/* Fields above the line may be changed before pdb_build_finish. */
typedef struct pdb_build {
    u32 block_bytes;      /* 512 */
    bool is_scattered;    /* no two blocks of a stream are neighbours */
    bool has_no_debug;    /* a compiler's PDB: types only */
    bool has_no_index;    /* the type streams have no hash stream */
    u32 feature;          /* a feature code, or 0 */
    u32 age, file_age;    /* 3 and 7 */
    u8 guid[16];          /* a0 a1 ... af */
    u32 debug_flags;      /* PDB_DBI_FLAG_* */
    u32 module_signature; /* PDB_SYMBOLS_C13 */
    /* ---- */
    hand_bytes streams[PDB_BUILD_STREAMS_MAX];
    u32 stream_count;
    pdb_build_row modules[PDB_BUILD_MODULES_MAX];
    u32 module_count; /* the last one is being written */
    hand_bytes sections, original_sections, names, publics, public_map, types, ids, type_index;
    hand_bytes omap_to_source, omap_from_source;
    pdb_build_piece contributions[PDB_BUILD_ROWS_MAX];
    u32 contribution_count;
    u32 scopes[PDB_BUILD_SCOPES_MAX]; /* symbol offsets of open scopes */
    u32 scope_count;
    u32 type_count, id_count;
} pdb_build;

void pdb_build_open(pdb_build *b);
void pdb_build_close(pdb_build *b);

/* Lays all out; `out` is emptied first and owned by the caller (hand_free). */
void pdb_build_finish(pdb_build *b, hand_bytes *out);

/* A container of these streams alone; stream i is streams[i]. */
void pdb_build_container(const hand_bytes *streams, u32 count, u32 block_bytes, bool is_scattered,
                         hand_bytes *out);

/* --- the image ---------------------------------------------------------------- */

void pdb_build_section(pdb_build *b, u32 rva, u32 size);
void pdb_build_original_section(pdb_build *b, u32 rva, u32 size);
void pdb_build_omap(pdb_build *b, u32 image_rva, u32 source_rva); /* ascending by both */

/* --- modules ------------------------------------------------------------------- */

/* Begins a module; returns its number. Symbols and lines go to it from then on. */
u32 pdb_build_module(pdb_build *b);
void pdb_build_contribution(pdb_build *b, u32 section, u32 offset, u32 size); /* ascending */

/* A record with any payload; returns its offset in the module's stream. */
u32 pdb_build_symbol(pdb_build *b, u32 kind, const hand_bytes *payload);

/* These open a scope that pdb_build_end closes, which fills in pEnd. */
u32 pdb_build_procedure(pdb_build *b, u32 section, u32 offset, u32 size, const char *name);
u32 pdb_build_procedure_of(pdb_build *b, u32 kind, const u32 place[3], const char *name);
u32 pdb_build_block(pdb_build *b);
u32 pdb_build_inline_site(pdb_build *b, u32 inlinee, const u8 *annotations, u32 size);
void pdb_build_end(pdb_build *b, u32 kind);

/* A procedure without anything in it. */
void pdb_build_function(pdb_build *b, u32 section, u32 offset, u32 size, const char *name);

void pdb_build_thunk(pdb_build *b, u32 section, u32 offset, u32 size, const char *name);
void pdb_build_trampoline(pdb_build *b, u32 offset, u32 size, u32 target); /* in section 1 */
void pdb_build_piece_of(pdb_build *b, u32 offset, u32 size, u32 parent);   /* in section 1 */
void pdb_build_alloc_site(pdb_build *b, u32 offset, u32 call_size, u32 type);

/* A source file of the module; returns what lines call it by. */
u32 pdb_build_file(pdb_build *b, const char *name);

/* The same with a checksum of a kind, whose size is what the file claims. */
u32 pdb_build_file_checksum(pdb_build *b, const char *name, u8 kind, const u8 *bytes, u8 size);

/* Lines of one run of code: begin, then for each file a block with pairs of code
 * offset and line, then end. In section 1. */
u32 pdb_build_lines_begin(pdb_build *b, u32 offset, u32 size);
void pdb_build_lines_block(pdb_build *b, u32 file, const u32 *pairs, u32 count);
void pdb_build_lines_end(pdb_build *b, u32 begin);

void pdb_build_inlinee_line(pdb_build *b, u32 id, u32 file, u32 line);

/* --- the rest --------------------------------------------------------------------- */

void pdb_build_public(pdb_build *b, u32 section, u32 offset, const char *name); /* ascending */

/* The same without the flag of functions, as for data and for code of an assembler. */
void pdb_build_public_label(pdb_build *b, u32 section, u32 offset, const char *name);

/* Records of the type and the id stream; they return the number. */
u32 pdb_build_type(pdb_build *b, u32 kind, const hand_bytes *payload);
u32 pdb_build_id(pdb_build *b, u32 kind, const hand_bytes *payload);
u32 pdb_build_class(pdb_build *b, const char *name);
u32 pdb_build_function_id(pdb_build *b, u32 kind, u32 scope, const char *name);

#endif
