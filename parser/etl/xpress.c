/*
 * xpress.c - decodes XPRESS plain LZ77 ([MS-XCA] 2.3 and 2.4).
 *
 * In: the bytes of a compressed buffer, hostile, and the number of bytes wanted. Out: as many bytes
 * as could be decoded, and a verdict.
 *
 * The stream is groups of one u32 of flags and the 32 symbols they announce, most significant bit
 * first. A 0 is a literal byte. A 1 is a match:
 *
 *     u16                 bits 3..15 distance - 1, bits 0..2 length - 3
 *     when those are 7:   4 more bits, added. They come in pairs: the first takes
 *                         the low half of a new byte, the next the high half of
 *                         that same byte, wherever in the input it lies by then
 *     when those are 15:  u8, added
 *     when that is 255:   u16 in place of all before, counted from 3
 *     when that is 0:     u32 likewise
 *
 * Only the end of the input in place of a match marks the end, and unused flag bits are ones. A
 * buffer states its uncompressed size, so we stop there.
 *
 * The naive form tests a flag, then copies a byte or decodes a match. On real traces literals and
 * matches alternate at random, 1.1 literals for each match, so that test is mispredicted nearly
 * every time. The fast path has no such test: it counts the zero bits ahead, copies 16 bytes of
 * literals whether there are 0 or 16 of them, and goes on with the match. A match copies 16 bytes
 * at once, and again while it is longer. What is written too far is overwritten by what follows;
 * hence the slack behind the output.
 *
 * One iteration takes less than INPUT_MARGIN bytes, so a single comparison guards all its reads. It
 * works on copies of the state and stores them if all is well. In any doubt (near either end, a
 * long or an impossible match) it gives up without having moved, and the careful path decodes that
 * one symbol with every check. Invariant: so all error handling is in the careful path, once, and
 * the fast path must never store a state in doubt.
 */
#include "parser/cursor.h"
#include "xpress.h"

/* 4 flag bytes, 32 literals and 10 bytes of match, rounded up. */
#define INPUT_MARGIN 64u

/* The longest run of literals one iteration copies. */
#define LITERALS_MAX 32

/*
 * Flags are at the top of a u64, followed by a one. The one ends the count of zero bits; a one
 * alone means that no flags are left.
 */
#define FLAGS_NONE ((u64)1 << 63)

/* Pending half byte: this bit and the four bits to be used; 0 when there is none. */
#define HALF_PENDING 0x10u

typedef struct plain_decoder {
    etl_cursor in;
    u64 flags;
    u32 half;
    u8 *start;
    u8 *out;
    u8 *end;      /* of the wanted bytes */
    u8 *fast_end; /* the fast path may write ETL_XPRESS_SLACK bytes beyond */
    etl_xpress_end verdict;
} plain_decoder;

static void decode_fast(plain_decoder *d);
static inline size_t load_length(const u8 **at, u32 *half);
static u64 load_flags(const u8 *at);
static bool decode_symbol(plain_decoder *d);
static bool decode_match(plain_decoder *d);
static bool stop(plain_decoder *d, etl_xpress_end verdict);
static bool read_length(plain_decoder *d, size_t *length);
static u32 read_half(plain_decoder *d);
static inline void copy_wide(u8 *out, size_t distance, size_t length);

etl_xpress_end etl_xpress_plain(etl_bytes in, etl_xpress_output *out)
{
    plain_decoder d = {
        .in = etl_cursor_of(in),
        .flags = FLAGS_NONE,
        .start = out->at,
        .out = out->at,
        .end = out->at + out->wanted,
    };
    const size_t missing = out->slack < ETL_XPRESS_SLACK ? ETL_XPRESS_SLACK - out->slack : 0;
    d.fast_end = missing < out->wanted ? d.end - missing : d.start;
    do {
        decode_fast(&d);
    } while (decode_symbol(&d));
    out->size = (size_t)(d.out - d.start);
    return d.verdict;
}

/*
 * Decodes runs of literals with the match behind them as long as nothing is doubtful. `in`, `out`,
 * `flags` and `half` are the state; `at`, `target`, `left` and `half_left` become the state if this
 * iteration succeeds.
 */
static void decode_fast(plain_decoder *d)
{
    const u8 *in = d->in.at;
    const u8 *const in_end = in + d->in.left;
    u8 *out = d->out;
    u64 flags = d->flags;
    u32 half = d->half;
    while ((size_t)(in_end - in) >= INPUT_MARGIN) {
        const u8 *at = in;
        u64 left = flags;
        if (left == FLAGS_NONE) {
            left = load_flags(at);
            at += 4;
        }
        const unsigned literals = (unsigned)__builtin_clzll(left);
        if (d->fast_end - out < LITERALS_MAX) /* negative near the end */
            break;
        memcpy(out, at, 16);
        if (literals > 16)
            memcpy(out + 16, at + 16, 16);
        at += literals;
        left <<= literals;
        u8 *target = out + literals;
        u32 half_left = half;
        if (left != FLAGS_NONE) {
            const u32 word = etl_load_u16(at);
            at += 2;
            left <<= 1;
            const size_t distance = (word >> 3) + 1;
            const size_t length = (word & 7) < 7 ? (word & 7) + 3 : load_length(&at, &half_left);
            if (distance > (size_t)(target - d->start) || length > (size_t)(d->fast_end - target))
                break;
            copy_wide(target, distance, length);
            target += length;
        }
        in = at;
        out = target;
        flags = left;
        half = half_left;
    }
    d->in = (etl_cursor){ in, (size_t)(in_end - in) };
    d->out = out;
    d->flags = flags;
    d->half = half;
}

/* read_length without checks; SIZE_MAX, which fits nowhere, for the rare long forms. */
static inline size_t load_length(const u8 **at, u32 *half)
{
    u32 more = *half;
    *half = 0;
    if (more == 0) {
        more = *(*at)++;
        *half = HALF_PENDING | more >> 4;
    }
    more &= 15;
    if (more < 15)
        return more + 10;
    more = *(*at)++;
    return more < 255 ? (size_t)more + 25 : SIZE_MAX;
}

static u64 load_flags(const u8 *at)
{
    return (u64)etl_load_u32(at) << 32 | (u64)1 << 31;
}

/* One symbol with all checks. False, with the verdict set, when it was the last. */
static bool decode_symbol(plain_decoder *d)
{
    if (d->out == d->end)
        return stop(d, ETL_XPRESS_DONE);
    if (d->flags == FLAGS_NONE) {
        const u8 *const at = etl_take(&d->in, 4);
        if (!at)
            return stop(d, ETL_XPRESS_SHORT);
        d->flags = load_flags(at);
    }
    const bool is_match = d->flags >> 63 != 0;
    d->flags <<= 1;
    if (is_match)
        return decode_match(d);
    const u8 *const literal = etl_take(&d->in, 1);
    if (!literal)
        return stop(d, ETL_XPRESS_SHORT);
    *d->out++ = *literal;
    return true;
}

static bool decode_match(plain_decoder *d)
{
    const u32 word = etl_u16(&d->in);
    const size_t distance = (word >> 3) + 1;
    size_t length = (word & 7) + 3;
    const bool is_length_sound = length < 10 || read_length(d, &length);
    if (!etl_ok(&d->in))
        return stop(d, ETL_XPRESS_SHORT);
    if (!is_length_sound || distance > (size_t)(d->out - d->start))
        return stop(d, ETL_XPRESS_INVALID);
    const size_t room = (size_t)(d->end - d->out);
    const size_t fitting = length < room ? length : room;
    etl_xpress_copy(d->out, distance, fitting, room);
    d->out += fitting;
    return fitting == length || stop(d, ETL_XPRESS_CUT);
}

static bool stop(plain_decoder *d, etl_xpress_end verdict)
{
    d->verdict = verdict;
    return false;
}

/* Reads the length of a match whose own three bits are all ones; false if it is impossible. */
static bool read_length(plain_decoder *d, size_t *length)
{
    u32 more = read_half(d);
    if (more < 15) {
        *length = more + 10;
        return true;
    }
    more = etl_u8(&d->in);
    if (more < 255) {
        *length = (size_t)more + 25;
        return true;
    }
    more = etl_u16(&d->in);
    if (more == 0)
        more = etl_u32(&d->in);
    *length = (size_t)more + 3;
    return more >= 15 + 7;
}

static u32 read_half(plain_decoder *d)
{
    if (d->half != 0) {
        const u32 high = d->half & 15;
        d->half = 0;
        return high;
    }
    const u32 byte = etl_u8(&d->in);
    d->half = HALF_PENDING | byte >> 4;
    return byte & 15;
}

void etl_xpress_copy(u8 *out, size_t distance, size_t length, size_t room)
{
    if (room >= ETL_XPRESS_SLACK && length <= room - ETL_XPRESS_SLACK) {
        copy_wide(out, distance, length);
        return;
    }
    for (size_t i = 0; i < length; i++)
        out[i] = (out - distance)[i];
}

/* Writes up to ETL_XPRESS_SLACK bytes behind the match. */
static inline void copy_wide(u8 *out, size_t distance, size_t length)
{
    /* For a distance below 8, a multiple of it from 8 on: the same bytes again. */
    static const u8 repeat[8] = { 0, 8, 8, 9, 8, 10, 12, 14 };
    const u8 *from = out - distance;
    u8 *const end = out + length;
    if (distance >= 16) {
        do {
            memcpy(out, from, 16);
            out += 16;
            from += 16;
        } while (out < end);
        return;
    }
    if (distance < 8) {
        for (int i = 0; i < 8; i++)
            out[i] = from[i];
        out += 8;
        from = out - repeat[distance];
    }
    while (out < end) {
        memcpy(out, from, 8);
        out += 8;
        from += 8;
    }
}
