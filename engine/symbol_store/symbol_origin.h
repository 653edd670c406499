/*
 * symbol_origin.h - where the part of a file comes from.
 *
 * A part may be resumed only with the answer that it is a part of: two servers of a path have
 * different files under one name and key (with and without private symbols), and a server may have
 * replaced its file. So a part has a file of its own beside it, `target`.new.from, which names the
 * URL, without logins (symbol_logins.h), and what identifies the answer (RFC 9110, 8.8: an ETag, or
 * the time of the last change) and its length. A part without one is never resumed.
 */
#ifndef ETLHEAP_SYMBOL_ORIGIN_H
#define ETLHEAP_SYMBOL_ORIGIN_H

#include "symbol_partial.h"
#include "symbol_url.h"

#define SYMBOL_VALIDATOR_SIZE 256

/* X(enumerator, word): what identifies an answer. */
#define SYMBOL_VALIDATORS(X)                                                                       \
    X(NONE, "none") /* nothing: the part is useless */                                             \
    X(ETAG, "etag")                                                                                \
    X(DATE, "date") /* Last-Modified */

typedef enum symbol_validator {
#define SYMBOL_VALIDATOR_ENUM(name, word) SYMBOL_VALIDATOR_##name,
    SYMBOL_VALIDATORS(SYMBOL_VALIDATOR_ENUM)
#undef SYMBOL_VALIDATOR_ENUM
        SYMBOL_VALIDATOR_COUNT
} symbol_validator;

typedef struct symbol_origin {
    char url[SYMBOL_URL_SIZE]; /* without logins; the key of the build looks like one */
    symbol_validator kind;
    char validator[SYMBOL_VALIDATOR_SIZE]; /* as the server sent it */
    u64 total_bytes;                       /* of the whole file; 0: unknown */
} symbol_origin;

/* The origin of an open part; false if there is none, or it says nothing. */
bool symbol_origin_read(const symbol_partial *partial, symbol_origin *out);

/* Writes the origin of a part, which must be empty. Only a shared part has one; it goes when the
 * part is cleared, committed or dropped. False if it was not written. */
bool symbol_origin_write(const symbol_partial *partial, const symbol_origin *origin);

/* Takes the value of a header as validator: printable, not too long, and for an ETag a strong one,
 * because a weak one may be the same for other bytes. False if it cannot identify an answer. */
bool symbol_validator_take(char out[SYMBOL_VALIDATOR_SIZE], symbol_validator kind,
                           const char *value);

#endif
