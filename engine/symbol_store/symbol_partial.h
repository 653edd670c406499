/*
 * symbol_partial.h - files that are still being written.
 *
 * A file is called `target`.new until it is complete, so that nobody takes a part for the whole; a
 * later run can continue it. Two processes that want the same file must not write into one: the
 * second finds the first one's lock and writes to `target`.<pid>.new instead, from the beginning.
 *
 * Each partial file ends with exactly one of commit, keep and drop. Threads: a process may open a
 * target at most twice at a time.
 */
#ifndef ETLHEAP_SYMBOL_PARTIAL_H
#define ETLHEAP_SYMBOL_PARTIAL_H

#include "symbol_files.h"

#include "parser/base.h"

typedef struct symbol_partial {
    int file;
    u64 size_bytes; /* its current size, at first from an earlier run */
    bool is_shared; /* has the common name, so another run can continue it */
    char target[SYMBOL_FILE_SIZE];
    char name[SYMBOL_FILE_SIZE];
} symbol_partial;

/* Opens a partial file, and makes its folders. False, with errno, if it cannot be made. */
bool symbol_partial_open(symbol_partial *partial, const char *target);

/* Write to the file. False, with errno, on failure. */
bool symbol_partial_clear(symbol_partial *partial);
bool symbol_partial_append(symbol_partial *partial, etl_bytes bytes);
bool symbol_partial_commit(symbol_partial *partial); /* drops it on failure */

/* The name of the file beside it that says where a shared part comes from (symbol_origin.h). It is
 * removed by clear, commit and drop. False: it has none. */
bool symbol_partial_origin(const symbol_partial *partial, char out[SYMBOL_FILE_SIZE]);

void symbol_partial_keep(symbol_partial *partial); /* keeps a shared one for another run */
void symbol_partial_drop(symbol_partial *partial);

/* Copies through a partial file. False, with errno, if not. */
bool symbol_copy_file(const char *from, const char *to);

#endif
