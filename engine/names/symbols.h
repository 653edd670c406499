/*
 * symbols.h - names the functions that frames lie in.
 *
 *     frames, table  --places: (module, offset)-->  symbols_resolve
 *     symbols.c          which builds the modules are; what is known already
 *     symbols_builds.c   build -> file: the PDB, or if there is none, the image
 *     symbols_batch.c    addresses -> names, in parallel
 *     symbols_sources.c  the source files that the names' lines are in
 *     symbols_told.c     the names in an anonymised store, instead of files
 *
 * Only requested places are looked up, each once. The file of a module is looked up when its first
 * place is requested, together with those of all other new modules in the same call, so that
 * servers are asked in parallel.
 *
 * All frames of heap and VirtualAlloc stacks are return addresses: the allocating thread walks its
 * own stack from within calls, and enters the kernel by a system call, whose address is the one
 * after it. A return address may lie after the last instruction of its function, so the byte before
 * it, which is in the call, is looked up.
 *
 * Names are valid until the symbols are closed. Only one thread may use them at a time.
 */
#ifndef ETLHEAP_SYMBOLS_H
#define ETLHEAP_SYMBOLS_H

#include "engine/result/result.h"
#include "engine/symbol_store/symbol_path.h"
#include "parser/symbols.h"

/* The reliability of a name. */
typedef enum symbol_quality {
    SYMBOL_QUALITY_NONE,
    SYMBOL_QUALITY_FUNCTION, /* the address is in the function */
    SYMBOL_QUALITY_PUBLIC,   /* the nearest public symbol before it, of unknown size */
    SYMBOL_QUALITY_EXPORT    /* the nearest export before it; others may be in between */
} symbol_quality;

/* One function at an address: an inlined call, or the function itself. Texts are ids for
 * symbols_text. */
typedef struct symbol_level {
    u32 name; /* 0 unknown */
    u32 file; /* 0 unknown */
    u32 line; /* 0 unknown */
} symbol_level;

/* A source file that a PDB names, as it was when it was compiled. Compared and hashed as bytes. */
typedef struct symbol_file {
    u32 build;
    u32 file; /* text id of its path */
    etl_pdb_checksum checksum;
    u8 padding[2]; /* 0 */
} symbol_file;

static_assert(sizeof(symbol_file) == 44, "no hidden padding: it is hashed as bytes");

/* Files, each once. */
typedef struct symbol_file_set {
    ETLHEAP_VECTOR(symbol_file) list; /* list.at[id - 1] */
    etlheap_index index;
} symbol_file_set;

/* Adds a file unless it is there. False if memory runs out. */
bool symbol_files_add(symbol_file_set *files, const symbol_file *file);
void symbol_files_free(symbol_file_set *files);

/* The result for a place. */
typedef struct symbol_name {
    u32 first_level;  /* innermost inlined call first, the function itself last */
    u32 alloc_type;   /* text id: C++ type that the call before the place allocates; 0 unknown */
    u32 displacement; /* distance of the address from the start of the function */
    u16 level_count;  /* 0: nothing is known */
    u8 quality;       /* symbol_quality */
} symbol_name;

/* A place to look up. */
typedef struct symbol_place {
    u64 offset; /* offset of the return address in the module */
    u32 module; /* index in the result's list */
    u32 name;   /* out: id for symbols_name; never 0 */
} symbol_place;

/* Sets the name id of each place. ETL_ERR_MEMORY, ETL_ERR_CANCELLED. */
etl_status symbols_resolve(etlheap_symbols *symbols, symbol_place *places, size_t count,
                           etl_error *err);

/* The result for a name id > 0. */
const symbol_name *symbols_name(const etlheap_symbols *symbols, u32 id);
const symbol_level *symbols_levels(const etlheap_symbols *symbols, const symbol_name *name);
const char *symbols_text(const etlheap_symbols *symbols, u32 text); /* "" for 0 */

/* --- shared by the files above ------------------------------------------------ */

/* One build of a module, and the file found for it. */
typedef struct symbol_build {
    const etlheap_module_info *module; /* the first module of the build */
    etlheap_symbol_state state;
    bool is_searched;
    bool is_damaged;         /* counted already */
    bool has_key;            /* the key of the PDB is known, from the trace or the image */
    bool has_loose_image;    /* the image may be of another build, and so may its PDB */
    symbol_key key;          /* of the PDB */
    const char *file;        /* file in use; owned by the path */
    etl_pdb_file *pdb;       /* NULL none */
    etl_pe_image *image;     /* for exports; NULL none */
    etl_pe_exports *exports; /* NULL none */
    char note[160];          /* why a file was rejected; "" */
} symbol_build;

#define SYMBOL_BUILD_METHOD UINT32_MAX /* instead of a build: the trace has the name */

typedef struct symbol_address {
    u32 build, rva; /* for a method: its module */
    u32 name;       /* its future id */
} symbol_address;

struct etlheap_symbols {
    const etlheap_result *result;
    symbol_path *path;
    bool offline;
    bool loose; /* files of another build are accepted */
    u32 jobs;
    etl_diag_counts diag;
    u32 *build_of; /* by module; SYMBOL_BUILD_METHOD */
    u32 *told_of;  /* by build: its index in the result's told names + 1; NULL: not anonymised */
    ETLHEAP_VECTOR(symbol_build) builds;
    ETLHEAP_VECTOR(symbol_name) names;        /* names.at[id - 1] */
    ETLHEAP_VECTOR(symbol_address) addresses; /* the same order */
    etlheap_index address_index;
    ETLHEAP_VECTOR(symbol_level) levels;
    symbol_file_set files;
    etlheap_strings strings;
    etlheap_progress_fn *progress;
    void *progress_user;
};

/* Looks up the files of those of `count` builds that were not looked up before. ETL_ERR_MEMORY,
 * ETL_ERR_CANCELLED. */
etl_status symbols_find_builds(etlheap_symbols *symbols, const u32 *builds, u32 count,
                               etl_error *err);
void symbols_close_build(symbol_build *build);

/* --- names that the store tells (symbols_told.c) ----------------------------------- */

/* For an anonymised store: prepares its own names, beside which no file is looked up. False if
 * memory runs out. */
bool symbols_told_open(etlheap_symbols *symbols);

/* Set the states of builds that were not searched before, and the names of addresses. */
void symbols_told_builds(etlheap_symbols *symbols, const u32 *builds, u32 count);
etl_status symbols_told_names(etlheap_symbols *symbols, const symbol_address *addresses,
                              size_t count, etl_error *err);

/* The check for symbol_path: whether the file belongs to the wanted build. */
symbol_verdict symbols_check_file(void *user, const char *path, const symbol_key *key);

/* Looks up addresses, which must be distinct and sorted by (build, rva), and adds their names.
 * ETL_ERR_MEMORY. */
etl_status symbols_run_batch(etlheap_symbols *symbols, const symbol_address *addresses,
                             size_t count, etl_error *err);

#endif
