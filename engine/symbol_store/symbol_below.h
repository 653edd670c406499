/*
 * symbol_below.h - the files in the folders below one, by name.
 *
 * Builds leave their PDBs in folders of their own: out/app/x64/Release/app.pdb. A folder
 * of the symbol path that is no store is therefore searched with all below it. It is
 * listed once, folder by folder, those nearest the top first and of equal depth in byte
 * order, so that no answer depends on how a file system lists.
 */
#ifndef ETLHEAP_SYMBOL_BELOW_H
#define ETLHEAP_SYMBOL_BELOW_H

#include "symbol_names.h"

/* More folders are not looked at: somebody named the root of a disk. */
#define SYMBOL_BELOW_FOLDERS_MAX 4096u

typedef struct symbol_below_file {
    const char *name;
    u32 folder;
} symbol_below_file;

/* Start from {0}. */
typedef struct symbol_below {
    ETLHEAP_VECTOR(const char *) folders;
    ETLHEAP_VECTOR(symbol_below_file) files; /* sorted by name, then by folder */
    etlheap_arena texts;
    bool is_read;
} symbol_below;

void symbol_below_free(symbol_below *below);

/* Lists the folders below one, once. What cannot be read, or kept, is as if it were empty. */
void symbol_below_read(symbol_below *below, const char *folder);

/* The path of the file of that name that comes after `index` others; the case of the name
 * does not matter. False when there are no more. */
bool symbol_below_at(const symbol_below *below, const char *name, u32 index,
                     char out[SYMBOL_FILE_SIZE]);

#endif
