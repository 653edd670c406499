/*
 * Goal: the windows that are asked for are those of the options, and lengths that
 * nobody chose are round and few.
 * Method: parsed command lines; lengths against a search through all round ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/options/window_plan.h"

#include <stdlib.h>

#define SECOND_NS INT64_C(1000000000)
#define WORDS_MAX 16
#define FILETIME  INT64_C(132404548200000000) /* 2020-07-29T00:07:00Z */

static const etlheap_mark loads[] = { { .time_ns = 3 * SECOND_NS, .name = "load", .number = 1 },
                                      { .time_ns = 7 * SECOND_NS, .name = "load", .number = 2 } };
static const etlheap_marks recorded_marks = { .at = loads, .count = ETL_COUNT_OF(loads) };
static const cli_clock recorded = { .start_filetime = FILETIME, .marks = &recorded_marks };

static const cli_command command = { "windows", CLI_WINDOWS, "INPUT...", "", NULL, NULL };

/* Parses words that end with NULL. */
static etl_status make(const char *const *words, cli_options *options, cli_window_plan *plan,
                       etl_error *err)
{
    char *copies[WORDS_MAX] = { NULL };
    int count = 0;
    for (; words[count]; count++) {
        const size_t size = strlen(words[count]) + 1;
        copies[count] = test_malloc(size);
        memcpy(copies[count], words[count], size);
    }
    assert_int_equal(cli_options_parse(&command, count, copies, options, NULL), ETL_OK);
    const etl_status status = cli_window_plan_make(options, &recorded, plan, err);
    for (int i = 0; i < count; i++)
        test_free(copies[i]);
    return status;
}

static void finish(cli_options *options, cli_window_plan *plan)
{
    cli_window_plan_free(plan);
    cli_options_free(options);
}

static void a_length_is_taken_as_it_is(void **state)
{
    static const char *const words[] = { "--every", "1.5s", "a.etl", NULL };
    cli_options options;
    cli_window_plan plan;
    (void)state;
    assert_int_equal(make(words, &options, &plan, NULL), ETL_OK);
    assert_false(plan.is_open);
    cli_window_plan_decide(&options, 0, 100 * SECOND_NS, &plan);
    assert_int_equal(plan.windows.every_ns, 3 * SECOND_NS / 2);
    finish(&options, &plan);
}

static void moments_are_cuts(void **state)
{
    static const char *const words[] = { "a.etl", "--at", "7s", "--at=2020-07-29T00:07:02Z",
                                         "--at",  "0",    NULL };
    cli_options options;
    cli_window_plan plan;
    (void)state;
    assert_int_equal(make(words, &options, &plan, NULL), ETL_OK);
    assert_false(plan.is_open);
    assert_int_equal(plan.windows.cut_count, 3);
    assert_int_equal(plan.windows.cuts[0], 7 * SECOND_NS);
    assert_int_equal(plan.windows.cuts[1], 2 * SECOND_NS);
    assert_int_equal(plan.windows.cuts[2], 0);
    assert_int_equal(plan.windows.range_count, 0);
    finish(&options, &plan);
}

static void marks_are_cuts(void **state)
{
    static const char *const all[] = { "a.etl", "--at", "marks", "--at", "1s", NULL };
    static const char *const one[] = { "a.etl", "--at", "mark:load#2", NULL };
    static const char *const none[] = { "a.etl", "--window", "mark:lod..", NULL };
    static const char *const third[] = { "a.etl", "--at", "mark:load#3", NULL };
    cli_options options;
    cli_window_plan plan;
    etl_error err = { .status = ETL_OK };
    (void)state;
    assert_int_equal(make(all, &options, &plan, NULL), ETL_OK);
    assert_int_equal(plan.windows.cut_count, 3);
    assert_int_equal(plan.windows.cuts[0], SECOND_NS);
    assert_int_equal(plan.windows.cuts[2], 7 * SECOND_NS);
    finish(&options, &plan);
    assert_int_equal(make(one, &options, &plan, NULL), ETL_OK);
    assert_int_equal(plan.windows.cuts[0], 7 * SECOND_NS);
    finish(&options, &plan);
    assert_int_equal(make(none, &options, &plan, &err), ETL_ERR_ARGUMENT);
    assert_string_equal(err.message, "--window: no mark is called 'lod'; did you mean load?");
    finish(&options, &plan);
    assert_int_equal(make(third, &options, &plan, &err), ETL_ERR_ARGUMENT);
    assert_string_equal(err.message,
                        "--at: unknown mark 'load#3': the trace has 2 marks with that name");
    finish(&options, &plan);
}

static void windows_keep_their_order_and_open_ends(void **state)
{
    static const char *const words[] = { "a.etl",    "--window", "5s..6s",   "--window", "..2s",
                                         "--window", "3s..",     "--window", "4s",       NULL };
    static const etlheap_time_range wanted[] = { { 5 * SECOND_NS, 6 * SECOND_NS },
                                                 { INT64_MIN, 2 * SECOND_NS },
                                                 { 3 * SECOND_NS, INT64_MAX },
                                                 { 4 * SECOND_NS, 4 * SECOND_NS } };
    cli_options options;
    cli_window_plan plan;
    (void)state;
    assert_int_equal(make(words, &options, &plan, NULL), ETL_OK);
    assert_int_equal(plan.windows.range_count, ETL_COUNT_OF(wanted));
    for (size_t i = 0; i < ETL_COUNT_OF(wanted); i++) {
        assert_true(plan.windows.ranges[i].from_ns == wanted[i].from_ns);
        assert_true(plan.windows.ranges[i].to_ns == wanted[i].to_ns);
    }
    finish(&options, &plan);
}

static void impossible_windows_are_refused(void **state)
{
    static const struct {
        const char *words[4], *said;
    } rows[] = {
        { { "a.etl", "--window", "5s..2020-07-29T00:07:02Z", NULL },
          "the earlier end comes first" },
        { { "a.etl", "--window", "6s..5s", NULL }, "the earlier end comes first" },
        { { "a.etl", "--window", "1678-01-01..", NULL }, "--window: this time is centuries away" },
        { { "a.etl", "--at", "1678-01-01", NULL }, "--at: this time is centuries away" },
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        cli_options options;
        cli_window_plan plan;
        etl_error err = { .status = ETL_OK };
        assert_int_equal(make(rows[i].words, &options, &plan, &err), ETL_ERR_ARGUMENT);
        assert_non_null(strstr(err.message, rows[i].said));
        finish(&options, &plan);
    }
}

static void open_plans_get_round_windows(void **state)
{
    static const char *const plain[] = { "a.etl", NULL };
    static const char *const growth[] = { "a.etl", "--find-growth", NULL };
    cli_options options;
    cli_window_plan plan;
    (void)state;
    assert_int_equal(make(plain, &options, &plan, NULL), ETL_OK);
    assert_true(plan.is_open);
    cli_window_plan_decide(&options, SECOND_NS, 21 * SECOND_NS + 12000, &plan);
    assert_int_equal(plan.windows.every_ns, SECOND_NS);
    finish(&options, &plan);
    assert_int_equal(make(growth, &options, &plan, NULL), ETL_OK);
    cli_window_plan_decide(&options, SECOND_NS, 21 * SECOND_NS + 12000, &plan);
    assert_int_equal(plan.windows.every_ns, SECOND_NS / 10);
    finish(&options, &plan);
}

static bool is_round(i64 length)
{
    while (length % 10 == 0)
        length /= 10;
    return length == 1 || length == 2 || length == 5;
}

static void lengths_are_the_shortest_round_ones_that_will_do(void **state)
{
    static const i64 spans[] = { 1,        2,        19,       25,        26,           27,
                                 99,       100,      101,      250,       251,          12345,
                                 49999999, 50000000, 50000001, INT64_MAX, INT64_MAX - 1 };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(spans); i++) {
        const i64 length = cli_window_plan_length(spans[i], 20);
        const i64 pieces = (spans[i] - 1) / length + 1;
        assert_true(is_round(length));
        assert_true(pieces <= 25);
        assert_true(pieces >= 10 || length == 1);
        for (i64 shorter = length - 1; shorter >= 1 && shorter > length - 100000; shorter--) {
            if (is_round(shorter))
                assert_true((spans[i] - 1) / shorter + 1 > 25);
        }
    }
}

static void nothing_is_not_cut(void **state)
{
    (void)state;
    assert_int_equal(cli_window_plan_length(0, 20), 0);
    assert_int_equal(cli_window_plan_length(-5, 20), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_length_is_taken_as_it_is),
        cmocka_unit_test(moments_are_cuts),
        cmocka_unit_test(marks_are_cuts),
        cmocka_unit_test(windows_keep_their_order_and_open_ends),
        cmocka_unit_test(impossible_windows_are_refused),
        cmocka_unit_test(open_plans_get_round_windows),
        cmocka_unit_test(lengths_are_the_shortest_round_ones_that_will_do),
        cmocka_unit_test(nothing_is_not_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
