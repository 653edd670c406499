/* source_lines.h - the lines around a place in a source file, and why there are none. */
#ifndef ETLHEAP_SOURCE_LINES_H
#define ETLHEAP_SOURCE_LINES_H

#include "formats/io/text_buffer.h"
#include "formats/sources.h"

/* X(enumerator, word): whether there are lines. */
#define ETLHEAP_SOURCE_STATUSES(X)                                                                 \
    X(SHOWN, "shown")                                                                              \
    X(UNMAPPED, "unmapped")     /* below no root */                                                \
    X(MISSING, "missing")       /* there is no such file */                                        \
    X(REFUSED, "refused")       /* it is outside the root's folder, or not a regular file */       \
    X(UNREADABLE, "unreadable") /* another reason of the system */                                 \
    X(TOO_LARGE, "too-large")                                                                      \
    X(BINARY, "binary")                                                                            \
    X(PAST_END, "past-end") /* the file has fewer lines */

typedef enum etlheap_source_status {
#define ETLHEAP_SOURCE_STATUS_ENUM(name, word) ETLHEAP_SOURCE_##name,
    ETLHEAP_SOURCE_STATUSES(ETLHEAP_SOURCE_STATUS_ENUM)
#undef ETLHEAP_SOURCE_STATUS_ENUM
        ETLHEAP_SOURCE_STATUS_COUNT
} etlheap_source_status;

const char *etlheap_source_status_word(etlheap_source_status status);

/* Whether a file is the one that was compiled. */
typedef enum etlheap_source_state {
    ETLHEAP_SOURCE_UNSURE, /* the PDB does not say, or the file was not read */
    ETLHEAP_SOURCE_SAME,   /* also if only the ends of lines differ */
    ETLHEAP_SOURCE_CHANGED
} etlheap_source_state;

/* One place. Texts are owned by the list. */
typedef struct etlheap_source_part {
    char *file; /* as the PDB has it */
    u32 line;
    etlheap_source_status status;
    etlheap_source_state state;
    char *path;     /* where it is looked for; NULL: below no root */
    char *link;     /* NULL: none was asked for, or the file was not read */
    u32 file_lines; /* of the whole file; 0: not read */
    u32 first_line; /* of those below */
    u32 line_count; /* 0: none */
    char *text;     /* the lines, each ended by \n, in UTF-8 as far as the file is */
    size_t text_size;
} etlheap_source_part;

struct etlheap_source_lines {
    etlheap_source_part *at;
    u32 count, capacity;
};

/* Drops the parts that have no lines. */
void etlheap_source_lines_keep_shown(etlheap_source_lines *lines);

/* --- files (source_file.c) ------------------------------------------------------------------ */

/* The largest file that is read. Generated sources may be larger; nobody reads those. */
#define ETLHEAP_SOURCE_BYTES_MAX ((size_t)4 << 20)

/* A source file as it was read. Start from {0}. */
typedef struct etlheap_source_text {
    etlheap_source_status status;
    char *name;         /* of the file, without links; NULL: it was not opened */
    u8 *bytes;          /* as on disk */
    size_t size;        /* of these */
    etlheap_text lines; /* the text, without the mark of its encoding */
} etlheap_source_text;

/* Reads a file below a folder. ETL_ERR_MEMORY; what else goes wrong is the status. */
etl_status etlheap_source_text_read(const char *folder, const char *path, etlheap_source_text *out,
                                    etl_error *err);
void etlheap_source_text_free(etlheap_source_text *text);

/* Makes the text of the bytes; what has a NUL is not text, but binary. */
void etlheap_source_text_decode(etlheap_source_text *text);

/* True if the bytes, or the same with other ends of lines, have the checksum of a PDB. A checkout
 * may have ends of lines of its own. */
bool etlheap_source_text_is(const etlheap_source_text *text, const etlheap_source_file *file);

#endif
