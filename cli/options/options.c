/*
 * options.c - parses the options of a command, as options_table.c lists them, and refuses
 * combinations that make no sense.
 *
 * In: the words after the command. Out: a cli_options, or an error whose sentence names the option.
 *
 * Parsing has two parts: each word is stored by its row (option_values.c), then check_options looks
 * at all of them together. Invariant: nothing here prints, exits or opens an input; errors that
 * depend on a trace are found later. A new option that conflicts with others needs a check here.
 */
#include "options.h"

#include "budgets.h"
#include "choices.h"
#include "clock.h"
#include "command_list.h"
#include "given_options.h"
#include "nearest.h"
#include "output_format.h"
#include "source_words.h"
#include "views.h"
#include "wants.h"
#include "wildcards.h"

#include <stdio.h>
#include <stdlib.h>

static const cli_option *find_option(const cli_command *command, const char *name, size_t size);
static const cli_option *find_letter(char letter);
static void unknown_option(const cli_command *command, const char *word, etl_error *err);
static etl_status parse_long(const cli_command *command, char *const *words, cli_options *out,
                             int *taken, etl_error *err);
static etl_status parse_short(const cli_command *command, char *const *words, cli_options *out,
                              int *taken, etl_error *err);
static etl_status take_option(const cli_option *option, const char *spelled, const char *value,
                              cli_options *out, etl_error *err);
static etl_status check_command(const cli_command *command, const cli_option *option,
                                const char *spelled, etl_error *err);
/* Refuses combinations that make no sense. If one of two times is an instant, they are compared
 * once the trace is open. */
static etl_status check_options(const cli_command *command, const cli_options *options,
                                etl_error *err);
static etl_status check_csv(const cli_command *command, const cli_options *options, etl_error *err);
static etl_status check_budgets(const cli_options *options, etl_error *err);
static etl_status check_sources(const cli_options *options, etl_error *err);
static etl_status check_tags(const cli_options *options, etl_error *err);
static etl_status check_pool_tags(const cli_options *options, etl_error *err);
static etl_status check_export(const cli_options *options, etl_error *err);
static etl_status check_output_name(const cli_command *command, const cli_options *options,
                                    etl_error *err);
static etl_status refuse_format(const cli_command *command, const etlheap_format *format,
                                etl_error *err);

/* The count beside a size, for kinds without sizes; other measures stay. */
static etlheap_measure count_beside(etlheap_measure size)
{
    switch (size) {
    case ETLHEAP_MEASURE_SIZE:
        return ETLHEAP_MEASURE_COUNT;
    case ETLHEAP_MEASURE_OUTSTANDING_SIZE:
    case ETLHEAP_MEASURE_IMPACTING_SIZE:
        return ETLHEAP_MEASURE_OUTSTANDING_COUNT;
    case ETLHEAP_MEASURE_PEAK_SIZE:
        return ETLHEAP_MEASURE_PEAK_COUNT;
    default:
        return size;
    }
}

etl_status cli_options_parse(const cli_command *command, int count, char *const *words,
                             cli_options *out, etl_error *err)
{
    const bool is_windows = command->bit == CLI_WINDOWS;
    *out = (cli_options){
        .command_bit = command->bit,
        .frames = command->bit == CLI_ALLOCATIONS ? 0 : etlheap_layout_default().frames_max,
        .sort = is_windows ? ETLHEAP_MEASURE_PEAK_SIZE : ETLHEAP_MEASURE_OUTSTANDING_SIZE,
        .at_exit = is_windows ? 1 : 0,
        .per = ETLHEAP_SCOPE_PROCESS,
        .source_lines = ETLHEAP_SOURCE_LINES,
        .lifetime_max_ns = INT64_MAX,
        .size_max_bytes = UINT64_MAX,
        .address_last = UINT64_MAX,
    };
    out->is_export = command->bit == CLI_EXPORT;
    bool only_inputs = false; /* after "--" */
    etl_status status = ETL_OK;
    for (int i = 0; i < count && status == ETL_OK;) {
        int taken = 1;
        if (only_inputs || words[i][0] != '-' || words[i][1] == '\0')
            status = cli_input_add(&out->inputs, words[i], err);
        else if (strcmp(words[i], "--") == 0)
            only_inputs = true;
        else if (words[i][1] == '-')
            status = parse_long(command, &words[i], out, &taken, err);
        else
            status = parse_short(command, &words[i], out, &taken, err);
        i += taken;
    }
    /* Transient memory has nothing outstanding, so it is sorted by another measure. */
    if (cli_wants_transient(out) && !out->sort_given)
        out->sort = ETLHEAP_MEASURE_SIZE;
    if (!out->sort_given)
        cli_views_set_sort(out);
    if (!out->sort_given && etlheap_kinds_are_counted(out->kinds))
        out->sort = count_beside(out->sort);
    cli_views_set_tree(out);
    const bool has_formats = (command->bit & (CLI_SHOWING | CLI_EXPORT)) != 0;
    if (!out->format && has_formats && cli_output_is_file(out))
        out->format = cli_format_of_name(out->output, command->bit);
    if (status == ETL_OK && !out->help)
        status = check_options(command, out, err);
    return status;
}

const cli_command *cli_command_named(const cli_command_list *commands, const char *name)
{
    for (size_t i = 0; i < commands->count; i++) {
        if (strcmp(commands->at[i].name, name) == 0)
            return &commands->at[i];
    }
    return NULL;
}

/* Which members are lists of words, the table says; several options may have one list. */
static void free_words(cli_options *options)
{
    for (u32 i = 0; i < cli_option_count(); i++) {
        const cli_option *const option = cli_option_at(i);
        if (option->value != CLI_VALUE_WORDS && option->value != CLI_VALUE_NAMES)
            continue;
        cli_words *const words = (void *)((char *)options + option->offset);
        free(words->at);
        *words = (cli_words){ 0 };
    }
}

void cli_options_free(cli_options *options)
{
    for (u32 i = 0; i < options->owned_words.count; i++)
        free((void *)(uintptr_t)options->owned_words.at[i]);
    free(options->owned_words.at);
    free(options->inputs.at);
    free_words(options);
    free(options->given.at);
    free(options->heaps.at);
    free(options->custom.at);
    free(options->mark_events.at);
    free(options->moments.at);
    free(options->windows.at);
    *options = (cli_options){ 0 };
}

/* The option of that name: the command's own, or else another command's. */
static const cli_option *find_option(const cli_command *command, const char *name, size_t size)
{
    const cli_option *found = NULL;
    for (u32 i = 0; i < cli_option_count(); i++) {
        const cli_option *const option = cli_option_at(i);
        if (strlen(option->name) != size || strncmp(option->name, name, size) != 0)
            continue;
        if (option->commands & command->bit)
            return option;
        found = option;
    }
    return found;
}

static const cli_option *find_letter(char letter)
{
    for (u32 i = 0; i < cli_option_count(); i++) {
        if (cli_option_at(i)->letter == letter)
            return cli_option_at(i);
    }
    return NULL;
}

/* Suggests only options that the command has. */
static void hint_option(const cli_command *command, const char *name, char hint[CLI_HINT_SIZE])
{
    const char *choices[CLI_OPTIONS_MAX + 1] = { NULL };
    size_t count = 0;
    for (u32 i = 0; i < cli_option_count(); i++) {
        if (cli_option_at(i)->commands & command->bit)
            choices[count++] = cli_option_at(i)->name;
    }
    cli_hint(name, choices, hint);
}

static void unknown_option(const cli_command *command, const char *word, etl_error *err)
{
    char name[CLI_WORD_SIZE];
    char hint[CLI_HINT_SIZE];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    hint_option(command, name, hint);
    if (hint[0] != '\0')
        etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "unknown option %s%s", name, hint);
    else
        etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "unknown option %s; see etlheap %s --help", name,
                      command->name);
}

/* Parses "--name", "--name VALUE" or "--name=VALUE". */
static etl_status parse_long(const cli_command *command, char *const *words, cli_options *out,
                             int *taken, etl_error *err)
{
    const char *const word = words[0];
    const size_t size = strcspn(word, "=");
    const cli_option *const option = find_option(command, word, size);
    if (!option) {
        unknown_option(command, word, err);
        return ETL_ERR_ARGUMENT;
    }
    etl_status status = check_command(command, option, option->name, err);
    if (status != ETL_OK)
        return status;
    const char *value = word[size] == '=' ? word + size + 1 : NULL;
    if (value && option->value == CLI_VALUE_FLAG)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "%s takes no value", option->name);
    if (!value && option->value != CLI_VALUE_FLAG && option->value != CLI_VALUE_TREE) {
        value = words[1];
        if (!value)
            return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "%s needs a value: %s", option->name,
                                 option->placeholder);
        *taken = 2;
    }
    return take_option(option, option->name, value, out, err);
}

/* Parses "-j 4", "-j4" or "-h". Letters cannot be combined: few options have one. */
static etl_status parse_short(const cli_command *command, char *const *words, cli_options *out,
                              int *taken, etl_error *err)
{
    const char spelled[] = { '-', words[0][1], '\0' };
    const cli_option *const option = find_letter(words[0][1]);
    const char *value = words[0] + 2;
    if (!option || (option->value == CLI_VALUE_FLAG && *value != '\0')) {
        unknown_option(command, words[0], err);
        return ETL_ERR_ARGUMENT;
    }
    etl_status status = check_command(command, option, spelled, err);
    if (status != ETL_OK)
        return status;
    if (*value == '\0' && option->value != CLI_VALUE_FLAG) {
        value = words[1];
        if (!value)
            return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "%s needs a value: %s", spelled,
                                 option->placeholder);
        *taken = 2;
    }
    return take_option(option, spelled, value, out, err);
}

/* Stores the value, and remembers that the option was given. */
static etl_status take_option(const cli_option *option, const char *spelled, const char *value,
                              cli_options *out, etl_error *err)
{
    const etl_status status = cli_value_store(option, spelled, value, out, err);
    if (status == ETL_OK && option->offset == offsetof(cli_options, symbols))
        return cli_given_add_symbols(out, option, err);
    return status == ETL_OK ? cli_given_add(&out->given, option, value, err) : status;
}

/* An option of another command gets a different error than an unknown one. */
static etl_status check_command(const cli_command *command, const cli_option *option,
                                const char *spelled, etl_error *err)
{
    char hint[CLI_HINT_SIZE];
    if (option->commands & command->bit)
        return ETL_OK;
    hint_option(command, spelled, hint);
    if (hint[0] != '\0')
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "unknown option %s for %s%s", spelled,
                             command->name, hint);
    return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                         "unknown option %s for %s; see etlheap %s --help", spelled, command->name,
                         command->name);
}

/* Has one of the windows no start (0) or no end (1)? */
static bool has_open_window(const cli_options *options, u32 side)
{
    bool is_open = options->windows.count == 0;
    for (u32 i = side; i < options->windows.count; i += 2)
        is_open |= !options->windows.at[i].given;
    return is_open;
}

/* A spike is of all call stacks of its group. */
static etl_status check_spike_keys(const cli_options *options, etl_error *err)
{
    for (u32 i = 0; i < options->group_by_count; i++) {
        const etlheap_key key = options->group_by[i];
        if (key != ETLHEAP_KEY_KIND && key != ETLHEAP_KEY_PROCESS && key != ETLHEAP_KEY_HEAP)
            return etl_fail_with(
                err, ETL_ERR_ARGUMENT, 0,
                "--find-spikes and --group-by %s cannot be combined: spikes are those of a kind, a "
                "process or a heap; report --spikes shows their call stacks",
                etlheap_key_word(key));
    }
    return ETL_OK;
}

/* Windows can be cut in only one way, and each window has types of its own. */
static etl_status check_windows(const cli_options *options, etl_error *err)
{
    const bool at = options->moments.count > 0 || options->at_marks;
    const u32 ways =
        (options->every_ns > 0 ? 1u : 0u) + (at ? 1u : 0u) + (options->windows.count > 0 ? 1u : 0u);
    if (ways > 1)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "--every, --at and --window cannot be combined; use one of them");
    if (options->find_growth && options->windows.count > 0)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "--find-growth cannot be combined with --window; use --every or --at, "
                             "and limit it with --from and --to");
    const bool has_from = options->from.given && !has_open_window(options, 0);
    if (has_from || (options->to.given && !has_open_window(options, 1)))
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "--window and %s cannot be combined: every window has %s of its own",
                             has_from ? "--from" : "--to", has_from ? "a start" : "an end");
    for (u32 i = 0; i < options->group_by_count; i++) {
        const etlheap_key key = options->group_by[i];
        if (!cli_choice_fits(CLI_VALUE_KEYS, (u32)key, CLI_WINDOWS))
            return etl_fail_with(
                err, ETL_ERR_ARGUMENT, 0,
                key == ETLHEAP_KEY_FUNCTION
                    ? "--group-by %s: not possible here, because a block would count in several "
                      "rows"
                    : "--group-by %s: not possible here, because every row has all four types",
                etlheap_key_word(key));
    }
    if (!cli_choice_fits(CLI_VALUE_SORT, (u32)options->sort, CLI_WINDOWS))
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "--sort %s: not possible here, because windows do not have this "
                             "column",
                             etlheap_measure_word(options->sort));
    return options->find_spikes ? check_spike_keys(options, err) : ETL_OK;
}

/* Checks which part of a recording is to be stored. */
static etl_status check_part(const cli_options *options, etl_error *err)
{
    const char *const given = options->from.given            ? "--from"
                              : options->to.given            ? "--to"
                              : options->kinds != 0          ? "--kind"
                              : options->processes.count > 0 ? "--process"
                                                             : NULL;
    if (given && options->summary)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "%s cannot be combined with --summary, which has the totals of whole "
                             "recordings; leave out one of them",
                             given);
    if (options->out_dir && (options->from.mark || options->to.mark))
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "marks cannot be combined with --out-dir; name times, or store one "
                             "recording at a time with -o");
    return ETL_OK;
}

static etl_status check_store(const cli_options *options, etl_error *err)
{
    if (options->output && options->out_dir)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "-o and --out-dir cannot be combined: -o writes one store of all "
                             "inputs, --out-dir one store per input");
    if (options->every_ns != 0 && !options->summary && (options->output || options->out_dir))
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "--every needs --summary; a full store can answer for any window");
    if (options->anonymise && options->summary)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "--anonymise and --summary cannot be combined: a summary has no place "
                             "for the words of functions");
    if (options->anonymise && options->out_dir)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "--anonymise and --out-dir cannot be combined: anonymise each "
                             "recording by itself, with -o");
    for (u32 i = 0; i < options->given.count && !options->anonymise; i++) {
        const cli_option *const option = options->given.at[i].option;
        if (strcmp(option->group, "Symbols") == 0)
            return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                                 "%s needs --anonymise: other stores have no names of functions, "
                                 "which are looked up when the store is read",
                                 option->name);
    }
    return check_part(options, err);
}

static etl_status check_options(const cli_command *command, const cli_options *options,
                                etl_error *err)
{
    const etlheap_format *const format =
        (command->bit & CLI_SHOWING) != 0 ? cli_format_of(options) : NULL;
    if (command->bit == CLI_SELFTEST)
        return options->inputs.count == 0
                   ? ETL_OK
                   : etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                                   "selftest takes no input; it makes its own trace");
    if (options->inputs.count == 0)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "no input: name a trace, for example: etlheap %s app.etl",
                             command->name);
    if (command->bit == CLI_STORE && check_store(options, err) != ETL_OK)
        return ETL_ERR_ARGUMENT;
    if ((command->bit & (CLI_STORE | CLI_MERGE)) && !options->output && !options->out_dir)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "%s needs an output file, for example: -o app.ehs", command->name);
    if ((command->bit & CLI_SHOWING) && !cli_format_fits(format, command->bit))
        return refuse_format(command, format, err);
    if ((command->bit & CLI_SHOWING) && check_output_name(command, options, err) != ETL_OK)
        return ETL_ERR_ARGUMENT;
    if (command->bit == CLI_EXPORT && check_export(options, err) != ETL_OK)
        return ETL_ERR_ARGUMENT;
    if ((options->titles || options->csv_safe) && check_csv(command, options, err) != ETL_OK)
        return ETL_ERR_ARGUMENT;
    if (cli_times_are_reversed(&options->from, &options->to))
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "--from is after --to, so the window is empty");
    if (command->bit == CLI_CHECK)
        return cli_check_views(options, err) == ETL_OK ? check_budgets(options, err)
                                                       : ETL_ERR_ARGUMENT;
    if (cli_times_are_reversed(&options->from, &options->at))
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "--from is after --at, so the window is empty");
    const u32 viewing = CLI_GROUPING | CLI_ALLOCATIONS | CLI_SYMBOLS;
    etl_status status = (command->bit & viewing) != 0 ? cli_check_views(options, err)
                                                      : cli_check_companions(options, err);
    if (status == ETL_OK)
        status = check_tags(options, err);
    if (status == ETL_OK)
        status = check_pool_tags(options, err);
    if (status == ETL_OK)
        status = check_sources(options, err);
    return status == ETL_OK && command->bit == CLI_WINDOWS ? check_windows(options, err) : status;
}

/* Refuses a format that the command does not write. If `export` writes it from a single recording,
 * the error says so. */
static etl_status refuse_format(const cli_command *command, const etlheap_format *format,
                                etl_error *err)
{
    const etlheap_exporter *const exporter = etlheap_exporter_named(format->name);
    if (exporter && !format->write_report && !format->write_allocations)
        return cli_refuse_exporter("--format", exporter, err);
    return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                         "--format: '%s' is not a format of %s; see etlheap %s --help",
                         format->name, command->name, command->name);
}

/* Text in a file called .html would open as a page that looks broken. */
static etl_status check_output_name(const cli_command *command, const cli_options *options,
                                    etl_error *err)
{
    if (options->format || !cli_output_is_file(options))
        return ETL_OK;
    const char *const instead = cli_format_instead(options->output);
    if (instead)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "-o: etlheap does not write files of this kind; %s", instead);
    const char *const format = cli_format_of_name(options->output, CLI_EXPORT);
    const etlheap_format *const any = cli_format_of_any(options->output);
    const bool is_exported = format && !(any && cli_format_fits(any, CLI_REPORT));
    if (any && !is_exported && !cli_format_fits(any, command->bit))
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "-o: the suffix means the format %s, which %s does not write; see "
                             "etlheap %s --help",
                             any->name, command->name, command->name);
    if (!is_exported)
        return ETL_OK;
    return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                         "-o: the suffix means the format %s, which the command export writes: "
                         "etlheap export INPUT -o FILE. Or choose a format of %s with --format",
                         format, command->name);
}

static etl_status check_export(const cli_options *options, etl_error *err)
{
    const etlheap_exporter *const exporter =
        options->format ? etlheap_exporter_named(options->format) : NULL;
    if (!exporter)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "export needs --format FORMAT, or -o FILE with the suffix of a "
                             "format; see etlheap export --help");
    if (options->metric != 0 && (exporter->metrics >> (options->metric - 1) & 1) == 0)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "--format %s cannot hold --metric %s",
                             exporter->name,
                             etlheap_metric_word((etlheap_metric)(options->metric - 1)));
    if (exporter->asks_sizes && (options->kinds & etlheap_kinds_with(ETLHEAP_KIND_NO_SIZES)) != 0)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "--format %s cannot hold --kind handle: handles have no size; use "
                             "--format folded, speedscope, pprof, csv, ndjson or parquet",
                             exporter->name);
    if (!exporter->is_text && cli_output_is_compressed(options))
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "--format %s is already compressed; leave .zst out of the file name",
                             exporter->name);
    if (options->rows && !exporter->has_rows)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "--format %s cannot be combined with --rows",
                             exporter->name);
    if (options->churn && (!exporter->has_churn || options->rows))
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "--format %s cannot be combined with --churn%s", exporter->name,
                             options->rows ? " and --rows" : "");
    return ETL_OK;
}

/* Only CSV has two sets of column names, for people and for programs, and cells that spreadsheets
 * run. */
static etl_status check_csv(const cli_command *command, const cli_options *options, etl_error *err)
{
    const bool is_csv = command->bit == CLI_EXPORT
                            ? etlheap_exporter_named(options->format)->has_titles
                            : cli_format_of(options)->has_titles;
    if (is_csv)
        return ETL_OK;
    if (options->titles)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "--titles needs --format csv; text always has titles, and the keys of "
                             "other formats are fixed");
    return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                         "--csv-safe needs --format csv; spreadsheets run no formulas in other "
                         "formats");
}

/* Budgets are read again when they are needed; here only their errors count. */
static etl_status check_budgets(const cli_options *options, etl_error *err)
{
    cli_budgets budgets = { 0 };
    const etl_status status = cli_budgets_parse(options, &budgets, err);
    cli_budgets_free(&budgets);
    return status == ETL_OK ? check_sources(options, err) : status;
}

/* So are folders of sources, and places in them. */
static etl_status check_sources(const cli_options *options, etl_error *err)
{
    cli_sources sources = { .places = NULL };
    const etl_status status = cli_sources_parse(options, &sources, err);
    cli_sources_free(&sources);
    return status;
}

static etl_status check_pool_tags(const cli_options *options, etl_error *err)
{
    bool is_used = options->pool_tags == NULL;
    for (u32 i = 0; i < options->group_by_count; i++)
        is_used |= options->group_by[i] == ETLHEAP_KEY_POOL_TAG;
    return is_used ? ETL_OK
                   : etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                                   "--pool-tags needs --group-by with pool_tag in its list");
}

static etl_status check_tags(const cli_options *options, etl_error *err)
{
    const bool given = options->stack_tags.count > 0;
    const cli_view *const view = cli_view_of_keys(options);
    bool by_tag = given && options->group_by_count == 0 && !view;
    for (u32 i = 0; i < options->group_by_count; i++)
        by_tag |= options->group_by[i] == ETLHEAP_KEY_TAG;
    if (by_tag && !given)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "--group-by tag needs --stack-tags FILE");
    if (given && !by_tag)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "--stack-tags needs --group-by with tag in its list%s%s",
                             options->group_by_count == 0 ? ", beside " : "",
                             options->group_by_count == 0 ? view->option : "");
    return ETL_OK;
}
