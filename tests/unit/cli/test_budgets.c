/*
 * Goal: limits on the command line become the budgets they say, and what is no limit is
 * refused with a sentence that names option and text.
 * Method: whole command lines through the options' table.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "cli/options/budgets.h"

static int never_run(const cli_options *options)
{
    (void)options;
    return 1;
}

static const char *const no_examples[] = { NULL };
static const cli_command check = { "check", CLI_CHECK, "INPUT...", "", no_examples, never_run };

#define WORDS_MAX 12

/* The budgets of "etlheap check a.etl ARGUMENTS". */
static etl_status parse(const char *arguments, cli_budgets *out, etl_error *err)
{
    char text[256];
    char *words[WORDS_MAX] = { (char[]){ "a.etl" } };
    int count = 1;
    cli_options options;
    snprintf(text, sizeof text, "%s", arguments);
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
        words[count++] = word;
    *out = (cli_budgets){ 0 };
    etl_status status = cli_options_parse(&check, count, words, &options, err);
    if (status == ETL_OK)
        status = cli_budgets_parse(&options, out, err);
    cli_options_free(&options);
    return status;
}

static etlheap_budget only_budget(const char *arguments)
{
    cli_budgets budgets;
    etl_error err = { .status = ETL_OK };
    if (parse(arguments, &budgets, &err) != ETL_OK)
        fail_msg("%s: %s", arguments, err.message);
    assert_int_equal(budgets.count, 1);
    const etlheap_budget budget = budgets.at[0];
    cli_budgets_free(&budgets);
    return budget;
}

static void amount_alone_holds_for_each_process(void **state)
{
    (void)state;
    const etlheap_budget size = only_budget("--max-outstanding 10MB");
    assert_int_equal(size.limit, 10 << 20);
    assert_int_equal(size.scope, ETLHEAP_SCOPE_PROCESS);
    assert_int_equal(size.kinds, 0);
    assert_false(size.is_growth || size.is_count);
    const etlheap_budget count = only_budget("--max-outstanding-count 0");
    assert_int_equal(count.limit, 0);
    assert_true(count.is_count && !count.is_growth);
}

static void scope_comes_from_the_limit_or_from_per(void **state)
{
    (void)state;
    assert_int_equal(only_budget("--max-outstanding stack:64K").scope, ETLHEAP_SCOPE_STACK);
    assert_int_equal(only_budget("--per heap --max-outstanding 1").scope, ETLHEAP_SCOPE_HEAP);
    assert_int_equal(only_budget("--max-outstanding Total:1 --per heap").scope,
                     ETLHEAP_SCOPE_TOTAL);
}

static void kind_may_stand_before_the_limit(void **state)
{
    (void)state;
    const etlheap_budget heaps = only_budget("--max-outstanding heap/heap:1.5K");
    assert_int_equal(heaps.kinds, 1u << ETLHEAP_KIND_HEAP);
    assert_int_equal(heaps.scope, ETLHEAP_SCOPE_HEAP);
    assert_int_equal(heaps.limit, 1536);
    assert_int_equal(only_budget("--max-outstanding VirtualAlloc/2G").kinds,
                     1u << ETLHEAP_KIND_VIRTUALALLOC);
}

static void growth_is_an_amount_a_share_or_both(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        u64 limit, millionths;
    } rows[] = {
        { "--baseline b --max-growth 64K", 65536, 0 },
        { "--baseline b --max-growth 5%", 0, 50000 },
        { "--baseline b --max-growth 0.25%", 0, 2500 },
        { "--baseline b --max-growth 12.0001%", 0, 120001 },
        { "--baseline b --max-growth 4K+5%", 4096, 50000 },
        { "--baseline b --max-growth 5%+4K", 4096, 50000 },
        { "--baseline b --max-growth 0", 0, 0 },
        { "--baseline b --max-growth-count 10+150%", 10, 1500000 },
    };
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        const etlheap_budget budget = only_budget(rows[i].text);
        assert_true(budget.is_growth);
        assert_int_equal(budget.limit, rows[i].limit);
        assert_int_equal(budget.baseline_millionths, rows[i].millionths);
    }
}

static void a_name_stands_between_the_scope_and_the_last_colon(void **state)
{
    (void)state;
    static const struct {
        const char *text, *name;
        etlheap_scope scope;
        u32 kinds;
        u64 limit;
    } rows[] = {
        { "--max-allocations mark:load:0", "load", ETLHEAP_SCOPE_MARK, 0, 0 },
        { "--max-peak module:app.exe:1K", "app.exe", ETLHEAP_SCOPE_MODULE, 0, 1024 },
        { "--max-temporary heap/function:a.dll!A::b:7", "a.dll!A::b", ETLHEAP_SCOPE_FUNCTION,
          1u << ETLHEAP_KIND_HEAP, 7 },
        { "--max-outstanding stack:operator/:2", "operator/", ETLHEAP_SCOPE_STACK, 0, 2 },
        { "--max-outstanding process:heap/x:5", "heap/x", ETLHEAP_SCOPE_PROCESS, 0, 5 },
    };
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        cli_budgets budgets;
        etl_error err = { .status = ETL_OK };
        assert_int_equal(parse(rows[i].text, &budgets, &err), ETL_OK);
        assert_string_equal(budgets.at[0].name, rows[i].name);
        assert_int_equal(budgets.at[0].scope, rows[i].scope);
        assert_int_equal(budgets.at[0].kinds, rows[i].kinds);
        assert_int_equal(budgets.at[0].limit, rows[i].limit);
        cli_budgets_free(&budgets);
    }
    assert_null(only_budget("--max-outstanding stack:5").name);
}

static void each_limit_has_its_option(void **state)
{
    (void)state;
    const etlheap_limit *limit;
    for (u32 i = 0; (limit = etlheap_limit_at(i)) != NULL; i++) {
        char text[64];
        snprintf(text, sizeof text, "--baseline b --max-growth 1 --%s=7", limit->option);
        cli_budgets budgets;
        etl_error err = { .status = ETL_OK };
        assert_int_equal(parse(text, &budgets, &err), ETL_OK);
        u32 found = 0;
        for (u32 k = 0; k < budgets.count; k++)
            found += budgets.at[k].limit == 7 && etlheap_limit_of(&budgets.at[k]) == i;
        assert_int_equal(found, 1);
        cli_budgets_free(&budgets);
    }
}

static void a_plus_or_a_share_makes_either_form_growth(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is_growth;
        u64 limit, millionths;
    } rows[] = {
        { "--max-peak 64K", false, 65536, 0 },
        { "--baseline b --max-peak +64K", true, 65536, 0 },
        { "--baseline b --max-peak total:5%", true, 0, 50000 },
        { "--baseline b --max-peak total:+5%", true, 0, 50000 },
        { "--baseline b --max-allocations process:app:+3+5%", true, 3, 50000 },
        { "--baseline b --max-alloc-rate 3+0.5%", true, 3, 5000 },
    };
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        const etlheap_budget budget = only_budget(rows[i].text);
        assert_int_equal(budget.is_growth, rows[i].is_growth);
        assert_int_equal(budget.limit, rows[i].limit);
        assert_int_equal(budget.baseline_millionths, rows[i].millionths);
    }
}

static void budgets_keep_their_order(void **state)
{
    (void)state;
    cli_budgets budgets;
    assert_int_equal(parse("--max-growth 1 --max-outstanding 3 --baseline b --max-outstanding 2",
                           &budgets, NULL),
                     ETL_OK);
    assert_int_equal(budgets.count, 3);
    assert_int_equal(budgets.at[0].limit, 3);
    assert_int_equal(budgets.at[1].limit, 2);
    assert_true(budgets.at[2].is_growth);
    cli_budgets_free(&budgets);
}

static void refuse(const char *arguments, const char *part)
{
    cli_budgets budgets;
    etl_error err = { .status = ETL_OK };
    assert_int_equal(parse(arguments, &budgets, &err), ETL_ERR_ARGUMENT);
    if (!strstr(err.message, part))
        fail_msg("%s: '%s' is not in '%s'", arguments, part, err.message);
    cli_budgets_free(&budgets);
}

static void what_is_no_limit_is_named(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "x",        "5%",          "stack:", "stack",
        "stak:5",   "/5",          ":5",     "heap/:5",
        "heap/x:5", "file/5",      "-5",     "5_K",
        "stack::5", "heap/heap/5", "1e99",   "99999999999999999999",
        "5K+5%",    "x:name:5"
    };
    char text[64];
    for (size_t i = 0; i < ETL_COUNT_OF(wrong); i++) {
        snprintf(text, sizeof text, "--max-outstanding=%s", wrong[i]);
        refuse(text, "--max-outstanding: ");
    }
    refuse("--max-outstanding-count 1K", "expected a limit such as 1000");
    refuse("--max-outstanding-count 1.5", "--max-outstanding-count: invalid value '1.5'");
}

static void a_limit_of_a_kind_that_is_left_out_is_refused(void **state)
{
    cli_budgets budgets;
    etl_error err;
    (void)state;
    refuse("--kind heap --max-outstanding reserve/1K", "'reserve/1K' limits a kind");
    refuse("--kind heap,extent --max-outstanding 1M --max-outstanding-count virtualalloc/stack:5",
           "'virtualalloc/stack:5' limits a kind");
    assert_int_equal(parse("--kind heap,reserve --max-outstanding reserve/1K", &budgets, &err),
                     ETL_OK);
    cli_budgets_free(&budgets);
}

static void a_limit_keeps_its_last_digit(void **state)
{
    cli_budgets budgets;
    etl_error err;
    (void)state;
    assert_int_equal(parse("--max-outstanding 1234567890123456789 --max-outstanding "
                           "9223372036854775807",
                           &budgets, &err),
                     ETL_OK);
    assert_true(budgets.at[0].limit == UINT64_C(1234567890123456789));
    assert_true(budgets.at[1].limit == INT64_MAX);
    cli_budgets_free(&budgets);
}

/* Measures are signed numbers of 64 bits, so a larger limit would be another. */
static void a_limit_that_does_not_fit_says_so(void **state)
{
    static const char *const wrong[] = {
        "--max-outstanding 9223372036854775808",
        "--max-outstanding stack:99999999999999999999",
        "--max-outstanding heap/process:8388608T",
        "--max-outstanding-count 9223372036854775808",
        "--max-outstanding-count 99999999999999999999",
        "--baseline b --max-growth 5%+8388608T",
        "--baseline b --max-growth 99999999999999999999+5%",
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(wrong); i++)
        refuse(wrong[i], "is out of range: the largest limit is 9223372036854775807");
}

static void what_is_no_growth_is_named(void **state)
{
    (void)state;
    static const char *const wrong[] = { "%",   ".5%", "5.%",   "5.12345%", "5%%",
                                         "+5%", "5%+", "5%+5%", "4K+4K",    "4K+5%+1",
                                         "5%x", "-5%", "x%",    "1000001%" };
    char text[64];
    for (size_t i = 0; i < ETL_COUNT_OF(wrong); i++) {
        snprintf(text, sizeof text, "--baseline b --max-growth=%s", wrong[i]);
        refuse(text, "expected an allowed growth such as");
    }
    refuse("--baseline b --max-growth heap:5%", "differ from run to run");
    refuse("--baseline b --per heap --max-growth 5%", "differ from run to run");
}

static void options_that_need_each_other_say_so(void **state)
{
    (void)state;
    refuse("--per stack", "needs a limit");
    refuse("--max-growth 5%", "--baseline FILE");
    refuse("--max-peak 5%", "--max-peak with + or % needs a baseline");
    refuse("--baseline b --max-peak 5", "--baseline needs a limit");
    refuse("--baseline b --max-allocations heap:5%", "differ from run to run");
    refuse("--baseline b --max-temporary mark:x:5%", "cannot be limited per mark");
    refuse("--max-peak total:x:5", "'total:x:5' names a part of the total");
    refuse("--max-alloc-rate 5K", "expected a limit such as 1000");
    refuse("--max-peak ++5", "expected a limit such as 10M");
    refuse("--baseline b --max-peak 5% --suppressions s", "use --exclude-frame");
    refuse("--baseline b", "--max-growth");
    refuse("--baseline b --max-outstanding 5", "--max-growth");
    refuse("--max-outstanding 5 --update-baseline", "--baseline FILE");
    refuse("--max-outstanding 5 --accept", "--update-baseline");
    refuse("--max-outstanding 5 --per row", "--per: ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(amount_alone_holds_for_each_process),
        cmocka_unit_test(scope_comes_from_the_limit_or_from_per),
        cmocka_unit_test(kind_may_stand_before_the_limit),
        cmocka_unit_test(growth_is_an_amount_a_share_or_both),
        cmocka_unit_test(a_name_stands_between_the_scope_and_the_last_colon),
        cmocka_unit_test(each_limit_has_its_option),
        cmocka_unit_test(a_plus_or_a_share_makes_either_form_growth),
        cmocka_unit_test(budgets_keep_their_order),
        cmocka_unit_test(what_is_no_limit_is_named),
        cmocka_unit_test(a_limit_of_a_kind_that_is_left_out_is_refused),
        cmocka_unit_test(a_limit_keeps_its_last_digit),
        cmocka_unit_test(a_limit_that_does_not_fit_says_so),
        cmocka_unit_test(what_is_no_growth_is_named),
        cmocka_unit_test(options_that_need_each_other_say_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
