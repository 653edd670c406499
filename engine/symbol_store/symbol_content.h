/* symbol_content.h - recognizes a file by its first bytes. */
#ifndef ETLHEAP_SYMBOL_CONTENT_H
#define ETLHEAP_SYMBOL_CONTENT_H

#include "parser/base.h"
#include "parser/parser.h"

typedef enum symbol_content {
    SYMBOL_CONTENT_UNKNOWN,
    SYMBOL_CONTENT_PDB, /* of any version, readable or not */
    SYMBOL_CONTENT_IMAGE,
    SYMBOL_CONTENT_CABINET,
    SYMBOL_CONTENT_MARKUP /* HTML or XML: a page of a login, a proxy or an error */
} symbol_content;

/* The number of bytes that are enough to recognize a file. */
#define SYMBOL_CONTENT_BYTES 64

/* Recognizes the first bytes of a file, or all of a shorter one. */
symbol_content symbol_content_of(etl_bytes head);

/* The size of the whole file, as its first bytes give it: a PDB's blocks, a cabinet's length. 0:
 * they do not say. */
u64 symbol_content_size(etl_bytes head);

/* Recognizes a file; UNKNOWN also if it cannot be read. */
symbol_content symbol_content_of_file(const char *path);

#endif
