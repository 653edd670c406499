/*
 * pack_bytes.h - gzip and zstd files for tests, in memory, and how they are written.
 *
 * A packed file may be several frames, so each call appends one.
 */
#ifndef TESTS_PACK_BYTES_H
#define TESTS_PACK_BYTES_H

#include "parser/base.h"

typedef struct packed_bytes {
    u8 *at;
    size_t size;
} packed_bytes;

typedef void pack_fn(packed_bytes *out, const void *bytes, size_t size);

/* Each frame says how long it is or has a checksum, so that damage can be found. */
void pack_gzip(packed_bytes *out, const void *bytes, size_t size);
void pack_zstd(packed_bytes *out, const void *bytes, size_t size);

/* A frame that readers of zstd skip; pzstd writes one in front of each frame. */
void pack_zstd_skipped(packed_bytes *out, const void *bytes, size_t size);

/* As they are. */
void pack_plain(packed_bytes *out, const void *bytes, size_t size);

void packed_free(packed_bytes *packed);

#endif
