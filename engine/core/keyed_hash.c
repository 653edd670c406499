/* keyed_hash.c - HMAC; see keyed_hash.h. */
#include "keyed_hash.h"

#include <string.h>

void hash_key_set(hash_key *key, const void *bytes, size_t size)
{
    u8 block[ETL_DIGEST_BLOCK_BYTES] = { 0 }, inner[ETL_DIGEST_BLOCK_BYTES],
       outer[ETL_DIGEST_BLOCK_BYTES];
    if (size > ETL_DIGEST_BLOCK_BYTES) {
        etl_digest state = etl_digest_begin(ETL_DIGEST_SHA256);
        etl_digest_add(&state, bytes, size);
        (void)etl_digest_end(&state, block);
    } else if (size > 0) {
        memcpy(block, bytes, size);
    }
    for (u32 i = 0; i < ETL_DIGEST_BLOCK_BYTES; i++) {
        inner[i] = block[i] ^ 0x36;
        outer[i] = block[i] ^ 0x5c;
    }
    key->inner = key->outer = etl_digest_begin(ETL_DIGEST_SHA256);
    etl_digest_add(&key->inner, inner, sizeof inner);
    etl_digest_add(&key->outer, outer, sizeof outer);
}

void keyed_hash_end(const hash_key *key, etl_digest *state, u8 out[KEYED_HASH_BYTES])
{
    u8 inner[KEYED_HASH_BYTES];
    etl_digest outer = key->outer;
    (void)etl_digest_end(state, inner);
    etl_digest_add(&outer, inner, sizeof inner);
    (void)etl_digest_end(&outer, out);
}
