/*
 * symbol_names.h - finds names regardless of case in a file system that minds it.
 *
 * Stores are filled by Windows, whose tools write a name now as "NTDLL.pdb", now
 * as "ntdll.pdb". A component is tried as given and with its ASCII letters in
 * lower and in upper case; then its folder is listed and names are compared as
 * parser/system/name_fold.h says. Of several names that differ in case alone the first
 * in byte order is taken, so that no answer depends on the order in which the
 * file system lists.
 */
#ifndef ETLHEAP_SYMBOL_NAMES_H
#define ETLHEAP_SYMBOL_NAMES_H

#include "engine/core/arena.h"
#include "symbol_files.h"

/* Names in a folder, sorted regardless of case. Start from {0}. */
typedef struct symbol_listing {
    ETLHEAP_VECTOR(const char *) names;
    etlheap_arena texts;
    bool is_read;
} symbol_listing;

void symbol_listing_free(symbol_listing *listing);

/* Lists a folder, once. What cannot be read, or kept, is as if it were empty. */
void symbol_listing_read(symbol_listing *listing, const char *folder);

/*
 * The path of `name` in `folder`, whatever the case it is written in. With a
 * listing (may be NULL) the folder is listed into it at need, and not again.
 * False when there is nothing of that name.
 */
bool symbol_find_name(const char *folder, const char *name, symbol_listing *listing,
                      char out[SYMBOL_FILE_SIZE]);

/* The same for a path of several components below `folder`. */
bool symbol_find_path(const char *folder, const char *path, char out[SYMBOL_FILE_SIZE]);

#endif
