/*
 * file_kind.h - what a file that is no ETL file looks like (private to the parser).
 */
#ifndef ETL_FILE_KIND_H
#define ETL_FILE_KIND_H

#include "parser/parser.h"

/*
 * A phrase that ends the sentence "it looks like ...", often with what to do, or
 * NULL when nothing is known about such bytes. Static, not owned by the caller.
 */
const char *etl_file_kind(etl_bytes file);

#endif
