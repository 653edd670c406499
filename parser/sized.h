/*
 * sized.h - reads structures from callers, which begin with their own size.
 *
 *     older caller      fewer fields than ours: the others keep their defaults
 *     newer caller      more fields than ours: accepted if they are all 0, which means "as
 *                       before"; otherwise refused, because the caller asks for something
 *                       that this library does not know
 *
 * Every public function reads such a structure here, once, and then uses its own copy. Impossible
 * sizes are refused: 0, the size of a pointer, or more than a page.
 */
#ifndef ETL_SIZED_H
#define ETL_SIZED_H

#include "base.h"
#include "parser.h"

#define ETL_SIZED_MIN (sizeof(size_t) + 1) /* sizeof of a pointer is a caller's mistake */
#define ETL_SIZED_MAX ((size_t)4096)

/*
 * Copies *given over *own, which has its defaults and begins with a size_t, the size. `name` is the
 * structure's name for messages. given may be NULL: the defaults stay. ETL_ERR_ARGUMENT (impossible
 * size), ETL_ERR_UNSUPPORTED (a nonzero byte after our fields).
 */
etl_status etl_read_sized(const void *given, const char *name, void *own, size_t own_size,
                          etl_error *err);

/* Writes our defaults into a caller's structure of `size` bytes, which begins with its size. Fields
 * beyond ours become 0. Does nothing if the size is impossible. */
void etl_init_sized(void *out, size_t size, const void *own, size_t own_size);

/* Reads element `at` of an array. All elements have the size of the first. */
etl_status etl_read_sized_at(const void *given, u32 at, const char *name, void *own,
                             size_t own_size, etl_error *err);

#endif
