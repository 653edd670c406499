/*
 * stack_tags.h - stack tags from bytes, for tests and fuzzing; etlheap_stack_tags_read
 * of formats.h is the same for files.
 */
#ifndef ETLHEAP_STACK_TAGS_H
#define ETLHEAP_STACK_TAGS_H

#include "formats/formats.h"

/* `name` is for messages. Errors as of etlheap_stack_tags_read. */
etl_status etlheap_stack_tags_parse(etl_bytes file, const char *name, etlheap_tags *tags,
                                    etl_error *err);

#endif
