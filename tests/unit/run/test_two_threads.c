/*
 * Goal: a program may use the library from two threads at once, each on a trace of its
 * own, from opening to what is written.
 * Method: two traces are reported on one after the other; then two threads do the same
 * at once, several times, and have to write the same bytes. What they share shows under
 * ThreadSanitizer, or as a difference.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <pthread.h>
#include <cmocka.h>

#include "tests/support/capture.h"
#include "tests/build/scenario.h"

#include <string.h>

#define ROUNDS 3

/* Of one thread. */
typedef struct user {
    const char *name;
    etl_build *built;
    etl_bytes file;
    char *expected;
    u32 wrong; /* rounds that failed or wrote something else */
} user;

static void build(user *who, const char *name, bool compress)
{
    scenario_run run = { .seed = 1 };
    who->name = name;
    who->built = etl_build_new(&(etl_build_options){ .compress = compress });
    assert_true(scenario_write(scenario_find(name), &run, who->built));
    assert_true(etl_build_finish(who->built));
    who->file.at = etl_build_data(who->built, &who->file.size);
    scenario_run_free(&run);
}

/* The report as JSON, to be freed; NULL after a failure. No assertions: cmocka's are
 * for its own thread. */
static char *report(const user *who)
{
    etl_trace *trace = NULL;
    etlheap_result *result = NULL;
    etlheap_table *table = NULL;
    char *text = NULL;
    const etlheap_query query = etlheap_query_default();
    const etlheap_options options = { .size = sizeof options, .jobs = 2, .slice_bytes = 65536 };
    const etlheap_layout layout = etlheap_layout_default();
    if (etl_open_memory(who->file, NULL, &trace, NULL) == ETL_OK &&
        etlheap_analyze(&trace, &who->name, 1, &options, &result, NULL) == ETL_OK &&
        etlheap_aggregate(result, &query, &table, NULL) == ETL_OK) {
        capture out;
        capture_open(&out);
        (void)etlheap_format_named("json")->write_report(result, table, &layout, out.sink);
        text = strdup(capture_text(&out));
        capture_close(&out);
    }
    etlheap_table_free(table);
    etlheap_result_free(result);
    etl_close(trace);
    return text;
}

static void *work(void *user_data)
{
    user *const who = user_data;
    for (u32 i = 0; i < ROUNDS; i++) {
        char *const text = report(who);
        who->wrong += !text || strcmp(text, who->expected) != 0;
        free(text);
    }
    return NULL;
}

static void two_threads_report_on_two_traces(void **state)
{
    (void)state;
    user users[2] = { { .wrong = 0 } };
    pthread_t threads[2];
    build(&users[0], "demo", false);
    build(&users[1], "workload", true);
    for (u32 i = 0; i < 2; i++) {
        users[i].expected = report(&users[i]);
        assert_non_null(users[i].expected);
    }
    assert_string_not_equal(users[0].expected, users[1].expected);
    for (u32 i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &users[i]), 0);
    for (u32 i = 0; i < 2; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (u32 i = 0; i < 2; i++) {
        assert_int_equal(users[i].wrong, 0);
        free(users[i].expected);
        etl_build_free(users[i].built);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_threads_report_on_two_traces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
