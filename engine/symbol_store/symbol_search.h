/*
 * symbol_search.h - from a candidate to a file to open.
 *
 * The part of the symbol search that works on one wanted file: shows candidates
 * to the check, expands cabinets, follows file.ptr and keeps what was found in
 * the caches. Which places are searched in which order is symbol_path.c's.
 */
#ifndef ETLHEAP_SYMBOL_SEARCH_H
#define ETLHEAP_SYMBOL_SEARCH_H

#include "symbol_elements.h"
#include "symbol_path.h"
#include "symbol_temporary.h"

#define SYMBOL_NAME_SIZE 256 /* what file systems take for one component */

/* One wanted file. */
typedef struct symbol_search {
    symbol_key key;
    char name[SYMBOL_NAME_SIZE];
    char key_text[SYMBOL_KEY_TEXT_SIZE];
    const char *found;   /* in the context's texts, as is the next; NULL: not yet */
    const char *refused; /* the first file of the name that did not pass */
    bool is_refused_cabinet;
    bool is_loose; /* `found` is of another build */
    /* Why not, the worst of several being told: */
    bool is_mismatched;
    bool is_unusable;
    bool is_withheld;
    bool is_unreachable;
} symbol_search;

/* Stores that get what is found: the one to open from first. */
typedef struct symbol_caches {
    symbol_store *at[SYMBOL_CHAIN_STORES_MAX + 1];
    u32 count;
} symbol_caches;

typedef struct symbol_context {
    const symbol_path_options *options; /* with the defaults filled in */
    symbol_store *default_store;        /* NULL: the temporary one */
    symbol_temporary *temporary;
    etlheap_arena *texts;
    etl_diag_counts *diag;
    bool is_out_of_memory;
} symbol_context;

/* False for a name that cannot be a file's: such a file is missing. */
bool symbol_search_begin(symbol_search *search, const symbol_key *key);

/* Each tells whether the search has found its file. A folder is searched flat
 * too, a store is not. */
bool symbol_search_store(symbol_context *context, symbol_search *search, symbol_store *store,
                         bool is_flat, const symbol_caches *caches);
bool symbol_search_file(symbol_context *context, symbol_search *search, const char *file,
                        const symbol_caches *caches);
bool symbol_search_cabinet(symbol_context *context, symbol_search *search, const char *file,
                           const symbol_caches *caches);
/* `folder` is where the file.ptr lies; "" on a server. */
bool symbol_search_pointer(symbol_context *context, symbol_search *search, const char *folder,
                           etl_bytes text, const symbol_caches *caches);

/* Takes what there is of another build: the file refused before, else one that
 * lies in a store of the name, of this GUID if possible. */
bool symbol_search_refused(symbol_context *context, symbol_search *search);
bool symbol_search_other_builds(symbol_context *context, symbol_search *search,
                                symbol_store *store);

/* Where files without a cache are put; NULL when there is no such place. */
symbol_store *symbol_keeping_store(symbol_context *context);

symbol_outcome symbol_search_outcome(const symbol_search *search);

#endif
