/*
 * Goal: a number in place of a heap has the name that events give it, whatever their order; two
 * names are none; numbers without a name have words that lead back to them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "engine/context/logged_names.h"

#define HANDLES ((u32)5) /* their number in stores */

static bool add(logged_names *names, u64 heap, const char *name, etlheap_strings *strings)
{
    u8 wide[128];
    const size_t size = strlen(name);
    for (size_t i = 0; i < size; i++)
        memcpy(wide + 2 * i, (const u8[]){ (u8)name[i], 0 }, 2);
    return logged_names_add(names, heap, (etl_bytes){ wide, 2 * size }, strings);
}

static void names_are_found_in_any_order(void **state)
{
    static const struct {
        u64 key;
        const char *name;
    } rows[] = { { 17, "Event" }, { 3, "File" }, { 17, "Event" }, { 9, "Key" },
                 { 9, "Mutant" }, { 9, "Key" },  { 4, "" } };
    const size_t count = ETL_COUNT_OF(rows);
    (void)state;
    for (size_t first = 0; first < count; first++) {
        logged_names names = { .list = { 0 } };
        etlheap_strings strings = { .index = { 0 } };
        for (size_t i = 0; i < count; i++) {
            const size_t at = (first + i * 3) % count;
            assert_true(add(&names, logged_heap(HANDLES, rows[at].key), rows[at].name, &strings));
        }
        logged_names_finish(&names);
        assert_int_equal(names.list.count, 2);
        assert_string_equal(logged_names_find(&names, logged_heap(HANDLES, 17)), "Event");
        assert_string_equal(logged_names_find(&names, logged_heap(HANDLES, 3)), "File");
        assert_null(logged_names_find(&names, logged_heap(HANDLES, 9)));
        assert_null(logged_names_find(&names, logged_heap(HANDLES, 4)));
        assert_null(logged_names_find(&names, logged_heap(HANDLES + 1, 17)));
        assert_null(logged_names_find(&names, 17));
        logged_names_free(&names);
        etlheap_strings_free(&strings);
    }
}

static void numbers_are_no_others(void **state)
{
    (void)state;
    assert_true(logged_heap_is(logged_heap(15, UINT64_MAX)));
    assert_int_equal(logged_heap(15, UINT64_MAX) >> 60, 14);
    assert_false(logged_heap_is(0xffffa70000100000));
    assert_false(logged_heap_is(0x1f2a0000000));
    assert_false(logged_heap_is(etlheap_custom_heap("A", NULL)));
    assert_false(logged_heap_is(UINT64_C(13) << 60));
}

/* The number of pool blocks is known, 15 is not. */
static void numbers_without_a_name_have_words(void **state)
{
    static const struct {
        u64 key;
        const char *word;
    } rows[] = { { 0x11, "pool 0x11" },
                 { 0, "pool 0x0" },
                 { 0xffffa70000100040, "pool 0xffffa70000100040" } };
    char word[ETLHEAP_HEAP_NAME_SIZE];
    u64 heap;
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        const u64 number = logged_heap(etlheap_kind_at(ETLHEAP_KIND_POOL)->lane, rows[i].key);
        etlheap_heap_name(number, word);
        assert_string_equal(word, rows[i].word);
        assert_true(etlheap_heap_of_name(word, &heap));
        assert_int_equal(heap, number);
    }
    assert_false(logged_heap_word(logged_heap(15, 1), word));
    etlheap_heap_name(logged_heap(15, 1), word);
    assert_string_equal(word, "0xef00000000000001");
    assert_false(logged_heap_of_word("pool 0x", &heap));
    assert_false(logged_heap_of_word("pool 0x011", &heap));
    assert_false(logged_heap_of_word("pol 0x11", &heap));
    assert_false(logged_heap_of_word("pool 0x11 ", &heap));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_found_in_any_order),
        cmocka_unit_test(numbers_are_no_others),
        cmocka_unit_test(numbers_without_a_name_have_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
