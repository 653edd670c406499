/* stack_tags.h - reads stack tags from memory, for tests and fuzzing; etlheap_stack_tags_read in
 * formats.h reads files. */
#ifndef ETLHEAP_STACK_TAGS_H
#define ETLHEAP_STACK_TAGS_H

#include "formats/formats.h"

/* Adds the tags in `file`; `name` is for messages. Errors as for etlheap_stack_tags_read. */
etl_status etlheap_stack_tags_parse(etl_bytes file, const char *name, etlheap_tags *tags,
                                    etl_error *err);

#endif
