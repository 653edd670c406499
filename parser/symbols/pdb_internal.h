/*
 * pdb_internal.h - shared by the files of the PDB reader (private to the parser).
 *
 *     pdb.c           opens: information, debug information, sections
 *     pdb_address.c   addresses: sections, OMAP, section contributions
 *     pdb_resolver.c  a batch, object file by object file
 *     pdb_modules.c   procedures, thunks, allocation sites of an object file
 *     pdb_inlinees.c  inlined calls
 *     pdb_lines.c     lines, and first lines of inlinees
 *     pdb_publics.c   public symbols
 *     pdb_types.c     names of inlined functions and of types
 *     pdb_record.c    records, and the count of damage
 *     pdb_text.c      text that must outlive a view, and a cache of names
 *
 * There are three kinds of addresses. An *image* RVA belongs to the program as it runs, a *source*
 * RVA to the program as it was linked; they differ only if there are OMAP tables. A symbol has a
 * *place*, section and offset, in the linked program.
 */
#ifndef ETL_PDB_INTERNAL_H
#define ETL_PDB_INTERNAL_H

#include "parser/cursor.h"
#include "parser/pdb.h"
#include "parser/system/map.h"
#include "layout_pdb.h"
#include "msf.h"

/* --- the file -------------------------------------------------------------- */

typedef struct pdb_module {
    u32 symbols_size; /* including the signature */
    u32 lines_at, lines_size;
    u16 stream; /* PDB_STREAM_NONE: it has no symbols */
} pdb_module;

/* A type or id stream, as far as it is known after opening. */
typedef struct pdb_type_table {
    u32 stream;
    u32 first, last; /* type indices first .. last - 1 */
    u32 records_at, records_size;
    u32 hash_stream;
    u32 index_at, index_size; /* in the hash stream */
} pdb_type_table;

struct etl_pdb_file {
    etl_map map;
    msf_file msf;
    etl_pdb_info info;
    etl_pdb_section *sections;        /* owned: of the image */
    etl_pdb_section *source_sections; /* owned when has_omap, else the same as sections */
    u32 source_section_count;
    pdb_module *modules; /* owned: info.module_count */
    u32 contributions_at, contribution_bytes, contribution_count;
    u32 publics_stream, symbols_stream, names_stream;
    u32 omap_to_source, omap_from_source; /* streams */
    pdb_type_table types, ids;
};

/* --- a resolver ------------------------------------------------------------- */

#define PDB_NO_MODULE        UINT32_MAX
#define PDB_INLINE_DEPTH_MAX 128u
/* The number of addresses of a module that are processed at a time, which limits memory. */
#define PDB_QUERIES_MAX (1u << 17)
#define PDB_INLINES_MAX (1u << 20)
#define PDB_NAME_MAX    65536u /* largest number of bytes kept of a name or path */

/* An address while its module is processed. */
typedef struct pdb_query {
    u32 rva;    /* source RVA */
    u32 index;  /* in the batch */
    u32 start;  /* source RVA of its symbol */
    u32 size;   /* of the symbol */
    u32 record; /* stream offset of the symbol */
    u32 line;
    u32 line_file; /* offset in the checksum subsection */
    u32 line_from; /* source RVA where that line begins; larger ones are nearer */
    u32 innermost; /* 1 + index of the innermost inlined call, or 0 */
    u32 alloc_type;
    u32 claims;      /* number of symbols that cover it; the first one counts ... */
    u32 line_runs;   /* ... and of runs of lines, likewise */
    u16 record_kind; /* of the symbol; 0: none yet */
    bool has_line;
} pdb_query;

/* One inlined call at one address. */
typedef struct pdb_inline {
    u32 outer;   /* 1 + index of the enclosing call, or 0 */
    u32 site;    /* stream offset of its record */
    u32 inlinee; /* id of the function */
    u32 line_delta;
    u32 file; /* offset in the checksum subsection; PDB_FILE_OF_INLINEE */
} pdb_inline;

#define PDB_FILE_OF_INLINEE UINT32_MAX
#define PDB_NO_FILE         UINT32_MAX

/* Where an inlined function begins. */
typedef struct pdb_inlinee {
    u32 id; /* 0: free place of the table */
    u32 file, line;
    bool is_known;
} pdb_inlinee;

typedef struct pdb_text_chunk pdb_text_chunk;

typedef struct pdb_name_entry {
    u64 key; /* 0: free */
    etl_bytes name;
} pdb_name_entry;

/* Text made or collected for names, and the map from keys to names. */
typedef struct pdb_text {
    pdb_text_chunk *chunks; /* owned */
    size_t used_bytes;
    pdb_name_entry *names; /* owned; a hash table */
    u32 name_count;
} pdb_text;

/* Readers and state to look up records of a type stream. */
typedef struct pdb_type_reader {
    const pdb_type_table *table;
    msf_stream records, hash;
} pdb_type_reader;

struct etl_pdb_resolver {
    const etl_pdb_file *file;
    u32 want;
    etl_pdb_damage damage;

    /* The batch: `order` lists its addresses module by module, those without a module last; `ends`
     * says where each of these groups ends. */
    const u32 *rvas;
    u32 count, capacity;
    u32 *order, *module_of; /* owned: count */
    u32 *ends;              /* owned: module_count + 1 */
    u32 taken;              /* number of addresses in `order` that became queries */
    u32 group;              /* the group being processed */
    u64 work_left;          /* steps that this batch may still spend on damaged tables */
    bool gave_up;           /* all of them are spent */

    /* The module being processed. */
    pdb_query *queries; /* owned: PDB_QUERIES_MAX or fewer */
    u32 query_capacity, query_count, query_at;
    u32 query_hint;      /* result of the last search */
    pdb_inline *inlines; /* owned */
    u32 inline_capacity, inline_count;
    pdb_inlinee *inlinees; /* owned; a hash table of a power of two */
    u32 inlinee_capacity, inlinee_places;
    msf_stream module;
    u32 checksums_at, checksums_size;

    msf_stream debug, publics, symbols, names, omap_to_source, omap_from_source;
    pdb_type_reader types, ids;
    u32 contribution_hint, public_hint;
    u32 publics_at, publics_count; /* the address map */

    pdb_text text;
    etl_pdb_frame frames[PDB_INLINE_DEPTH_MAX];
    /* Of the last location: for its inlined calls, then for its function, the offset of the file in
     * the checksum subsection of its module; PDB_NO_FILE. */
    u32 frame_files[PDB_INLINE_DEPTH_MAX + 1];
    u32 frame_count;
    u8 *record; /* owned: PDB_RECORD_BYTES_MAX of scratch for the current record */
    u8 *name;   /* owned: PDB_NAME_MAX of scratch for the symbol's name */
};

/* Counts damage at `offset` of a stream. Returns false. */
bool pdb_note_damage(etl_pdb_resolver *r, const msf_stream *stream, u32 offset, const char *what);

/* Spends steps on damaged tables. False if none are left. */
bool pdb_spend_work(etl_pdb_resolver *r, const msf_stream *stream, u32 steps);

/* --- records ---------------------------------------------------------------- */

/* One symbol or type record. */
typedef struct pdb_record {
    u32 at;   /* stream offset of its length field */
    u32 next; /* stream offset of the next record */
    u16 kind;
    u32 size; /* of the payload, which begins at at + 4 */
} pdb_record;

/* Reads the header of the record at `at`, which must end by `end`. False, counted as damage, if it
 * does not. */
bool pdb_record_at(etl_pdb_resolver *r, msf_stream *stream, u32 at, u32 end, pdb_record *out);

/* A cursor over the first `size` bytes of the payload; failed if the payload is shorter. */
etl_cursor pdb_payload(etl_pdb_resolver *r, msf_stream *stream, const pdb_record *record, u32 size);

/* A cursor over the whole payload. */
etl_cursor pdb_payload_all(etl_pdb_resolver *r, msf_stream *stream, const pdb_record *record);

/* --- addresses --------------------------------------------------------------- */

/* Finds the source RVA of a place; false if the section does not exist. */
bool pdb_rva_of(const etl_pdb_file *file, u32 section, u32 offset, u32 *rva);

/* Finds the place of a source RVA; false outside all sections. */
bool pdb_place_of(const etl_pdb_file *file, u32 rva, u32 *section, u32 *offset);

/* Translate by OMAP; without OMAP, RVAs are equal. False if nothing corresponds. */
bool pdb_rva_to_source(etl_pdb_resolver *r, u32 rva, u32 *source);
bool pdb_rva_from_source(etl_pdb_resolver *r, u32 source, u32 *rva);

/* The module that contributed a source RVA, or PDB_NO_MODULE. Fast for ascending calls. */
u32 pdb_module_at(etl_pdb_resolver *r, u32 rva);

/* --- the passes over a module's queries ----------------------------------------- */

/* The index of the first query at or after a source RVA, or query_count; and of the first after a
 * range of code. Fast near the last result. */
u32 pdb_first_query(etl_pdb_resolver *r, u32 rva);
u32 pdb_query_behind(etl_pdb_resolver *r, u32 start, u32 size);

void pdb_find_procedures(etl_pdb_resolver *r, const pdb_module *module);
void pdb_find_lines(etl_pdb_resolver *r, const pdb_module *module);
void pdb_find_publics(etl_pdb_resolver *r);

/* Finds the address map of the public symbols. Without one, there are no public symbols. */
void pdb_open_publics(etl_pdb_resolver *r);

/* The position of an inline site: in the procedure with its record at `procedure` and its start
 * at source RVA `start`, with the queries first .. end - 1; and in the inline site at `outer`,
 * or 0. */
typedef struct pdb_inline_scope {
    u32 first, end;
    u32 start;
    u32 procedure;
    u32 outer;
} pdb_inline_scope;

/* Adds an inlined call to the queries in its ranges and in those of the enclosing site. True if
 * there are any. */
bool pdb_add_inline_site(etl_pdb_resolver *r, const pdb_record *site,
                         const pdb_inline_scope *scope);

/* Makes a table with a place for each inlinee of the queries. False if memory runs out. */
bool pdb_collect_inlinees(etl_pdb_resolver *r);
pdb_inlinee *pdb_inlinee_of(const etl_pdb_resolver *r, u32 id); /* NULL: not needed */

/* --- names ---------------------------------------------------------------------- */

/* The name of a function id, of a type, and of the file at an offset in the module's checksum
 * subsection, valid until the text is reset. Empty if unknown. */
etl_bytes pdb_inlinee_name(etl_pdb_resolver *r, u32 id);
etl_bytes pdb_type_name(etl_pdb_resolver *r, u32 type);
etl_bytes pdb_file_name(etl_pdb_resolver *r, u32 checksum);

/* The name in the record of the query's symbol, valid until the next record is read. */
etl_bytes pdb_symbol_name(etl_pdb_resolver *r, const pdb_query *query);

/* Finds the record of the public symbol that begins exactly at a place. False if there is none. */
bool pdb_public_at(etl_pdb_resolver *r, u32 section, u32 offset, u32 *record);

void pdb_text_close(pdb_text *text);

/* Frees all text if there is much of it. Only between two locations. */
void pdb_text_trim(pdb_text *text);

/* Makes a copy that lives until the text is reset; {NULL, 0} if memory runs out. */
etl_bytes pdb_text_keep(pdb_text *text, etl_bytes bytes);

/* Find and add names by key. A key is a kind in the upper half and an id in the lower. */
#define PDB_KEY_INLINEE 1u
#define PDB_KEY_TYPE    2u
#define PDB_KEY_FILE    3u
bool pdb_text_find(const pdb_text *text, u32 kind, u32 id, etl_bytes *name);
void pdb_text_remember(pdb_text *text, u32 kind, u32 id, etl_bytes name);

#endif
