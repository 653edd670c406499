/*
 * keyed_hash.h - HMAC-SHA-256, a hash that nobody can compute or check without its key.
 *
 * FIPS 180-4 (SHA-256) and RFC 2104 (HMAC). None of the libraries that etlheap is linked with has a
 * message authentication code. XXH3 is none: with it, who has a few names and their words could
 * find the words of other names. A cryptographic library that is loaded on demand would be missing
 * on a bare system, where the words of names must be the same as everywhere else.
 */
#ifndef ETLHEAP_KEYED_HASH_H
#define ETLHEAP_KEYED_HASH_H

#include "parser/base.h"

#define KEYED_HASH_BYTES 32u

typedef struct sha256_state {
    u32 words[8];
    u64 bytes; /* so far */
    u8 block[64];
} sha256_state;

/* A key, as the states of both hashes after it. */
typedef struct hash_key {
    sha256_state inner, outer;
} hash_key;

void sha256_begin(sha256_state *state);
void sha256_add(sha256_state *state, const void *bytes, size_t size);
void sha256_end(sha256_state *state, u8 out[KEYED_HASH_BYTES]);

void hash_key_set(hash_key *key, const void *bytes, size_t size);

/* A hash of several texts, one after the other: begin, add, end. */
static inline sha256_state keyed_hash_begin(const hash_key *key)
{
    return key->inner;
}

void keyed_hash_end(const hash_key *key, sha256_state *state, u8 out[KEYED_HASH_BYTES]);

#endif
