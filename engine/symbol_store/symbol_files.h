/*
 * symbol_files.h - names and folders for the symbol search.
 *
 * Paths are built in buffers of SYMBOL_FILE_SIZE bytes; one that does not fit is
 * refused, never cut, for a cut path is another path.
 */
#ifndef ETLHEAP_SYMBOL_FILES_H
#define ETLHEAP_SYMBOL_FILES_H

#include "parser/parser.h"

#define SYMBOL_FILE_SIZE 4096

/* "folder/name"; an empty folder gives "name". False when it does not fit. */
bool symbol_join(char out[SYMBOL_FILE_SIZE], const char *folder, const char *name);

/* The last component of a path with / or \. */
const char *symbol_base_name(const char *path);

/* ASCII letters in lower or upper case; `out` may be `text`. */
void symbol_fold(char *out, const char *text, bool upper);

/* Whether two words of a protocol or a path's syntax are the same but for the case of
 * ASCII letters. Names of files go by parser/system/name_fold.h. */
bool symbol_same_word(const char *a, const char *b);

bool symbol_is_file(const char *path);
bool symbol_is_folder(const char *path);

/* Makes a folder and those above it. True when it is there afterwards. */
bool symbol_make_folders(const char *path);

#endif
