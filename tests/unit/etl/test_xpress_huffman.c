/*
 * Goal: the XPRESS Huffman decoder gives exactly what [MS-XCA] says, for sound
 * and for hostile input, and touches no byte outside input and output.
 * Method: the published examples; an encoder that follows the specification word
 * by word, fed with random symbols under flat and skewed codes; each defect by
 * hand; every cut; and random damage. Output and verdict must be those of a
 * reference decoder, the specification's own with its table of 2^15 entries. All
 * input and output lies against pages that cannot be touched.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/hand_bytes.h"
#include "parser/etl/xpress.h"

#define OUTPUT_MAX  ((size_t)1 << 20)
#define BLOCK_BYTES ((size_t)65536)

static u8 plain_bytes[OUTPUT_MAX];
static u8 expected_bytes[OUTPUT_MAX];

/* The encoder of [MS-XCA] 2.1.4.3. Its output so far is in plain_bytes. */
typedef struct encoder {
    hand_bytes bytes;
    u8 lengths[512];
    u32 codes[512];
    size_t word1_at;
    size_t word2_at;
    u32 next_word;
    unsigned free_bits;
    size_t plain_size;
    size_t block_end;
} encoder;

static void set_code_length(u8 *table, unsigned symbol, unsigned length)
{
    table[symbol / 2] = (u8)(table[symbol / 2] | length << (symbol % 2 * 4));
}

static void begin_block(encoder *e)
{
    u8 table[256] = { 0 };
    u32 code = 0;
    for (unsigned length = 1; length <= 15; length++) {
        for (unsigned symbol = 0; symbol < 512; symbol++)
            if (e->lengths[symbol] == length) {
                e->codes[symbol] = code++;
                set_code_length(table, symbol, length);
            }
        code <<= 1;
    }
    hand_put(&e->bytes, table, sizeof table);
    e->word1_at = e->bytes.size;
    e->word2_at = e->bytes.size + 2;
    hand_u32(&e->bytes, 0);
    e->next_word = 0;
    e->free_bits = 16;
    e->block_end = e->plain_size + BLOCK_BYTES;
}

static void write_bits(encoder *e, unsigned count, u32 bits)
{
    if (e->free_bits >= count) {
        e->free_bits -= count;
        e->next_word = e->next_word << count | bits;
        return;
    }
    const unsigned kept = count - e->free_bits;
    e->next_word = e->next_word << e->free_bits | bits >> kept;
    hand_set_u16(&e->bytes, e->word1_at, e->next_word & 0xffff);
    e->word1_at = e->word2_at;
    e->word2_at = e->bytes.size;
    hand_u16(&e->bytes, 0);
    e->free_bits = 16 - kept;
    e->next_word = bits;
}

static void flush_bits(encoder *e)
{
    hand_set_u16(&e->bytes, e->word1_at, e->next_word << e->free_bits & 0xffff);
}

static void next_symbol(encoder *e, unsigned symbol)
{
    if (e->plain_size >= e->block_end) {
        flush_bits(e);
        begin_block(e);
    }
    write_bits(e, e->lengths[symbol], e->codes[symbol]);
}

static void put_literal(encoder *e, unsigned byte)
{
    next_symbol(e, byte);
    plain_bytes[e->plain_size++] = (u8)byte;
}

static void put_match(encoder *e, size_t distance, size_t length)
{
    unsigned distance_bits = 0;
    while (distance >> (distance_bits + 1) != 0)
        distance_bits++;
    const size_t rest = length - 3;
    next_symbol(e, 256 + distance_bits * 16 + (rest < 15 ? (unsigned)rest : 15));
    if (rest >= 15)
        hand_u8(&e->bytes, rest < 15 + 255 ? (unsigned)rest - 15 : 255);
    if (rest >= 15 + 255)
        hand_u16(&e->bytes, rest <= UINT16_MAX ? (unsigned)rest : 0);
    if (rest > UINT16_MAX)
        hand_u32(&e->bytes, (u32)rest);
    write_bits(e, distance_bits, (u32)(distance - ((size_t)1 << distance_bits)));
    for (size_t i = 0; i < length; i++, e->plain_size++)
        plain_bytes[e->plain_size] = plain_bytes[e->plain_size - distance];
}

/* All 512 symbols in random order: `steep` of them have lengths 1, 2, 3 ..., and
 * the others share what is left so that the code is complete. */
static void choose_code(encoder *e, unsigned steep, u64 *random)
{
    unsigned order[512];
    for (unsigned i = 0; i < 512; i++)
        order[i] = i;
    for (unsigned i = 511; i > 0; i--) {
        const unsigned other = hand_random(random) % (i + 1);
        const unsigned symbol = order[i];
        order[i] = order[other];
        order[other] = symbol;
    }
    const unsigned flat = steep == 0 ? 9 : steep + 9;
    const unsigned shorter = steep; /* 512 - steep codes of `flat` bits leave these out */
    for (unsigned i = 0; i < 512; i++)
        e->lengths[order[i]] = (u8)(i < steep ? i + 1 : i < steep + shorter ? flat - 1 : flat);
    begin_block(e);
}

static void put_random_symbols(encoder *e, size_t plain_size, u64 *random)
{
    put_literal(e, 'a');
    while (e->plain_size < plain_size) {
        if (hand_random(random) % 3 == 0) {
            put_literal(e, hand_random(random) & 0xff);
            continue;
        }
        const u32 kind = hand_random(random) % 16;
        const size_t length = 3 + hand_random(random) % (kind == 0 ? 2000 : kind < 4 ? 60 : 16);
        const size_t reach = e->plain_size < 65535 ? e->plain_size : 65535;
        put_match(e,
                  1 + hand_random(random) % (kind % 2     ? reach
                                             : reach < 30 ? reach
                                                          : 30),
                  length);
    }
    flush_bits(e);
}

/* The decoder of [MS-XCA] 2.2.4. */
typedef struct reference {
    etl_bytes in;
    size_t at;
    bool ended;
    u32 next_bits;
    int extra_bits;
    u8 *out;
    size_t size;
    size_t wanted;
    u16 table[1 << 15];
} reference;

static u32 reference_read(reference *r, size_t count)
{
    u32 value = 0;
    if (r->ended || count > r->in.size - r->at) {
        r->ended = true;
        return 0;
    }
    for (size_t i = count; i > 0; i--)
        value = value << 8 | r->in.at[r->at + i - 1];
    r->at += count;
    return value;
}

static unsigned table_length(const u8 *table, unsigned symbol)
{
    return table[symbol / 2] >> (symbol % 2 * 4) & 15;
}

static bool reference_build(reference *r, const u8 *table)
{
    size_t entry = 0;
    for (unsigned length = 1; length <= 15; length++)
        for (unsigned symbol = 0; symbol < 512; symbol++)
            if (table_length(table, symbol) == length)
                for (unsigned i = 0; i < 1u << (15 - length); i++) {
                    if (entry == ETL_COUNT_OF(r->table))
                        return false;
                    r->table[entry++] = (u16)symbol;
                }
    return entry == ETL_COUNT_OF(r->table);
}

static void reference_drop(reference *r, unsigned count)
{
    r->next_bits <<= count;
    r->extra_bits -= (int)count;
    if (r->extra_bits < 0) {
        r->next_bits |= reference_read(r, 2) << -r->extra_bits;
        r->extra_bits += 16;
    }
}

static etl_xpress_end reference_match(reference *r, unsigned symbol)
{
    size_t length = symbol % 16;
    const unsigned distance_bits = symbol / 16;
    bool is_possible = true;
    if (length == 15) {
        length = reference_read(r, 1) + (size_t)15;
        if (length == 15 + 255) {
            length = reference_read(r, 2);
            if (length == 0)
                length = reference_read(r, 4);
            is_possible = length >= 15;
        }
    }
    const u32 low = distance_bits == 0 ? 0 : r->next_bits >> (32 - distance_bits);
    const size_t distance = ((size_t)1 << distance_bits) + low;
    reference_drop(r, distance_bits);
    if (r->ended)
        return ETL_XPRESS_SHORT;
    if (!is_possible || distance > r->size)
        return ETL_XPRESS_INVALID;
    for (size_t i = 0; i < length + 3; i++, r->size++) {
        if (r->size == r->wanted)
            return ETL_XPRESS_CUT;
        r->out[r->size] = r->out[r->size - distance];
    }
    return ETL_XPRESS_DONE;
}

static etl_xpress_end reference_block(reference *r)
{
    if (r->in.size - r->at < 256)
        return ETL_XPRESS_SHORT;
    const u8 *const table = r->in.at + r->at;
    r->at += 256;
    if (!reference_build(r, table))
        return ETL_XPRESS_INVALID;
    r->next_bits = reference_read(r, 2) << 16;
    r->next_bits |= reference_read(r, 2);
    r->extra_bits = 16;
    const size_t block_end = r->size + BLOCK_BYTES;
    while (r->size < block_end && r->size < r->wanted) {
        const unsigned symbol = r->table[r->next_bits >> 17];
        reference_drop(r, table_length(table, symbol));
        if (r->ended)
            return ETL_XPRESS_SHORT;
        if (symbol < 256) {
            r->out[r->size++] = (u8)symbol;
            continue;
        }
        const etl_xpress_end end = reference_match(r, symbol - 256);
        if (end != ETL_XPRESS_DONE)
            return end;
    }
    return ETL_XPRESS_DONE;
}

static etl_xpress_end check(etl_bytes in, size_t wanted, size_t slack)
{
    static reference r;
    r = (reference){ .in = in, .out = expected_bytes, .wanted = wanted };
    etl_xpress_end expected_end = ETL_XPRESS_DONE;
    while (expected_end == ETL_XPRESS_DONE && r.size < wanted)
        expected_end = reference_block(&r);
    hand_guarded input = hand_guard_bytes(in, HAND_AT_END);
    hand_guarded memory = hand_guard(wanted + slack, HAND_AT_END);
    etl_xpress_output output = { .at = memory.at, .wanted = wanted, .slack = slack };
    const etl_xpress_end end = etl_xpress_huffman((etl_bytes){ input.at, in.size }, &output);
    assert_int_equal(end, expected_end);
    assert_int_equal(output.size, r.size);
    assert_memory_equal(memory.at, expected_bytes, r.size);
    hand_unguard(&memory);
    hand_unguard(&input);
    return end;
}

static void assert_encoded_decodes(encoder *e)
{
    assert_int_equal(check(hand_view(&e->bytes), e->plain_size, 0), ETL_XPRESS_DONE);
    assert_int_equal(check(hand_view(&e->bytes), e->plain_size, ETL_XPRESS_SLACK), ETL_XPRESS_DONE);
    assert_memory_equal(expected_bytes, plain_bytes, e->plain_size);
    hand_free(&e->bytes);
}

/* [MS-XCA] 3.2, first example. */
static void published_literals_decode(void **state)
{
    (void)state;
    static const u8 bits[] = { 0xd8, 0x52, 0x3e, 0xd7, 0x94, 0x11, 0x5b, 0xe9, 0x19, 0x5f,
                               0xf9, 0xd6, 0x7c, 0xdf, 0x8d, 0x04, 0x00, 0x00, 0x00, 0x00 };
    u8 packed[256 + sizeof bits] = { 0 };
    for (unsigned symbol = 'a'; symbol <= 'z'; symbol++)
        set_code_length(packed, symbol, symbol < 'w' ? 5 : 4);
    set_code_length(packed, 256, 4);
    memcpy(packed + 256, bits, sizeof bits);
    assert_int_equal(check((etl_bytes){ packed, sizeof packed }, 26, 0), ETL_XPRESS_DONE);
    assert_memory_equal(expected_bytes, "abcdefghijklmnopqrstuvwxyz", 26);
}

/* [MS-XCA] 3.2, second example: "abc" a hundred times. */
static void published_match_decodes(void **state)
{
    (void)state;
    static const u8 bits[] = { 0xa8, 0xdc, 0x00, 0x00, 0xff, 0x26, 0x01 };
    u8 packed[256 + sizeof bits] = { 0 };
    set_code_length(packed, 'a', 3);
    set_code_length(packed, 'b', 3);
    set_code_length(packed, 'c', 2);
    set_code_length(packed, 256, 2);
    set_code_length(packed, 287, 2);
    memcpy(packed + 256, bits, sizeof bits);
    assert_int_equal(check((etl_bytes){ packed, sizeof packed }, 300, 0), ETL_XPRESS_DONE);
    for (size_t i = 0; i < 300; i++)
        assert_int_equal(expected_bytes[i], "abc"[i % 3]);
}

static void all_symbols_decode_whatever_the_length_of_their_code(void **state)
{
    (void)state;
    u64 random = 3;
    for (unsigned steep = 0; steep <= 6; steep++) {
        encoder e = { 0 };
        choose_code(&e, steep, &random);
        while (e.plain_size < (size_t)1 << 15)
            put_literal(&e, (unsigned)(e.plain_size & 0xff));
        for (unsigned symbol = 0; symbol < 256; symbol++)
            put_match(&e, (size_t)1 << symbol / 16, symbol % 16 + 3);
        flush_bits(&e);
        assert_encoded_decodes(&e);
    }
}

static void random_symbols_decode(void **state)
{
    (void)state;
    u64 random = 11;
    for (unsigned steep = 0; steep <= 6; steep++) {
        encoder e = { 0 };
        choose_code(&e, steep, &random);
        put_random_symbols(&e, 20000, &random);
        assert_encoded_decodes(&e);
    }
}

static void blocks_of_64_kib_follow_each_other(void **state)
{
    (void)state;
    u64 random = 4;
    encoder e = { 0 };
    choose_code(&e, 2, &random);
    put_random_symbols(&e, 3 * BLOCK_BYTES + 1000, &random);
    assert_encoded_decodes(&e);
}

static void matches_may_pass_the_end_of_their_block(void **state)
{
    (void)state;
    u64 random = 5;
    encoder e = { 0 };
    choose_code(&e, 0, &random);
    while (e.plain_size < BLOCK_BYTES - 1)
        put_literal(&e, (unsigned)(e.plain_size & 0xff));
    put_match(&e, 65535, 70000);
    put_literal(&e, '!');
    flush_bits(&e);
    assert_encoded_decodes(&e);
}

static void codes_that_are_not_complete_are_invalid(void **state)
{
    (void)state;
    u8 packed[300] = { 0 };
    const etl_bytes in = { packed, sizeof packed };
    assert_int_equal(check(in, 10, 0), ETL_XPRESS_INVALID); /* no symbol at all */
    set_code_length(packed, 'a', 1);
    assert_int_equal(check(in, 10, 0), ETL_XPRESS_INVALID); /* too few */
    set_code_length(packed, 'b', 2);
    set_code_length(packed, 'c', 2);
    assert_int_equal(check(in, 10, 0), ETL_XPRESS_DONE);
    set_code_length(packed, 'd', 15);
    assert_int_equal(check(in, 10, 0), ETL_XPRESS_INVALID); /* too many */
}

static void a_match_before_the_start_is_invalid(void **state)
{
    (void)state;
    u64 random = 6;
    encoder e = { 0 };
    choose_code(&e, 0, &random);
    put_literal(&e, 'a');
    e.plain_size = 9; /* lets the encoder believe in bytes that are not there */
    put_match(&e, 2, 5);
    flush_bits(&e);
    assert_int_equal(check(hand_view(&e.bytes), 100, 0), ETL_XPRESS_INVALID);
    hand_free(&e.bytes);
}

static void a_long_form_of_a_short_length_is_invalid(void **state)
{
    (void)state;
    u64 random = 8;
    for (unsigned length = 1; length <= 15; length++) {
        encoder e = { 0 };
        choose_code(&e, 0, &random);
        put_literal(&e, 'a');
        next_symbol(&e, 256 + 15);
        hand_u8(&e.bytes, 255);
        hand_u16(&e.bytes, length);
        flush_bits(&e);
        const etl_xpress_end end = check(hand_view(&e.bytes), 19, 0);
        assert_int_equal(end, length < 15 ? ETL_XPRESS_INVALID : ETL_XPRESS_DONE);
        hand_free(&e.bytes);
    }
}

static void every_cut_and_every_wanted_size_gives_a_prefix(void **state)
{
    (void)state;
    u64 random = 9;
    encoder e = { 0 };
    choose_code(&e, 3, &random);
    put_random_symbols(&e, 3000, &random);
    for (size_t cut = 0; cut < e.bytes.size; cut++)
        assert_int_equal(check((etl_bytes){ e.bytes.at, cut }, e.plain_size, 0), ETL_XPRESS_SHORT);
    for (size_t wanted = 0; wanted < 600; wanted++) {
        (void)check(hand_view(&e.bytes), wanted, 0);
        assert_memory_equal(expected_bytes, plain_bytes, wanted);
    }
    hand_free(&e.bytes);
}

static void damaged_streams_decode_as_the_reference_does(void **state)
{
    (void)state;
    u64 random = 10;
    encoder e = { 0 };
    choose_code(&e, 4, &random);
    put_random_symbols(&e, 2000, &random);
    for (int round = 0; round < 1500; round++) {
        const size_t at = round < 100 ? hand_random(&random) % 256
                                      : 256 + hand_random(&random) % (e.bytes.size - 256);
        const u8 saved = e.bytes.at[at];
        e.bytes.at[at] ^= (u8)(1u << hand_random(&random) % 8);
        (void)check(hand_view(&e.bytes), e.plain_size, hand_random(&random) % 40);
        e.bytes.at[at] = saved;
    }
    hand_free(&e.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_literals_decode),
        cmocka_unit_test(published_match_decodes),
        cmocka_unit_test(all_symbols_decode_whatever_the_length_of_their_code),
        cmocka_unit_test(random_symbols_decode),
        cmocka_unit_test(blocks_of_64_kib_follow_each_other),
        cmocka_unit_test(matches_may_pass_the_end_of_their_block),
        cmocka_unit_test(codes_that_are_not_complete_are_invalid),
        cmocka_unit_test(a_match_before_the_start_is_invalid),
        cmocka_unit_test(a_long_form_of_a_short_length_is_invalid),
        cmocka_unit_test(every_cut_and_every_wanted_size_gives_a_prefix),
        cmocka_unit_test(damaged_streams_decode_as_the_reference_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
