/*
 * digest.h - MD5, SHA-1 and SHA-256 (private to the libraries and the program).
 *
 * RFC 1321 and FIPS 180-4. PDBs sum up source files with all three. MD5 and SHA-1 are only compared
 * with what a compiler wrote; nothing here relies on them against people who want two files to have
 * one sum.
 *
 * A cryptographic library that is loaded on demand would be missing on a bare system, where the
 * same files must have the same answers.
 */
#ifndef ETL_DIGEST_H
#define ETL_DIGEST_H

#include "parser/base.h"

typedef enum etl_digest_kind {
    ETL_DIGEST_MD5,
    ETL_DIGEST_SHA1,
    ETL_DIGEST_SHA256,
    ETL_DIGEST_COUNT
} etl_digest_kind;

#define ETL_DIGEST_BYTES_MAX   32u
#define ETL_DIGEST_BLOCK_BYTES 64u

typedef struct etl_digest {
    u32 kind; /* etl_digest_kind */
    u32 words[8];
    u64 bytes; /* so far */
    u8 block[ETL_DIGEST_BLOCK_BYTES];
} etl_digest;

etl_digest etl_digest_begin(etl_digest_kind kind);
void etl_digest_add(etl_digest *digest, const void *bytes, size_t size);

/* Writes 16, 20 or 32 bytes; returns their number. */
size_t etl_digest_end(etl_digest *digest, u8 out[ETL_DIGEST_BYTES_MAX]);

#endif
