/*
 * keyed_hash.h - HMAC-SHA-256, a hash that nobody can compute or check without its key.
 *
 * RFC 2104, with the SHA-256 of parser/system/digest.h. XXH3 is not made to keep secrets: somebody
 * who knows a few names and their words could compute the words of other names.
 */
#ifndef ETLHEAP_KEYED_HASH_H
#define ETLHEAP_KEYED_HASH_H

#include "parser/system/digest.h"

#define KEYED_HASH_BYTES ETL_DIGEST_BYTES_MAX

/* A key, as the states of both hashes after it. */
typedef struct hash_key {
    etl_digest inner, outer;
} hash_key;

void hash_key_set(hash_key *key, const void *bytes, size_t size);

/* A hash of several texts, one after the other: begin, add, end. */
static inline etl_digest keyed_hash_begin(const hash_key *key)
{
    return key->inner;
}

void keyed_hash_end(const hash_key *key, etl_digest *state, u8 out[KEYED_HASH_BYTES]);

#endif
