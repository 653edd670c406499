/*
 * stable_name.h - a function's name without what changes from build to build.
 *
 * Compilers name what has no name in the source by its position, a number or a hash:
 *
 *     App::call<`lambda at app.cpp:3:51'>     ->   App::call<`lambda app.cpp'>
 *     <lambda_0123456789abcdef...>::operator()    <lambda>::operator()
 *     leak::insert::h0123456789abcdef             leak::insert
 *     <Run>b__3_0                                 <Run>b__
 *
 * A comment line above such a function gives it another name, so runs of different builds are
 * compared by what is left. The result is for comparing and hashing, never for people; it is not
 * longer than the name. Functions whose names differ only in this become equal.
 */
#ifndef ETLHEAP_STABLE_NAME_H
#define ETLHEAP_STABLE_NAME_H

#include "parser/base.h"

/* A name being read; start from stable_name_begin. */
typedef struct stable_name {
    const char *name;
    size_t at;
} stable_name;

/* What stays of a name: a piece of it, or a short text instead of what was left out. */
typedef struct stable_piece {
    const char *at;
    size_t size;
} stable_piece;

static inline stable_name stable_name_begin(const char *name)
{
    return (stable_name){ .name = name };
}

/* The next piece, never empty. False at the end. */
bool stable_name_next(stable_name *reader, stable_piece *out);

/* True if something has to be left out. */
bool stable_name_differs(const char *name);

/* Writes the stable form and a NUL; `out` has room for the name and a NUL. Returns the length. */
size_t stable_name_write(const char *name, char *out);

#endif
