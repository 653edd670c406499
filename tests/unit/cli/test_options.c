/*
 * Goal: options are parsed as the table says, and every mistake is one sentence
 * that names the option and what would be right.
 * Method: command lines with what must come out of them, or with a word that
 * the message must have; the table is checked against the help made from it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/options/choices.h"
#include "cli/options/options.h"
#include "cli/options/output_format.h"
#include "cli/options/views.h"
#include "cli/options/wants.h"
#include "tests/support/capture.h"

#include <stdio.h>
#include <stdlib.h>

#define WORDS_MAX 32

static const char *const examples[] = { "etlheap report app.etl", NULL };
static const cli_command report = { "report", CLI_REPORT, "INPUT...", "Reports.", examples, NULL };
static const cli_command symbols = { "symbols", CLI_SYMBOLS, "INPUT...", "Lists.", examples, NULL };
static const cli_command windows = { "windows", CLI_WINDOWS, "INPUT...", "Cuts.", examples, NULL };
static const cli_command allocations = { "allocations", CLI_ALLOCATIONS, "INPUT...",
                                         "Lists.",      examples,        NULL };
static const cli_command info = { "info", CLI_INFO, "INPUT...", "Informs.", examples, NULL };
static const cli_command diff = { "diff", CLI_DIFF, "BASE NEW", "Compares.", examples, NULL };
static const cli_command dump = { "dump", CLI_DUMP, "INPUT...", "Dumps.", examples, NULL };

/* Parses words separated by spaces; `line` must outlive the options. */
static etl_status parse(const cli_command *command, char *line, cli_options *out, etl_error *err)
{
    char *words[WORDS_MAX + 1] = { NULL };
    int count = 0;
    for (char *at = line; *at != '\0' && count < WORDS_MAX;) {
        words[count++] = at;
        at += strcspn(at, " ");
        if (*at == ' ')
            *at++ = '\0';
    }
    return cli_options_parse(command, count, words, out, err);
}

/* A word that was typed would be found in whatever repeats it. */
static void expect_error(const cli_command *command, const char *text, const char *word)
{
    assert_null(strstr(text, word));
    char line[256];
    cli_options options;
    etl_error err = { .status = ETL_OK };
    snprintf(line, sizeof line, "%s", text);
    const etl_status status = parse(command, line, &options, &err);
    print_message("  %s -> %s\n", text, err.message);
    assert_int_equal(status, ETL_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, word));
    assert_null(strchr(err.message, '\n'));
    cli_options_free(&options);
}

static void defaults_hold_without_options(void **state)
{
    char line[] = "app.etl";
    cli_options options;
    (void)state;
    assert_int_equal(parse(&report, line, &options, NULL), ETL_OK);
    assert_int_equal(options.inputs.count, 1);
    assert_string_equal(options.inputs.at[0], "app.etl");
    assert_null(options.output);
    assert_string_equal(cli_format_of(&options)->name, "text");
    assert_int_equal(options.sort, ETLHEAP_MEASURE_OUTSTANDING_SIZE);
    assert_false(options.sort_ascending);
    assert_int_equal(options.group_by_count, 0);
    assert_true(options.lifetime_max_ns == INT64_MAX && options.size_max_bytes == UINT64_MAX);
    assert_false(options.from.given || options.to.given);
    cli_options_free(&options);
}

static void every_spelling_of_a_value_is_taken(void **state)
{
    static const char *const lines[] = { "-o out.json app.etl", "-oout.json app.etl",
                                         "--output out.json app.etl", "app.etl --output=out.json" };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(lines); i++) {
        char line[64];
        cli_options options;
        snprintf(line, sizeof line, "%s", lines[i]);
        assert_int_equal(parse(&report, line, &options, NULL), ETL_OK);
        assert_string_equal(options.output, "out.json");
        assert_int_equal(options.inputs.count, 1);
        cli_options_free(&options);
    }
}

static const char *format_for(const cli_command *command, const char *text)
{
    static cli_options options;
    char line[128];
    snprintf(line, sizeof line, "%s", text);
    cli_options_free(&options);
    assert_int_equal(parse(command, line, &options, NULL), ETL_OK);
    const char *const format = options.format ? options.format : "text";
    cli_options_free(&options);
    return format;
}

static void a_suffix_picks_the_format_unless_one_is_given(void **state)
{
    static const cli_command export = {
        "export", CLI_EXPORT, "INPUT...", "Writes.", examples, NULL
    };
    static const cli_command check = { "check", CLI_CHECK, "INPUT...", "Checks.", examples, NULL };
    (void)state;
    assert_string_equal(format_for(&report, "a -o x.json"), "json");
    assert_string_equal(format_for(&report, "a -o x.JSON"), "json");
    assert_string_equal(format_for(&report, "a -o x.csv.zst"), "csv");
    assert_string_equal(format_for(&report, "a -o x.json --format text"), "text");
    assert_string_equal(format_for(&report, "a --format csv -o x.json"), "csv");
    assert_string_equal(format_for(&report, "a -o x.txt"), "text");
    assert_string_equal(format_for(&report, "a -o .json"), "text");
    assert_string_equal(format_for(&report, "a -o json"), "text");
    assert_string_equal(format_for(&report, "a -o -"), "text");
    assert_string_equal(format_for(&report, "a -o x.log"), "text");
    assert_string_equal(format_for(&check, "a --max-outstanding 1 -o x.xml"), "junit");
    assert_string_equal(format_for(&check, "a --max-outstanding 1 -o x.sarif"), "sarif");
    assert_string_equal(format_for(&allocations, "a -o x.ndjson"), "ndjson");
    assert_string_equal(format_for(&export, "a -o x.dhat.json"), "dhat");
    assert_string_equal(format_for(&export, "a -o x.speedscope.json.zst"), "speedscope");
    assert_string_equal(format_for(&export, "a -o x.pb.gz"), "pprof");
    assert_string_equal(format_for(&export, "a -o x.html"), "html");
    assert_string_equal(format_for(&export, "a -o x.html --format folded"), "folded");
    expect_error(&report, "a -o x.html", "export writes");
    expect_error(&report, "a -o x.xml", "the format junit, which report does not write");
    expect_error(&report, "a -o x.pdf", "-o: etlheap does not write files of this kind; etlheap");
    expect_error(&report, "a -o x.XLSX", "of this kind; spreadsheets open CSV");
    expect_error(&report, "a -o x.docx", "of this kind; Markdown is");
    expect_error(&export, "a -o x.json", "suffix of a format");
}

static void all_rows_can_be_asked_for(void **state)
{
    char line[] = "a --top ALL";
    char few[] = "a --top 3";
    cli_options options;
    (void)state;
    assert_int_equal(parse(&report, line, &options, NULL), ETL_OK);
    assert_true(options.top > 0);
    assert_int_equal(cli_top_limit(&options), 0);
    cli_options_free(&options);
    assert_int_equal(parse(&report, few, &options, NULL), ETL_OK);
    assert_int_equal(cli_top_limit(&options), 3);
    cli_options_free(&options);
    expect_error(&report, "a --top 0", "--top: invalid value '0': expected a number from 1 to");
    expect_error(&report, "a -j all", "to 1024");
}

/* Users read there what they may write; a list in words of ours would miss the next one. */
static void help_and_errors_have_every_choice(void **state)
{
    const cli_command *const all[] = { &report, &symbols, &windows, &allocations,
                                       &info,   &dump,    &diff };
    (void)state;
    for (size_t c = 0; c < ETL_COUNT_OF(all); c++) {
        capture out;
        capture_open(&out);
        cli_write_help(all[c], out.sink);
        const char *const text = capture_text(&out);
        for (u32 i = 0; i < cli_option_count(); i++) {
            const cli_option *const option = cli_option_at(i);
            const cli_value value = (cli_value)option->value;
            if (!(option->commands & all[c]->bit) || value == CLI_VALUE_FORMAT)
                continue;
            const char *at = strstr(text, option->name);
            assert_non_null(at);
            for (u32 k = 0; cli_value_choice(value, k); k++)
                assert_true(strstr(at, cli_value_choice(value, k)) != NULL ||
                            !cli_choice_fits(value, k, all[c]->bit));
        }
        capture_close(&out);
    }
}

static void filters_reach_their_members(void **state)
{
    char line[] = "app.etl --kind heap,Extent --type aifo --process a.exe --process 42 "
                  "--heap 0x1f0000,7 --thread 8 --lifetime 1s.. --size ..64K";
    cli_options options;
    (void)state;
    assert_int_equal(parse(&report, line, &options, NULL), ETL_OK);
    assert_int_equal(options.kinds, 1u << ETLHEAP_KIND_HEAP | 1u << ETLHEAP_KIND_EXTENT);
    assert_int_equal(options.types, 1u << ETLHEAP_TYPE_AIFO);
    assert_int_equal(options.processes.count, 2);
    assert_string_equal(options.processes.at[1], "42");
    assert_int_equal(options.heaps.count, 2);
    assert_true(options.heaps.at[0] == 0x1f0000 && options.heaps.at[1] == 7);
    assert_int_equal(options.threads.count, 1);
    assert_string_equal(options.threads.at[0], "8");
    assert_true(options.lifetime_min_ns == 1000000000 && options.lifetime_max_ns == INT64_MAX);
    assert_true(options.size_min_bytes == 0 && options.size_max_bytes == 65536);
    cli_options_free(&options);
}

static void shape_and_run_reach_their_members(void **state)
{
    char line[] = "a b --group-by process,stack --sort -peak_size --top 7 --frames 0 "
                  "--at-exit=freed --format csv -j 3 --memory 512M --strict";
    cli_options options;
    (void)state;
    assert_int_equal(parse(&report, line, &options, NULL), ETL_OK);
    assert_int_equal(options.inputs.count, 2);
    assert_int_equal(options.group_by_count, 2);
    assert_int_equal(options.group_by[0], ETLHEAP_KEY_PROCESS);
    assert_int_equal(options.group_by[1], ETLHEAP_KEY_STACK);
    assert_int_equal(options.sort, ETLHEAP_MEASURE_PEAK_SIZE);
    assert_true(options.sort_ascending);
    assert_int_equal(options.top, 7);
    assert_int_equal(options.frames, 0);
    assert_int_equal(options.at_exit, 1);
    assert_string_equal(options.format, "csv");
    assert_int_equal(options.jobs, 3);
    assert_true(options.memory_bytes == 512 * ETL_MIB);
    assert_true(options.strict && !options.no_mmap);
    cli_options_free(&options);
}

static void tags_and_growth_reach_their_members(void **state)
{
    char line[] = "a --stack-tags x.stacktags --stack-tags y.stacktags --group-by tag --growth";
    cli_options options;
    (void)state;
    assert_int_equal(parse(&report, line, &options, NULL), ETL_OK);
    assert_int_equal(options.stack_tags.count, 2);
    assert_string_equal(options.stack_tags.at[1], "y.stacktags");
    assert_int_equal(options.group_by[0], ETLHEAP_KEY_TAG);
    assert_true(options.growth && cli_views_need(&options, offsetof(etlheap_query, growth)));
    assert_int_equal(options.sort, ETLHEAP_MEASURE_GROWTH_RATE);
    cli_options_free(&options);
    char sorted[] = "a --growth --sort size";
    assert_int_equal(parse(&report, sorted, &options, NULL), ETL_OK);
    assert_int_equal(options.sort, ETLHEAP_MEASURE_SIZE);
    cli_options_free(&options);
}

static void symbols_reach_their_members(void **state)
{
    char line[] =
        "a --symbols SRV*c*https://x --symbols-loose --offline --kind heap --cull-frame z";
    char none[] = "a --no-symbols";
    cli_options options;
    (void)state;
    assert_int_equal(parse(&symbols, line, &options, NULL), ETL_OK);
    assert_string_equal(options.symbols, "SRV*c*https://x");
    assert_true(options.symbols_loose && options.offline && !options.no_symbols);
    cli_options_free(&options);
    assert_int_equal(parse(&report, none, &options, NULL), ETL_OK);
    assert_true(options.symbols == NULL && options.no_symbols);
    assert_false(options.symbols_loose || options.offline);
    cli_options_free(&options);
}

static void windows_reach_their_members(void **state)
{
    char line[] = "app.etl --every 500ms --from 1s --find-growth";
    char moments[] = "app.etl --at 1s --at 2020-07-29 --window 1s..2s";
    cli_options options;
    (void)state;
    assert_int_equal(parse(&windows, line, &options, NULL), ETL_OK);
    assert_true(options.every_ns == 500000000 && options.find_growth);
    assert_int_equal(options.at_exit, 1);
    assert_int_equal(options.sort, ETLHEAP_MEASURE_PEAK_SIZE);
    cli_options_free(&options);
    assert_int_equal(parse(&windows, moments, &options, NULL), ETL_ERR_ARGUMENT);
    assert_int_equal(options.moments.count, 2);
    assert_true(options.moments.at[0].ns == 1000000000 && options.moments.at[1].is_instant);
    assert_int_equal(options.windows.count, 2);
    assert_true(options.windows.at[1].ns == 2000000000);
    cli_options_free(&options);
}

/* Times begin with the earliest, given or by default; other columns with the largest. */
static void allocations_are_sorted_by_columns_of_their_own(void **state)
{
    static const struct {
        const char *line;
        etlheap_lifetime_column column;
        bool descending;
    } rows[] = {
        { "app.etl", ETLHEAP_LIFETIME_ALLOC_TIME, false },
        { "app.etl --sort alloc_time", ETLHEAP_LIFETIME_ALLOC_TIME, false },
        { "app.etl --sort=-alloc_time", ETLHEAP_LIFETIME_ALLOC_TIME, true },
        { "app.etl --sort free_time", ETLHEAP_LIFETIME_FREE_TIME, false },
        { "app.etl --sort=-free_time", ETLHEAP_LIFETIME_FREE_TIME, true },
        { "app.etl --sort address", ETLHEAP_LIFETIME_ADDRESS, true },
        { "app.etl --sort=-address", ETLHEAP_LIFETIME_ADDRESS, false },
        { "app.etl --sort Lifetime --top 3", ETLHEAP_LIFETIME_LIFETIME, true },
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        char line[64];
        cli_options options;
        snprintf(line, sizeof line, "%s", rows[i].line);
        assert_int_equal(parse(&allocations, line, &options, NULL), ETL_OK);
        assert_int_equal(options.lifetime_sort, rows[i].column);
        assert_int_equal(options.lifetime_descending, rows[i].descending);
        assert_int_equal(options.at_exit, 0);
        cli_options_free(&options);
    }
    expect_error(&allocations, "app.etl --sort outstanding_size",
                 "--sort: 'outstanding_size' is not one of alloc_time, free_time, lifetime");
    expect_error(&allocations, "app.etl --group-by kind",
                 "unknown option --group-by for allocations");
    expect_error(&report, "app.etl --sort address", "--sort: 'address' is not one of count, size");
}

static void tree_takes_its_value_after_equals_only(void **state)
{
    char plain[] = "--tree app.etl";
    char callers[] = "--tree=callers app.etl";
    cli_options options;
    (void)state;
    assert_int_equal(parse(&report, plain, &options, NULL), ETL_OK);
    assert_int_equal(options.tree, ETLHEAP_TREE_CALLEES);
    assert_int_equal(options.inputs.count, 1);
    cli_options_free(&options);
    assert_int_equal(parse(&report, callers, &options, NULL), ETL_OK);
    assert_int_equal(options.tree, ETLHEAP_TREE_CALLERS);
    cli_options_free(&options);
}

static void two_dashes_end_the_options(void **state)
{
    char line[] = "--strict -- --from -x";
    cli_options options;
    (void)state;
    assert_int_equal(parse(&dump, line, &options, NULL), ETL_OK);
    assert_int_equal(options.inputs.count, 2);
    assert_string_equal(options.inputs.at[0], "--from");
    cli_options_free(&options);
}

static void help_needs_no_input(void **state)
{
    char line[] = "--help";
    cli_options options;
    (void)state;
    assert_int_equal(parse(&info, line, &options, NULL), ETL_OK);
    assert_true(options.help);
    cli_options_free(&options);
}

static void the_last_of_a_repeated_option_holds(void **state)
{
    char line[] = "a --top 3 --top 4 --group-by kind --group-by process";
    cli_options options;
    (void)state;
    assert_int_equal(parse(&report, line, &options, NULL), ETL_OK);
    assert_int_equal(options.top, 4);
    assert_int_equal(options.group_by_count, 1);
    assert_int_equal(options.group_by[0], ETLHEAP_KEY_PROCESS);
    cli_options_free(&options);
}

static void an_empty_point_window_is_allowed(void **state)
{
    char line[] = "a --from 5s --to 5s";
    cli_options options;
    (void)state;
    assert_int_equal(parse(&report, line, &options, NULL), ETL_OK);
    cli_options_free(&options);
}

static void unknown_options_get_the_nearest_name(void **state)
{
    (void)state;
    expect_error(&report, "a --frm 1s", "did you mean --from?");
    expect_error(&report, "a --grou-by kind", "did you mean --group-by?");
    expect_error(&report, "a --req x", "did you mean --require-frame?");
    expect_error(&report, "a --pid 4", "unknown option --pid, did you mean --process?");
    expect_error(&report, "a --json",
                 "unknown option --json for report, did you mean --format json?");
    expect_error(&report, "a --group-by handle", "did you mean heap?");
    expect_error(&report, "a --nonsense", "unknown option --nonsense; see etlheap report --help");
    expect_error(&report, "a -x", "unknown option -x");
    expect_error(&report, "a -hx", "unknown option -hx");
}

static void options_of_other_commands_are_told_so(void **state)
{
    (void)state;
    expect_error(&info, "a --sort size", "unknown option --sort for info");
    expect_error(&report, "a --events x", "unknown option --events for report");
    expect_error(&dump, "a --top 3", "unknown option --top for dump");
}

static void missing_and_surplus_values_are_told(void **state)
{
    (void)state;
    expect_error(&report, "a --from", "--from needs a value: TIME");
    expect_error(&report, "a -j", "-j needs a value: N");
    expect_error(&report, "a --strict=yes", "--strict takes no value");
    expect_error(&report, "a --output=", "--output needs a value: FILE");
    expect_error(&report, "a --process=", "--process needs a value: NAME|PID");
    expect_error(&report, "", "no input");
}

static void bad_values_name_option_and_remedy(void **state)
{
    (void)state;
    expect_error(&report, "a --from 9223372036854775808ns", "out of range: times go up to");
    expect_error(&report, "a --lifetime 1s..300000000000s", "is out of range");
    expect_error(&report, "a --size 1K..16777216T", "the largest size is 18446744073709551615");
    expect_error(&report, "a --from 5parsecs",
                 "--from: invalid value '5parsecs': expected a time such as 12s");
    expect_error(&report, "a --top 0", "--top: invalid value '0': expected a number from 1 to");
    expect_error(&report, "a --top -1", "--top: invalid value '-1': expected a number from 1");
    expect_error(&report, "a -j 0", "-j: invalid value '0'");
    expect_error(&report, "a -j 99999",
                 "-j: invalid value '99999': expected a number from 1 to 1024");
    expect_error(&report, "a --top 99999999999999999999", "expected a number from 1 to 4294967294");
    expect_error(&report, "a --size 12Q..",
                 "--size: invalid value '12Q..': expected a range of sizes");
    expect_error(&report, "a --heap 0x1f0000,", "expected a list of heap handles");
    expect_error(&report, "a --memory 0",
                 "--memory: invalid value '0': expected a size such as 4096");
    expect_error(&report, "a --sort siz", "did you mean size?");
    expect_error(&report, "a --sort zzz", "is not one of count, size, impacting_size");
    expect_error(&report, "a --kind pages", "is not one of heap, virtualalloc, extent");
    expect_error(&report, "a --type AIFO,,AOFO", "separated by commas");
    expect_error(&report, "a --group-by kind,kind", "kind is given twice");
    expect_error(&report, "a --format yaml", "is not one of text, json, csv");
    expect_error(&report, "a --tree=sideways", "is not one of callees, callers");
}

static void contradictions_are_refused(void **state)
{
    (void)state;
    expect_error(&report, "a --from 5s --to 2s", "--from is after --to");
    expect_error(&dump, "a --from 2020-07-29 --to 2020-07-28", "--from is after --to");
    expect_error(&report, "a --size 64K..1K", "is empty; the smaller end comes first");
    expect_error(&report, "a --lifetime 2s..1s", "is empty; the smaller end comes first");
    expect_error(&report, "a --group-by tag", "--stack-tags FILE");
    expect_error(&report, "a --stack-tags t --group-by stack",
                 "--stack-tags needs --group-by with tag");
    expect_error(&report, "a --format ndjson", "--format: 'ndjson' is not a format of report");
    expect_error(&dump, "a --format csv", "--format: 'csv' is not a format of dump");
    expect_error(&info, "a --format csv", "--format: 'csv' is not a format of info");
    expect_error(&report, "a --titles", "--titles needs --format csv");
    expect_error(&report, "a --titles --format json", "--titles needs --format csv");
    expect_error(&info, "a --titles", "unknown option --titles for info");
    expect_error(&symbols, "a --format ndjson", "--format: 'ndjson' is not a format of symbols");
    expect_error(&symbols, "a --require-frame x", "unknown option --require-frame for symbols");
    expect_error(&symbols, "a --symbols", "--symbols needs a value");
    expect_error(&windows, "a --every 1s --at 5s", "--every, --at and --window cannot be combined");
    expect_error(&windows, "a --find-growth --window 1s..2s", "cannot be combined with --window");
    expect_error(&windows, "a --find-spikes --every 1s", "--find-spikes and --every cannot be");
    expect_error(&windows, "a --find-spikes --group-by stack",
                 "--find-spikes and --group-by stack");
    expect_error(&windows, "a --group-by process,type", "--group-by type: not possible here");
    expect_error(&windows, "a --type AIFO", "unknown option --type for windows");
    expect_error(&windows, "a --every 9223372037s", "--every: '9223372037s' is out of range");
    expect_error(&windows, "a --window 1s..1e30s", "--window: '1s..1e30s' is out of range");
    expect_error(&windows, "a --at 9999-01-01", "--at: '9999-01-01' is out of range");
    expect_error(&windows, "a --every 0s", "--every: invalid value '0s': expected a span of time");
    expect_error(&windows, "a --every -1s",
                 "--every: invalid value '-1s': expected a span of time");
    expect_error(&windows, "a --window 5s...",
                 "--window: invalid value '5s...': expected a window of time");
    expect_error(&windows, "a --at peak", "--at: invalid value 'peak': expected marks, or a time");
    expect_error(&report, "a --every 1s", "unknown option --every for report");
}

/* Of `text`, without letters around it? */
static bool has_word(const char *text, const char *word)
{
    const size_t size = strlen(word);
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) {
        const bool begins = at == text || strchr(" ,", at[-1]);
        if (begins && (at[size] == '\0' || strchr(" ,", at[size])))
            return true;
    }
    return false;
}

/* Choices that do not fit, or that another command has, would send the user astray. */
static void wrong_words_are_answered_with_all_choices_of_the_command(void **state)
{
    static const cli_command *const commands[] = { &report, &allocations, &symbols, &windows,
                                                   &info,   &dump,        &diff };
    u32 count = 0;
    (void)state;
    for (size_t c = 0; c < ETL_COUNT_OF(commands); c++) {
        for (u32 i = 0; i < cli_option_count(); i++) {
            const cli_option *const option = cli_option_at(i);
            const char *const first = cli_value_choice((cli_value)option->value, 0);
            char line[128];
            cli_options options;
            etl_error err = { .status = ETL_OK };
            if (!(option->commands & commands[c]->bit) || !first)
                continue;
            snprintf(line, sizeof line, "a %s=0123456789012345678901234567890123456789",
                     option->name);
            assert_int_equal(parse(commands[c], line, &options, &err), ETL_ERR_ARGUMENT);
            cli_options_free(&options);
            print_message("  %s\n", err.message);
            for (u32 k = 0; cli_value_choice((cli_value)option->value, k); k++) {
                const char *const choice = cli_value_choice((cli_value)option->value, k);
                const bool fits = cli_choice_fits((cli_value)option->value, k, commands[c]->bit);
                assert_int_equal(has_word(err.message, choice), fits);
                count++;
            }
        }
    }
    assert_in_range(count, 150, 1000);
}

/* Options of different commands may have one name. */
static bool has_option(const cli_command *command, const char *name)
{
    bool has = false;
    for (u32 i = 0; i < cli_option_count(); i++)
        has |= strcmp(cli_option_at(i)->name, name) == 0 &&
               (cli_option_at(i)->commands & command->bit) != 0;
    return has;
}

static void help_lists_exactly_the_commands_options(void **state)
{
    static const cli_command *const commands[] = { &report,  &allocations, &symbols,
                                                   &windows, &info,        &dump };
    (void)state;
    for (size_t c = 0; c < ETL_COUNT_OF(commands); c++) {
        capture help;
        capture_open(&help);
        cli_write_help(commands[c], help.sink);
        const char *const text = capture_text(&help);
        for (u32 i = 0; i < cli_option_count(); i++) {
            const cli_option *const option = cli_option_at(i);
            char spelled[64];
            snprintf(spelled, sizeof spelled, " %s%s", option->name,
                     option->value == CLI_VALUE_TREE ? "[" : " ");
            const bool has = has_option(commands[c], option->name);
            print_message("  %s %s\n", commands[c]->name, option->name);
            assert_true((strstr(text, spelled) != NULL) == has);
        }
        for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1)
            assert_true(strcspn(line, "\n") <= 100);
        capture_close(&help);
    }
}

static void a_command_has_no_name_twice(void **state)
{
    (void)state;
    for (u32 i = 0; i < cli_option_count(); i++) {
        const cli_option *const a = cli_option_at(i);
        assert_true(strncmp(a->name, "--", 2) == 0);
        assert_true(a->commands != 0);
        for (u32 k = 0; k < i; k++) {
            const cli_option *const b = cli_option_at(k);
            assert_true(strcmp(a->name, b->name) != 0 ||
                        (a->commands & b->commands & CLI_COMMANDS) == 0);
            assert_true(a->letter == 0 || a->letter != b->letter);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_hold_without_options),
        cmocka_unit_test(every_spelling_of_a_value_is_taken),
        cmocka_unit_test(a_suffix_picks_the_format_unless_one_is_given),
        cmocka_unit_test(all_rows_can_be_asked_for),
        cmocka_unit_test(help_and_errors_have_every_choice),
        cmocka_unit_test(filters_reach_their_members),
        cmocka_unit_test(shape_and_run_reach_their_members),
        cmocka_unit_test(tags_and_growth_reach_their_members),
        cmocka_unit_test(symbols_reach_their_members),
        cmocka_unit_test(windows_reach_their_members),
        cmocka_unit_test(allocations_are_sorted_by_columns_of_their_own),
        cmocka_unit_test(tree_takes_its_value_after_equals_only),
        cmocka_unit_test(two_dashes_end_the_options),
        cmocka_unit_test(help_needs_no_input),
        cmocka_unit_test(the_last_of_a_repeated_option_holds),
        cmocka_unit_test(an_empty_point_window_is_allowed),
        cmocka_unit_test(unknown_options_get_the_nearest_name),
        cmocka_unit_test(options_of_other_commands_are_told_so),
        cmocka_unit_test(missing_and_surplus_values_are_told),
        cmocka_unit_test(bad_values_name_option_and_remedy),
        cmocka_unit_test(contradictions_are_refused),
        cmocka_unit_test(wrong_words_are_answered_with_all_choices_of_the_command),
        cmocka_unit_test(help_lists_exactly_the_commands_options),
        cmocka_unit_test(a_command_has_no_name_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
