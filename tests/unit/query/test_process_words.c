/*
 * Goal: of each word for processes it is known whether it names one, whatever their number.
 * Method: random words, ids and lists of words against each word on each process; counts of steps
 * for thousands of words and processes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/query/process_words.h"
#include "tests/support/hand_bytes.h"
#include "tests/support/hand_result.h"

#define WORLDS    100u
#define NAMES     20u
#define WORDS     12u
#define MANY      3000u
#define NAME_SIZE 32u

typedef struct short_text {
    char text[NAME_SIZE];
} short_text;

static void write_random(u64 *random, const char *const *parts, u32 part_count, short_text *out)
{
    const u32 count = 1 + hand_random(random) % 4;
    out->text[0] = '\0';
    for (u32 i = 0; i < count; i++)
        strcat(out->text, parts[hand_random(random) % part_count]);
}

static bool names_any(const etlheap_result *result, const char *word)
{
    for (u32 id = 1; id <= etlheap_process_count(result); id++) {
        if (etlheap_word_names_process(word, etlheap_process_of(result, (etlheap_process){ id })))
            return true;
    }
    return false;
}

/* True if the word stands between commas of the list. */
static bool is_part_of(const char *word, const char *list)
{
    char parts[NAME_SIZE + 2], part[NAME_SIZE + 2];
    snprintf(parts, sizeof parts, ",%s,", list);
    snprintf(part, sizeof part, ",%s,", word);
    return word[0] != '\0' && strcmp(word, list) != 0 && strstr(parts, part) != NULL;
}

static etlheap_word_use expected_use(const etlheap_result *result, const char *const *words,
                                     u32 index)
{
    if (names_any(result, words[index]))
        return ETLHEAP_WORD_NAMES;
    for (u32 i = 0; i < WORDS; i++) {
        if (is_part_of(words[i], words[index]) ||
            (is_part_of(words[index], words[i]) && names_any(result, words[i])))
            return ETLHEAP_WORD_OTHER;
    }
    return ETLHEAP_WORD_MISSING;
}

static void random_words_are_judged_as_each_on_each_process(void **state)
{
    static const char *const in_words[] = { "a", "B", "*", "?", ".exe", "Ü", "4", "8", "." };
    static const char *const in_names[] = { "A", "b", "ab", ".exe", ",", "ü", "4", ".", "x" };
    u64 random = 9;
    u32 seen[ETLHEAP_WORD_OTHER + 1] = { 0 };
    (void)state;
    for (u32 world = 0; world < WORLDS; world++) {
        etlheap_result *const result = hand_result_new();
        short_text names[NAMES], texts[WORDS];
        const char *words[WORDS];
        etlheap_word_use uses[WORDS];
        for (u32 i = 0; i < NAMES; i++) {
            write_random(&random, in_names, ETL_COUNT_OF(in_names), &names[i]);
            (void)hand_process(result, 4 * i, names[i].text);
        }
        hand_ready(result, HAND_START_TICKS + 100);
        for (u32 i = 0; i < WORDS; i++) {
            write_random(&random, in_words, ETL_COUNT_OF(in_words), &texts[i]);
            if (i % 3 == 2) /* a list of the two before it */
                snprintf(texts[i].text, NAME_SIZE, "%.14s,%.14s", texts[i - 2].text,
                         texts[i - 1].text);
            words[i] = texts[i].text;
        }
        assert_true(etlheap_word_uses(result, words, WORDS, uses));
        for (u32 i = 0; i < WORDS; i++) {
            if (uses[i] != expected_use(result, words, i))
                fail_msg("world %u: '%s'", world, words[i]);
            seen[uses[i]]++;
        }
        etlheap_result_free(result);
    }
    for (u32 use = 0; use <= ETLHEAP_WORD_OTHER; use++)
        assert_in_range(seen[use], WORLDS, (WORDS - 1) * WORLDS);
}

/* `check` looks only at processes that have events of the kinds it judges. */
static void words_of_processes_without_events_are_missing(void **state)
{
    static const char *const words[] = { "quiet.exe" };
    const u32 kinds = 1u << ETLHEAP_KIND_HEAP;
    etlheap_result *const result = hand_result_new();
    process_words own;
    etlheap_word_use use = ETLHEAP_WORD_NAMES;
    (void)state;
    (void)hand_process(result, 4, "quiet.exe");
    hand_ready(result, HAND_START_TICKS + 100);
    assert_true(process_words_open(&own, words, 1));
    assert_true(process_words_uses(result, &own, NULL, &use));
    assert_int_equal(use, ETLHEAP_WORD_NAMES);
    assert_true(process_words_uses(result, &own, &kinds, &use));
    assert_int_equal(use, ETLHEAP_WORD_MISSING);
    process_words_close(&own);
    etlheap_result_free(result);
}

/* Each word on each process takes 18 million steps. */
static void work_grows_with_the_number_of_words_and_processes_not_their_product(void **state)
{
    etlheap_result *const result = hand_result_new();
    short_text *const texts = calloc(3 * MANY, sizeof *texts);
    const char **const words = calloc(2 * MANY, sizeof *words);
    etlheap_word_use *const uses = calloc(2 * MANY, sizeof *uses);
    process_words own;
    (void)state;
    assert_non_null(texts);
    assert_non_null(words);
    assert_non_null(uses);
    for (u32 i = 0; i < MANY; i++) {
        snprintf(texts[i].text, NAME_SIZE, "app%u.exe", i);
        snprintf(texts[MANY + i].text, NAME_SIZE, i % 2 == 0 ? "APP%u" : "app*%u.exe", i);
        snprintf(texts[2 * MANY + i].text, NAME_SIZE, i % 2 == 0 ? "bpp%u" : "a?%u.dll", i);
        (void)hand_process(result, 100000 + i, texts[i].text);
        words[i] = texts[MANY + i].text;
        words[MANY + i] = texts[2 * MANY + i].text;
    }
    hand_ready(result, HAND_START_TICKS + 100);
    assert_true(process_words_open(&own, words, 2 * MANY));
    assert_true(process_words_uses(result, &own, NULL, uses));
    for (u32 i = 0; i < 2 * MANY; i++)
        assert_int_equal(uses[i], i < MANY ? ETLHEAP_WORD_NAMES : ETLHEAP_WORD_MISSING);
    assert_in_range(own.names.steps, MANY, 300 * MANY);
    process_words_close(&own);
    etlheap_result_free(result);
    free(uses);
    free((void *)words);
    free(texts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_words_are_judged_as_each_on_each_process),
        cmocka_unit_test(words_of_processes_without_events_are_missing),
        cmocka_unit_test(work_grows_with_the_number_of_words_and_processes_not_their_product),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
