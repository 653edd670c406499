/*
 * fuzz_xpress.c - any bytes as a compressed buffer: the plain decoder agrees with the
 * slow one of the tests, slack changes nothing, and what the tests' encoder makes of
 * the bytes comes back. The first two bytes are the size wanted.
 */
#include "fuzz.h"
#include "parser/etl/xpress.h"
#include "tests/build/lz77_encode.h"
#include "tests/build/lz77_reference.h"

#include <stdlib.h>

#define CHOICE_BYTES 2u

/* Memory of exactly this size. */
static u8 *reserve(size_t size)
{
    u8 *const bytes = malloc(size + (size == 0));
    if (bytes == NULL)
        abort();
    return bytes;
}

/* The decoder's output, to be freed. */
static u8 *decode(etl_bytes in, size_t wanted, size_t slack, bool huffman, size_t *size)
{
    u8 *const bytes = reserve(wanted + slack);
    etl_xpress_output out = { .at = bytes, .wanted = wanted, .slack = slack };
    if (huffman)
        (void)etl_xpress_huffman(in, &out);
    else
        (void)etl_xpress_plain(in, &out);
    *size = out.size;
    if (out.size > wanted)
        __builtin_trap();
    return bytes;
}

static void check_decoders(etl_bytes in, size_t wanted)
{
    for (int huffman = 0; huffman < 2; huffman++) {
        size_t tight_size, slack_size;
        u8 *const tight = decode(in, wanted, 0, huffman == 1, &tight_size);
        u8 *const slack = decode(in, wanted, ETL_XPRESS_SLACK, huffman == 1, &slack_size);
        if (tight_size != slack_size || memcmp(tight, slack, tight_size) != 0)
            __builtin_trap();
        if (huffman == 0) {
            u8 *const plain = reserve(wanted);
            if (lz77_reference_decode(in.at, in.size, plain, wanted) != SIZE_MAX &&
                (tight_size != wanted || memcmp(tight, plain, wanted) != 0))
                __builtin_trap();
            free(plain);
        }
        free(tight);
        free(slack);
    }
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    static lz77_encoder encoder; /* too large for the stack */
    if (size < CHOICE_BYTES)
        return 0;
    const etl_bytes in = { data + CHOICE_BYTES, size - CHOICE_BYTES };
    check_decoders(in, (size_t)(data[0] | data[1] << 8));
    u8 *const packed = reserve(lz77_bound(in.size));
    size_t decoded;
    const size_t packed_size = lz77_encode(&encoder, in.at, in.size, packed);
    u8 *const back = decode((etl_bytes){ packed, packed_size }, in.size, 0, false, &decoded);
    if (decoded != in.size || memcmp(back, in.at, in.size) != 0)
        __builtin_trap();
    free(packed);
    free(back);
    return 0;
}
