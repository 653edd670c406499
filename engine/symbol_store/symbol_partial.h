/*
 * symbol_partial.h - files that are not complete yet.
 *
 * A file being written goes by the name `target`.new until it is complete, so
 * that nobody takes a part for the whole, and keeps what a former run left
 * there. Two processes that want the same file must not write into one: the
 * second finds the first one's lock and writes to `target`.<pid>.new instead,
 * from the beginning. Each partial file ends with exactly one of commit, keep
 * and drop.
 *
 * Threads: one process opens a target at most twice at a time.
 */
#ifndef ETLHEAP_SYMBOL_PARTIAL_H
#define ETLHEAP_SYMBOL_PARTIAL_H

#include "symbol_files.h"

typedef struct symbol_partial {
    int file;
    u64 size_bytes; /* what it holds: of a former run at first */
    bool is_shared; /* has the common name, so that another run can go on with it */
    char target[SYMBOL_FILE_SIZE];
    char name[SYMBOL_FILE_SIZE];
} symbol_partial;

/* Makes folders too. False, with errno, when it cannot be made. */
bool symbol_partial_open(symbol_partial *partial, const char *target);

/* Each false, with errno, when the disk refuses. */
bool symbol_partial_clear(symbol_partial *partial);
bool symbol_partial_append(symbol_partial *partial, etl_bytes bytes);
bool symbol_partial_commit(symbol_partial *partial); /* drops it when it fails */

void symbol_partial_keep(symbol_partial *partial); /* for another run; drops what is not shared */
void symbol_partial_drop(symbol_partial *partial);

/* Copies through a partial file. False, with errno, if not. */
bool symbol_copy_file(const char *from, const char *to);

#endif
