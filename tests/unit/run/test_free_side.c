/*
 * test_free_side.c - goal: who freed is the same however a trace is cut into slices, and of a log
 * as of a store. Method: random programs whose frees have stacks, some of them late; reports and
 * lists of the analyses are compared as text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/build/workload.h"
#include "tests/support/run_check.h"

static const etlheap_key keys[] = { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_STACK,
                                    ETLHEAP_KEY_FREE_STACK, ETLHEAP_KEY_FREE_THREAD };
static const etlheap_key unmatched_keys[] = { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS,
                                              ETLHEAP_KEY_HEAP, ETLHEAP_KEY_FREE_STACK,
                                              ETLHEAP_KEY_FREE_THREAD };

static const etlheap_key impact_keys[] = { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS,
                                           ETLHEAP_KEY_IMPACTING_STACK };

static etlheap_query query_by(const etlheap_key *by, u32 count)
{
    etlheap_query query = etlheap_query_default();
    memcpy(query.group_by, by, count * sizeof *by);
    query.group_by_count = count;
    return query;
}

static void append(char **text, char *more)
{
    *text = realloc(*text, strlen(*text) + strlen(more) + 1);
    assert_non_null(*text);
    strcat(*text, more);
    free(more);
}

/* All questions of a trace in slices of so many bytes, as text. */
static char *answers(const check_traces *traces, u64 slice_bytes, u32 jobs)
{
    etlheap_query pairs = query_by(keys, ETL_COUNT_OF(keys));
    etlheap_query unmatched = query_by(unmatched_keys, ETL_COUNT_OF(unmatched_keys));
    etlheap_query impacts = query_by(impact_keys, ETL_COUNT_OF(impact_keys));
    pairs.freed_by_other = true;
    impacts.from_ns = 20000000;
    impacts.to_ns = 50000000;
    unmatched.unmatched = true;
    unmatched.sort = ETLHEAP_MEASURE_COUNT;
    const etlheap_question asked[] = {
        { .size = sizeof asked[0], .kind = ETLHEAP_ASK_TABLE, .query = &pairs },
        { .size = sizeof asked[0], .kind = ETLHEAP_ASK_TABLE, .query = &unmatched },
        { .size = sizeof asked[0], .kind = ETLHEAP_ASK_TABLE, .query = &impacts },
    };
    const etlheap_options options = { .size = sizeof options,
                                      .jobs = jobs,
                                      .slice_bytes = slice_bytes,
                                      .questions = asked,
                                      .question_count = ETL_COUNT_OF(asked) };
    etlheap_result *const result = check_analyze(traces, &options);
    char *text = check_aggregate_text(result, &pairs);
    append(&text, check_aggregate_text(result, &unmatched));
    append(&text, check_aggregate_text(result, &impacts));
    etlheap_result_free(result);
    return text;
}

/* Without stacks of frees, those of moving reallocs say who freed. */
static void slices_and_threads_change_nothing(void **state)
{
    (void)state;
    static const u64 slices[] = { 4096, 20000, 100000 };
    for (u64 seed = 1; seed <= 6; seed++) {
        etl_build *const b = etl_build_new(&(etl_build_options){
            .keyed_stacks = seed % 2 == 0, .buffer_bytes = 4096, .stack_key_slots = 16 });
        workload *const w = workload_random(
            &(workload_options){ .seed = seed, .operations = 3000, .free_stacks = seed % 3 != 0 });
        check_traces traces = { .count = 0 };
        workload_write(w, b, b);
        check_open(&traces, b);
        char *const whole = answers(&traces, 0, 1);
        assert_non_null(strstr(whole, "\n"));
        for (u32 i = 0; i < ETL_COUNT_OF(slices); i++) {
            char *const sliced = answers(&traces, slices[i], 1 + i);
            assert_true(check_same_text(whole, sliced));
            free(sliced);
        }
        free(whole);
        check_close(&traces);
        workload_free(w);
    }
}

static void lifetimes_alone_do_not_say_who_freed(void **state)
{
    (void)state;
    etl_build *const b = etl_build_new(NULL);
    workload *const w = workload_random(&(workload_options){ .operations = 100 });
    check_traces traces = { .count = 0 };
    const etlheap_query query = query_by(keys, ETL_COUNT_OF(keys));
    etlheap_table *table = NULL;
    etl_error err;
    workload_write(w, b, b);
    check_open(&traces, b);
    etlheap_result *const result = check_analyze(&traces, NULL);
    assert_int_equal(etlheap_aggregate(result, &query, &table, &err), ETL_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "who freed"));
    etlheap_result_free(result);
    check_close(&traces);
    workload_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_and_threads_change_nothing),
        cmocka_unit_test(lifetimes_alone_do_not_say_who_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
