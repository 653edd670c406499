/*
 * Goal: the encodings that Parquet files are made of are those of the specifications.
 * Method: bytes worked out by hand from Thrift's compact protocol and from Parquet's
 * Encodings.md, whose own example is among them; then a decoder written apart reads
 * back random numbers of every width.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "formats/export/parquet_dictionary.h"
#include "formats/export/parquet_hybrid.h"
#include "formats/export/parquet_thrift.h"
#include "tests/support/hand_bytes.h"

#include <stdio.h>
#include <stdlib.h>

#define VALUES_MAX 4000

static void expect_bytes(etlheap_text *text, const char *hex)
{
    char got[512] = "";
    assert_false(text->failed);
    assert_true(text->size * 2 < sizeof got);
    for (size_t i = 0; i < text->size; i++)
        snprintf(got + i * 2, 3, "%02x", (u8)text->bytes[i]);
    assert_string_equal(got, hex);
    etlheap_text_clear(text);
}

/* --- Thrift --------------------------------------------------------------- */

static void fields_are_steps_of_ids_and_zigzag_numbers(void **state)
{
    etlheap_text text = { 0 };
    parquet_thrift thrift = { .out = &text };
    (void)state;
    parquet_thrift_open(&thrift);
    parquet_thrift_i32(&thrift, 1, 1);          /* 15 02 */
    parquet_thrift_i32(&thrift, 2, -1);         /* 15 01 */
    parquet_thrift_i64(&thrift, 4, 64);         /* 26 80 01 */
    parquet_thrift_i64(&thrift, 19, INT64_MIN); /* f6, ten bytes */
    parquet_thrift_close(&thrift);
    expect_bytes(&text, "1502"
                        "1501"
                        "268001"
                        "f6ffffffffffffffffff01"
                        "00");
    etlheap_text_free(&text);
}

static void a_step_above_15_has_its_id_behind_the_type(void **state)
{
    etlheap_text text = { 0 };
    parquet_thrift thrift = { .out = &text };
    (void)state;
    parquet_thrift_open(&thrift);
    parquet_thrift_i32(&thrift, 16, 3);  /* 05 20 06: 16 as zigzag is 32 */
    parquet_thrift_i32(&thrift, 100, 3); /* 05 c8 01 06 */
    parquet_thrift_i32(&thrift, 101, 3); /* 15 06 */
    parquet_thrift_close(&thrift);
    expect_bytes(&text, "052006"
                        "05c80106"
                        "1506"
                        "00");
    etlheap_text_free(&text);
}

static void truths_are_types_and_bytes_are_bytes(void **state)
{
    etlheap_text text = { 0 };
    parquet_thrift thrift = { .out = &text };
    (void)state;
    parquet_thrift_open(&thrift);
    parquet_thrift_bool(&thrift, 1, true);
    parquet_thrift_bool(&thrift, 2, false);
    parquet_thrift_byte(&thrift, 3, 64);
    parquet_thrift_string(&thrift, 4, "ab");
    parquet_thrift_bytes(&thrift, 5, "", 0);
    parquet_thrift_close(&thrift);
    expect_bytes(&text, "11"
                        "12"
                        "1340"
                        "18026162"
                        "1800"
                        "00");
    etlheap_text_free(&text);
}

static void structures_count_ids_of_their_own(void **state)
{
    etlheap_text text = { 0 };
    parquet_thrift thrift = { .out = &text };
    (void)state;
    parquet_thrift_open(&thrift);
    parquet_thrift_struct(&thrift, 3);
    parquet_thrift_i32(&thrift, 1, 0);
    parquet_thrift_close(&thrift);
    parquet_thrift_i32(&thrift, 4, 0);
    parquet_thrift_close(&thrift);
    expect_bytes(&text, "3c"
                        "150000"
                        "1500"
                        "00");
    etlheap_text_free(&text);
}

static void lists_of_15_members_have_a_longer_head(void **state)
{
    etlheap_text text = { 0 };
    parquet_thrift thrift = { .out = &text };
    (void)state;
    parquet_thrift_open(&thrift);
    parquet_thrift_list(&thrift, 1, PARQUET_THRIFT_I32, 2); /* 19 25 */
    parquet_thrift_member_i32(&thrift, 0);
    parquet_thrift_member_i32(&thrift, 8);
    parquet_thrift_list(&thrift, 2, PARQUET_THRIFT_BYTES, 1); /* 19 18 */
    parquet_thrift_member_string(&thrift, "x");
    parquet_thrift_list(&thrift, 3, PARQUET_THRIFT_STRUCT, 14);  /* 19 ec */
    parquet_thrift_list(&thrift, 4, PARQUET_THRIFT_STRUCT, 15);  /* 19 fc 0f */
    parquet_thrift_list(&thrift, 5, PARQUET_THRIFT_STRUCT, 200); /* 19 fc c8 01 */
    parquet_thrift_close(&thrift);
    expect_bytes(&text, "19250010"
                        "19180178"
                        "19ec"
                        "19fc0f"
                        "19fcc801"
                        "00");
    etlheap_text_free(&text);
}

/* --- runs and packed numbers ------------------------------------------------ */

static void expect_hybrid(const u32 *values, u32 count, u32 width, const char *hex)
{
    etlheap_text text = { 0 };
    parquet_hybrid_add(&text, values, count, width);
    expect_bytes(&text, hex);
    etlheap_text_free(&text);
}

static void eight_numbers_pack_as_the_specification_shows(void **state)
{
    const u32 values[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
    (void)state;
    expect_hybrid(values, 8, 3, "0388c6fa");
}

static void a_long_stretch_is_a_run(void **state)
{
    u32 values[300];
    (void)state;
    for (u32 i = 0; i < ETL_COUNT_OF(values); i++)
        values[i] = 5;
    expect_hybrid(values, 8, 3, "1005");
    expect_hybrid(values, 300, 3, "d80405");
    expect_hybrid(values, 300, 9, "d8040500"); /* two bytes for nine bits */
    expect_hybrid(values, 300, 32, "d80405000000");
}

static void short_ends_are_filled_up_with_zeros(void **state)
{
    const u32 values[] = { 1, 0, 1 };
    (void)state;
    expect_hybrid(values, 3, 1, "0305");
    expect_hybrid(values, 0, 1, "");
}

/* 1, then 20 zeros: seven of them fill the eight up, 13 are left for a run. */
static void a_run_gives_what_packed_numbers_lack(void **state)
{
    u32 values[21] = { 1 };
    (void)state;
    expect_hybrid(values, 21, 1,
                  "0301"
                  "1a00");
    /* 14 zeros would leave seven: too few for a run, so all is packed. */
    expect_hybrid(values, 15, 1, "050100");
}

static void widths_are_those_of_the_largest_number(void **state)
{
    (void)state;
    assert_int_equal(parquet_hybrid_width(0), 1);
    assert_int_equal(parquet_hybrid_width(1), 1);
    assert_int_equal(parquet_hybrid_width(2), 1);
    assert_int_equal(parquet_hybrid_width(3), 2);
    assert_int_equal(parquet_hybrid_width(4), 2);
    assert_int_equal(parquet_hybrid_width(5), 3);
    assert_int_equal(parquet_hybrid_width(256), 8);
    assert_int_equal(parquet_hybrid_width(257), 9);
    assert_int_equal(parquet_hybrid_width(UINT32_MAX), 32);
}

/* As the specification reads, bit by bit. Returns the numbers, of the last group with
 * those that fill it up. */
static u32 decode(const u8 *at, const u8 *end, u32 width, u32 *values)
{
    u32 count = 0;
    while (at < end) {
        u64 head = 0;
        for (u32 shift = 0;; shift += 7) {
            head |= (u64)(*at & 0x7f) << shift;
            if ((*at++ & 0x80) == 0)
                break;
        }
        const u32 many = (u32)(head & 1 ? (head >> 1) * 8 : head >> 1);
        assert_true(many > 0 && count + many < VALUES_MAX + 8);
        u32 repeated = 0;
        for (u32 i = 0; !(head & 1) && i < (width + 7) / 8; i++)
            repeated |= (u32)*at++ << (8 * i);
        for (u32 i = 0; i < many; i++) {
            values[count + i] = repeated;
            for (u32 b = 0; (head & 1) && b < width; b++) {
                const u32 bit = i * width + b;
                values[count + i] |= (u32)(at[bit / 8] >> (bit % 8) & 1) << b;
            }
        }
        at += head & 1 ? (size_t)many / 8 * width : 0;
        count += many;
    }
    assert_ptr_equal(at, end);
    return count;
}

static void random_numbers_of_every_width_come_back(void **state)
{
    static u32 values[VALUES_MAX], got[VALUES_MAX + 8];
    u64 random = 7;
    etlheap_text text = { 0 };
    (void)state;
    for (u32 width = 1; width <= PARQUET_WIDTH_MAX; width++) {
        for (u32 round = 0; round < 20; round++) {
            const u32 count = hand_random(&random) % VALUES_MAX;
            const u32 steady = hand_random(&random) % 40;
            for (u32 i = 0; i < count; i++) {
                const bool same = i > 0 && hand_random(&random) % 40 < steady;
                values[i] = same ? values[i - 1] : hand_random(&random) >> (32 - width);
            }
            etlheap_text_clear(&text);
            parquet_hybrid_add(&text, values, count, width);
            const u8 *const bytes = (const u8 *)etlheap_text_of(&text);
            const u32 many = decode(bytes, bytes + text.size, width, got);
            assert_in_range(many, count, count + 7);
            assert_memory_equal(got, values, count * sizeof *values);
        }
    }
    etlheap_text_free(&text);
}

/* --- dictionaries ------------------------------------------------------------- */

static void entries_are_numbered_as_they_come(void **state)
{
    parquet_dictionary dictionary = { 0 };
    (void)state;
    assert_int_equal(parquet_dictionary_text(&dictionary, "b", 1), 0);
    assert_int_equal(parquet_dictionary_text(&dictionary, "", 0), 1);
    assert_int_equal(parquet_dictionary_text(&dictionary, "b\0", 2), 2);
    assert_int_equal(parquet_dictionary_text(&dictionary, "b", 1), 0);
    assert_int_equal(parquet_dictionary_text(&dictionary, "", 0), 1);
    assert_int_equal(parquet_dictionary_text(&dictionary, "b\0", 2), 2);
    assert_int_equal(dictionary.count, 3);
    assert_int_equal(parquet_dictionary_text_of(&dictionary, 1).size, 0);
    assert_memory_equal(parquet_dictionary_text_of(&dictionary, 2).at, "b\0", 2);
    parquet_dictionary_clear(&dictionary);
    assert_int_equal(parquet_dictionary_text(&dictionary, "c", 1), 0);
    assert_memory_equal(parquet_dictionary_text_of(&dictionary, 0).at, "c", 1);
    parquet_dictionary_free(&dictionary);
}

static void many_numbers_are_found_again(void **state)
{
    parquet_dictionary dictionary = { 0 };
    (void)state;
    for (u32 round = 0; round < 2; round++) {
        for (u32 i = 0; i < 50000; i++)
            assert_int_equal(parquet_dictionary_number(&dictionary, (u64)i << 32), i);
    }
    assert_int_equal(dictionary.count, 50000);
    assert_false(dictionary.failed);
    parquet_dictionary_free(&dictionary);
}

static void many_texts_are_found_again(void **state)
{
    parquet_dictionary dictionary = { 0 };
    (void)state;
    for (u32 round = 0; round < 2; round++) {
        for (u32 i = 0; i < 20000; i++) {
            char text[64];
            const int size = snprintf(text, sizeof text, "app.exe!function_%u", i);
            assert_int_equal(parquet_dictionary_text(&dictionary, text, (size_t)size), i);
        }
    }
    parquet_dictionary_free(&dictionary);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_steps_of_ids_and_zigzag_numbers),
        cmocka_unit_test(a_step_above_15_has_its_id_behind_the_type),
        cmocka_unit_test(truths_are_types_and_bytes_are_bytes),
        cmocka_unit_test(structures_count_ids_of_their_own),
        cmocka_unit_test(lists_of_15_members_have_a_longer_head),
        cmocka_unit_test(eight_numbers_pack_as_the_specification_shows),
        cmocka_unit_test(a_long_stretch_is_a_run),
        cmocka_unit_test(short_ends_are_filled_up_with_zeros),
        cmocka_unit_test(a_run_gives_what_packed_numbers_lack),
        cmocka_unit_test(widths_are_those_of_the_largest_number),
        cmocka_unit_test(random_numbers_of_every_width_come_back),
        cmocka_unit_test(entries_are_numbered_as_they_come),
        cmocka_unit_test(many_numbers_are_found_again),
        cmocka_unit_test(many_texts_are_found_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
