/*
 * Goal: options become the query they mean: windows, groupings, frame patterns.
 * Method: options by hand, members of the query looked at; cull lists and stack tags
 * are temporary files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/report_query.h"
#include "engine/names/tags.h"
#include "tests/support/temporary.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* 2020-07-29T00:07:00Z */
#define START_FILETIME INT64_C(132404548200000000)

static const cli_clock recorded = { .start_filetime = START_FILETIME };

static cli_options defaults(void)
{
    return (cli_options){ .lifetime_max_ns = INT64_MAX,
                          .size_max_bytes = UINT64_MAX,
                          .sort = ETLHEAP_MEASURE_OUTSTANDING_SIZE };
}

static void the_default_query_is_the_engines(void **state)
{
    const cli_options options = defaults();
    const etlheap_query wanted = etlheap_query_default();
    cli_query made;
    (void)state;
    assert_int_equal(cli_query_build(&options, &recorded, &made, NULL), ETL_OK);
    assert_true(made.query.from_ns == wanted.from_ns && made.query.to_ns == wanted.to_ns);
    assert_int_equal(made.query.group_by_count, wanted.group_by_count);
    for (u32 i = 0; i < wanted.group_by_count; i++)
        assert_int_equal(made.query.group_by[i], wanted.group_by[i]);
    assert_int_equal(made.query.sort, wanted.sort);
    assert_true(made.query.size_max_bytes == wanted.size_max_bytes);
    assert_true(made.query.cull_frame_count > 0); /* allocators are culled */
    cli_query_free(&made);
}

static void instants_are_relative_to_the_trace(void **state)
{
    cli_options options = defaults();
    cli_query made;
    etl_error err;
    (void)state;
    assert_true(cli_parse_time("2020-07-29T00:07:10Z", &options.from));
    assert_true(cli_parse_time("12s", &options.to));
    assert_int_equal(cli_query_build(&options, &recorded, &made, NULL), ETL_OK);
    assert_true(made.query.from_ns == INT64_C(10000000000));
    assert_true(made.query.to_ns == INT64_C(12000000000));
    cli_query_free(&made);
    assert_true(cli_parse_time("9s", &options.to));
    assert_int_equal(cli_query_build(&options, &recorded, &made, &err), ETL_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "--from is after --to"));
    cli_query_free(&made);
}

static void kinds_are_never_added_together(void **state)
{
    cli_options options = defaults();
    cli_query made;
    (void)state;
    options.group_by[0] = ETLHEAP_KEY_PROCESS;
    options.group_by_count = 1;
    assert_int_equal(cli_query_build(&options, &recorded, &made, NULL), ETL_OK);
    assert_int_equal(made.query.group_by_count, 2);
    assert_int_equal(made.query.group_by[0], ETLHEAP_KEY_KIND);
    assert_int_equal(made.query.group_by[1], ETLHEAP_KEY_PROCESS);
    cli_query_free(&made);
    options.kinds = 1u << ETLHEAP_KIND_HEAP;
    assert_int_equal(cli_query_build(&options, &recorded, &made, NULL), ETL_OK);
    assert_int_equal(made.query.group_by_count, 1);
    cli_query_free(&made);
}

static void all_keys_at_once_fit(void **state)
{
    cli_options options = defaults();
    cli_query made;
    (void)state;
    for (u32 i = 0; i < ETLHEAP_KEY_COUNT; i++)
        options.group_by[options.group_by_count++] = (etlheap_key)(ETLHEAP_KEY_COUNT - 1 - i);
    assert_int_equal(cli_query_build(&options, &recorded, &made, NULL), ETL_OK);
    assert_int_equal(made.query.group_by_count, ETLHEAP_KEY_COUNT);
    assert_int_equal(made.query.group_by[0], ETLHEAP_KEY_COUNT - 1);
    cli_query_free(&made);
}

/* Builds the query of `report app.etl` with two more words. */
static void build_with(const char *first, const char *second, cli_query *made)
{
    static const cli_command report = { .name = "report", .bit = CLI_REPORT };
    char input[] = "app.etl", option[16], value[16];
    char *const words[] = { input, option, value };
    cli_options options;
    snprintf(option, sizeof option, "%s", first);
    snprintf(value, sizeof value, "%s", second ? second : "");
    assert_int_equal(cli_options_parse(&report, second ? 3 : 2, words, &options, NULL), ETL_OK);
    assert_int_equal(cli_query_build(&options, &recorded, made, NULL), ETL_OK);
    cli_options_free(&options);
}

static void a_tree_is_grouped_by_process_and_stack(void **state)
{
    cli_query made;
    (void)state;
    build_with("--tree", NULL, &made);
    assert_int_equal(made.query.group_by_count, 3);
    assert_int_equal(made.query.group_by[2], ETLHEAP_KEY_STACK);
    cli_query_free(&made);
}

static void tags_and_growth_have_groupings_of_their_own(void **state)
{
    cli_query made;
    (void)state;
    build_with("--growth", NULL, &made);
    assert_true(made.query.growth);
    assert_int_equal(made.query.group_by_count, 4);
    assert_int_equal(made.query.group_by[3], ETLHEAP_KEY_STACK);
    cli_query_free(&made);
    build_with("--sort", "steadiness", &made);
    assert_true(made.query.growth);
    cli_query_free(&made);
}

static void write_tags(char path[TEMPORARY_PATH_BYTES], const char *content)
{
    const int descriptor = temporary_file(path, "etlheap-cull");
    assert_true(descriptor >= 0);
    assert_true(write(descriptor, content, strlen(content)) == (ssize_t)strlen(content));
    close(descriptor);
}

/* The last file has the first say, so its tags are added first. */
static void stack_tags_are_read_from_the_last_file_to_the_first(void **state)
{
    char first[TEMPORARY_PATH_BYTES], last[TEMPORARY_PATH_BYTES];
    const char *paths[] = { first, last };
    cli_options options = defaults();
    cli_query made;
    (void)state;
    write_tags(first, "<Tag Name='A'/>");
    write_tags(last, "<Tag Name='B'/>");
    options.stack_tags = (cli_words){ paths, 2 };
    assert_int_equal(cli_query_build(&options, &recorded, &made, NULL), ETL_OK);
    unlink(first);
    unlink(last);
    assert_int_equal(made.query.group_by_count, 3);
    assert_int_equal(made.query.group_by[2], ETLHEAP_KEY_TAG);
    const etlheap_tags *const tags = made.query.tags;
    assert_int_equal(tags->rows.count, 2);
    assert_string_equal(etlheap_strings_get(&tags->strings, tags->rows.at[0].path), "B");
    cli_query_free(&made);
    assert_int_equal(cli_query_build(&options, &recorded, &made, NULL), ETL_ERR_IO);
    cli_query_free(&made);
}

static void no_cull_leaves_only_the_users_patterns(void **state)
{
    const char *words[] = { "app.exe!My*", "malloc" };
    cli_options options = defaults();
    cli_query made;
    (void)state;
    options.no_cull = true;
    options.cull_frames = (cli_words){ words, 2 };
    assert_int_equal(cli_query_build(&options, &recorded, &made, NULL), ETL_OK);
    assert_int_equal(made.query.cull_frame_count, 2);
    assert_string_equal(made.query.cull_frames[0].module, "app.exe");
    assert_string_equal(made.query.cull_frames[0].symbol, "My*");
    assert_null(made.query.cull_frames[1].module);
    cli_query_free(&made);
}

static void a_pattern_of_everything_is_refused(void **state)
{
    const char *words[] = { "*!*" };
    cli_options options = defaults();
    cli_query made;
    etl_error err;
    (void)state;
    options.require_frames = (cli_words){ words, 1 };
    assert_int_equal(cli_query_build(&options, &recorded, &made, &err), ETL_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "--require-frame: '*!*'"));
    cli_query_free(&made);
}

static etl_status add_list(const char *content, cli_patterns *patterns, etl_error *err)
{
    char path[TEMPORARY_PATH_BYTES];
    const int descriptor = temporary_file(path, "etlheap-cull");
    assert_true(descriptor >= 0);
    assert_true(write(descriptor, content, strlen(content)) == (ssize_t)strlen(content));
    close(descriptor);
    const etl_status status = cli_patterns_add_file(patterns, path, err);
    unlink(path);
    return status;
}

static void cull_lists_have_a_pattern_a_line(void **state)
{
    cli_patterns patterns = { NULL, 0, NULL };
    (void)state;
    assert_int_equal(add_list("# allocators\n\nntdll.dll!\r\nmalloc", &patterns, NULL), ETL_OK);
    assert_int_equal(patterns.count, 2);
    assert_string_equal(patterns.at[0].module, "ntdll.dll");
    assert_null(patterns.at[0].symbol);
    assert_string_equal(patterns.at[1].symbol, "malloc");
    cli_patterns_free(&patterns);
}

static void bad_lines_of_a_cull_list_are_named(void **state)
{
    cli_patterns patterns = { NULL, 0, NULL };
    etl_error err;
    char *const line = malloc(5001);
    (void)state;
    assert_int_equal(add_list("a!\nb!\n*\n", &patterns, &err), ETL_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "line 3"));
    assert_non_null(line);
    memset(line, 'x', 5000);
    line[5000] = '\0';
    assert_int_equal(add_list(line, &patterns, &err), ETL_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "line 1"));
    free(line);
    assert_int_equal(cli_patterns_add_file(&patterns, "/nonexistent", &err), ETL_ERR_IO);
    cli_patterns_free(&patterns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_default_query_is_the_engines),
        cmocka_unit_test(instants_are_relative_to_the_trace),
        cmocka_unit_test(kinds_are_never_added_together),
        cmocka_unit_test(all_keys_at_once_fit),
        cmocka_unit_test(a_tree_is_grouped_by_process_and_stack),
        cmocka_unit_test(tags_and_growth_have_groupings_of_their_own),
        cmocka_unit_test(stack_tags_are_read_from_the_last_file_to_the_first),
        cmocka_unit_test(no_cull_leaves_only_the_users_patterns),
        cmocka_unit_test(a_pattern_of_everything_is_refused),
        cmocka_unit_test(cull_lists_have_a_pattern_a_line),
        cmocka_unit_test(bad_lines_of_a_cull_list_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
