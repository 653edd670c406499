/* file_kind.h - describes files that are not ETL files (private to the parser). */
#ifndef ETL_FILE_KIND_H
#define ETL_FILE_KIND_H

#include "parser/parser.h"

/* A phrase to complete "it looks like ...", often with what to do; NULL if the bytes are unknown.
 * Static text. */
const char *etl_file_kind(etl_bytes file);

#endif
