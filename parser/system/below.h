/* below.h - what both halves of etl_file_open_below share (private to this folder). */
#ifndef ETL_BELOW_H
#define ETL_BELOW_H

#include "parser/base.h"

/* The most bytes of a path, and of names in it, that are looked up. */
#define ETL_BELOW_BYTES_MAX 4096u
#define ETL_BELOW_NAMES_MAX 256u

/*
 * Writes the path without ".", empty names, and names that ".." takes back, to `out`, each name
 * ended by a NUL. Returns the number of names; 0 if none is left, if the path is too long, or if
 * ".." leads above its begin.
 */
u32 etl_below_names(const char *path, char out[ETL_BELOW_BYTES_MAX]);

#endif
