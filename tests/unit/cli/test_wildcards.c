/*
 * Goal: *.etl means the files that a shell would name, in its order.
 * Method: a folder with known names, and words with the list each must give.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/options/wildcards.h"

#include <stdio.h>
#include <stdlib.h>

#include "parser/system/files.h"
#include "tests/support/temporary.h"

#define PATH_SIZE (2 * TEMPORARY_PATH_BYTES)

static const char *const names[] = { "b.etl", "a.etl", "C.ETL", "a.etlx", "a.txt", "\xc3\xbc.etl" };

static char folder[TEMPORARY_PATH_BYTES];

static int set_up(void **state)
{
    char path[PATH_SIZE];
    (void)state;
    snprintf(folder, sizeof folder, "%s/etlheap-test-wildcards-XXXXXX", temporary_folder());
    if (!etl_folder_make_temporary(folder))
        return -1;
    for (size_t i = 0; i < ETL_COUNT_OF(names); i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        if (!etl_file_close(etl_file_create(path)))
            return -1;
    }
    return 0;
}

static int tear_down(void **state)
{
    char path[PATH_SIZE];
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(names); i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        if (!etl_file_remove(path))
            return -1;
    }
    return etl_folder_remove(folder) ? 0 : -1;
}

/* The names that `pattern` gives, after the folder and joined by blanks. */
static void assert_names(const char *pattern, const char *expected)
{
    char word[PATH_SIZE];
    char all[PATH_SIZE] = "";
    cli_words words = { 0 };
    snprintf(word, sizeof word, "%s/%s", folder, pattern);
    assert_int_equal(cli_wildcards_add(&words, word, NULL), ETL_OK);
    for (u32 i = 0; i < words.count; i++) {
        const size_t size = strlen(all);
        assert_int_equal(strncmp(words.at[i], folder, strlen(folder)), 0);
        snprintf(all + size, sizeof all - size, "%s%s", i > 0 ? " " : "",
                 words.at[i] + strlen(folder) + 1);
        if (words.at[i] != word)
            free((void *)(uintptr_t)words.at[i]);
    }
    assert_string_equal(all, expected);
    free(words.at);
}

static void a_star_names_files_in_byte_order(void **state)
{
    (void)state;
    assert_names("*.etl", "C.ETL a.etl b.etl \xc3\xbc.etl");
    assert_names("a.*", "a.etl a.etlx a.txt");
    assert_names("*", "C.ETL a.etl a.etlx a.txt b.etl \xc3\xbc.etl");
}

static void a_question_mark_is_one_character(void **state)
{
    (void)state;
    assert_names("a.et??", "a.etlx");
    assert_names("?.txt", "a.txt");
}

static void words_without_match_stay(void **state)
{
    (void)state;
    assert_names("*.zip", "*.zip");
    assert_names("none/*.etl", "none/*.etl");
    assert_names("plain.etl", "plain.etl");
}

/* What stands in the folder's part is no pattern, as for other programs there. */
static void only_the_last_part_is_a_pattern(void **state)
{
    cli_words words = { 0 };
    char word[PATH_SIZE];
    (void)state;
    snprintf(word, sizeof word, "%s/etlheap-test-w*/b.etl", temporary_folder());
    assert_int_equal(cli_wildcards_add(&words, word, NULL), ETL_OK);
    assert_int_equal(words.count, 1);
    assert_ptr_equal(words.at[0], word);
    free(words.at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_star_names_files_in_byte_order),
        cmocka_unit_test(a_question_mark_is_one_character),
        cmocka_unit_test(words_without_match_stay),
        cmocka_unit_test(only_the_last_part_is_a_pattern),
    };
    return cmocka_run_group_tests_name("wildcards", tests, set_up, tear_down);
}
