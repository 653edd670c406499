/*
 * Goal: an index finds exactly the ids that were added, whatever their hashes;
 * equal texts have one id and different texts never share one.
 * Method: many keys with good hashes, and few keys with hashes made to collide
 * in part or wholly; texts that a careless comparison would confuse.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "engine/core/intern.h"
#include "tests/support/hand_bytes.h"

#define KEYS 20000u

/* The owner is an array of keys; id is index + 1. */
static bool same_u64(const void *owner, u32 id, const void *key)
{
    return ((const u64 *)owner)[id - 1] == *(const u64 *)key;
}

static u32 find_u64(const etlheap_index *index, const u64 *keys, u64 hash, u64 key)
{
    return etlheap_index_find(index, hash, same_u64, keys, &key);
}

static void empty_index_finds_nothing(void **state)
{
    (void)state;
    const etlheap_index index = { 0 };
    assert_int_equal(find_u64(&index, NULL, 0, 5), 0);
    assert_int_equal(find_u64(&index, NULL, UINT64_MAX, 5), 0);
}

static void every_key_is_found_while_the_index_grows(void **state)
{
    (void)state;
    etlheap_index index = { 0 };
    u64 *const keys = calloc(KEYS, sizeof *keys);
    assert_non_null(keys);
    for (u32 i = 0; i < KEYS; i++) {
        keys[i] = (u64)i * 0x10001;
        const u64 hash = etlheap_hash_u64(keys[i]);
        assert_int_equal(find_u64(&index, keys, hash, keys[i]), 0);
        assert_true(etlheap_index_add(&index, hash, i + 1));
        const u64 older = keys[i / 2];
        assert_int_equal(find_u64(&index, keys, etlheap_hash_u64(older), older), i / 2 + 1);
    }
    for (u32 i = 0; i < KEYS; i++)
        assert_int_equal(find_u64(&index, keys, etlheap_hash_u64(keys[i]), keys[i]), i + 1);
    assert_int_equal(index.count, KEYS);
    etlheap_index_free(&index);
    free(keys);
}

/* With room for all of them nothing moves, and with room for fewer it grows as ever. */
static void room_that_is_expected_changes_no_answer(void **state)
{
    (void)state;
    static const size_t expected[] = { 0, 1, 47, 48, 49, KEYS / 2, KEYS, 3 * KEYS };
    u64 *const keys = calloc(KEYS, sizeof *keys);
    assert_non_null(keys);
    for (u32 i = 0; i < KEYS; i++)
        keys[i] = (u64)i * 0x10001;
    for (size_t e = 0; e < ETL_COUNT_OF(expected); e++) {
        etlheap_index index = { 0 };
        for (u32 i = 0; i < KEYS; i++) {
            if (i == 0 || i == 40)
                etlheap_index_expect(&index, expected[e]);
            assert_true(etlheap_index_add(&index, etlheap_hash_u64(keys[i]), i + 1));
        }
        for (u32 i = 0; i < KEYS; i++)
            assert_int_equal(find_u64(&index, keys, etlheap_hash_u64(keys[i]), keys[i]), i + 1);
        etlheap_index_free(&index);
    }
    free(keys);
}

static void room_for_as_many_as_expected_is_there_at_once(void **state)
{
    (void)state;
    for (u32 count = 1; count < 200; count++) {
        etlheap_index index = { 0 };
        etlheap_index_expect(&index, count);
        const u32 mask = index.mask;
        for (u32 i = 0; i < count; i++)
            assert_true(etlheap_index_add(&index, etlheap_hash_u64(i), i + 1));
        assert_int_equal(index.mask, mask);
        etlheap_index_free(&index);
    }
}

/* Hash 0 and a hash of ones begin at both ends of the table. */
static void equal_hashes_are_told_apart_by_content(void **state)
{
    (void)state;
    static const u64 hashes[] = { 0, UINT64_MAX, (u64)63 << 32 };
    for (size_t h = 0; h < ETL_COUNT_OF(hashes); h++) {
        etlheap_index index = { 0 };
        u64 keys[200];
        for (u32 i = 0; i < 200; i++) {
            keys[i] = i + 1000;
            assert_true(etlheap_index_add(&index, hashes[h], i + 1));
        }
        for (u32 i = 0; i < 200; i++)
            assert_int_equal(find_u64(&index, keys, hashes[h], keys[i]), i + 1);
        assert_int_equal(find_u64(&index, keys, hashes[h], 5), 0);
        etlheap_index_free(&index);
    }
}

static void freed_index_is_empty_and_usable(void **state)
{
    (void)state;
    etlheap_index index = { 0 };
    const u64 key = 3;
    assert_true(etlheap_index_add(&index, 9, 1));
    etlheap_index_free(&index);
    assert_int_equal(find_u64(&index, &key, 9, 3), 0);
    assert_true(etlheap_index_add(&index, 9, 1));
    assert_int_equal(find_u64(&index, &key, 9, 3), 1);
    etlheap_index_free(&index);
}

/* Addresses differ in few bits; the part of the hash that gives the position
 * must not. 4096 of them fall into at least half of 4096 places: at random
 * about 63 in 100 are hit. */
static void hash_spreads_numbers_that_differ_in_few_bits(void **state)
{
    (void)state;
    static const u32 shifts[] = { 0, 4, 12, 16, 32, 52 };
    for (size_t s = 0; s < ETL_COUNT_OF(shifts); s++) {
        static bool hit[4096];
        memset(hit, 0, sizeof hit);
        u32 places = 0;
        for (u64 i = 0; i < 4096; i++) {
            const u32 at = (u32)(etlheap_hash_u64(i << shifts[s]) >> 32) & 4095;
            places += !hit[at];
            hit[at] = true;
        }
        assert_in_range(places, 2048, 4096);
    }
}

static void keys_made_to_collide_do_not(void **state)
{
    (void)state;
    static bool hit[4096];
    u32 places = 0;
    for (u64 i = 0; i < 4096; i++) {
        const u64 key = hand_unmix(i);
        assert_true(etlheap_mix_u64(key) >> 32 == 0);
        const u32 at = (u32)(etlheap_hash_u64(key) >> 32) & 4095;
        places += !hit[at];
        hit[at] = true;
    }
    assert_in_range(places, 1024, 4096);
}

static u32 add(etlheap_strings *strings, const char *text)
{
    u32 id = 999;
    assert_true(etlheap_strings_add(strings, text, strlen(text), &id));
    return id;
}

static void equal_texts_have_one_id(void **state)
{
    (void)state;
    etlheap_strings strings = { 0 };
    const char copy[] = { 'a', 'p', 'p', '.', 'e', 'x', 'e', '\0' };
    const u32 id = add(&strings, "app.exe");
    assert_int_equal(id, 1);
    assert_int_equal(add(&strings, "lib.dll"), 2);
    assert_int_equal(add(&strings, copy), id);
    assert_string_equal(etlheap_strings_get(&strings, id), "app.exe");
    assert_ptr_not_equal(etlheap_strings_get(&strings, id), copy);
    etlheap_strings_free(&strings);
}

static void empty_text_is_id_zero(void **state)
{
    (void)state;
    etlheap_strings strings = { 0 };
    assert_int_equal(add(&strings, ""), 0);
    assert_string_equal(etlheap_strings_get(&strings, 0), "");
    u32 id = 999;
    assert_true(etlheap_strings_add_utf16(&strings, (etl_bytes){ NULL, 0 }, &id));
    assert_int_equal(id, 0);
    assert_true(etlheap_strings_add_text(&strings, (etl_bytes){ NULL, 0 }, &id));
    assert_int_equal(id, 0);
    etlheap_strings_free(&strings);
}

static void text_need_not_be_terminated(void **state)
{
    (void)state;
    etlheap_strings strings = { 0 };
    char *const text = malloc(4);
    assert_non_null(text);
    memcpy(text, "abcd", 4);
    u32 three, four;
    assert_true(etlheap_strings_add(&strings, text, 3, &three));
    assert_true(etlheap_strings_add(&strings, text, 4, &four));
    free(text);
    assert_int_not_equal(three, four);
    assert_string_equal(etlheap_strings_get(&strings, three), "abc");
    assert_string_equal(etlheap_strings_get(&strings, four), "abcd");
    etlheap_strings_free(&strings);
}

/* Strings are handed out terminated, so nothing after a NUL can be of use. */
static void text_ends_at_a_nul_inside(void **state)
{
    (void)state;
    etlheap_strings strings = { 0 };
    u32 id, cut, empty;
    assert_true(etlheap_strings_add(&strings, "ab", 2, &id));
    assert_true(etlheap_strings_add(&strings, "ab\0cd", 5, &cut));
    assert_int_equal(cut, id);
    assert_true(etlheap_strings_add(&strings, "\0cd", 3, &empty));
    assert_int_equal(empty, 0);
    etlheap_strings_free(&strings);
}

static void both_encodings_of_a_text_have_one_id(void **state)
{
    (void)state;
    etlheap_strings strings = { 0 };
    static const u8 utf16[] = { 'G', 0, 0xFC, 0, 'n', 0 };
    static const u8 latin1[] = { 'G', 0xFC, 'n' };
    const u32 id = add(&strings, "G\xC3\xBCn");
    u32 other;
    assert_true(etlheap_strings_add_utf16(&strings, (etl_bytes){ utf16, sizeof utf16 }, &other));
    assert_int_equal(other, id);
    assert_true(etlheap_strings_add_text(&strings, (etl_bytes){ latin1, sizeof latin1 }, &other));
    assert_int_equal(other, id);
    etlheap_strings_free(&strings);
}

/* Around the size of the converter's first buffer. */
static void long_texts_are_converted_whole(void **state)
{
    (void)state;
    etlheap_strings strings = { 0 };
    for (size_t length = 500; length < 530; length++) {
        u8 *const wide = calloc(length, 2);
        char *const narrow = calloc(length + 1, 1);
        assert_non_null(wide);
        assert_non_null(narrow);
        for (size_t i = 0; i < length; i++)
            wide[2 * i] = (u8)(narrow[i] = (char)('a' + i % 26));
        u32 id;
        assert_true(etlheap_strings_add_utf16(&strings, (etl_bytes){ wide, 2 * length }, &id));
        assert_string_equal(etlheap_strings_get(&strings, id), narrow);
        assert_int_equal(add(&strings, narrow), id);
        free(wide);
        free(narrow);
    }
    etlheap_strings_free(&strings);
}

static void many_texts_keep_their_ids(void **state)
{
    (void)state;
    etlheap_strings strings = { 0 };
    char text[32];
    for (u32 round = 0; round < 2; round++) {
        for (u32 i = 0; i < 5000; i++) {
            snprintf(text, sizeof text, "module%u.dll", i);
            assert_int_equal(add(&strings, text), i + 1);
        }
    }
    assert_string_equal(etlheap_strings_get(&strings, 4322), "module4321.dll");
    etlheap_strings_free(&strings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_index_finds_nothing),
        cmocka_unit_test(every_key_is_found_while_the_index_grows),
        cmocka_unit_test(room_that_is_expected_changes_no_answer),
        cmocka_unit_test(room_for_as_many_as_expected_is_there_at_once),
        cmocka_unit_test(equal_hashes_are_told_apart_by_content),
        cmocka_unit_test(freed_index_is_empty_and_usable),
        cmocka_unit_test(hash_spreads_numbers_that_differ_in_few_bits),
        cmocka_unit_test(keys_made_to_collide_do_not),
        cmocka_unit_test(equal_texts_have_one_id),
        cmocka_unit_test(empty_text_is_id_zero),
        cmocka_unit_test(text_need_not_be_terminated),
        cmocka_unit_test(text_ends_at_a_nul_inside),
        cmocka_unit_test(both_encodings_of_a_text_have_one_id),
        cmocka_unit_test(long_texts_are_converted_whole),
        cmocka_unit_test(many_texts_keep_their_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
