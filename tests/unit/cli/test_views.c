/*
 * Goal: two options that exclude each other are refused by a sentence that names both, and views
 * group and sort rows as their rows of the table say.
 * Method: command lines, and the error or the options that they become.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/options/views.h"

#include <stdio.h>

static const cli_command report = { .name = "report", .bit = CLI_REPORT };
static const cli_command windows = { .name = "windows", .bit = CLI_WINDOWS };
static const cli_command diff = { .name = "diff", .bit = CLI_DIFF };

#define WORDS_MAX 16

/* Parses words separated by blanks. */
static etl_status parse(const cli_command *command, char *line, cli_options *out, etl_error *err)
{
    char *words[WORDS_MAX + 1] = { NULL };
    int count = 0;
    for (char *word = strtok(line, " "); word; word = strtok(NULL, " ")) {
        assert_true(count < WORDS_MAX);
        words[count++] = word;
    }
    return cli_options_parse(command, count, words, out, err);
}

static void expect_pair(const cli_command *command, const char *text, const char *first,
                        const char *second)
{
    char line[128], wanted[128];
    cli_options options;
    etl_error err = { .status = ETL_OK };
    snprintf(line, sizeof line, "%s", text);
    snprintf(wanted, sizeof wanted, "%s and %s cannot be combined: ", first, second);
    assert_int_equal(parse(command, line, &options, &err), ETL_ERR_ARGUMENT);
    cli_options_free(&options);
    if (strncmp(err.message, wanted, strlen(wanted)) != 0)
        fail_msg("%s: %s", text, err.message);
}

static void both_options_of_a_pair_are_named(void **state)
{
    (void)state;
    expect_pair(&report, "a --growth --group-by free_type", "--growth", "--group-by free_type");
    expect_pair(&report, "a --growth --group-by free_site", "--growth", "--group-by free_site");
    expect_pair(&report, "a --growth --impacting transient", "--growth", "--impacting");
    expect_pair(&report, "a --sort steadiness --type AIFO", "--sort steadiness", "--type");
    expect_pair(&report, "a --growth --histogram size", "--growth", "--histogram");
    expect_pair(&report, "a --pairs --growth", "--growth", "--pairs");
    expect_pair(&report, "a --suspects --pairs", "--suspects", "--pairs");
    expect_pair(&report, "a --unmatched --churn", "--unmatched", "--churn");
    expect_pair(&report, "a --unmatched --growth", "--unmatched", "--growth");
    expect_pair(&report, "a --unmatched --suspects", "--unmatched", "--suspects");
    expect_pair(&report, "a --unmatched --sort peak_size", "--unmatched", "--sort peak_size");
    expect_pair(&report, "a --kind virtualalloc --heap 0x1", "--heap", "--kind");
    expect_pair(&report, "a --sort alloc_rate --at peak", "--at", "--sort alloc_rate");
    expect_pair(&diff, "a b --lifetimes --per-second", "--lifetimes", "--per-second");
    expect_pair(&diff, "a b --churn --lifetimes", "--lifetimes", "--churn");
    expect_pair(&diff, "a b --sort lifetime_median_ns --per-second", "--sort lifetime_median_ns",
                "--per-second");
    expect_pair(&diff, "a b --sort lifetime_p90_ns --churn", "--sort lifetime_p90_ns", "--churn");
}

/* Only JSON has the rows beside a histogram. */
static void options_about_rows_need_rows(void **state)
{
    char line[] = "a --histogram size --pairs --sort size --format json";
    cli_options options;
    (void)state;
    expect_pair(&report, "a --pairs --histogram size", "--histogram", "--pairs");
    expect_pair(&report, "a --histogram size --format csv --top 3", "--histogram", "--top");
    expect_pair(&report, "a --histogram size --group-by stack", "--histogram", "--group-by");
    assert_int_equal(parse(&report, line, &options, NULL), ETL_OK);
    cli_options_free(&options);
}

static void frames_are_cut_only_where_there_are_stacks(void **state)
{
    char stacks[] = "a --pairs --group-by site,free_stack --frames 2";
    cli_options options;
    (void)state;
    expect_pair(&report, "a --frames 2 --group-by site", "--frames", "--group-by");
    expect_pair(&report, "a --frames 2 --pairs", "--frames", "--pairs");
    expect_pair(&report, "a --frames 2 --tree", "--tree", "--frames");
    assert_int_equal(parse(&report, stacks, &options, NULL), ETL_OK);
    cli_options_free(&options);
}

/* An open end is that of --from and --to; closed windows would ignore them. */
static void windows_have_their_own_ends(void **state)
{
    char open[] = "a --window 1s..2s --window 5s.. --to 9s";
    cli_options options;
    (void)state;
    expect_pair(&windows, "a --window 1s..2s --to 9s", "--window", "--to");
    expect_pair(&windows, "a --window 1s..2s --window 5s.. --from 1s", "--window", "--from");
    assert_int_equal(parse(&windows, open, &options, NULL), ETL_OK);
    cli_options_free(&options);
}

/* Only a comparison by lifetimes is a view of its own. */
static void reports_by_lifetime_have_churn(void **state)
{
    char line[] = "a --churn --sort lifetime_p99_ns";
    cli_options options;
    (void)state;
    assert_int_equal(parse(&report, line, &options, NULL), ETL_OK);
    cli_options_free(&options);
}

static void expect_error(const char *text, const char *words)
{
    char line[128];
    cli_options options;
    etl_error err = { .status = ETL_OK };
    snprintf(line, sizeof line, "%s", text);
    assert_int_equal(parse(&report, line, &options, &err), ETL_ERR_ARGUMENT);
    cli_options_free(&options);
    assert_non_null(strstr(err.message, words));
}

static void a_tree_is_text_and_has_stacks(void **state)
{
    (void)state;
    expect_error("a --tree --format csv", "--tree is only for text and JSON; with --format csv");
    expect_error("a --focus f --format csv", "--focus is only for text, Markdown and JSON");
    expect_error("a --focus f --root g", "--focus and --root cannot be combined");
    expect_error("a --focus f --tree=callers", "--focus and --tree cannot be combined");
    expect_error("a --root f", "--root needs --tree");
    expect_error("a --tree-min 5", "--tree-min needs --tree or --focus");
    expect_error("a --stack-tags t --tree", "with tag in its list, beside --tree");
    expect_error("a --suspects --format markdown --tree", "--tree is only for text and JSON");
    expect_error("a --map --format markdown", "--format markdown cannot be combined with --map");
}

/* An option may be the order of two views; the one that shows more of its own has the say. */
static void the_last_view_of_the_table_has_its_order(void **state)
{
    char pairs[] = "a --pairs", churn[] = "a --churn --pairs", size[] = "a --churn --sort size";
    char *const lines[] = { pairs, churn, size };
    const etlheap_measure sorts[] = { ETLHEAP_MEASURE_COUNT, ETLHEAP_MEASURE_ALLOC_COUNT,
                                      ETLHEAP_MEASURE_SIZE };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(lines); i++) {
        cli_options options;
        assert_int_equal(parse(&report, lines[i], &options, NULL), ETL_OK);
        assert_int_equal(options.sort, sorts[i]);
        cli_options_free(&options);
    }
}

/* A name with a typing error would exclude nothing. */
static void the_table_names_options_that_exist(void **state)
{
    (void)state;
    for (u32 i = 0; i < cli_view_count(); i++) {
        const cli_view *const view = cli_view_at(i);
        const char *const lists[] = { view->option, view->excludes, view->in_place };
        for (size_t k = 0; k < ETL_COUNT_OF(lists); k++) {
            char words[256];
            snprintf(words, sizeof words, "%s", lists[k] ? lists[k] : "");
            assert_true(strlen(words) + 1 < sizeof words);
            for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) {
                u32 at = 0;
                while (at < cli_option_count() && strcmp(cli_option_at(at)->name, word) != 0)
                    at++;
                if (at == cli_option_count())
                    fail_msg("%s: no option is called %s", view->option, word);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_options_of_a_pair_are_named),
        cmocka_unit_test(options_about_rows_need_rows),
        cmocka_unit_test(frames_are_cut_only_where_there_are_stacks),
        cmocka_unit_test(windows_have_their_own_ends),
        cmocka_unit_test(reports_by_lifetime_have_churn),
        cmocka_unit_test(a_tree_is_text_and_has_stacks),
        cmocka_unit_test(the_last_view_of_the_table_has_its_order),
        cmocka_unit_test(the_table_names_options_that_exist),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
