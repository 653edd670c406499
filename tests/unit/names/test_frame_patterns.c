/*
 * Goal: patterns match functions as trying each of them does, and thousands of them take little
 * work.
 * Method: random patterns, modules and functions against a loop; counts of steps.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/names/frame_patterns.h"
#include "engine/query/query.h"
#include "tests/support/hand_bytes.h"

#define PATTERNS  10u
#define WORLDS    300u
#define MANY      5000u
#define TEXT_SIZE 40u

typedef struct short_text {
    char text[TEXT_SIZE];
} short_text;

static const char *write_random(u64 *random, const char *const *parts, u32 part_count,
                                short_text *out)
{
    const u32 count = hand_random(random) % 5;
    out->text[0] = '\0';
    for (u32 i = 0; i < count; i++)
        strcat(out->text, parts[hand_random(random) % part_count]);
    return count == 0 && hand_random(random) % 2 == 0 ? NULL : out->text;
}

static bool try_all(const etlheap_pattern *patterns, u32 count, const char *module,
                    const char *symbol, bool is_guess)
{
    const bool is_known = symbol != NULL && !is_guess;
    for (u32 i = 0; i < count; i++) {
        if (!(patterns[i].unnamed_only && is_known) &&
            etlheap_pattern_matches(&patterns[i], module, symbol))
            return true;
    }
    return false;
}

/* The verdict by its definition: each pattern is looked at. */
static frame_verdict judge_all(const etlheap_pattern *patterns, u32 count, const char *module,
                               bool has_symbols)
{
    frame_verdict verdict = FRAME_VERDICT_NONE;
    for (u32 i = 0; i < count; i++) {
        const bool by_name = patterns[i].symbol != NULL || patterns[i].unnamed_only;
        if (!by_name || module == NULL || !has_symbols) {
            if (etlheap_pattern_matches(&patterns[i], module, NULL))
                return FRAME_VERDICT_ALL;
        } else if (query_module_matches(&patterns[i], module)) {
            verdict = FRAME_VERDICT_BY_NAME;
        }
    }
    return verdict;
}

static void random_patterns_match_as_each_of_them(void **state)
{
    static const char *const in_modules[] = { "a", "B", ".dll", "\\", "ü", ".", "*", "?" };
    static const char *const in_symbols[] = { "x", "Y", "::", "z", "Ü", "*", "?" };
    u64 random = 13;
    u32 matched = 0;
    (void)state;
    for (u32 world = 0; world < WORLDS; world++) {
        short_text texts[2 * PATTERNS + 2];
        etlheap_pattern patterns[PATTERNS] = { { .module = NULL } };
        frame_patterns set;
        for (u32 i = 0; i < PATTERNS; i++)
            patterns[i] =
                (etlheap_pattern){ .module = write_random(&random, in_modules, 8, &texts[2 * i]),
                                   .symbol =
                                       write_random(&random, in_symbols, 7, &texts[2 * i + 1]),
                                   .unnamed_only = hand_random(&random) % 4 == 0 };
        const u32 count = 1 + hand_random(&random) % PATTERNS;
        assert_true(frame_patterns_open(&set, patterns, count, 1));
        for (u32 i = 0; i < 40; i++) {
            const char *const module =
                write_random(&random, in_modules, 6, &texts[2 * (size_t)PATTERNS]);
            const char *const symbol =
                write_random(&random, in_symbols, 5, &texts[2 * (size_t)PATTERNS + 1]);
            const bool is_guess = hand_random(&random) % 2 == 0;
            const bool expected = try_all(patterns, count, module, symbol, is_guess);
            assert_int_equal(frame_patterns_match(&set, module, symbol, is_guess), expected);
            matched += expected;
            assert_int_equal(frame_patterns_judge(&set, module, is_guess),
                             judge_all(patterns, count, module, is_guess));
        }
        frame_patterns_close(&set);
    }
    assert_in_range(matched, 2 * WORLDS, 35 * WORLDS);
}

/* Trying each pattern on each function takes a million steps. */
static void work_hardly_grows_with_the_number_of_patterns(void **state)
{
    enum { FUNCTIONS = 200 };
    short_text *const texts = calloc(2 * MANY, sizeof *texts);
    etlheap_pattern *const patterns = calloc(2 * MANY, sizeof *patterns);
    frame_patterns set;
    (void)state;
    assert_non_null(texts);
    assert_non_null(patterns);
    for (u32 i = 0; i < MANY; i++) {
        snprintf(texts[2 * i].text, TEXT_SIZE, "Cache%04u<*>::grow", i);
        snprintf(texts[2 * i + 1].text, TEXT_SIZE, "lib%04u", i);
        patterns[2 * i] = (etlheap_pattern){ .symbol = texts[2 * i].text };
        patterns[2 * i + 1] = (etlheap_pattern){ .module = texts[2 * i + 1].text };
    }
    assert_true(frame_patterns_open(&set, patterns, 2 * MANY, 1));
    for (u32 i = 0; i < FUNCTIONS; i++) {
        char name[TEXT_SIZE];
        snprintf(name, sizeof name, "Cache%04u<int>::grow", 50 * i);
        assert_int_equal(frame_patterns_match(&set, "app.exe", name, false), 50 * i < MANY);
    }
    assert_in_range(set.finder->symbols.steps + set.finder->modules.steps, FUNCTIONS,
                    500 * FUNCTIONS);
    frame_patterns_close(&set);
    free(patterns);
    free(texts);
}

/* Judging each module by each pattern takes two million steps. */
static void modules_are_judged_without_trying_each_pattern(void **state)
{
    enum { MODULES = 200 };
    short_text *const texts = calloc(MANY, sizeof *texts);
    etlheap_pattern *const patterns = calloc(2 * MANY, sizeof *patterns);
    frame_patterns set;
    (void)state;
    assert_non_null(texts);
    assert_non_null(patterns);
    for (u32 i = 0; i < MANY; i++) {
        snprintf(texts[i].text, TEXT_SIZE, "lib%04u", i);
        patterns[2 * i] = (etlheap_pattern){ .module = texts[i].text, .symbol = "grow" };
        patterns[2 * i + 1] = (etlheap_pattern){ .module = i % 2 == 0 ? texts[i].text : "none",
                                                 .symbol = i % 2 == 0 ? NULL : "grow" };
    }
    assert_true(frame_patterns_open(&set, patterns, 2 * MANY, 1));
    for (u32 i = 0; i < MODULES; i++) {
        char name[TEXT_SIZE];
        snprintf(name, sizeof name, "lib%04u.dll", 49 * i);
        assert_int_equal(frame_patterns_judge(&set, name, true), 49 * i >= MANY ? FRAME_VERDICT_NONE
                                                                 : i % 2 == 0
                                                                     ? FRAME_VERDICT_ALL
                                                                     : FRAME_VERDICT_BY_NAME);
        assert_int_equal(frame_patterns_judge(&set, name, false),
                         49 * i < MANY && i % 2 == 0 ? FRAME_VERDICT_ALL : FRAME_VERDICT_NONE);
    }
    assert_in_range(set.finder->symbols.steps + set.finder->modules.steps +
                        set.finder->by_name.steps,
                    MODULES, 500 * MODULES);
    frame_patterns_close(&set);
    free(patterns);
    free(texts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_patterns_match_as_each_of_them),
        cmocka_unit_test(work_hardly_grows_with_the_number_of_patterns),
        cmocka_unit_test(modules_are_judged_without_trying_each_pattern),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
