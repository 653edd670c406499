/*
 * Goal: equal names have equal words, and different names and keys different ones; the built-in
 * list of allocator frames says the same of a word as of its name; tags are permuted, so that no
 * two become one; every column has a rule, and text has none that keeps it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "engine/core/stable_name.h"
#include "engine/share/anonymise_columns.h"
#include "engine/result/result.h"
#include "engine/share/keyed_words.h"
#include "engine/share/object_types.h"

static const char key[] = "the key of all tests";

static void open_words(keyed_words *words, const char *bytes)
{
    assert_true(keyed_words_open(words, bytes, strlen(bytes)));
}

static void words_depend_on_key_sort_and_folded_name(void **state)
{
    keyed_words words, others;
    char one[KEYED_WORD_SIZE], two[KEYED_WORD_SIZE];
    (void)state;
    open_words(&words, key);
    open_words(&others, "the key of no other test");
    assert_true(keyed_word(&words, WORD_PROCESS, "Secret.exe", one));
    assert_true(keyed_word(&words, WORD_PROCESS, "sECRET.EXE", two));
    assert_string_equal(one, two);
    assert_int_equal(strncmp(one, "process_", 8), 0);
    assert_true(keyed_word(&words, WORD_PACKAGE, "Secret.exe", two));
    assert_string_not_equal(one + 8, two + 8);
    assert_true(keyed_word(&others, WORD_PROCESS, "Secret.exe", two));
    assert_string_not_equal(one, two);
    assert_true(keyed_words_check(&words) != keyed_words_check(&others));
    assert_true(keyed_word(&words, WORD_MARK, "", one));
    assert_string_equal(one, "");
    keyed_words_close(&words);
    keyed_words_close(&others);
}

/* What the whole list, with the rows for words, says of a function. */
static bool is_culled(const char *module, const char *symbol, bool is_guess)
{
    u32 count;
    frame_patterns list;
    const etlheap_pattern *const rows = etlheap_allocator_frames(&count);
    assert_true(frame_patterns_open(&list, rows, count, 0));
    const bool matches = frame_patterns_match(&list, module, symbol, is_guess);
    frame_patterns_close(&list);
    return matches;
}

static void words_are_culled_as_their_names(void **state)
{
    static const char *const modules[] = { "ntdll.dll",    "ntoskrnl.exe", "app.exe",
                                           "ucrtbase.dll", "verifier.dll", "msvcr_my.dll",
                                           "leaks_all.dll" };
    static const char *const symbols[] = {
        "malloc",
        "Leaky::grow",
        "RtlAllocateHeap",
        "RtlpAllocateHeapInternal",
        "operator new",
        "MyNew::operator new",
        "std::allocator<Secret>::allocate",
        "main",
        "alloc::raw_vec::grow::h0123456789abcdef",
        "App::run<`lambda at app.cpp:3:51'>",
    };
    keyed_words words;
    char module[KEYED_WORD_SIZE], symbol[KEYED_WORD_SIZE];
    (void)state;
    open_words(&words, key);
    for (size_t m = 0; m < ETL_COUNT_OF(modules); m++) {
        assert_true(keyed_module(&words, modules[m], false, module));
        assert_int_equal(is_culled(module, NULL, false), is_culled(modules[m], NULL, false));
        assert_null(strstr(module, "ntdll"));
        for (size_t s = 0; s < ETL_COUNT_OF(symbols); s++) {
            assert_true(keyed_function(&words, modules[m], symbols[s], symbol));
            for (int guess = 0; guess < 2; guess++)
                assert_int_equal(is_culled(module, symbol, guess != 0),
                                 is_culled(modules[m], symbols[s], guess != 0));
        }
    }
    keyed_words_close(&words);
}

static void stable_names_stay_equal(void **state)
{
    keyed_words words;
    char one[KEYED_WORD_SIZE], two[KEYED_WORD_SIZE], stable[2][KEYED_WORD_SIZE];
    (void)state;
    open_words(&words, key);
    assert_true(keyed_function(&words, "app.exe", "App::run<`lambda at app.cpp:3:51'>", one));
    assert_true(keyed_function(&words, "app.exe", "App::run<`lambda at app.cpp:4:51'>", two));
    assert_string_not_equal(one, two);
    (void)stable_name_write(one, stable[0]);
    (void)stable_name_write(two, stable[1]);
    assert_string_equal(stable[0], stable[1]);
    assert_true(keyed_function(&words, "app.exe", "App::run", one));
    assert_false(stable_name_differs(one));
    keyed_words_close(&words);
}

static int by_number(const void *left, const void *right)
{
    const u64 a = *(const u64 *)left, b = *(const u64 *)right;
    return (a > b) - (a < b);
}

#define TAGS 4096u

static const char letters[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/* Tags of four letters and digits stay such, and of three with a space; addresses stay as they
 * are. */
static void tags_are_permuted(void **state)
{
    keyed_words words;
    static u64 made[3 * TAGS];
    u32 shown_as_numbers = 0;
    (void)state;
    open_words(&words, key);
    for (u32 i = 0; i < 3 * TAGS; i++) {
        const bool is_short = i >= TAGS && i < 2 * TAGS, is_text = i < 2 * TAGS;
        char text[5], name[ETLHEAP_HEAP_NAME_SIZE];
        u32 tag = i;
        if (is_text) {
            snprintf(text, sizeof text, is_short ? "%03x " : "T%03x", i % TAGS);
            memcpy(&tag, text, sizeof tag);
        }
        const u64 handle = (u64)13 << 60 | tag;
        assert_true(keyed_heap(&words, handle, &made[i]));
        assert_int_equal(made[i] >> 32, handle >> 32);
        etlheap_heap_name(made[i], name);
        if (is_text && strncmp(name, "0x", 2) != 0) /* such a tag is shown as a number */
            assert_int_equal(strspn(name, letters), is_short ? 3 : 4);
        else if (is_text)
            shown_as_numbers++;
    }
    assert_true(shown_as_numbers < TAGS / 64);
    qsort(made, ETL_COUNT_OF(made), sizeof *made, by_number);
    for (u32 i = 1; i < ETL_COUNT_OF(made); i++)
        assert_true(made[i] != made[i - 1]);
    u64 same;
    assert_true(keyed_heap(&words, 0x1f2a0000000, &same));
    assert_true(same == 0x1f2a0000000);
    assert_true(keyed_heap(&words, logged_heap(5, 0x11), &same));
    assert_true(same == logged_heap(5, 0x11));
    keyed_words_close(&words);
}

static void allocators_get_other_names(void **state)
{
    static const u64 numbers[] = { 3, (u64)1 << 40 };
    keyed_words words;
    char one[ETLHEAP_HEAP_NAME_SIZE], two[ETLHEAP_HEAP_NAME_SIZE];
    u64 made;
    (void)state;
    open_words(&words, key);
    assert_true(keyed_heap(&words, etlheap_custom_heap("mimalloc", NULL), &made));
    etlheap_heap_name(made, one);
    assert_int_equal(strncmp(one, "a_", 2), 0);
    assert_int_equal(strlen(one), 9);
    for (size_t i = 0; i < ETL_COUNT_OF(numbers); i++) {
        const u64 handle = etlheap_custom_heap("Engine", &numbers[i]);
        assert_true(keyed_heap(&words, handle, &made));
        etlheap_heap_name(handle, one);
        etlheap_heap_name(made, two);
        assert_int_equal(strncmp(two, "a_", 2), 0);
        assert_string_equal(strchr(one, ' '), strchr(two, ' '));
    }
    /* The bits of an allocator's name, and none. */
    assert_true(keyed_heap(&words, (u64)12 << 60 | 0x5ec4e7, &made));
    assert_true((made & 0xffffff) != 0x5ec4e7);
    keyed_words_close(&words);
}

static void every_column_has_a_rule(void **state)
{
    static const u32 columns[] = {
#define COLUMN_ID(name, id, text, layout, transform, bytes) id,
        EHS_COLUMNS(COLUMN_ID)
#undef COLUMN_ID
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(columns); i++)
        assert_int_not_equal(anonymise_rule_of(columns[i]), ANONYMISE_UNKNOWN);
    assert_int_equal(anonymise_rule_of(0x7f04), ANONYMISE_UNKNOWN);
    assert_int_equal(anonymise_rule_of(EHS_PROCESS_NAME), ANONYMISE_PROCESS);
    assert_int_equal(anonymise_rule_of(EHS_PROCESS_COMMAND), ANONYMISE_REMOVED);
}

static void only_types_of_windows_keep_their_name(void **state)
{
    (void)state;
    assert_true(object_type_is_public("Event"));
    assert_true(object_type_is_public("WmiGuid"));
    assert_false(object_type_is_public("event"));
    assert_false(object_type_is_public("AcmeSecretObject"));
    assert_false(object_type_is_public("\\Device\\HarddiskVolume3\\Event"));
    assert_int_equal(anonymise_rule_of(EHS_LOGGED_NAME_TEXT), ANONYMISE_LOGGED);
}

/* What test_sized.c does for other structures. */
static void options_are_read_by_their_size(void **state)
{
    const etlheap_result result = { .mode = RESULT_FACTS };
    struct {
        etlheap_anonymise_options options;
        u64 more;
    } given = { .options = { .size = 0 } };
    etl_error err = { .status = ETL_OK };
    (void)state;
    assert_int_equal(etlheap_anonymise(&result, &given.options, &err), ETL_ERR_ARGUMENT);
    given.options.size = sizeof given;
    assert_int_equal(etlheap_anonymise(&result, &given.options, &err), ETL_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "full store"));
    given.more = 1;
    assert_int_equal(etlheap_anonymise(&result, &given.options, &err), ETL_ERR_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_depend_on_key_sort_and_folded_name),
        cmocka_unit_test(words_are_culled_as_their_names),
        cmocka_unit_test(stable_names_stay_equal),
        cmocka_unit_test(tags_are_permuted),
        cmocka_unit_test(allocators_get_other_names),
        cmocka_unit_test(every_column_has_a_rule),
        cmocka_unit_test(only_types_of_windows_keep_their_name),
        cmocka_unit_test(options_are_read_by_their_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
