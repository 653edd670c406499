/*
 * symbol_cab.h - expands the compressed files of symbol stores.
 *
 * A store keeps app.pdb as app.pd_, a cabinet with that one file (symstore
 * /compress, compress.exe -z). libmspack expands them: cabinets come in three
 * compressions, two of which take a thousand lines each to decode safely.
 */
#ifndef ETLHEAP_SYMBOL_CAB_H
#define ETLHEAP_SYMBOL_CAB_H

#include "symbol_partial.h"

/*
 * Writes the file in the cabinet at `path` to *out, an open partial file, which is cleared first.
 * The caller commits or drops it in any case. If there are several files, takes the one called
 * `name`, else the first. ETL_ERR_IO (cannot be read or written), ETL_ERR_UNSUPPORTED (not a
 * cabinet), ETL_ERR_CORRUPT (damaged), ETL_ERR_LIMIT (the file is larger than bytes_max),
 * ETL_ERR_MEMORY.
 */
etl_status symbol_cab_expand(const char *path, const char *name, u64 bytes_max, symbol_partial *out,
                             etl_error *err);

/* Makes the name of the compressed form: the last letter replaced by an underscore. */
bool symbol_cab_name(char *out, size_t capacity, const char *name);

#endif
