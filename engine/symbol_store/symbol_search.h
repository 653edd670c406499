/*
 * symbol_search.h - turns a candidate into a file to open.
 *
 * The part of the symbol search that works on one wanted file: it shows candidates to the check,
 * expands cabinets, follows file.ptr and copies found files into caches. symbol_path.c decides
 * which places are searched, and in which order.
 */
#ifndef ETLHEAP_SYMBOL_SEARCH_H
#define ETLHEAP_SYMBOL_SEARCH_H

#include "symbol_elements.h"
#include "symbol_path.h"
#include "symbol_temporary.h"

#define SYMBOL_NAME_SIZE 256 /* the limit of file systems for one component */

/* One wanted file. */
typedef struct symbol_search {
    symbol_key key;
    char name[SYMBOL_NAME_SIZE];
    char key_text[SYMBOL_KEY_TEXT_SIZE];
    const char *found;   /* in the context's texts, as the next; NULL: not yet */
    const char *refused; /* the first file of this name that failed the check */
    bool is_refused_cabinet;
    bool is_loose; /* `found` is of another build */
    /* Why it was not found; the worst reason counts: */
    u32 mismatch_count; /* files of other builds */
    bool is_unusable;
    bool is_withheld;
    bool is_unreachable;
} symbol_search;

/* Stores that found files are copied to; the first one is opened. */
typedef struct symbol_caches {
    symbol_store *at[SYMBOL_CHAIN_STORES_MAX + 1];
    u32 count;
} symbol_caches;

typedef struct symbol_context {
    const symbol_path_options *options; /* including defaults */
    const symbol_elements *elements;
    symbol_store *default_store; /* NULL: the temporary one */
    symbol_temporary *temporary;
    etlheap_arena *texts;
    etl_diag_counts *diag;
    bool is_out_of_memory;
} symbol_context;

/* False for a name that cannot be a file name: the file is then missing. */
bool symbol_search_begin(symbol_search *search, const symbol_key *key);

/* Search a store, or a folder, which is also searched flat. True if the file was found. */
bool symbol_search_store(symbol_context *context, symbol_search *search, symbol_store *store,
                         bool is_flat, const symbol_caches *caches);
bool symbol_search_file(symbol_context *context, symbol_search *search, const char *file,
                        const symbol_caches *caches);
bool symbol_search_cabinet(symbol_context *context, symbol_search *search, const char *file,
                           const symbol_caches *caches);
/* Does the check accept a download, which has no name of its own yet? If not, that is noted. */
bool symbol_search_accepts(symbol_context *context, symbol_search *search, const char *file);

/* Follows a file.ptr in `folder`. "" on a server: then it may only lead to a share of a host that
 * the symbol path names, which only Windows reaches. */
bool symbol_search_pointer(symbol_context *context, symbol_search *search, const char *folder,
                           etl_bytes text, const symbol_caches *caches);

/* Accepts a file of another build: the one refused before, else one in a store of the name, with
 * this GUID if possible. */
bool symbol_search_refused(symbol_context *context, symbol_search *search);
bool symbol_search_other_builds(symbol_context *context, symbol_search *search, symbol_store *store,
                                bool is_flat);

/* The store for files without a cache; NULL: none. */
symbol_store *symbol_keeping_store(symbol_context *context);

symbol_outcome symbol_search_outcome(const symbol_search *search);

#endif
