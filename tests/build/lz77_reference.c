/*
 * lz77_reference.c - XPRESS plain LZ77 decoding, written from MS-XCA 2.4 one rule
 * at a time: a byte at a time, every step checked, no thought of speed. Nothing
 * of it is shared with the reader or the encoder.
 */
#include "lz77_reference.h"

typedef struct reference {
    const u8 *in;
    size_t size;
    size_t at;
    size_t nibble_at; /* byte whose high nibble is still to be read; 0: none */
    bool bad;
} reference;

static u32 take(reference *r, u32 bytes);
static size_t take_length(reference *r, u32 low);

size_t lz77_reference_decode(const u8 *in, size_t size, u8 *out, size_t wanted)
{
    reference r = { .in = in, .size = size };
    size_t produced = 0;
    u32 flags = 0;
    u32 flag_count = 0;
    while (produced < wanted && !r.bad) {
        if (flag_count == 0) {
            flags = take(&r, 4);
            flag_count = 32;
        }
        flag_count--;
        if ((flags >> flag_count & 1) == 0) {
            out[produced++] = (u8)take(&r, 1);
            continue;
        }
        const u32 word = take(&r, 2);
        const size_t distance = (word >> 3) + 1;
        const size_t length = take_length(&r, word & 7);
        if (r.bad || distance > produced || length > wanted - produced)
            return SIZE_MAX;
        for (size_t i = 0; i < length; i++, produced++)
            out[produced] = out[produced - distance];
    }
    return r.bad ? SIZE_MAX : r.at;
}

static u32 take(reference *r, u32 bytes)
{
    u32 value = 0;
    if (bytes > r->size - r->at) {
        r->bad = true;
        return 0;
    }
    for (u32 i = 0; i < bytes; i++)
        value |= (u32)r->in[r->at++] << (8 * i);
    return value;
}

static size_t take_length(reference *r, u32 low)
{
    if (low < 7)
        return low + 3;
    u32 nibble;
    if (r->nibble_at == 0) {
        r->nibble_at = r->at;
        nibble = take(r, 1) & 15;
    } else {
        nibble = r->in[r->nibble_at] >> 4;
        r->nibble_at = 0;
    }
    if (nibble < 15)
        return nibble + 7 + 3;
    const u32 byte = take(r, 1);
    if (byte < 255)
        return byte + 15 + 7 + 3;
    u32 rest = take(r, 2);
    if (rest == 0)
        rest = take(r, 4);
    if (rest < 15 + 7)
        r->bad = true;
    return (size_t)rest + 3;
}
