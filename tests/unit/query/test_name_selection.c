/*
 * Goal: a query selects the processes and threads that its words name, whatever their number.
 * Method: random words with wildcards, ids and extensions against each word on each name; counts of
 * steps for thousands of words and names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/query/query.h"
#include "parser/system/name_fold.h"
#include "tests/support/hand_bytes.h"
#include "tests/support/hand_result.h"

#define WORDS     20u
#define NAMES     30u
#define WORLDS    100u
#define MANY      3000u
#define NAME_SIZE 32u

typedef struct short_text {
    char text[NAME_SIZE];
} short_text;

/* A result with processes of these names, each with one thread of its name. */
static etlheap_result *result_of(const short_text *names, u32 count)
{
    etlheap_result *const result = hand_result_new();
    for (u32 i = 0; i < count; i++) {
        const thread_name thread = { .tid = 1000 + i,
                                     .pid = 4 * i,
                                     .name = names[i].text,
                                     .process = hand_process(result, 4 * i, names[i].text) };
        assert_true(ETLHEAP_PUSH(&result->thread_names.list, thread));
    }
    hand_ready(result, HAND_START_TICKS + 100);
    return result;
}

static void write_random(u64 *random, const char *const *parts, u32 part_count, short_text *out)
{
    const u32 count = 1 + hand_random(random) % 4;
    out->text[0] = '\0';
    for (u32 i = 0; i < count; i++)
        strcat(out->text, parts[hand_random(random) % part_count]);
}

static bool any_word_names(const etlheap_query *query, const etlheap_process_info *process)
{
    for (u32 i = 0; i < query->process_count; i++) {
        if (etlheap_word_names_process(query->processes[i], process))
            return true;
    }
    return false;
}

static bool any_word_names_thread(const etlheap_query *query, const char *name)
{
    for (u32 i = 0; i < query->thread_name_count; i++) {
        if (etl_name_glob(query->thread_names[i], name))
            return true;
    }
    return false;
}

static void check_selection(const etlheap_result *result, const etlheap_query *query)
{
    query_plan plan;
    assert_int_equal(query_open(&plan, result, query, NULL), ETL_OK);
    for (u32 i = 0; i < result->processes.count; i++) {
        const etlheap_process_info *const process = &result->processes.at[i];
        if (plan.process_selected[i + 1] != any_word_names(query, process))
            fail_msg("%s (%u) is selected wrongly", process->name, process->pid);
    }
    for (size_t i = 0; i < result->thread_names.list.count; i++) {
        const thread_name *const thread = &result->thread_names.list.at[i];
        assert_int_equal(query_selects_thread(&plan, thread->process, thread->tid),
                         any_word_names_thread(query, thread->name));
        assert_false(query_selects_thread(&plan, thread->process + 1, thread->tid));
    }
    query_close(&plan);
}

static void random_words_select_as_each_word_on_each_name(void **state)
{
    static const char *const in_words[] = { "a", "B", "*", "?", ".exe", "Ü", "4", "8", "16", "." };
    static const char *const in_names[] = { "A", "b", "ab", ".exe", ".EXE", "ü", "4", ".", "x" };
    u64 random = 5;
    (void)state;
    for (u32 world = 0; world < WORLDS; world++) {
        short_text names[NAMES], texts[WORDS];
        const char *words[WORDS];
        for (u32 i = 0; i < NAMES; i++)
            write_random(&random, in_names, ETL_COUNT_OF(in_names), &names[i]);
        for (u32 i = 0; i < WORDS; i++) {
            write_random(&random, in_words, ETL_COUNT_OF(in_words), &texts[i]);
            words[i] = texts[i].text;
        }
        etlheap_result *const result = result_of(names, NAMES);
        etlheap_query query = etlheap_query_default();
        query.processes = query.thread_names = words;
        query.process_count = query.thread_name_count = 1 + hand_random(&random) % WORDS;
        check_selection(result, &query);
        etlheap_result_free(result);
    }
}

/* Each word on each name takes 9 million steps for processes and as many for threads. */
static void work_grows_with_the_number_of_words_and_names_not_their_product(void **state)
{
    short_text *const texts = calloc(2 * MANY, sizeof *texts);
    const char **const words = calloc(MANY, sizeof *words);
    (void)state;
    assert_non_null(texts);
    assert_non_null(words);
    for (u32 i = 0; i < MANY; i++) {
        snprintf(texts[i].text, NAME_SIZE, "worker%u.exe", i);
        if (i % 2 == 0)
            snprintf(texts[MANY + i].text, NAME_SIZE, "Worker%u.exe", 2 * i);
        else
            snprintf(texts[MANY + i].text, NAME_SIZE, "*r%u?exe", 2 * i);
        words[i] = texts[MANY + i].text;
    }
    etlheap_result *const result = result_of(texts, MANY);
    etlheap_query query = etlheap_query_default();
    query.processes = query.thread_names = words;
    query.process_count = query.thread_name_count = MANY;
    query_plan plan;
    u32 selected = 0;
    assert_int_equal(query_open(&plan, result, &query, NULL), ETL_OK);
    for (u32 i = 1; i <= MANY; i++)
        selected += plan.process_selected[i];
    assert_int_equal(selected, MANY / 2);
    assert_int_equal(plan.thread_count, MANY / 2);
    assert_in_range(plan.name_steps, MANY, 2 * MANY * 300);
    query_close(&plan);
    etlheap_result_free(result);
    free((void *)words);
    free(texts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_words_select_as_each_word_on_each_name),
        cmocka_unit_test(work_grows_with_the_number_of_words_and_names_not_their_product),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
