/*
 * lz77_encode.c - encodes XPRESS plain LZ77, for traces of tests and benches. Source: MS-XCA 2.3.
 *
 * In: any bytes. Out: a compressed stream, never read back here.
 *
 * The stream is a sequence of literals and matches, with one flag bit each. Flags come in words of
 * 32 that precede the bytes they speak of, first flag in the top bit. A match is (distance,
 * length): 13 bits of distance - 1, 3 bits of length - 3; a length that does not fit continues like
 * this:
 *
 *     length - 3    0..6        in the 3 bits
 *                   7..21       7, then a nibble; two long matches share a byte,
 *                               which lies where the first of them needed it
 *                   22..276     7, 15, then a byte
 *                   277..65535  7, 15, 255, then 16 bits of length - 3
 *                   more        7, 15, 255, 16 bits of 0, then 32 bits of length - 3
 *
 * Naive form: at each position try every distance up to 8,192 and take the longest match. This
 * encoder tries the two most recent positions whose next four bytes hash alike: trace records
 * repeat what lies one or two records back, so recent positions are nearly always the best. Matches
 * of three bytes are not looked for; they gain a byte at most. If nothing matches for long, the
 * search steps wider, so incompressible buffers cost little.
 *
 * Tables are not cleared between inputs: a stale entry is a position like any other and must pass
 * the same checks (before the current one, inside the window, equal bytes). Invariant: positions
 * are cleared to zero at the start all the same, because otherwise the output would depend on
 * earlier inputs.
 */
#include "lz77_encode.h"

#define WINDOW_BYTES    8192u
#define MATCH_MIN       4u
#define TAIL_BYTES      8u /* near the end only literals: matches load eight bytes at once */
#define SKIP_SHIFT      6u /* one more byte of step per 64 literals in a row */
#define HASH_MULTIPLIER 2654435761u

/* Where the next flag, nibble and byte go. */
typedef struct lz77_output {
    u8 *at;
    u8 *flag_word; /* reserved place of the word being filled */
    u8 *nibble;    /* byte whose high nibble is free, or NULL */
    u64 flags;     /* the low flag_count bits, first flag on top */
    unsigned flag_count;
} lz77_output;

static void begin_output(lz77_output *o, u8 *out);
static size_t find_match(lz77_encoder *e, const u8 *in, size_t at, size_t size, size_t *distance);
static size_t match_length(const u8 *a, const u8 *b, const u8 *end);
static void remember(lz77_encoder *e, const u8 *in, size_t at);
static void put_literals(lz77_output *o, const u8 *from, size_t count);
static void put_match(lz77_output *o, size_t distance, size_t length);
static void put_long_length(lz77_output *o, size_t rest);
static void put_flags(lz77_output *o, u32 bits, unsigned count);
static size_t end_output(lz77_output *o, const u8 *out);

size_t lz77_encode(lz77_encoder *encoder, const u8 *in, size_t size, u8 *out)
{
    lz77_output o;
    begin_output(&o, out);
    memset(encoder, 0, sizeof *encoder);

    size_t at = 0;
    size_t literals_from = 0;
    const size_t search_end = size > TAIL_BYTES ? size - TAIL_BYTES : 0;
    while (at < search_end) {
        size_t distance = 0;
        const size_t length = find_match(encoder, in, at, size, &distance);
        if (length < MATCH_MIN) {
            at += 1 + ((at - literals_from) >> SKIP_SHIFT);
            continue;
        }
        put_literals(&o, in + literals_from, at - literals_from);
        put_match(&o, distance, length);
        const size_t next = at + length;
        /* One position inside the match: the next record may begin there. */
        if (next < search_end)
            remember(encoder, in, next - 2);
        at = next;
        literals_from = next;
    }
    put_literals(&o, in + literals_from, size - literals_from);
    return end_output(&o, out);
}

static void begin_output(lz77_output *o, u8 *out)
{
    *o = (lz77_output){ .at = out + 4, .flag_word = out };
}

static u32 load_u32(const u8 *at)
{
    u32 value;
    memcpy(&value, at, sizeof value);
    return value;
}

static u64 load_u64(const u8 *at)
{
    u64 value;
    memcpy(&value, at, sizeof value);
    return value;
}

static u32 hash_of(const u8 *at)
{
    return (load_u32(at) * HASH_MULTIPLIER) >> (32 - LZ77_HASH_BITS);
}

/* The longer of two candidate matches, and remembers the position. */
static size_t find_match(lz77_encoder *e, const u8 *in, size_t at, size_t size, size_t *distance)
{
    const u32 slot = hash_of(in + at);
    const size_t candidates[2] = { e->newest[slot], e->older[slot] };
    e->older[slot] = e->newest[slot];
    e->newest[slot] = (u32)at;

    size_t best = 0;
    for (int i = 0; i < 2; i++) {
        const size_t candidate = candidates[i];
        if (candidate >= at || at - candidate > WINDOW_BYTES)
            continue;
        if (load_u32(in + candidate) != load_u32(in + at))
            continue;
        const size_t length = match_length(in + candidate, in + at, in + size);
        if (length > best) {
            best = length;
            *distance = at - candidate;
        }
    }
    return best;
}

/* How many bytes agree; b is the later one and ends at `end`. */
static size_t match_length(const u8 *a, const u8 *b, const u8 *end)
{
    const u8 *const start = b;
    while ((size_t)(end - b) >= 8) {
        const u64 difference = load_u64(a) ^ load_u64(b);
        if (difference != 0)
            return (size_t)(b - start) + (size_t)__builtin_ctzll(difference) / 8;
        a += 8;
        b += 8;
    }
    while (b < end && *a == *b) {
        a++;
        b++;
    }
    return (size_t)(b - start);
}

static void remember(lz77_encoder *e, const u8 *in, size_t at)
{
    const u32 slot = hash_of(in + at);
    e->older[slot] = e->newest[slot];
    e->newest[slot] = (u32)at;
}

static void put_literals(lz77_output *o, const u8 *from, size_t count)
{
    while (count > 0) {
        /* As many as the flag word in hand has bits for. */
        const size_t room = 32 - o->flag_count;
        const size_t run = count < room ? count : room;
        memcpy(o->at, from, run);
        o->at += run;
        from += run;
        count -= run;
        put_flags(o, 0, (unsigned)run);
    }
}

static void put_match(lz77_output *o, size_t distance, size_t length)
{
    const size_t rest = length - 3;
    const size_t short_length = rest < 7 ? rest : 7;
    const u16 word = (u16)((distance - 1) << 3 | short_length);
    memcpy(o->at, &word, sizeof word);
    o->at += sizeof word;
    if (rest >= 7)
        put_long_length(o, rest);
    put_flags(o, 1, 1);
}

/* Writes the rest of a length after its 3 bits; `rest` is the length - 3. */
static void put_long_length(lz77_output *o, size_t rest)
{
    const size_t after_bits = rest - 7;
    const u8 nibble = (u8)(after_bits < 15 ? after_bits : 15);
    if (o->nibble != NULL) {
        *o->nibble |= (u8)(nibble << 4);
        o->nibble = NULL;
    } else {
        o->nibble = o->at;
        *o->at++ = nibble;
    }
    if (after_bits < 15)
        return;

    const size_t after_nibble = after_bits - 15;
    *o->at++ = (u8)(after_nibble < 255 ? after_nibble : 255);
    if (after_nibble < 255)
        return;

    const u16 short_rest = (u16)(rest < 65536 ? rest : 0);
    memcpy(o->at, &short_rest, sizeof short_rest);
    o->at += sizeof short_rest;
    if (rest < 65536)
        return;
    const u32 long_rest = (u32)rest;
    memcpy(o->at, &long_rest, sizeof long_rest);
    o->at += sizeof long_rest;
}

/* Adds flags, first on top; count <= 32 - flag_count. A full word is written at
 * once and the next one's place reserved, even if nothing follows it. */
static void put_flags(lz77_output *o, u32 bits, unsigned count)
{
    o->flags = o->flags << count | bits;
    o->flag_count += count;
    if (o->flag_count < 32)
        return;
    const u32 word = (u32)o->flags;
    memcpy(o->flag_word, &word, sizeof word);
    o->flag_word = o->at;
    o->at += sizeof word;
    o->flags = 0;
    o->flag_count = 0;
}

/* Flags after the last symbol are ones: a match at the end of the input, which
 * is how a decoder without a known length recognises the end. */
static size_t end_output(lz77_output *o, const u8 *out)
{
    const unsigned unused = 32 - o->flag_count;
    const u32 word = (u32)(o->flags << unused | (((u64)1 << unused) - 1));
    memcpy(o->flag_word, &word, sizeof word);
    return (size_t)(o->at - out);
}
