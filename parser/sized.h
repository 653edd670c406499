/*
 * sized.h - reads the structures that callers fill, which begin with their own size.
 *
 *     older caller      fewer fields than ours: the others keep their defaults
 *     newer caller      more fields than ours: fine as long as they are all 0, which is
 *                       what fields mean by "as before"; else it asks for something that
 *                       this library does not know, and is refused
 *
 * Every public function reads such a structure here, once, and goes on with its own copy.
 * A size that is none - 0, that of a pointer, more than a page - is refused as well.
 */
#ifndef ETL_SIZED_H
#define ETL_SIZED_H

#include "parser.h"

#define ETL_SIZED_MIN (sizeof(size_t) + 1) /* sizeof a pointer is a caller's mistake */
#define ETL_SIZED_MAX ((size_t)4096)

/*
 * Copies *given over *own, which has its defaults and begins with a size_t, the size.
 * `name` is the structure's, for messages. given may be NULL: the defaults stay.
 * ETL_ERR_ARGUMENT: the size cannot be meant. ETL_ERR_UNSUPPORTED: something beyond our
 * fields is not 0.
 */
etl_status etl_read_sized(const void *given, const char *name, void *own, size_t own_size,
                          etl_error *err);

/* The same for element `at` of an array, whose elements all have the size of the first. */
etl_status etl_read_sized_at(const void *given, u32 at, const char *name, void *own,
                             size_t own_size, etl_error *err);

#endif
