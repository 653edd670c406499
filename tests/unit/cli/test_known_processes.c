/*
 * Goal: a word is known if it names a process, and thousands of words take little work.
 * Method: random words with wildcards, ids and extensions against each process; the number of words
 * tried on processes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "cli/known_processes.h"
#include "tests/support/hand_bytes.h"
#include "tests/support/hand_result.h"

#define NAMES     12u
#define WORLDS    200u
#define MANY      3000u
#define NAME_SIZE 32u

static void write_random(u64 *random, const char *const *parts, u32 part_count, char *out)
{
    const u32 count = 1 + hand_random(random) % 4;
    out[0] = '\0';
    for (u32 i = 0; i < count; i++)
        strcat(out, parts[hand_random(random) % part_count]);
}

static bool names_any(const etlheap_result *result, const char *word)
{
    for (u32 id = 1; id <= etlheap_process_count(result); id++) {
        if (etlheap_word_names_process(word, etlheap_process_of(result, (etlheap_process){ id })))
            return true;
    }
    return false;
}

static void random_words_are_known_if_they_name_a_process(void **state)
{
    static const char *const in_words[] = { "a", "B", "*", "?", ".exe", "Ü", "4", "0", "16", "." };
    static const char *const in_names[] = { "A", "b", "ab", ".exe", ".EXE", "ü", "4", ".", "x" };
    u64 random = 9;
    u32 known_count = 0;
    (void)state;
    for (u32 world = 0; world < WORLDS; world++) {
        etlheap_result *const result = hand_result_new();
        char names[NAMES][NAME_SIZE];
        cli_known_processes known;
        for (u32 i = 0; i < NAMES; i++) {
            write_random(&random, in_names, ETL_COUNT_OF(in_names), names[i]);
            (void)hand_process(result, 4 * i, names[i]);
        }
        hand_ready(result, HAND_START_TICKS + 100);
        cli_known_processes_open(&known, result, world % 2 == 0 ? 30 : 1); /* sorted, or not */
        for (u32 i = 0; i < 30; i++) {
            char word[NAME_SIZE];
            write_random(&random, in_words, ETL_COUNT_OF(in_words), word);
            const bool is_known = cli_known_processes_has(&known, word);
            if (is_known != names_any(result, word))
                fail_msg("world %u: '%s'", world, word);
            known_count += is_known;
        }
        cli_known_processes_close(&known);
        etlheap_result_free(result);
    }
    assert_in_range(known_count, 5 * WORLDS, 25 * WORLDS);
}

/* Trying each word until a process is found takes 4.5 million tries. */
static void words_without_wildcards_are_tried_on_few_processes(void **state)
{
    etlheap_result *const result = hand_result_new();
    char(*const names)[NAME_SIZE] = calloc(MANY, NAME_SIZE);
    cli_known_processes known;
    char word[NAME_SIZE];
    (void)state;
    assert_non_null(names);
    for (u32 i = 0; i < MANY; i++) {
        snprintf(names[i], NAME_SIZE, "app%u.exe", i);
        (void)hand_process(result, 100000 + i, names[i]);
    }
    hand_ready(result, HAND_START_TICKS + 100);
    cli_known_processes_open(&known, result, 3 * MANY);
    for (u32 i = 0; i < MANY; i++) {
        snprintf(word, sizeof word, "%s%u%s", i % 2 == 0 ? "APP" : "app", i,
                 i % 2 == 0 ? "" : ".exe");
        assert_true(cli_known_processes_has(&known, word));
        snprintf(word, sizeof word, "%u", 100000 + i);
        assert_true(cli_known_processes_has(&known, word));
        snprintf(word, sizeof word, "bpp%u", i);
        assert_false(cli_known_processes_has(&known, word));
    }
    assert_in_range(known.tried, 2 * MANY, 3 * MANY);
    cli_known_processes_close(&known);
    etlheap_result_free(result);
    free(names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_words_are_known_if_they_name_a_process),
        cmocka_unit_test(words_without_wildcards_are_tried_on_few_processes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
