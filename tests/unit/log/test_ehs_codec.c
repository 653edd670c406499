/*
 * Goal: a column of any layout, transform and width comes back, and a block that
 * is not one is refused with a reason.
 * Method: every format on every shape and count; every cut of a block and random
 * damage, with output against a page that cannot be touched; blocks made by hand
 * for each refusal.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/log/ehs_codec.h"
#include "tests/support/hand_bytes.h"

#define COUNT_MAX 70000u

static const ehs_format formats[] = {
    { EHS_LAYOUT_PACKED, EHS_TRANSFORM_NONE, 4 },  { EHS_LAYOUT_PACKED, EHS_TRANSFORM_NONE, 8 },
    { EHS_LAYOUT_PACKED, EHS_TRANSFORM_DELTA, 4 }, { EHS_LAYOUT_PACKED, EHS_TRANSFORM_DELTA, 8 },
    { EHS_LAYOUT_PLANES, EHS_TRANSFORM_NONE, 1 },  { EHS_LAYOUT_PLANES, EHS_TRANSFORM_NONE, 4 },
    { EHS_LAYOUT_PLANES, EHS_TRANSFORM_NONE, 8 },  { EHS_LAYOUT_PLANES, EHS_TRANSFORM_DELTA, 4 },
    { EHS_LAYOUT_PLANES, EHS_TRANSFORM_DELTA, 8 }, { EHS_LAYOUT_BITS, EHS_TRANSFORM_NONE, 1 },
};

static const u32 counts[] = { 0, 1, 2, 7, 8, 9, 15, 16, 17, 100, 4097, COUNT_MAX };

enum shape { ZERO, EQUAL, RANDOM, ASCENDING, ALIGNED, MOSTLY_ZERO, SHAPES };

static ehs_codec codec;
static u64 memory[COUNT_MAX], back[COUNT_MAX];

/* Values of the format's width, as bytes. */
static void make_values(const ehs_format *format, enum shape shape, u32 count)
{
    u64 random = 0x1234567 + (u64)shape, sum = 0x7FFE00000000;
    u8 *at = (u8 *)memory;
    for (u32 i = 0; i < count; i++, at += format->value_bytes) {
        const u64 noise = (u64)hand_random(&random) << 32 | hand_random(&random);
        sum += noise >> 58;
        u64 value = shape == EQUAL         ? 0x0101010101010101
                    : shape == RANDOM      ? noise
                    : shape == ASCENDING   ? sum
                    : shape == ALIGNED     ? noise & ~(u64)0xFFF
                    : shape == MOSTLY_ZERO ? (noise % 50 == 0 ? noise : 0)
                                           : 0;
        value = format->layout == EHS_LAYOUT_BITS ? value & 1 : value;
        memcpy(at, &value, format->value_bytes);
    }
}

static ehs_bytes encode(const ehs_format *format, u32 count)
{
    ehs_bytes block = { 0 };
    assert_true(ehs_encode(&codec, format, memory, count, &block));
    return block;
}

/* NULL, or the reason. The values go right before a page that cannot be touched. */
static const char *decode(const ehs_bytes *block, u32 value_bytes, u32 capacity, u32 *count)
{
    hand_guarded out = hand_guard((size_t)capacity * value_bytes, HAND_AT_END);
    hand_guarded in = hand_guard_bytes((etl_bytes){ block->at, block->count }, HAND_AT_END);
    ehs_target target = { out.at, value_bytes, capacity, 0 };
    const char *reason = NULL;
    const etl_status status = ehs_decode(&codec, (etl_bytes){ in.at, in.size }, &target, &reason);
    assert_int_equal(status, reason == NULL ? ETL_OK : ETL_ERR_CORRUPT);
    if (count != NULL)
        *count = target.count;
    if (status == ETL_OK)
        memcpy(back, out.at, (size_t)target.count * value_bytes);
    hand_unguard(&in);
    hand_unguard(&out);
    return reason;
}

static void give_back_every_shape(bool is_quick)
{
    codec.is_quick = is_quick;
    for (size_t f = 0; f < ETL_COUNT_OF(formats); f++) {
        for (u32 shape = 0; shape < (u32)SHAPES; shape++) {
            for (size_t c = 0; c < ETL_COUNT_OF(counts); c++) {
                make_values(&formats[f], (enum shape)shape, counts[c]);
                ehs_bytes block = encode(&formats[f], counts[c]);
                u32 count = 0;
                const char *const reason =
                    decode(&block, formats[f].value_bytes, counts[c], &count);
                if (reason != NULL || count != counts[c])
                    fail_msg("format %zu, shape %u, %u values: %s", f, shape, counts[c], reason);
                assert_memory_equal(back, memory, (size_t)count * formats[f].value_bytes);
                ETLHEAP_VECTOR_FREE(&block);
            }
        }
    }
}

static void every_format_gives_back_every_shape(void **state)
{
    (void)state;
    give_back_every_shape(true);
    give_back_every_shape(false);
}

/* Only bits are not packed, and are kept as they are. */
static void a_quick_block_is_not_compressed(void **state)
{
    (void)state;
    const ehs_format planes = { EHS_LAYOUT_PLANES, EHS_TRANSFORM_NONE, 4 };
    const ehs_format bits = { EHS_LAYOUT_BITS, EHS_TRANSFORM_NONE, 1 };
    make_values(&planes, RANDOM, 1000);
    codec.is_quick = true;
    ehs_bytes packed = encode(&planes, 1000);
    assert_int_equal(packed.at[0], EHS_LAYOUT_PACKED);
    memset(memory, 0, 1000);
    memory[7] = 1;
    ehs_bytes stored = encode(&bits, 1000);
    assert_int_equal(stored.count, 4 + sizeof(u32) + 1 + 1000 / 8);
    codec.is_quick = false;
    ehs_bytes compressed = encode(&bits, 1000);
    assert_true(compressed.count < stored.count / 2);
    ETLHEAP_VECTOR_FREE(&packed);
    ETLHEAP_VECTOR_FREE(&stored);
    ETLHEAP_VECTOR_FREE(&compressed);
}

static void low_bits_that_alignment_makes_zero_take_no_room(void **state)
{
    (void)state;
    static const ehs_format packed = { EHS_LAYOUT_PACKED, EHS_TRANSFORM_NONE, 8 };
    make_values(&packed, ALIGNED, 4096);
    ehs_bytes block = encode(&packed, 4096);
    assert_int_equal(block.at[3], 12);
    assert_in_range(block.count, 4096 * 52 / 8, 4096 * 52 / 8 + 64);
    ETLHEAP_VECTOR_FREE(&block);
}

static void every_cut_is_refused(void **state)
{
    (void)state;
    for (size_t f = 0; f < ETL_COUNT_OF(formats); f++) {
        make_values(&formats[f], MOSTLY_ZERO, 300);
        ehs_bytes block = encode(&formats[f], 300);
        const size_t whole = block.count;
        for (block.count = 0; block.count < whole; block.count++) {
            if (decode(&block, formats[f].value_bytes, 300, NULL) == NULL)
                fail_msg("format %zu cut to %zu bytes was decoded", f, block.count);
        }
        ETLHEAP_VECTOR_FREE(&block);
    }
}

static void bytes_left_over_are_refused(void **state)
{
    (void)state;
    for (size_t f = 0; f < ETL_COUNT_OF(formats); f++) {
        make_values(&formats[f], RANDOM, 50);
        ehs_bytes block = encode(&formats[f], 50);
        assert_true(ehs_put(&block, "", 1));
        assert_string_equal(decode(&block, formats[f].value_bytes, 50, NULL),
                            "has bytes left after its last value");
        ETLHEAP_VECTOR_FREE(&block);
    }
}

static void damage_never_leads_outside(void **state)
{
    (void)state;
    u64 random = 99;
    for (size_t f = 0; f < ETL_COUNT_OF(formats); f++) {
        make_values(&formats[f], MOSTLY_ZERO, 500);
        ehs_bytes block = encode(&formats[f], 500);
        for (u32 round = 0; round < 400; round++) {
            const size_t at = hand_random(&random) % (round % 2 == 0 ? 16 : block.count);
            const u8 before = block.at[at];
            block.at[at] = (u8)hand_random(&random);
            (void)decode(&block, formats[f].value_bytes, 500, NULL);
            block.at[at] = before;
        }
        ETLHEAP_VECTOR_FREE(&block);
    }
}

static void more_values_than_there_is_room_for_are_refused(void **state)
{
    (void)state;
    make_values(&formats[0], RANDOM, 100);
    ehs_bytes block = encode(&formats[0], 100);
    assert_string_equal(decode(&block, 4, 99, NULL), "has more values than it may");
    ETLHEAP_VECTOR_FREE(&block);
}

static void another_width_is_refused(void **state)
{
    (void)state;
    make_values(&formats[0], RANDOM, 100);
    ehs_bytes block = encode(&formats[0], 100);
    assert_string_equal(decode(&block, 8, 100, NULL), "has values of the wrong width");
    ETLHEAP_VECTOR_FREE(&block);
}

typedef struct head_case {
    u8 head[4]; /* layout, transform, width, shift */
    bool is_known;
} head_case;

static void heads_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    static const head_case cases[] = {
        { { 1, 0, 4, 0 }, true },  { { 1, 0, 4, 31 }, true },  { { 1, 0, 4, 32 }, false },
        { { 1, 0, 8, 63 }, true }, { { 1, 0, 8, 64 }, false }, { { 2, 0, 1, 0 }, true },
        { { 1, 0, 1, 0 }, false }, { { 2, 1, 1, 0 }, false },  { { 2, 0, 1, 1 }, false },
        { { 3, 0, 1, 0 }, true },  { { 3, 0, 4, 0 }, false },  { { 3, 1, 1, 0 }, false },
        { { 0, 0, 4, 0 }, false }, { { 4, 0, 4, 0 }, false },  { { 2, 2, 4, 0 }, false },
    };
    for (size_t i = 0; i < ETL_COUNT_OF(cases); i++) {
        /* No values: nothing follows the head but planes of nothing. */
        ehs_bytes block = { 0 };
        static const u8 planes[16] = { 1, 1, 1, 1, 1, 1, 1, 1 };
        const u8 *const head = cases[i].head;
        const u32 plane_bytes = head[0] == 1 ? 0 : head[2];
        assert_true(ehs_put(&block, head, 4) && ehs_put(&block, "\0\0\0\0", 4) &&
                    ehs_put(&block, planes, plane_bytes));
        const char *const reason = decode(&block, head[2], 0, NULL);
        if ((reason == NULL) != cases[i].is_known)
            fail_msg("case %zu: %s", i, reason == NULL ? "decoded" : reason);
        ETLHEAP_VECTOR_FREE(&block);
    }
}

/* A frame that decompresses to fewer bytes than the plane has. */
static void a_plane_of_another_size_is_refused(void **state)
{
    (void)state;
    static const ehs_format text = { EHS_LAYOUT_PLANES, EHS_TRANSFORM_NONE, 1 };
    make_values(&text, MOSTLY_ZERO, 1000);
    ehs_bytes block = encode(&text, 1000);
    assert_int_equal(block.at[8], 2);
    for (u32 count = 999; count <= 1001; count += 2) {
        memcpy(block.at + 4, &count, sizeof count);
        assert_string_equal(decode(&block, 1, 1001, NULL),
                            "has a plane that cannot be decompressed");
    }
    block.at[8] = 3;
    assert_string_equal(decode(&block, 1, 1001, NULL), "has a plane of unknown mode");
    ETLHEAP_VECTOR_FREE(&block);
}

static void bits_after_the_last_value_are_refused(void **state)
{
    (void)state;
    ehs_bytes block = { 0 };
    static const u8 nine_ones[] = { 3, 0, 1, 0, 9, 0, 0, 0, 1, 0xFF, 0x01 };
    assert_true(ehs_put(&block, nine_ones, sizeof nine_ones));
    assert_null(decode(&block, 1, 9, NULL));
    block.at[10] = 0x03;
    assert_string_equal(decode(&block, 1, 9, NULL), "has bits left after its last value");
    ETLHEAP_VECTOR_FREE(&block);
}

static int close_codec(void **state)
{
    (void)state;
    ehs_codec_free(&codec);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_format_gives_back_every_shape),
        cmocka_unit_test(a_quick_block_is_not_compressed),
        cmocka_unit_test(low_bits_that_alignment_makes_zero_take_no_room),
        cmocka_unit_test(every_cut_is_refused),
        cmocka_unit_test(bytes_left_over_are_refused),
        cmocka_unit_test(damage_never_leads_outside),
        cmocka_unit_test(more_values_than_there_is_room_for_are_refused),
        cmocka_unit_test(another_width_is_refused),
        cmocka_unit_test(heads_that_make_no_sense_are_refused),
        cmocka_unit_test(a_plane_of_another_size_is_refused),
        cmocka_unit_test(bits_after_the_last_value_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, close_codec);
}
