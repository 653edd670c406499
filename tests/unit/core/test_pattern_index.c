/*
 * Goal: the index finds the pattern that trying one after the other finds, and its work hardly
 * grows with the number of patterns.
 * Method: random patterns and names of few letters, with and without case, with bytes that are not
 * UTF-8 and texts that many patterns share, against a loop; then counts of steps.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/core/pattern_index.h"
#include "parser/system/name_fold.h"
#include "tests/support/hand_bytes.h"

#define PATTERNS   60u
#define WORLDS     300u
#define TEXT_SIZE  40u
#define MANY       5000u
#define MANY_NAMES 200u

typedef struct short_text {
    char text[TEXT_SIZE];
} short_text;

static bool glob_matches(const void *patterns, u32 pattern, const char *name)
{
    const short_text *const globs = patterns;
    return etl_name_glob(globs[pattern].text, name);
}

/* Plain texts that a name contains, with case. */
static bool contains(const void *patterns, u32 pattern, const char *name)
{
    const short_text *const texts = patterns;
    return strstr(name, texts[pattern].text) != NULL;
}

static void write_random(u64 *random, const char *const *letters, u32 letter_count, u32 most,
                         char out[TEXT_SIZE])
{
    const u32 count = hand_random(random) % (most + 1);
    out[0] = '\0';
    for (u32 i = 0; i < count; i++)
        strcat(out, letters[hand_random(random) % letter_count]);
}

static u32 try_all(pattern_matches_fn *matches, const void *patterns, u32 count, const char *name)
{
    for (u32 i = 0; i < count; i++) {
        if (matches(patterns, i, name))
            return i;
    }
    return PATTERN_NONE;
}

static void open_globs(pattern_index *index, const short_text *globs, u32 count)
{
    *index = (pattern_index){ .ignores_case = true };
    for (u32 i = 0; i < count; i++)
        assert_true(pattern_index_add_glob(index, i, globs[i].text));
    assert_true(pattern_index_finish(index, glob_matches, globs));
}

static void check_marks(pattern_index *index, const short_text *globs, u32 count, const char *name)
{
    bool marked[PATTERNS] = { false };
    marked[count - 1] = true; /* as an earlier name left it */
    pattern_index_mark(index, name, marked);
    for (u32 i = 0; i < count; i++) {
        if (marked[i] != (i == count - 1 || glob_matches(globs, i, name)))
            fail_msg("'%s' is marked wrongly for pattern %u", name, i);
    }
}

static void globs_are_found_as_by_trying_all(void **state)
{
    /* Kelvin sign and k, two cases of one character, and bytes that are not UTF-8 */
    static const char *const in_patterns[] = { "a",        "B", "*", "?",    "ab",  "k",
                                               "\xc3\x9c", "ß", "*", "\xc3", "\x9c" };
    static const char *const in_names[] = { "A", "b",        "a",    "\xe2\x84\xaa",
                                            "K", "\xc3\xbc", "\xc3", "\x9c" };
    u64 random = 7;
    u32 found = 0;
    (void)state;
    for (u32 world = 0; world < WORLDS; world++) {
        short_text globs[PATTERNS];
        const u32 count = 1 + hand_random(&random) % PATTERNS;
        for (u32 i = 0; i < count; i++)
            write_random(&random, in_patterns, ETL_COUNT_OF(in_patterns), 7, globs[i].text);
        pattern_index index;
        open_globs(&index, globs, count);
        for (u32 i = 0; i < 40; i++) {
            char name[TEXT_SIZE];
            write_random(&random, in_names, ETL_COUNT_OF(in_names), 8, name);
            const u32 expected = try_all(glob_matches, globs, count, name);
            if (pattern_index_first(&index, name) != expected)
                fail_msg("world %u: '%s' is not found as pattern %u", world, name, expected);
            check_marks(&index, globs, count, name);
            found += expected != PATTERN_NONE;
        }
        pattern_index_free(&index);
    }
    assert_in_range(found, WORLDS, 39 * WORLDS);
}

static void texts_with_case_are_found_as_by_trying_all(void **state)
{
    static const char *const letters[] = { "a", "A", "b", "\xff", "::" };
    u64 random = 11;
    (void)state;
    for (u32 world = 0; world < WORLDS; world++) {
        short_text texts[PATTERNS];
        pattern_index index = { .ignores_case = false };
        const u32 least = hand_random(&random) % 6; /* so that some worlds have no short texts */
        for (u32 i = 0; i < PATTERNS; i++) {
            do
                write_random(&random, letters, ETL_COUNT_OF(letters), 9, texts[i].text);
            while (strlen(texts[i].text) < least);
            const size_t size = strlen(texts[i].text);
            assert_true(size > 0 ? pattern_index_add(&index, i, texts[i].text, size)
                                 : pattern_index_add_open(&index, i));
        }
        assert_true(pattern_index_finish(&index, contains, texts));
        for (u32 i = 0; i < 40; i++) {
            char name[TEXT_SIZE];
            write_random(&random, letters, ETL_COUNT_OF(letters), 15, name);
            assert_int_equal(pattern_index_first(&index, name),
                             try_all(contains, texts, PATTERNS, name));
        }
        pattern_index_free(&index);
    }
}

static void index_without_patterns_finds_nothing(void **state)
{
    pattern_index index;
    (void)state;
    open_globs(&index, NULL, 0);
    assert_int_equal(pattern_index_first(&index, "a"), PATTERN_NONE);
    pattern_index_free(&index);
}

/* The steps of finding names among `count` globs that begin alike, the last of which is found. */
static u64 steps_among(u32 count, const char *before, const char *after)
{
    short_text *const globs = calloc(MANY, sizeof *globs);
    pattern_index index;
    assert_non_null(globs);
    for (u32 i = 0; i < count; i++)
        snprintf(globs[i].text, sizeof globs[i].text, "%s%04u%s", before, i, after);
    open_globs(&index, globs, count);
    for (u32 i = 0; i < MANY_NAMES; i++) {
        char name[TEXT_SIZE];
        snprintf(name, sizeof name, "std::worker%04u::run", i * (MANY / MANY_NAMES));
        assert_int_equal(pattern_index_first(&index, name),
                         try_all(glob_matches, globs, count, name));
    }
    const u64 steps = index.steps;
    pattern_index_free(&index);
    free(globs);
    return steps;
}

/* Trying one after the other takes half a million steps and more for 200 names. */
static void work_hardly_grows_with_the_number_of_patterns(void **state)
{
    static const struct {
        const char *before, *after;
    } forms[] = { { "std::worker", "::run" },
                  { "*worker", "*" },
                  { "*::worker", ":*" },
                  { "std::*", "::run" },
                  { "*::nothing", "::*" } };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(forms); i++) {
        const u64 few = steps_among(10, forms[i].before, forms[i].after);
        const u64 many = steps_among(MANY, forms[i].before, forms[i].after);
        if (many > 10 * few || many > 500 * MANY_NAMES)
            fail_msg("%s0000%s: %u steps among few patterns, %u among many", forms[i].before,
                     forms[i].after, (u32)few, (u32)many);
    }
}

/* Nobody writes many patterns with one text only, but a text that all have must not count. */
static void piece_that_all_patterns_share_is_not_searched(void **state)
{
    (void)state;
    const u64 many = steps_among(MANY, "std::worker*", "*:run");
    assert_in_range(many, MANY_NAMES, 500 * MANY_NAMES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(globs_are_found_as_by_trying_all),
        cmocka_unit_test(texts_with_case_are_found_as_by_trying_all),
        cmocka_unit_test(index_without_patterns_finds_nothing),
        cmocka_unit_test(work_hardly_grows_with_the_number_of_patterns),
        cmocka_unit_test(piece_that_all_patterns_share_is_not_searched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
