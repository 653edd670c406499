/*
 * Goal: packed integers come back as they were, take the bits they should, and no
 * bytes whatever make the unpacker touch one that is not its.
 * Method: values of many shapes and counts around every rounding; a reader that
 * goes bit by bit, as the format says and sharing nothing with the tested one,
 * must agree; every cut and random damage of packed bytes, against pages that
 * cannot be touched.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/log/ehs_pack.h"
#include "tests/support/hand_bytes.h"

#define COUNT_MAX (2 * EHS_PACK_CHUNK + 100)

typedef u64 shape_fn(u64 *random);

static u64 random_bits(u64 *random, u32 bits)
{
    const u64 high = hand_random(random);
    const u64 both = high << 32 | hand_random(random);
    return bits == 0 ? 0 : both >> (64 - bits);
}

static u64 all_zero(u64 *random)
{
    (void)random;
    return 0;
}

static u64 all_the_same(u64 *random)
{
    (void)random;
    return 0xFEDCBA9876543210;
}

static u64 few_bits(u64 *random)
{
    return random_bits(random, 5);
}

static u64 any_32_bits(u64 *random)
{
    return random_bits(random, 32);
}

static u64 any_33_bits(u64 *random)
{
    return random_bits(random, 33);
}

static u64 any_64_bits(u64 *random)
{
    return random_bits(random, 64);
}

/* Every number of bits is as likely: all groups are used. */
static u64 any_length(u64 *random)
{
    return random_bits(random, hand_random(random) % 65);
}

static u64 short_length(u64 *random)
{
    return random_bits(random, hand_random(random) % 17);
}

static u64 rare_outlier(u64 *random)
{
    const bool is_rare = hand_random(random) % 100 == 0;
    return is_rare ? UINT64_MAX : random_bits(random, 3);
}

static u64 far_from_zero(u64 *random)
{
    return 0x7FF700000000 + random_bits(random, 9);
}

static u64 top_of_32_bits(u64 *random)
{
    return UINT32_MAX - random_bits(random, 4);
}

static const struct {
    const char *name;
    shape_fn *next;
    bool fits_u32;
} shapes[] = {
    { "all zero", all_zero, true },
    { "all the same", all_the_same, false },
    { "few bits", few_bits, true },
    { "any 32 bits", any_32_bits, true },
    { "any 33 bits", any_33_bits, false },
    { "any 64 bits", any_64_bits, false },
    { "any length", any_length, false },
    { "short length", short_length, true },
    { "rare outlier", rare_outlier, false },
    { "far from zero", far_from_zero, false },
    { "top of 32 bits", top_of_32_bits, true },
};

static const u32 counts[] = {
    0,  1,  2,  7,  8,   9,   15,  16,   17,   31,   32,
    33, 63, 64, 65, 255, 256, 257, 4095, 4096, 4097, COUNT_MAX,
};

/* --- the reference: one bit at a time ------------------------------------------ */

static u32 bit_at(const u8 *bytes, u64 bit)
{
    return (u32)bytes[bit / 8] >> bit % 8 & 1u;
}

/* Value `index` of a stream in lanes. */
static u64 lane_value(const u8 *bytes, u32 width, u32 index)
{
    u64 value = 0;
    for (u32 k = 0; k < width; k++) {
        const u64 lane_bit = (u64)(index / 8) * width + k;
        const u64 word = lane_bit / 32 * 8 + index % 8;
        value |= (u64)bit_at(bytes, word * 32 + lane_bit % 32) << k;
    }
    return value;
}

static size_t stream_bytes(u32 count, u32 width)
{
    const size_t rows = (count + 7) / 8;
    return (rows * width + 31) / 32 * 32;
}

/* Reads a chunk as the format says; returns its size. */
static size_t reference_chunk(const u8 *bytes, u32 count, u64 *out)
{
    const u32 code_bits = bytes[0];
    const u8 *const widths = bytes + 1;
    const u8 *at = bytes + 1 + (1u << code_bits);
    const u64 base = etl_load_u64(at);
    const u8 *const codes = at + 8;
    at = codes + (count * code_bits + 63) / 64 * 8;
    u8 groups[EHS_PACK_CHUNK];
    u32 sizes[4] = { 0 };
    for (u32 i = 0; i < count; i++) {
        groups[i] = 0;
        for (u32 k = 0; k < code_bits; k++)
            groups[i] = (u8)(groups[i] | bit_at(codes, i * code_bits + k) << k);
        sizes[groups[i]]++;
    }
    for (u32 group = 0; group < 1u << code_bits; group++) {
        const u32 low = widths[group] < 32 ? widths[group] : 32, high = widths[group] - low;
        const u8 *const highs = at + stream_bytes(sizes[group], low);
        for (u32 i = 0, member = 0; i < count; i++) {
            if (groups[i] != group)
                continue;
            const u64 above = lane_value(highs, high, member);
            out[i] = base + (above << 32 | lane_value(at, low, member));
            member++;
        }
        at = highs + stream_bytes(sizes[group], high);
    }
    return (size_t)(at - bytes);
}

static void make_values(u64 *values, u32 count, shape_fn *next)
{
    u64 random = 0x9E3779B97F4A7C15;
    for (u32 i = 0; i < count; i++)
        values[i] = next(&random);
}

static ehs_bytes pack(const u64 *values, u32 count)
{
    ehs_bytes packed = { 0 };
    assert_true(ehs_pack(&packed, values, count));
    return packed;
}

/* --- tests ----------------------------------------------------------------------- */

static u64 given[COUNT_MAX], got[COUNT_MAX];
static u32 got_u32[COUNT_MAX];
static ehs_pack_scratch scratch;

static void values_of_every_shape_and_count_come_back(void **state)
{
    (void)state;
    for (size_t s = 0; s < ETL_COUNT_OF(shapes); s++) {
        for (size_t c = 0; c < ETL_COUNT_OF(counts); c++) {
            make_values(given, counts[c], shapes[s].next);
            ehs_bytes packed = pack(given, counts[c]);
            etl_cursor in = etl_cursor_of((etl_bytes){ packed.at, packed.count });
            memset(got, 0xA5, sizeof got);
            if (!ehs_unpack_u64(&in, &scratch, got, counts[c]) || in.left != 0)
                fail_msg("%u values, %s: not unpacked", counts[c], shapes[s].name);
            assert_memory_equal(got, given, counts[c] * sizeof *got);
            ETLHEAP_VECTOR_FREE(&packed);
        }
    }
}

static void narrow_values_come_back_as_u32(void **state)
{
    (void)state;
    for (size_t s = 0; s < ETL_COUNT_OF(shapes); s++) {
        make_values(given, COUNT_MAX, shapes[s].next);
        ehs_bytes packed = pack(given, COUNT_MAX);
        etl_cursor in = etl_cursor_of((etl_bytes){ packed.at, packed.count });
        const bool ok = ehs_unpack_u32(&in, &scratch, got_u32, COUNT_MAX);
        if (ok != shapes[s].fits_u32)
            fail_msg("%s: unpacked as u32: %d", shapes[s].name, ok);
        for (u32 i = 0; ok && i < COUNT_MAX; i++)
            assert_int_equal(got_u32[i], given[i]);
        ETLHEAP_VECTOR_FREE(&packed);
    }
}

static void bytes_are_laid_out_as_the_format_says(void **state)
{
    (void)state;
    for (size_t s = 0; s < ETL_COUNT_OF(shapes); s++) {
        for (u32 count = 1; count <= 600; count += 37) {
            make_values(given, count, shapes[s].next);
            ehs_bytes packed = pack(given, count);
            assert_int_equal(reference_chunk(packed.at, count, got), packed.count);
            assert_memory_equal(got, given, count * sizeof *got);
            ETLHEAP_VECTOR_FREE(&packed);
        }
    }
}

static void equal_values_take_no_bits(void **state)
{
    (void)state;
    make_values(given, EHS_PACK_CHUNK, all_the_same);
    ehs_bytes packed = pack(given, EHS_PACK_CHUNK);
    assert_int_equal(packed.count, 1 + 1 + 8);
    ETLHEAP_VECTOR_FREE(&packed);
}

/* One value in a hundred has 64 bits: one code bit each, and 64 for the few. */
static void outliers_do_not_widen_the_others(void **state)
{
    (void)state;
    make_values(given, EHS_PACK_CHUNK, rare_outlier);
    ehs_bytes packed = pack(given, EHS_PACK_CHUNK);
    assert_true(packed.count * 8 < EHS_PACK_CHUNK * 5);
    ETLHEAP_VECTOR_FREE(&packed);
}

/* Lengths evenly from 0 to 16 bits: 8 bits a value on average, and 2 of code. */
static void lengths_of_all_kinds_take_what_their_groups_need(void **state)
{
    (void)state;
    make_values(given, EHS_PACK_CHUNK, short_length);
    ehs_bytes packed = pack(given, EHS_PACK_CHUNK);
    assert_in_range(packed.count * 8, EHS_PACK_CHUNK * 10, EHS_PACK_CHUNK * 13);
    ETLHEAP_VECTOR_FREE(&packed);
}

static bool unpack_guarded(const u8 *bytes, size_t size, u32 count)
{
    hand_guarded in = hand_guard_bytes((etl_bytes){ bytes, size }, HAND_AT_END);
    hand_guarded out = hand_guard(count * sizeof(u64), HAND_AT_END);
    etl_cursor cursor = etl_cursor_of((etl_bytes){ in.at, in.size });
    const bool wide = ehs_unpack_u64(&cursor, &scratch, (u64 *)(void *)out.at, count);
    assert_int_equal(wide, etl_ok(&cursor));
    cursor = etl_cursor_of((etl_bytes){ in.at, in.size });
    (void)ehs_unpack_u32(&cursor, &scratch, (u32 *)(void *)out.at, count);
    hand_unguard(&in);
    hand_unguard(&out);
    return wide;
}

static void every_cut_fails_and_reads_nothing_beyond(void **state)
{
    (void)state;
    static const size_t tried[] = { 3, 5, 6, 8 };
    for (size_t s = 0; s < ETL_COUNT_OF(tried); s++) {
        make_values(given, 150, shapes[tried[s]].next);
        ehs_bytes packed = pack(given, 150);
        for (size_t size = 0; size < packed.count; size++) {
            if (unpack_guarded(packed.at, size, 150))
                fail_msg("%s cut to %zu bytes was unpacked", shapes[tried[s]].name, size);
        }
        assert_true(unpack_guarded(packed.at, packed.count, 150));
        ETLHEAP_VECTOR_FREE(&packed);
    }
}

static void damaged_bytes_never_lead_outside(void **state)
{
    (void)state;
    u64 random = 7;
    make_values(given, 200, any_length);
    ehs_bytes packed = pack(given, 200);
    for (u32 round = 0; round < 3000; round++) {
        const size_t at = hand_random(&random) % (round % 2 == 0 ? 14 : packed.count);
        const u8 before = packed.at[at];
        packed.at[at] = (u8)hand_random(&random);
        (void)unpack_guarded(packed.at, packed.count, 200);
        packed.at[at] = before;
    }
    ETLHEAP_VECTOR_FREE(&packed);
}

static bool unpack_head(u32 code_bits, u32 first_width, u32 second_width)
{
    u8 bytes[600] = { (u8)code_bits, (u8)first_width, (u8)second_width };
    etl_cursor in = etl_cursor_of((etl_bytes){ bytes, sizeof bytes });
    return ehs_unpack_u64(&in, &scratch, got, 8);
}

static void heads_out_of_range_are_refused(void **state)
{
    (void)state;
    assert_true(unpack_head(0, 64, 0));
    assert_false(unpack_head(0, 65, 0));
    assert_true(unpack_head(1, 3, 64));
    assert_false(unpack_head(1, 4, 3));
    assert_false(unpack_head(1, 3, 65));
    assert_false(unpack_head(3, 0, 0));
}

/* Three codes of one bit: a fourth bit belongs to no value. */
static void codes_after_the_last_value_are_refused(void **state)
{
    (void)state;
    u8 bytes[128] = { 1, 0, 8 };
    for (u32 last = 0; last < 2; last++) {
        bytes[11] = (u8)(7 | last << 3);
        etl_cursor in = etl_cursor_of((etl_bytes){ bytes, sizeof bytes });
        assert_int_equal(ehs_unpack_u64(&in, &scratch, got, 3), last == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_every_shape_and_count_come_back),
        cmocka_unit_test(narrow_values_come_back_as_u32),
        cmocka_unit_test(bytes_are_laid_out_as_the_format_says),
        cmocka_unit_test(equal_values_take_no_bits),
        cmocka_unit_test(outliers_do_not_widen_the_others),
        cmocka_unit_test(lengths_of_all_kinds_take_what_their_groups_need),
        cmocka_unit_test(every_cut_fails_and_reads_nothing_beyond),
        cmocka_unit_test(damaged_bytes_never_lead_outside),
        cmocka_unit_test(heads_out_of_range_are_refused),
        cmocka_unit_test(codes_after_the_last_value_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
