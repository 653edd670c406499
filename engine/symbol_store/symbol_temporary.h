/*
 * symbol_temporary.h - a store for files that no cache keeps.
 *
 * Compressed files must be expanded and downloads written somewhere. If the symbol path has no
 * cache, they go to a temporary folder, which is removed at the end. Files mapped from it stay
 * readable.
 */
#ifndef ETLHEAP_SYMBOL_TEMPORARY_H
#define ETLHEAP_SYMBOL_TEMPORARY_H

#include "symbol_store.h"

typedef struct symbol_temporary {
    symbol_store store; /* the store in `folder` */
    char folder[SYMBOL_FILE_SIZE];
    bool is_made;
} symbol_temporary;

/* Makes the folder in `parent` on first use; NULL if it cannot be made. */
symbol_store *symbol_temporary_store(symbol_temporary *temporary, const char *parent);

/* Removes the folder and everything in it. Start from {0}. */
void symbol_temporary_free(symbol_temporary *temporary);

#endif
