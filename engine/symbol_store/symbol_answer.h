/*
 * symbol_answer.h - what the header lines of an HTTP answer say about the file in it.
 *
 * Lines come one by one, also those of redirects; a status line begins a new answer. A line may
 * hold anything: what is not understood is ignored.
 */
#ifndef ETLHEAP_SYMBOL_ANSWER_H
#define ETLHEAP_SYMBOL_ANSWER_H

#include "symbol_origin.h"

typedef struct symbol_answer {
    bool has_range;  /* a Content-Range: "bytes 100-199/200", or of a 416 "bytes *" "/200" */
    u64 range_start; /* 0 with '*' */
    u64 range_total; /* 0: unknown */
    /* The end of the body can be told from a connection that broke off: by its length, by chunks,
     * or because HTTP/2 says so. */
    bool is_framed;
    char etag[SYMBOL_VALIDATOR_SIZE]; /* a strong one; "": none */
    char date[SYMBOL_VALIDATOR_SIZE]; /* Last-Modified; "": none */
} symbol_answer;

/* Takes the next line, which need not end with a NUL. */
void symbol_answer_line(symbol_answer *answer, etl_bytes line);

/* The validator that a part of this answer is resumed with. */
void symbol_answer_origin(const symbol_answer *answer, symbol_origin *out);

/* True if this answer, of status 206, continues a part of that origin. */
bool symbol_answer_continues(const symbol_answer *answer, const symbol_origin *origin,
                             u64 part_bytes);

#endif
