/*
 * pack_bytes.c - gzip and zstd files for tests, in memory.
 */
#include "pack_bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#define GZIP_WINDOW     (15 + 16)
#define GZIP_MEMORY     8
#define SKIPPED_MAGIC   0x184D2A50u
#define SKIPPED_HEADER  ((size_t)8)
#define FRAME_BYTES_MIN ((size_t)64)

/* Room for so many bytes behind what is there. */
static u8 *reserve(packed_bytes *out, size_t size)
{
    u8 *const grown = realloc(out->at, out->size + size + 1);
    assert_non_null(grown);
    out->at = grown;
    return grown + out->size;
}

void pack_gzip(packed_bytes *out, const void *bytes, size_t size)
{
    z_stream z = { .next_in = (Bytef *)(uintptr_t)bytes, .avail_in = (uInt)size };
    assert_int_equal(deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
                                  Z_DEFAULT_STRATEGY),
                     Z_OK);
    const size_t room = FRAME_BYTES_MIN + deflateBound(&z, (uLong)size);
    z.next_out = reserve(out, room);
    z.avail_out = (uInt)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    out->size += z.total_out;
    assert_int_equal(deflateEnd(&z), Z_OK);
}

void pack_zstd(packed_bytes *out, const void *bytes, size_t size)
{
    ZSTD_CCtx *const context = ZSTD_createCCtx();
    const size_t room = ZSTD_compressBound(size);
    assert_non_null(context);
    assert_false(ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)));
    const size_t packed = ZSTD_compress2(context, reserve(out, room), room, bytes, size);
    assert_false(ZSTD_isError(packed));
    out->size += packed;
    ZSTD_freeCCtx(context);
}

void pack_zstd_skipped(packed_bytes *out, const void *bytes, size_t size)
{
    u8 *const at = reserve(out, SKIPPED_HEADER + size);
    for (u32 i = 0; i < 4; i++) {
        at[i] = (u8)(SKIPPED_MAGIC >> (8 * i));
        at[4 + i] = (u8)(size >> (8 * i));
    }
    out->size += SKIPPED_HEADER;
    pack_plain(out, bytes, size);
}

void pack_plain(packed_bytes *out, const void *bytes, size_t size)
{
    u8 *const at = reserve(out, size);
    if (size > 0)
        memcpy(at, bytes, size);
    out->size += size;
}

void packed_free(packed_bytes *packed)
{
    free(packed->at);
    *packed = (packed_bytes){ .at = NULL };
}
