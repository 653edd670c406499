/*
 * Goal: a browser can use the options that are served, and no others; inputs are numbers.
 * Method: every option of the table is asked of every command, and what the table says is the
 * truth; what must never be served is told by what an option takes, not by its name.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/view/question_words.h"

#include <stdlib.h>
#include <string.h>

static const char *const input_names[] = { "a.etl", "--b.etl" };
static const view_names two_inputs = { input_names, ETL_COUNT_OF(input_names) };

static const u32 command_bits[] = { CLI_REPORT,      CLI_INFO, CLI_SYMBOLS, CLI_WINDOWS,
                                    CLI_ALLOCATIONS, CLI_DIFF, CLI_TREND,   CLI_EXPORT };

static etl_status make(const view_pair *pairs, u32 count, u32 command_bit, view_words *out)
{
    const view_question question = { .command = "report", .pairs = pairs, .pair_count = count };
    etl_error err = { .status = ETL_OK };
    *out = (view_words){ 0 };
    return view_words_make(&question, command_bit, &two_inputs, out, &err);
}

/* Two rows may have one name, for different commands. */
static const cli_option *row_of(const char *name, u32 command_bit)
{
    for (u32 i = 0; i < cli_option_count(); i++) {
        const cli_option *const option = cli_option_at(i);
        if (strcmp(option->name, name) == 0 && (option->commands & command_bit) != 0)
            return option;
    }
    return NULL;
}

static void all_options_of_all_commands(void **state)
{
    u32 served = 0, refused = 0;
    (void)state;
    for (u32 i = 0; i < cli_option_count(); i++) {
        const cli_option *const option = cli_option_at(i);
        const bool is_flag = option->value == CLI_VALUE_FLAG;
        const view_pair pair = { option->name + 2, is_flag ? "" : "x" };
        for (size_t k = 0; k < ETL_COUNT_OF(command_bits); k++) {
            const cli_option *const own = row_of(option->name, command_bits[k]);
            const bool is_served = own && (own->commands & CLI_SERVED) != 0;
            if (own && (own->value == CLI_VALUE_FLAG) != is_flag)
                continue;
            view_words words;
            const etl_status status = make(&pair, 1, command_bits[k], &words);
            assert_int_equal(status, is_served ? ETL_OK : ETL_ERR_ARGUMENT);
            if (is_served)
                assert_int_equal(strncmp(words.at[0], option->name, strlen(option->name)), 0);
            served += is_served;
            refused += !is_served;
            view_words_free(&words);
        }
    }
    assert_true(served > 150);
    assert_true(refused > 300);
}

/* Files, folders, servers, logins and limits of this machine are nobody's business outside it. */
static void never_served(void **state)
{
    static const char *const machine[] = { "FILE",    "DIR",         "PATH",
                                           "KEYFILE", "HOST=SOURCE", "ADDRESS" };
    (void)state;
    for (u32 i = 0; i < cli_option_count(); i++) {
        const cli_option *const option = cli_option_at(i);
        bool is_machine = option->value == CLI_VALUE_FILE ||
                          strcmp(option->group, "General") == 0 ||
                          strcmp(option->group, "Symbols") == 0;
        for (size_t k = 0; k < ETL_COUNT_OF(machine) && option->placeholder; k++)
            is_machine |= strcmp(option->placeholder, machine[k]) == 0;
        if (is_machine && (option->commands & CLI_SERVED) != 0)
            fail_msg("%s is served", option->name);
    }
}

static void inputs_are_numbers(void **state)
{
    static const struct {
        const char *value, *word; /* NULL: refused */
    } rows[] = {
        { "1", "a.etl" },  { "2", "--b.etl" },     { "0", NULL },
        { "3", NULL },     { "", NULL },           { "01", NULL },
        { "+1", NULL },    { "-1", NULL },         { " 1", NULL },
        { "1 ", NULL },    { "4294967297", NULL }, { "18446744073709551617", NULL },
        { "a.etl", NULL }, { "1x", NULL },
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        const view_pair pair = { "input", rows[i].value };
        view_words words;
        const etl_status status = make(&pair, 1, CLI_REPORT, &words);
        assert_int_equal(status, rows[i].word ? ETL_OK : ETL_ERR_ARGUMENT);
        if (rows[i].word) {
            assert_string_equal(words.at[words.count - 2], "--");
            assert_string_equal(words.at[words.count - 1], rows[i].word);
        }
        view_words_free(&words);
    }
}

static void expect(const view_pair *pairs, u32 count, u32 command_bit, const char *const *wanted)
{
    view_words words;
    assert_int_equal(make(pairs, count, command_bit, &words), ETL_OK);
    u32 i = 0;
    for (; wanted[i]; i++) {
        assert_true(i < words.count);
        assert_string_equal(words.at[i], wanted[i]);
    }
    assert_int_equal(words.count, i);
    view_words_free(&words);
}

static void words_of_a_question(void **state)
{
    const view_pair both[] = { { "input", "2" }, { "top", "5" }, { "input", "1" } };
    const view_pair csv[] = { { "format", "csv" } };
    const view_pair tree[] = { { "tree", "" }, { "root", "a b" } };
    const view_pair callers[] = { { "tree", "callers" } };
    const view_pair folded[] = { { "format", "folded" } };
    (void)state;
    expect(NULL, 0, CLI_REPORT, (const char *[]){ "--format=json", "--", "a.etl", NULL });
    expect(both, 3, CLI_DIFF,
           (const char *[]){ "--top=5", "--format=json", "--", "--b.etl", "a.etl", NULL });
    expect(csv, 1, CLI_REPORT, (const char *[]){ "--format=csv", "--", "a.etl", NULL });
    expect(tree, 2, CLI_REPORT,
           (const char *[]){ "--tree", "--root=a b", "--format=json", "--", "a.etl", NULL });
    expect(callers, 1, CLI_REPORT,
           (const char *[]){ "--tree=callers", "--format=json", "--", "a.etl", NULL });
    expect(folded, 1, CLI_EXPORT, (const char *[]){ "--format=folded", "--", "a.etl", NULL });
}

static void flags_take_no_value(void **state)
{
    const view_pair pair = { "churn", "1" };
    view_words words;
    (void)state;
    assert_int_equal(make(&pair, 1, CLI_REPORT, &words), ETL_ERR_ARGUMENT);
    view_words_free(&words);
}

/* What each command can repeat, and a path without its login. */
static void words_of_the_view(void **state)
{
    char symbols[] = "--symbols=SRV*https://me:secret@example.com/symbols";
    char progress[] = "--progress=never", offline[] = "--offline", input[] = "a.etl";
    char *const given[] = { symbols, progress, offline, input };
    const cli_command view = { .name = "view", .bit = CLI_VIEW };
    cli_options options;
    etl_error err = { .status = ETL_OK };
    view_words words = { 0 };
    (void)state;
    assert_int_equal(cli_options_parse(&view, ETL_COUNT_OF(given), given, &options, &err), ETL_OK);
    assert_int_equal(view_words_repeat(&options, CLI_INFO, &words, &err), ETL_OK);
    assert_int_equal(words.count, 0);
    assert_int_equal(view_words_repeat(&options, CLI_REPORT, &words, &err), ETL_OK);
    assert_int_equal(words.count, 2);
    assert_string_equal(words.at[1], "--offline");
    assert_int_equal(strncmp(words.at[0], "--symbols=", 10), 0);
    assert_null(strstr(words.at[0], "secret"));
    view_words_free(&words);
    cli_options_free(&options);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_options_of_all_commands), cmocka_unit_test(never_served),
        cmocka_unit_test(inputs_are_numbers),          cmocka_unit_test(words_of_a_question),
        cmocka_unit_test(flags_take_no_value),         cmocka_unit_test(words_of_the_view),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
