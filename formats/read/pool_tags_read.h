/* pool_tags_read.h - reads descriptions of pool tags from memory, for tests and fuzzing;
 * etlheap_pool_tags_read in formats.h reads files. */
#ifndef ETLHEAP_POOL_TAGS_READ_H
#define ETLHEAP_POOL_TAGS_READ_H

#include "formats/formats.h"

/* Adds the lines of `file`; `name` is for messages. Errors as for etlheap_pool_tags_read. */
etl_status etlheap_pool_tags_parse(etl_bytes file, const char *name, etlheap_pool_tags *tags,
                                   etlheap_skipped_lines *skipped, etl_error *err);

#endif
