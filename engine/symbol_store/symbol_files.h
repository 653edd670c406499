/*
 * symbol_files.h - file names and folders for the symbol search.
 *
 * Paths are built in buffers of SYMBOL_FILE_SIZE bytes. A path that does not fit is refused, never
 * cut, because a cut path names another file.
 */
#ifndef ETLHEAP_SYMBOL_FILES_H
#define ETLHEAP_SYMBOL_FILES_H

#include "parser/parser.h"

#define SYMBOL_FILE_SIZE 4096

/* Makes "folder/name"; with an empty folder "name". False if it does not fit. */
bool symbol_join(char out[SYMBOL_FILE_SIZE], const char *folder, const char *name);

/* The last component of a path with / or \. */
const char *symbol_base_name(const char *path);

/* Converts ASCII letters to lower or upper case; `out` may be `text`. */
void symbol_fold(char *out, const char *text, bool upper);

/* True if two words of a protocol or of a path's syntax are equal, ignoring the case of ASCII
 * letters. File names are compared by parser/system/name_fold.h. */
bool symbol_same_word(const char *a, const char *b);

bool symbol_is_file(const char *path);
bool symbol_is_folder(const char *path);

/* Makes a folder and those above it. True if it exists afterwards. */
bool symbol_make_folders(const char *path);

#endif
