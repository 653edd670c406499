/*
 * symbol_content.h - what a file is, by its first bytes.
 */
#ifndef ETLHEAP_SYMBOL_CONTENT_H
#define ETLHEAP_SYMBOL_CONTENT_H

#include "parser/parser.h"

typedef enum symbol_content {
    SYMBOL_CONTENT_UNKNOWN,
    SYMBOL_CONTENT_PDB, /* of any generation: whether it is readable is for others to say */
    SYMBOL_CONTENT_IMAGE,
    SYMBOL_CONTENT_CABINET,
    SYMBOL_CONTENT_MARKUP /* HTML or XML: a page of a login, a proxy or an error */
} symbol_content;

/* As many bytes as telling takes. */
#define SYMBOL_CONTENT_BYTES 32

/* Of the first bytes of a file, or all of a shorter one. */
symbol_content symbol_content_of(etl_bytes head);

/* Of a file; UNKNOWN too when it cannot be read. */
symbol_content symbol_content_of_file(const char *path);

#endif
