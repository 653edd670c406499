/*
 * test_heap_names.c - what heaps are called: the name of a custom allocator is in its handle,
 * and comes out of it as it went in.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engine/engine.h"

#include "parser/base.h"

static void expect_name(u64 handle, const char *name)
{
    char got[ETLHEAP_HEAP_NAME_SIZE];
    u64 again = 0;
    etlheap_heap_name(handle, got);
    assert_string_equal(got, name);
    assert_true(etlheap_heap_of_name(name, &again));
    assert_int_equal(again, handle);
}

static void names_come_back(void **state)
{
    (void)state;
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const u64 heaps[] = { 0, 3, 65535, (1u << 18) - 1 };
    expect_name(etlheap_custom_heap("mimalloc", NULL), "mimalloc");
    for (u32 i = 0; i < sizeof letters - 1; i++) {
        const char name[] = { letters[i], letters[(i * 7 + 3) % 64], '\0' };
        char wanted[ETLHEAP_HEAP_NAME_SIZE];
        expect_name(etlheap_custom_heap(name, NULL), name);
        for (u32 h = 0; h < ETL_COUNT_OF(heaps); h++) {
            snprintf(wanted, sizeof wanted, "%s %" PRIu64, name, heaps[h]);
            expect_name(etlheap_custom_heap(name, &heaps[h]), wanted);
        }
    }
    expect_name(etlheap_custom_heap("123456789", NULL), "123456789");
}

/* Pointers, mostly: two of them have different names. */
static void large_numbers_are_hashed(void **state)
{
    (void)state;
    const u64 one = 0x7ff612340000, other = 0x7ff612350000;
    char name[ETLHEAP_HEAP_NAME_SIZE], second[ETLHEAP_HEAP_NAME_SIZE];
    etlheap_heap_name(etlheap_custom_heap("Engine", &one), name);
    etlheap_heap_name(etlheap_custom_heap("Engine", &other), second);
    assert_memory_equal(name, "Engine ~", 8);
    assert_int_equal(strlen(name), 13);
    assert_string_not_equal(name, second);
    expect_name(etlheap_custom_heap("Engine", &one), name);
}

/* No address of a program or of the kernel, whatever the width of addresses is. */
static void handles_are_no_addresses(void **state)
{
    (void)state;
    const u64 heap = UINT64_MAX;
    const u64 handles[] = { etlheap_custom_heap("A", NULL), etlheap_custom_heap("_________", NULL),
                            etlheap_custom_heap("______", &heap) };
    for (u32 i = 0; i < ETL_COUNT_OF(handles); i++)
        assert_int_equal(handles[i] >> 60, 12);
}

/* A damaged file can have any number as a handle. */
static void other_numbers_are_hexadecimal(void **state)
{
    (void)state;
    const u64 handles[] = {
        0, 0x1f0000, UINT64_MAX, UINT64_C(0xC) << 60, UINT64_C(0xCFC0) << 48, UINT64_C(0xC9C0) << 48
    };
    for (u32 i = 0; i < ETL_COUNT_OF(handles); i++) {
        char name[ETLHEAP_HEAP_NAME_SIZE], wanted[ETLHEAP_HEAP_NAME_SIZE];
        u64 none;
        etlheap_heap_name(handles[i], name);
        snprintf(wanted, sizeof wanted, "0x%" PRIx64, handles[i]);
        assert_string_equal(name, wanted);
        (void)etlheap_heap_of_name(name, &none);
    }
}

static void words_that_name_no_heap_are_refused(void **state)
{
    (void)state;
    static const char *const words[] = { "",         " ",    "ten_letter", "a b",
                                         "a 1 2",    "a!",   "seven_l 1",  "a 262144",
                                         "a ~40000", "a ~1", "a 01",       "a " };
    for (u32 i = 0; i < ETL_COUNT_OF(words); i++) {
        u64 handle;
        if (etlheap_heap_of_name(words[i], &handle))
            fail_msg("'%s' is taken for a heap", words[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_come_back),
        cmocka_unit_test(large_numbers_are_hashed),
        cmocka_unit_test(handles_are_no_addresses),
        cmocka_unit_test(other_numbers_are_hexadecimal),
        cmocka_unit_test(words_that_name_no_heap_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
