/*
 * symbol_below.h - finds files by name in the folders below one.
 *
 * Builds leave their PDBs in folders of their own: out/app/x64/Release/app.pdb. A folder of the
 * symbol path that is not a symbol store is therefore searched with all folders below it. They are
 * listed once: folders near the top first, those of equal depth in byte order, so that no answer
 * depends on the order in which a file system lists. A folder named as a symbol file (app.pdb) is
 * part of a symbol store, which an unpacked trace may have brought along: it is listed as a store's
 * entry, and its keys are looked up like those of other stores.
 */
#ifndef ETLHEAP_SYMBOL_BELOW_H
#define ETLHEAP_SYMBOL_BELOW_H

#include "symbol_names.h"

/* The largest number of folders that are searched, in case the path names the root of a disk. */
#define SYMBOL_BELOW_FOLDERS_MAX 4096u

typedef struct symbol_below_file {
    const char *name;
    u32 folder;
} symbol_below_file;

/* Start from {0}. */
typedef struct symbol_below {
    ETLHEAP_VECTOR(const char *) folders;
    ETLHEAP_VECTOR(symbol_below_file) files;   /* sorted by name, then by folder */
    ETLHEAP_VECTOR(symbol_below_file) entries; /* of stores: folders, sorted alike */
    etlheap_arena texts;
    bool is_read;
} symbol_below;

void symbol_below_free(symbol_below *below);

/* Lists the folders below one, once. Folders that cannot be read or stored count as empty. */
void symbol_below_read(symbol_below *below, const char *folder);

/* Finds the path of the file with this name after `index` others, ignoring case. False if there are
 * no more. */
bool symbol_below_at(const symbol_below *below, const char *name, u32 index,
                     char out[SYMBOL_FILE_SIZE]);

/* The same for the folders of stores that hold the keys of the file with this name. */
bool symbol_below_entry(const symbol_below *below, const char *name, u32 index,
                        char out[SYMBOL_FILE_SIZE]);

#endif
