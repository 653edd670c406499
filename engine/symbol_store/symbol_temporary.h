/*
 * symbol_temporary.h - a store for files that no cache keeps.
 *
 * A compressed file must be expanded somewhere and a download must go somewhere.
 * Without a cache in the symbol path that is a folder of our own, which is
 * removed at the end; what is mapped from it then stays readable.
 */
#ifndef ETLHEAP_SYMBOL_TEMPORARY_H
#define ETLHEAP_SYMBOL_TEMPORARY_H

#include "symbol_store.h"

typedef struct symbol_temporary {
    symbol_store store; /* its folder is `folder` */
    char folder[SYMBOL_FILE_SIZE];
    bool is_made;
} symbol_temporary;

/* Makes the folder within `parent`, at first use; NULL when it cannot be made. */
symbol_store *symbol_temporary_store(symbol_temporary *temporary, const char *parent);

/* Removes the folder and all in it. Start from {0}. */
void symbol_temporary_free(symbol_temporary *temporary);

#endif
