/*
 * Goal: who writes a file cannot choose what it says so that hash tables of it become
 * lists: keys that all have one hash as it is written here spread over the table, for
 * hashes begin with a number of the process.
 * Method: thousands of such keys, found by running the hash backward or by trying, go
 * into each table; then the longest stretch of used places is short.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "formats/parts/export_numbers.h"
#include "formats/export/parquet_dictionary.h"
#include "parser/symbols/pdb_internal.h"
#include "tests/support/hand_bytes.h"

#define KEYS        4000u
#define STRETCH_MAX 400u /* tables are half full: a stretch of 100 is rare already */
#define TEXT_PLACES 65536u

/* A number below 2^32 after `last` whose hash leads to the first places of a table. */
static u32 next_crowded(u32 last, u32 mask)
{
    do {
        last++;
    } while ((etl_mix_u64(last) & mask) >= 256);
    return last;
}

typedef struct stretch {
    u32 length, longest, used;
} stretch;

static void look(stretch *s, bool is_used)
{
    s->length = is_used ? s->length + 1 : 0;
    s->used += is_used;
    if (s->length > s->longest)
        s->longest = s->length;
}

static void expect_spread(const stretch *s)
{
    assert_int_equal(s->used, KEYS);
    assert_in_range(s->longest, 1, STRETCH_MAX);
}

static void keys_can_be_made(void **state)
{
    (void)state;
    for (u64 i = 0; i < KEYS; i++)
        assert_true(etl_mix_u64(hand_unmix(i << 40)) == i << 40);
    assert_in_range(etl_mix_u64(next_crowded(7, 65535)) & 65535, 0, 255);
}

static void exported_keys_spread(void **state)
{
    export_numbers numbers = { 0 };
    stretch s = { 0 };
    u32 number;
    (void)state;
    for (u64 i = 0; i < KEYS; i++) {
        /* The second word undoes what the first did. */
        const u64 second = etl_mix_u64((u64)16 ^ i) ^ 0x1234567;
        assert_true(export_number_of_pair(&numbers, i, second, &number));
    }
    for (u32 i = 0; i < numbers.slot_count; i++)
        look(&s, numbers.slots[i] != 0);
    expect_spread(&s);
    export_numbers_free(&numbers);
}

static void numbers_of_a_dictionary_spread(void **state)
{
    parquet_dictionary dictionary = { 0 };
    stretch s = { 0 };
    (void)state;
    for (u64 i = 0; i < KEYS; i++)
        assert_int_equal(parquet_dictionary_number(&dictionary, hand_unmix(i << 40)), i);
    for (u32 i = 0; i < dictionary.slot_count; i++)
        look(&s, dictionary.slots[i] != 0);
    expect_spread(&s);
    parquet_dictionary_free(&dictionary);
}

static void texts_of_a_dictionary_spread(void **state)
{
    parquet_dictionary dictionary = { 0 };
    stretch s = { 0 };
    (void)state;
    for (u64 i = 0; i < KEYS; i++) {
        const u64 words[] = { i, etl_mix_u64((u64)16 ^ i) ^ 0x1234567 };
        char text[sizeof words];
        memcpy(text, words, sizeof words);
        assert_int_equal(parquet_dictionary_text(&dictionary, text, sizeof text), i);
    }
    for (u32 i = 0; i < dictionary.slot_count; i++)
        look(&s, dictionary.slots[i] != 0);
    expect_spread(&s);
    parquet_dictionary_free(&dictionary);
}

static void names_of_a_pdb_spread(void **state)
{
    pdb_text text = { 0 };
    stretch s = { 0 };
    etl_bytes name;
    u32 id = 0;
    (void)state;
    for (u32 i = 0; i < KEYS; i++) {
        id = next_crowded(id, TEXT_PLACES - 1);
        pdb_text_remember(&text, 0, id, (etl_bytes){ (const u8 *)"name", 4 });
    }
    assert_true(pdb_text_find(&text, 0, id, &name));
    for (u32 i = 0; i < TEXT_PLACES; i++)
        look(&s, text.names[i].key != 0);
    expect_spread(&s);
    pdb_text_close(&text);
}

/* Of all these inlined functions, a site is in one address. */
static void spread_inlinees(u32 next(u32 last, u32 mask))
{
    etl_pdb_resolver *const r = calloc(1, sizeof *r);
    stretch s = { 0 };
    u32 id = 0;
    assert_non_null(r);
    r->inlines = calloc(KEYS, sizeof *r->inlines);
    assert_non_null(r->inlines);
    r->inline_count = r->inline_capacity = KEYS;
    for (u32 i = 0; i < KEYS; i++) {
        id = next(id, 8191);
        r->inlines[i].inlinee = id;
    }
    assert_true(pdb_collect_inlinees(r));
    assert_non_null(pdb_inlinee_of(r, id));
    for (u32 i = 0; i < r->inlinee_places; i++)
        look(&s, r->inlinees[i].id != 0);
    expect_spread(&s);
    free(r->inlines);
    free(r->inlinees);
    free(r);
}

static u32 next_round(u32 last, u32 mask)
{
    (void)mask;
    return last + (1u << 18);
}

static void inlinees_spread(void **state)
{
    (void)state;
    spread_inlinees(next_crowded);
}

static void inlinees_with_round_ids_spread(void **state)
{
    (void)state;
    spread_inlinees(next_round);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_can_be_made),
        cmocka_unit_test(exported_keys_spread),
        cmocka_unit_test(numbers_of_a_dictionary_spread),
        cmocka_unit_test(texts_of_a_dictionary_spread),
        cmocka_unit_test(names_of_a_pdb_spread),
        cmocka_unit_test(inlinees_spread),
        cmocka_unit_test(inlinees_with_round_ids_spread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
