/*
 * parquet_hybrid.c - see parquet_hybrid.h.
 *
 * The naive form packs everything. Ours looks for stretches of a repeated value:
 * one that is long enough becomes a run, what lies between two of them is packed.
 * Packed values come in eights, so those that are missing are taken from the
 * stretch that follows, which must have enough of them to be a run still.
 */
#include "parquet_hybrid.h"

#include "protobuf.h"

#define GROUP   8 /* values that are packed together */
#define RUN_MIN 8 /* shorter stretches are packed */

static u32 stretch_at(const u32 *values, u32 count, u32 at);
static void add_run(etlheap_text *out, u32 value, u32 count, u32 width);
static void add_literals(etlheap_text *out, const u32 *values, u32 count, u32 width);
static void add_group(etlheap_text *out, const u32 *values, u32 count, u32 width);

void parquet_hybrid_add(etlheap_text *out, const u32 *values, u32 count, u32 width)
{
    u32 start = 0; /* of what is to be packed */
    u32 at = 0;
    assert(width >= 1 && width <= PARQUET_WIDTH_MAX);
    while (at < count) {
        const u32 stretch = stretch_at(values, count, at);
        const u32 missing = (GROUP - (at - start) % GROUP) % GROUP;
        if (stretch >= RUN_MIN + missing) {
            add_literals(out, values + start, at + missing - start, width);
            add_run(out, values[at], stretch - missing, width);
            start = at + stretch;
        }
        at += stretch;
    }
    add_literals(out, values + start, count - start, width);
}

u32 parquet_hybrid_width(u32 limit)
{
    return limit <= 2 ? 1 : 32 - (u32)__builtin_clz(limit - 1);
}

static u32 stretch_at(const u32 *values, u32 count, u32 at)
{
    u32 end = at + 1;
    while (end < count && values[end] == values[at])
        end++;
    return end - at;
}

static void add_run(etlheap_text *out, u32 value, u32 count, u32 width)
{
    etlheap_protobuf_varint(out, (u64)count << 1);
    for (u32 bits = 0; bits < width; bits += 8) {
        const char byte = (char)(value >> bits);
        etlheap_text_add(out, &byte, 1);
    }
}

static void add_literals(etlheap_text *out, const u32 *values, u32 count, u32 width)
{
    if (count == 0)
        return;
    etlheap_protobuf_varint(out, ((u64)count + GROUP - 1) / GROUP << 1 | 1);
    for (u32 at = 0; at < count; at += GROUP)
        add_group(out, values + at, count - at < GROUP ? count - at : GROUP, width);
}

/* Eight values take `width` bytes. */
static void add_group(etlheap_text *out, const u32 *values, u32 count, u32 width)
{
    u8 bytes[PARQUET_WIDTH_MAX];
    u64 bits = 0;
    u32 held = 0; /* bits in `bits` */
    u32 size = 0;
    for (u32 i = 0; i < GROUP; i++) {
        bits |= (u64)(i < count ? values[i] : 0) << held;
        for (held += width; held >= 8; held -= 8) {
            bytes[size++] = (u8)bits;
            bits >>= 8;
        }
    }
    assert(held == 0 && size == width);
    etlheap_text_add(out, (const char *)bytes, size);
}
