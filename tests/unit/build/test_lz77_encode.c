/*
 * Goal: the encoder of the trace builder writes valid XPRESS plain LZ77 that
 * decodes to its input, small enough to be worth it.
 * Method: the published examples byte for byte; inputs of every kind through a
 * decoder written from the specification alone, and through the reader's, in
 * memory of exactly the promised size.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "tests/build/lz77_encode.h"
#include "tests/build/lz77_reference.h"
#include "parser/etl/xpress.h"

static u64 next_random(u64 *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* Encodes, decodes twice, compares; returns the length of the encoding. */
static size_t assert_round_trip(lz77_encoder *encoder, const u8 *in, size_t size)
{
    u8 *const packed = malloc(lz77_bound(size));
    u8 *const plain = malloc(size + 1);
    assert_non_null(packed);
    assert_non_null(plain);
    const size_t length = lz77_encode(encoder, in, size, packed);
    assert_true(length <= lz77_bound(size));

    /* All input is used, but for a flag word that nothing followed. */
    const size_t used = lz77_reference_decode(packed, length, plain, size);
    assert_true(used == length || used + 4 == length);
    assert_memory_equal(plain, in, size);

    memset(plain, 0, size);
    etl_xpress_output out = { .at = plain, .wanted = size };
    assert_int_equal(etl_xpress_plain((etl_bytes){ packed, length }, &out), ETL_XPRESS_DONE);
    assert_int_equal(out.size, size);
    assert_memory_equal(plain, in, size);
    free(packed);
    free(plain);
    return length;
}

static lz77_encoder *new_encoder(void)
{
    lz77_encoder *const encoder = malloc(sizeof *encoder);
    assert_non_null(encoder);
    memset(encoder, 0xA5, sizeof *encoder);
    return encoder;
}

/* MS-XCA 3.1 and 3.2 show these two inputs and their encodings. */
static void published_examples_come_out_byte_for_byte(void **state)
{
    (void)state;
    static const u8 alphabet_packed[] = "\x3f\x00\x00\x00"
                                        "abcdefghijklmnopqrstuvwxyz";
    static const u8 repeat_packed[] = { 0xff, 0xff, 0xff, 0x1f, 'a',  'b', 'c',
                                        0x17, 0x00, 0x0f, 0xff, 0x26, 0x01 };
    lz77_encoder *const encoder = new_encoder();
    u8 packed[512];
    assert_int_equal(lz77_encode(encoder, (const u8 *)"abcdefghijklmnopqrstuvwxyz", 26, packed),
                     30);
    assert_memory_equal(packed, alphabet_packed, 30);

    u8 repeat[300];
    for (size_t i = 0; i < sizeof repeat; i++)
        repeat[i] = (u8)('a' + i % 3);
    assert_int_equal(lz77_encode(encoder, repeat, sizeof repeat, packed), sizeof repeat_packed);
    assert_memory_equal(packed, repeat_packed, sizeof repeat_packed);
    free(encoder);
}

static void every_small_size_round_trips(void **state)
{
    (void)state;
    lz77_encoder *const encoder = new_encoder();
    u8 in[200];
    for (size_t size = 0; size <= sizeof in; size++) {
        for (size_t i = 0; i < size; i++)
            in[i] = (u8)(i * i / 7);
        assert_round_trip(encoder, in, size);
        memset(in, 'x', size);
        assert_round_trip(encoder, in, size);
    }
    free(encoder);
}

/* Lengths around every change of their encoding, behind one or two long
 * matches, so that both nibbles of a shared byte are used. */
static void match_lengths_of_every_encoding_round_trip(void **state)
{
    (void)state;
    static const size_t lengths[] = {
        3,   4,   9,   10,  11,    23,    24,    25,    26,    277,
        278, 279, 280, 281, 65535, 65537, 65538, 65539, 65540, 200000
    };
    lz77_encoder *const encoder = new_encoder();
    for (size_t i = 0; i < ETL_COUNT_OF(lengths); i++) {
        for (size_t j = 0; j < ETL_COUNT_OF(lengths); j++) {
            const size_t size = lengths[i] + lengths[j] + 32;
            u8 *const in = malloc(size);
            assert_non_null(in);
            memset(in, 'a', lengths[i]);
            memcpy(in + lengths[i], "0123456789ABCDEF", 16);
            memset(in + lengths[i] + 16, 'b', lengths[j]);
            memcpy(in + lengths[i] + 16 + lengths[j], "0123456789ABCDEF", 16);
            assert_round_trip(encoder, in, size);
            free(in);
        }
    }
    free(encoder);
}

static void random_bytes_never_exceed_the_bound(void **state)
{
    (void)state;
    lz77_encoder *const encoder = new_encoder();
    u64 random = 5;
    for (size_t size = 1; size < 200000; size = size * 3 + 1) {
        u8 *const in = malloc(size);
        assert_non_null(in);
        for (size_t i = 0; i < size; i++)
            in[i] = (u8)next_random(&random);
        assert_round_trip(encoder, in, size);
        free(in);
    }
    free(encoder);
}

/* Distances beyond the window must not be used: the same text comes again after
 * a little less and a little more than 8,192 bytes of noise. */
static void distances_end_with_the_window(void **state)
{
    (void)state;
    lz77_encoder *const encoder = new_encoder();
    u64 random = 9;
    for (size_t gap = 8160; gap <= 8200; gap++) {
        u8 in[8200 + 64];
        for (size_t i = 0; i < gap + 64; i++)
            in[i] = (u8)next_random(&random);
        memcpy(in + gap, in, 32);
        assert_round_trip(encoder, in, gap + 64);
    }
    free(encoder);
}

/* What trace buffers look like: records that differ in a few bytes. */
static void records_become_several_times_smaller(void **state)
{
    (void)state;
    lz77_encoder *const encoder = new_encoder();
    u64 random = 3;
    const size_t size = 65464;
    u8 *const in = calloc(1, size);
    assert_non_null(in);
    for (size_t at = 0; at + 64 <= size; at += 64) {
        memcpy(in + at, "\x02\x00\x02\xC0\x3C\x00\x21\x10", 8);
        const u64 fields[3] = { at * 17, 0x1f0000000000 + next_random(&random) % 4096 * 16,
                                next_random(&random) % 9 };
        memcpy(in + at + 16, fields, sizeof fields);
    }
    const size_t length = assert_round_trip(encoder, in, size);
    assert_true(length * 3 < size);
    free(in);
    free(encoder);
}

static void output_does_not_depend_on_earlier_inputs(void **state)
{
    (void)state;
    lz77_encoder *const used = new_encoder();
    lz77_encoder *const fresh = calloc(1, sizeof *fresh);
    assert_non_null(fresh);
    u8 in[5000];
    u8 one[6000];
    u8 other[6000];
    for (size_t i = 0; i < sizeof in; i++)
        in[i] = (u8)(i % 97 * (i / 600));
    lz77_encode(used, in + 100, 4000, one);
    const size_t length = lz77_encode(used, in, sizeof in, one);
    assert_int_equal(lz77_encode(fresh, in, sizeof in, other), length);
    assert_memory_equal(one, other, length);
    free(used);
    free(fresh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_examples_come_out_byte_for_byte),
        cmocka_unit_test(every_small_size_round_trips),
        cmocka_unit_test(match_lengths_of_every_encoding_round_trip),
        cmocka_unit_test(random_bytes_never_exceed_the_bound),
        cmocka_unit_test(distances_end_with_the_window),
        cmocka_unit_test(records_become_several_times_smaller),
        cmocka_unit_test(output_does_not_depend_on_earlier_inputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
