/*
 * symbol_store.h - one folder that may hold symbol files.
 *
 * A file may lie there in several ways; each is a candidate, in this order:
 *
 *   NAME            the folder itself, when it is searched flat
 *   NAME/KEY/NAME   a store; AB/NAME/KEY/NAME in a two-tier one, "ab" being the
 *                   first two letters of the name
 *
 *   .../NAME        any folder below, when it is searched flat and is no two-tier store
 *
 * each as NAME, as its compressed form NAM_, and in stores as file.ptr. Both
 * tiers are tried, the one that index2.txt speaks for first. The case of names
 * does not matter (symbol_names.h); the store's own folder, which may hold a
 * hundred thousand, is listed once at most.
 *
 * Source: "SymStore" and "Symbol storage format", learn.microsoft.com;
 * SymbolReader.cs of PerfView for file.ptr and the two tiers.
 */
#ifndef ETLHEAP_SYMBOL_STORE_H
#define ETLHEAP_SYMBOL_STORE_H

#include "symbol_below.h"

typedef struct symbol_store {
    const char *folder; /* borrowed */
    symbol_listing listing;
    symbol_below below;
    bool is_examined; /* the two below are known */
    bool is_missing;  /* no folder, or none that we may read */
    bool is_two_tier;
} symbol_store;

/* Start from { .folder = ... }. */
void symbol_store_free(symbol_store *store);

/* False for a folder that is not there yet: a cache comes into being when needed. */
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

/* A search for one file in one store: the next candidate is `step`. */
typedef struct symbol_store_search {
    const char *name; /* without folders */
    const char *key;
    bool is_flat; /* look into the folder itself first, and into those below it last */
    u32 step;     /* 0 at first */
} symbol_store_search;

/* The next candidate; false after the last one. */
bool symbol_store_next(symbol_store *store, symbol_store_search *search, symbol_candidate *out);

/*
 * For want of the right key: the folder of another build of this file, each
 * once, in byte order. *after is "" at first and gets the key returned.
 */
bool symbol_store_next_key(symbol_store *store, const char *name, char after[SYMBOL_FILE_SIZE]);

/* Where a file belongs in the store; does not look whether it is there. */
bool symbol_store_path(symbol_store *store, const char *name, const char *key,
                       char out[SYMBOL_FILE_SIZE]);

/* What a file.ptr says. Source: PerfView's SymbolReader.cs; symstore's /p option. */
typedef enum symbol_pointer_kind {
    SYMBOL_POINTER_PLACE,    /* "PATH:..." or a bare path: the place is in `out` */
    SYMBOL_POINTER_WITHHELD, /* "MSG: ...": an explanation why the file is not there */
    SYMBOL_POINTER_UNKNOWN
} symbol_pointer_kind;

/* Reads the text of a file.ptr. Backslashes of the place become slashes. */
symbol_pointer_kind symbol_pointer_parse(etl_bytes text, char out[SYMBOL_FILE_SIZE]);

/*
 * Finds the place that a file.ptr in `folder` speaks of: as it is, or from
 * `folder` when it is not absolute, each component regardless of case. False
 * when there is no such file.
 */
bool symbol_pointer_resolve(const char *folder, const char *place, char out[SYMBOL_FILE_SIZE]);

#endif
