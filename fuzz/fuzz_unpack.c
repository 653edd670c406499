/*
 * fuzz_unpack.c - fuzzes unpacking of gzip and zstd files.
 *
 * In: bytes. The first byte chooses: the rest is a file as it is, or it is content that is packed
 * here, in frames of lengths that the bytes say, with what may lie between frames. Out: nothing, or
 * a crash.
 *
 * Checksums keep most changed files from being unpacked to their end, which is why content is
 * packed here. Invariants that it checks: packed content comes out whole; a copy of a descriptor
 * holds what the file does, or is refused as not a trace.
 */
#include "formats/formats.h"
#include "fuzz.h"
#include "parser/system/files.h"

#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#define CONTENT_BYTES_MAX ((size_t)1 << 20)
#define PACKED_BYTES_MAX  (2 * CONTENT_BYTES_MAX)
#define FRAMES_MAX        6u
#define GZIP_WINDOW       (15 + 16)

/* Content is accepted if it begins like a store. */
static const u8 store_start[] = { 0x89, 'E', 'H', 'S', '\r', '\n', 0x1A, '\n' };

typedef struct buffer {
    u8 *at;
    size_t size;
} buffer;

static buffer content, packed;

static void append(buffer *out, const void *bytes, size_t size)
{
    if (size > 0)
        memcpy(out->at + out->size, bytes, size);
    out->size += size;
}

static void pack_gzip(const u8 *bytes, size_t size, u8 choice)
{
    static const u8 zeros[300] = { 0 };
    z_stream z = { .next_in = (Bytef *)(uintptr_t)bytes, .avail_in = (uInt)size };
    if (deflateInit2(&z, choice % 4, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        abort();
    z.next_out = packed.at + packed.size;
    z.avail_out = (uInt)(PACKED_BYTES_MAX - packed.size);
    if (deflate(&z, Z_FINISH) != Z_STREAM_END)
        abort();
    packed.size += z.total_out;
    (void)deflateEnd(&z);
    append(&packed, zeros, choice);
}

static void pack_zstd(const u8 *bytes, size_t size, u8 choice)
{
    const u8 skipped[] = { (u8)(0x50 | choice % 16), 0x2A, 0x4D, 0x18, choice, 0, 0, 0 };
    ZSTD_CCtx *const context = ZSTD_createCCtx();
    if (!context)
        abort();
    if (choice % 3 == 0) {
        append(&packed, skipped, sizeof skipped);
        append(&packed, content.at, choice);
    }
    (void)ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, choice % 4 - 1);
    (void)ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, choice / 4 % 2);
    (void)ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, choice / 8 % 2);
    const size_t made = ZSTD_compress2(context, packed.at + packed.size,
                                       PACKED_BYTES_MAX - packed.size, bytes, size);
    if (ZSTD_isError(made))
        abort();
    packed.size += made;
    ZSTD_freeCCtx(context);
}

/* Makes content. data[0]: how many times 8 KiB; [1]: frames; three bytes for each frame: its length
 * and what goes with it; the rest is repeated. */
static void make_content(const u8 *data, size_t size, bool is_zstd)
{
    const u32 frames = 1 + data[1] % FRAMES_MAX;
    const u8 *const plans = data + 2;
    const buffer pattern = { (u8 *)(uintptr_t)(plans + (size_t)FRAMES_MAX * 3),
                             size - 2 - (size_t)FRAMES_MAX * 3 };
    const size_t wanted = 256 + data[0] % 100 * (size_t)8192;
    append(&content, store_start, sizeof store_start);
    while (content.size < wanted && pattern.size > 0)
        append(&content, pattern.at,
               pattern.size < wanted - content.size ? pattern.size : wanted - content.size);
    append(&content, "not empty behind its start, so as long as the longest thing to skip", 64);
    size_t at = 0;
    for (u32 i = 0; i < frames; i++) {
        const u8 *const plan = plans + (size_t)i * 3;
        const size_t length = (size_t)plan[0] * plan[0] * 13 + plan[1];
        const size_t left = content.size - at;
        const size_t taken = i + 1 == frames || length > left ? left : length;
        const u8 choice = content.size > 255 ? plan[2] : 0;
        (is_zstd ? pack_zstd : pack_gzip)(content.at + at, taken, choice);
        at += taken;
    }
}

/* Checks that these bytes were unpacked; with NULL, anything within the limit. */
static void check(const etlheap_unpacked *unpacked, const buffer *wanted)
{
    static u8 got[CONTENT_BYTES_MAX + 1];
    const etlheap_unpacked_member member = etlheap_unpacked_member_of(unpacked, 0);
    const int file = etl_file_open(member.path);
    const i64 size = etl_file_read(file, got, sizeof got);
    (void)etl_file_close(file);
    if (size < 0 || (u64)size > CONTENT_BYTES_MAX || etlheap_unpacked_count(unpacked) != 1 ||
        member.name)
        abort();
    if (wanted && ((size_t)size != wanted->size || memcmp(got, wanted->at, wanted->size) != 0))
        abort();
}

static void copy(const char *path, const buffer *file, const etlheap_unpack_options *options)
{
    etlheap_unpacked *copied = NULL;
    etl_error err = { .status = ETL_OK };
    const int opened = etl_file_open(path);
    const etl_status status = etlheap_spool(opened, options, &copied, &err);
    (void)etl_file_close(opened);
    if (status == ETL_OK)
        check(copied, file);
    else if (err.message[0] == '\0' || etlheap_is_packed(path))
        abort(); /* without a word, or what would be unpacked next */
    etlheap_unpacked_close(copied);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    const etlheap_unpack_options options = { .size = sizeof options,
                                             .member_bytes_max = CONTENT_BYTES_MAX };
    const u8 how = size > 0 ? data[0] % 4 : 0;
    const bool is_packed_here = how > 1 && size > 3 + (size_t)FRAMES_MAX * 3;
    if (!content.at) {
        content.at = malloc(CONTENT_BYTES_MAX);
        packed.at = malloc(PACKED_BYTES_MAX);
    }
    if (!content.at || !packed.at || size > CONTENT_BYTES_MAX)
        return 0;
    content.size = packed.size = 0;
    if (is_packed_here)
        make_content(data + 1, size - 1, how == 3);
    else
        append(&packed, data + (size > 0), size - (size > 0));
    const char *const path = fuzz_file(packed.at, packed.size);
    etlheap_unpacked *unpacked = NULL;
    etl_error err = { .status = ETL_OK };
    const etl_status status = etlheap_unpack(path, &options, &unpacked, &err);
    if (status == ETL_OK && etlheap_unpacked_member_of(unpacked, 0).name == NULL)
        check(unpacked, is_packed_here ? &content : NULL);
    else if (status != ETL_OK && (is_packed_here || err.message[0] == '\0'))
        abort();
    etlheap_unpacked_close(unpacked);
    copy(path, &packed, &options);
    return 0;
}
