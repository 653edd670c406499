/*
 * xpress_huffman.c - decodes XPRESS LZ77+Huffman ([MS-XCA] 2.1 and 2.2).
 *
 * In: the bytes of a compressed buffer, hostile, and the number of bytes wanted. Out: as many bytes
 * as could be decoded, and a verdict.
 *
 * The output is cut into blocks of 64 KiB (the last match of a block may pass its end). Each block
 * begins with 256 bytes: 512 code lengths of 4 bits, the low half first, 0 for a symbol that does
 * not occur. Symbols below 256 are literals; the others are matches, 256 + 16 * log2 of the
 * distance + length - 3. The low bits of the distance follow the symbol's code.
 *
 * Codes are canonical: sorted by length, then by symbol, they count upwards. So the lengths say
 * everything, and the 15 bits ahead, read as a number, are the larger the later in that order their
 * symbol comes. Decoding is finding the length whose range the number falls into, then counting
 * symbols. A table over the first TABLE_BITS bits does it in one step for codes no longer than
 * that, which is nearly all of them; the others are found by trying the remaining lengths.
 *
 * Bits are taken from u16 words, most significant bit first. Lengths from 18 on have 15 in their
 * symbol and state themselves in whole bytes, which lie in the midst of the words: where the next
 * word would be read when the symbol's bits have been taken. Invariant: for this to work the
 * decoder must read exactly as far ahead as the encoder assumes: it holds 16 bits or more, and
 * fetches the next word as soon as it holds fewer.
 *
 * No ETL file with this format has been seen; speed does not matter much here.
 */
#include "parser/cursor.h"
#include "xpress.h"

#define SYMBOL_COUNT     512u
#define SYMBOL_MATCH     256u
#define CODE_BITS_MAX    15u
#define LENGTHS_BYTES    256u
#define TABLE_BITS       10u
#define BLOCK_BYTES      65536u
#define MATCH_LENGTH_MIN 3u

typedef struct huffman_codes {
    u16 table[1u << TABLE_BITS];  /* symbol << 4 | code length; 0: a longer code */
    u16 symbols[SYMBOL_COUNT];    /* in order of their codes */
    u32 limit[CODE_BITS_MAX + 1]; /* by length: first 15-bit number above its range */
    u32 first[CODE_BITS_MAX + 1]; /* by length: first 15-bit number in its range */
    u32 index[CODE_BITS_MAX + 1]; /* by length: of its first code in `symbols` */
} huffman_codes;

typedef struct huffman_decoder {
    etl_cursor in;
    u32 bits;  /* the next bits from the top */
    int ahead; /* how many of them there are beyond 16 */
    u8 *start;
    u8 *out;
    u8 *end;
    size_t slack;
    etl_xpress_end verdict;
    huffman_codes codes;
} huffman_decoder;

static bool decode_block(huffman_decoder *d);
static bool read_codes(huffman_decoder *d);
static bool sort_codes(huffman_codes *codes, const u8 *lengths);
static void fill_table(huffman_codes *codes, const u8 *lengths);
static void start_bits(huffman_decoder *d);
static void drop_bits(huffman_decoder *d, unsigned count);
static u32 read_symbol(huffman_decoder *d);
static bool decode_match(huffman_decoder *d, u32 symbol);
static u32 read_length(huffman_decoder *d);
static bool stop(huffman_decoder *d, etl_xpress_end verdict);

etl_xpress_end etl_xpress_huffman(etl_bytes in, etl_xpress_output *out)
{
    huffman_decoder d;
    d.in = etl_cursor_of(in);
    d.start = out->at;
    d.out = out->at;
    d.end = out->at + out->wanted;
    d.slack = out->slack;
    d.verdict = ETL_XPRESS_DONE;
    while (d.out < d.end && decode_block(&d))
        continue;
    out->size = (size_t)(d.out - d.start);
    return d.verdict;
}

/* Decodes a block, or the wanted part of it; false, with the verdict set, at a defect. */
static bool decode_block(huffman_decoder *d)
{
    if (!read_codes(d))
        return false;
    start_bits(d);
    const size_t left = (size_t)(d->end - d->out);
    const u8 *const block_end = d->out + (left < BLOCK_BYTES ? left : BLOCK_BYTES);
    while (d->out < block_end) {
        const u32 symbol = read_symbol(d);
        if (!etl_ok(&d->in))
            return stop(d, ETL_XPRESS_SHORT);
        if (symbol < SYMBOL_MATCH)
            *d->out++ = (u8)symbol;
        else if (!decode_match(d, symbol - SYMBOL_MATCH))
            return false;
    }
    return true;
}

static bool read_codes(huffman_decoder *d)
{
    const u8 *const lengths = etl_take(&d->in, LENGTHS_BYTES);
    if (!lengths)
        return stop(d, ETL_XPRESS_SHORT);
    if (!sort_codes(&d->codes, lengths))
        return stop(d, ETL_XPRESS_INVALID);
    fill_table(&d->codes, lengths);
    return true;
}

static unsigned code_length(const u8 *lengths, u32 symbol)
{
    const unsigned both = lengths[symbol / 2];
    return symbol % 2 ? both >> 4 : both & 15;
}

/* False unless the codes use up all 15-bit numbers: then any input decodes. */
static bool sort_codes(huffman_codes *codes, const u8 *lengths)
{
    u32 counts[CODE_BITS_MAX + 1] = { 0 };
    for (u32 symbol = 0; symbol < SYMBOL_COUNT; symbol++)
        counts[code_length(lengths, symbol)]++;
    u32 next = 0;
    u32 index = 0;
    u32 place[CODE_BITS_MAX + 1];
    for (unsigned length = 1; length <= CODE_BITS_MAX; length++) {
        codes->first[length] = next;
        codes->index[length] = index;
        place[length] = index;
        next += counts[length] << (CODE_BITS_MAX - length);
        index += counts[length];
        codes->limit[length] = next;
    }
    for (u32 symbol = 0; symbol < SYMBOL_COUNT; symbol++) {
        const unsigned length = code_length(lengths, symbol);
        if (length > 0)
            codes->symbols[place[length]++] = (u16)symbol;
    }
    return next == 1u << CODE_BITS_MAX;
}

static void fill_table(huffman_codes *codes, const u8 *lengths)
{
    u32 at = 0;
    for (u32 i = 0; at < ETL_COUNT_OF(codes->table); i++) {
        const u32 symbol = codes->symbols[i];
        const unsigned length = code_length(lengths, symbol);
        if (length > TABLE_BITS)
            break;
        const u32 end = at + (1u << (TABLE_BITS - length));
        while (at < end)
            codes->table[at++] = (u16)(symbol << 4 | length);
    }
    while (at < ETL_COUNT_OF(codes->table))
        codes->table[at++] = 0;
}

static void start_bits(huffman_decoder *d)
{
    const u32 high = etl_u16(&d->in);
    const u32 low = etl_u16(&d->in);
    d->bits = high << 16 | low;
    d->ahead = 16;
}

/* Removes up to 15 bits and fetches the next word when fewer than 16 are left. */
static void drop_bits(huffman_decoder *d, unsigned count)
{
    d->bits <<= count;
    d->ahead -= (int)count;
    if (d->ahead < 0) {
        const u32 word = etl_u16(&d->in);
        d->bits |= word << -d->ahead;
        d->ahead += 16;
    }
}

static u32 read_symbol(huffman_decoder *d)
{
    const huffman_codes *const codes = &d->codes;
    const u32 number = d->bits >> (32 - CODE_BITS_MAX);
    u32 entry = codes->table[number >> (CODE_BITS_MAX - TABLE_BITS)];
    if (entry == 0) {
        unsigned length = TABLE_BITS + 1;
        while (number >= codes->limit[length]) /* the limit of 15 bits is above all numbers */
            length++;
        const u32 rank = (number - codes->first[length]) >> (CODE_BITS_MAX - length);
        entry = (u32)codes->symbols[codes->index[length] + rank] << 4 | length;
    }
    drop_bits(d, entry & 15);
    return entry >> 4;
}

static bool decode_match(huffman_decoder *d, u32 symbol)
{
    const u32 length_code = symbol & 15;
    const unsigned distance_bits = symbol >> 4;
    const size_t length =
        (size_t)MATCH_LENGTH_MIN + (length_code < 15 ? length_code : read_length(d));
    /* Two shifts, because one by 32 is undefined when there are no bits to read. */
    const size_t distance = ((size_t)1 << distance_bits) | (d->bits >> 1 >> (31 - distance_bits));
    drop_bits(d, distance_bits);
    if (!etl_ok(&d->in))
        return stop(d, ETL_XPRESS_SHORT);
    if (length < MATCH_LENGTH_MIN + 15 && length_code == 15)
        return stop(d, ETL_XPRESS_INVALID);
    if (distance > (size_t)(d->out - d->start))
        return stop(d, ETL_XPRESS_INVALID);
    const size_t room = (size_t)(d->end - d->out);
    const size_t fitting = length < room ? length : room;
    etl_xpress_copy(d->out, distance, fitting, room + d->slack);
    d->out += fitting;
    return fitting == length || stop(d, ETL_XPRESS_CUT);
}

/* The length beyond 3 of a match that states it in bytes; below 15 is invalid. */
static u32 read_length(huffman_decoder *d)
{
    u32 length = etl_u8(&d->in);
    if (length < 255)
        return length + 15;
    length = etl_u16(&d->in);
    return length != 0 ? length : etl_u32(&d->in);
}

static bool stop(huffman_decoder *d, etl_xpress_end verdict)
{
    d->verdict = verdict;
    return false;
}
