/*
 * symbol_names.h - finds file names in any case, in file systems that distinguish case.
 *
 * Windows fills stores, and its tools write a name sometimes as "NTDLL.pdb", sometimes as
 * "ntdll.pdb". A component is tried as given, and with its ASCII letters in lower and in upper
 * case. Then its folder is listed, and names are compared by parser/system/name_fold.h. Of several
 * names that differ only in case, the first in byte order is used, so that no answer depends on the
 * order in which the file system lists.
 */
#ifndef ETLHEAP_SYMBOL_NAMES_H
#define ETLHEAP_SYMBOL_NAMES_H

#include "engine/core/arena.h"
#include "symbol_files.h"

/* Names in a folder, sorted without regard to case. Start from {0}. */
typedef struct symbol_listing {
    ETLHEAP_VECTOR(const char *) names;
    etlheap_arena texts;
    bool is_read;
} symbol_listing;

void symbol_listing_free(symbol_listing *listing);

/* Lists a folder, once. Entries that cannot be read or stored are left out. */
void symbol_listing_read(symbol_listing *listing, const char *folder);

/* Finds the path of `name` in `folder`, in any case. With a listing (may be NULL), the folder is
 * listed at most once. False if the name does not exist. */
bool symbol_find_name(const char *folder, const char *name, symbol_listing *listing,
                      char out[SYMBOL_FILE_SIZE]);

/* Finds a path of several components below `folder`. */
bool symbol_find_path(const char *folder, const char *path, char out[SYMBOL_FILE_SIZE]);

#endif
