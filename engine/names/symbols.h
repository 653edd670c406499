/*
 * symbols.h - names of the functions that frames lie in.
 *
 *     frames, table  --places: (module, offset)-->  symbols_resolve
 *     symbols.c          which builds the modules are; what is known already
 *     symbols_builds.c   build -> file: the PDB, or for want of one the image
 *     symbols_batch.c    addresses -> names, in parallel
 *
 * Only places that somebody asks for are looked up, each once. A module is
 * looked for when its first place is asked for, together with all others that
 * are new in the same call, so that servers are asked in parallel.
 *
 * All frames of heap and VirtualAlloc stacks are addresses to return to: the
 * allocating thread itself walks its stack, from within calls, and enters the
 * kernel by a system call, whose address is the one behind it. An address to
 * return to may lie behind the last instruction of its function, so what is
 * looked up is the byte before it, in the call.
 *
 * Names are valid until the symbols are closed. Used by one thread at a time.
 */
#ifndef ETLHEAP_SYMBOLS_H
#define ETLHEAP_SYMBOLS_H

#include "engine/result/result.h"
#include "engine/symbol_store/symbol_path.h"
#include "parser/symbols.h"

/* How well a name is known. */
typedef enum symbol_quality {
    SYMBOL_QUALITY_NONE,
    SYMBOL_QUALITY_FUNCTION, /* the address lies in that function */
    SYMBOL_QUALITY_PUBLIC,   /* the nearest public symbol before it; sizes are unknown */
    SYMBOL_QUALITY_EXPORT    /* the nearest export before it: others may lie between */
} symbol_quality;

/* One level of calls at an address. Texts are ids of symbols_text. */
typedef struct symbol_level {
    u32 name; /* 0 unknown */
    u32 file; /* 0 unknown */
    u32 line; /* 0 unknown */
} symbol_level;

/* What is known of a place. */
typedef struct symbol_name {
    u32 first_level;  /* innermost inlined call first, the function itself last */
    u32 alloc_type;   /* text: C++ type that the call before the place allocates; 0 unknown */
    u32 displacement; /* of the address, from where the function begins */
    u16 level_count;  /* 0: nothing is known */
    u8 quality;       /* symbol_quality */
} symbol_name;

/* A place to look up. */
typedef struct symbol_place {
    u64 offset; /* in the module, of the address to return to */
    u32 module; /* index in the result's list */
    u32 name;   /* out: for symbols_name; never 0 */
} symbol_place;

/* Gives each place its name's id. ETL_ERR_MEMORY, ETL_ERR_CANCELLED. */
etl_status symbols_resolve(etlheap_symbols *symbols, symbol_place *places, size_t count,
                           etl_error *err);

/* id > 0. */
const symbol_name *symbols_name(const etlheap_symbols *symbols, u32 id);
const symbol_level *symbols_levels(const etlheap_symbols *symbols, const symbol_name *name);
const char *symbols_text(const etlheap_symbols *symbols, u32 text); /* "" for 0 */

/* --- shared by the files above ------------------------------------------------ */

/* One build of one module, and what was found of it. */
typedef struct symbol_build {
    const etlheap_module_info *module; /* the first of the build */
    etlheap_symbol_state state;
    bool is_searched;
    bool is_damaged;         /* counted already */
    bool has_key;            /* of the PDB: from the trace, or else from the image */
    symbol_key key;          /* of the PDB */
    const char *file;        /* in use; owned by the path */
    etl_pdb_file *pdb;       /* NULL none */
    etl_pe_image *image;     /* for exports; NULL none */
    etl_pe_exports *exports; /* NULL none */
    char note[160];          /* why a file was passed over; "" */
} symbol_build;

#define SYMBOL_BUILD_METHOD UINT32_MAX /* in place of a build: the trace tells the name */

typedef struct symbol_address {
    u32 build, rva; /* of a method: its module */
    u32 name;       /* id it will have */
} symbol_address;

struct etlheap_symbols {
    const etlheap_result *result;
    symbol_path *path;
    bool offline;
    u32 jobs;
    etl_diag_counts diag;
    u32 *build_of; /* by module; SYMBOL_BUILD_METHOD */
    ETLHEAP_VECTOR(symbol_build) builds;
    ETLHEAP_VECTOR(symbol_name) names;        /* names.at[id - 1] */
    ETLHEAP_VECTOR(symbol_address) addresses; /* the same order */
    etlheap_index address_index;
    ETLHEAP_VECTOR(symbol_level) levels;
    etlheap_strings strings;
    etlheap_progress_fn *progress;
    void *progress_user;
};

/* Looks for the files of those of `count` builds that were not searched yet.
 * ETL_ERR_MEMORY, ETL_ERR_CANCELLED. */
etl_status symbols_find_builds(etlheap_symbols *symbols, const u32 *builds, u32 count,
                               etl_error *err);
void symbols_close_build(symbol_build *build);

/* The check of symbol_path: does the file belong to the build that is wanted? */
symbol_verdict symbols_check_file(void *user, const char *path, const symbol_key *key);

/* Looks up addresses, which are distinct and sorted by (build, rva), into the names
 * with their ids. ETL_ERR_MEMORY. */
etl_status symbols_run_batch(etlheap_symbols *symbols, const symbol_address *addresses,
                             size_t count, etl_error *err);

#endif
