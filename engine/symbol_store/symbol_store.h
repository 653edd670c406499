/*
 * symbol_store.h - finds files in one folder that may be a symbol store.
 *
 * A file may be there in several forms. Each is a candidate, in this order:
 *
 *     NAME            the folder itself, if it is searched flat
 *     NAME/KEY/NAME   a store; AB/NAME/KEY/NAME in a two-tier one, "ab" being the
 *                     first two letters of the name
 *     .../NAME/KEY/NAME  a store in any folder below, and
 *     .../NAME        any folder below, if it is searched flat and is not a two-tier store
 *
 * each as NAME, as its compressed form NAM_, and in stores as file.ptr. Both layouts are tried,
 * first the one that index2.txt suggests. The case of names does not matter (symbol_names.h). The
 * store's own folder, which may have a hundred thousand entries, is listed at most once.
 *
 * Source: "SymStore" and "Symbol storage format", learn.microsoft.com; SymbolReader.cs of PerfView
 * for file.ptr and the two tiers.
 */
#ifndef ETLHEAP_SYMBOL_STORE_H
#define ETLHEAP_SYMBOL_STORE_H

#include "symbol_below.h"

typedef struct symbol_store {
    const char *folder; /* borrowed */
    symbol_listing listing;
    symbol_below below;
    bool is_examined; /* the two below are known */
    bool is_missing;  /* the folder does not exist or cannot be read */
    bool is_two_tier;
} symbol_store;

/* Start from { .folder = ... }. */
void symbol_store_free(symbol_store *store);

/* False if the folder does not exist yet; caches are created when needed. */
bool symbol_store_exists(symbol_store *store);

typedef enum symbol_candidate_kind {
    SYMBOL_CANDIDATE_FILE,
    SYMBOL_CANDIDATE_CABINET,
    SYMBOL_CANDIDATE_POINTER /* a file.ptr: see symbol_pointer_read */
} symbol_candidate_kind;

typedef struct symbol_candidate {
    symbol_candidate_kind kind;
    char file[SYMBOL_FILE_SIZE];
} symbol_candidate;

/* A search for one file in one store; the next candidate is `step`. */
typedef struct symbol_store_search {
    const char *name; /* without folders */
    const char *key;
    bool is_flat;   /* search the folder itself first, and files of those below it last */
    bool has_below; /* search stores in folders below it */
    u32 step;       /* 0 at first */
} symbol_store_search;

/* The next candidate; false after the last one. */
bool symbol_store_next(symbol_store *store, symbol_store_search *search, symbol_candidate *out);

/* If the right key is missing: finds the folders of other builds of the file, each once, in byte
 * order, with `has_below` also those of stores below. *after is "" at first and is set to the
 * returned key. */
bool symbol_store_next_key(symbol_store *store, const char *name, bool has_below,
                           char after[SYMBOL_FILE_SIZE]);

/* Makes the path of a file in the store. Does not check that it exists. */
bool symbol_store_path(symbol_store *store, const char *name, const char *key,
                       char out[SYMBOL_FILE_SIZE]);

/* The content of a file.ptr. Source: PerfView's SymbolReader.cs; symstore's /p option. */
typedef enum symbol_pointer_kind {
    SYMBOL_POINTER_PLACE,    /* "PATH:..." or a bare path, which is in `out` */
    SYMBOL_POINTER_WITHHELD, /* "MSG: ...": why the file is not available */
    SYMBOL_POINTER_UNKNOWN
} symbol_pointer_kind;

/* Parses the text of a file.ptr. Converts backslashes of the path to slashes. */
symbol_pointer_kind symbol_pointer_parse(etl_bytes text, char out[SYMBOL_FILE_SIZE]);

/* Finds the file that a file.ptr in `folder` names, absolute or relative to `folder`, each
 * component in any case. False if the file does not exist. */
bool symbol_pointer_resolve(const char *folder, const char *place, char out[SYMBOL_FILE_SIZE]);

#endif
