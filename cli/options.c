/*
 * options.c - the options of all commands: one table for parsing and help.
 */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>

#define OPTION(member) (u16) offsetof(cli_options, member)

static const char group_select[] = "Which allocations";
static const char group_shape[] = "How they are shown";
static const char group_symbols[] = "Names of functions";
static const char group_run[] = "The run";

/* One row an option, in the order of --help. */
static const cli_option options_table[] = {
    { "--from", 0, CLI_VALUE_TIME, OPTION(from), CLI_REPORT | CLI_SYMBOLS | CLI_DUMP, group_select,
      "TIME", "window from here: 12s, 350ms, or 2020-07-29T00:07:10Z" },
    { "--to", 0, CLI_VALUE_TIME, OPTION(to), CLI_REPORT | CLI_SYMBOLS | CLI_DUMP, group_select,
      "TIME", "up to here, exclusive" },
    { "--at-exit", 0, CLI_VALUE_AT_EXIT, OPTION(at_exit), CLI_REPORT | CLI_SYMBOLS, group_select,
      "leaked|freed", "whether the end of a process frees its memory (leaked)" },
    { "--kind", 0, CLI_VALUE_KINDS, OPTION(kinds), CLI_REPORT | CLI_SYMBOLS, group_select, "LIST",
      "heap, virtualalloc, extent" },
    { "--process", 0, CLI_VALUE_WORDS, OPTION(processes), CLI_REPORT | CLI_SYMBOLS | CLI_DUMP,
      group_select, "NAME|PID", "with * and ?; may be repeated" },
    { "--heap", 0, CLI_VALUE_HEAPS, OPTION(heaps), CLI_REPORT | CLI_SYMBOLS, group_select, "HANDLE",
      "heap handles, 0x1f0000" },
    { "--thread", 0, CLI_VALUE_THREADS, OPTION(threads), CLI_REPORT, group_select, "TID",
      "allocating threads" },
    { "--type", 0, CLI_VALUE_TYPES, OPTION(types), CLI_REPORT, group_select, "LIST",
      "AIFO, AIFI, AOFI, AOFO: allocated, freed inside or outside" },
    { "--lifetime", 0, CLI_VALUE_LIFETIMES, OPTION(lifetime_min_ns), CLI_REPORT, group_select,
      "A..B", "time between allocation and free: 1s.., ..5ms" },
    { "--size", 0, CLI_VALUE_SIZES, OPTION(size_min_bytes), CLI_REPORT | CLI_SYMBOLS, group_select,
      "A..B", "size of one allocation: 64K..1.5M, 4096" },
    { "--require-frame", 0, CLI_VALUE_WORDS, OPTION(require_frames), CLI_REPORT, group_select,
      "PATTERN", "stacks with such a frame: [module!][symbol], * and ?" },
    { "--events", 0, CLI_VALUE_WORDS, OPTION(events), CLI_DUMP, group_select, "LIST",
      "Heap/Alloc, Heap/*, 0x1021 or a provider's GUID; may be repeated" },

    { "--group-by", 0, CLI_VALUE_KEYS, OPTION(group_by), CLI_REPORT, group_shape, "LIST",
      "kind process heap type free_type stack frame site module thread\n"
      "size_class type_name" },
    { "--sort", 0, CLI_VALUE_SORT, OPTION(sort), CLI_REPORT, group_shape, "[-]COLUMN",
      "outstanding_size; a dash sorts the smallest first" },
    { "--top", 0, CLI_VALUE_COUNT, OPTION(top), CLI_REPORT | CLI_INFO, group_shape, "N",
      "only the first N rows (text: 25 of each kind)" },
    { "--tree", 0, CLI_VALUE_TREE, OPTION(tree), CLI_REPORT, group_shape, "[=callers]",
      "call tree, outermost frame first, or innermost first" },
    { "--frames", 0, CLI_VALUE_NUMBER, OPTION(frames), CLI_REPORT, group_shape, "N",
      "frames shown of each stack (4)" },
    { "--cull-frame", 0, CLI_VALUE_WORDS, OPTION(cull_frames), CLI_REPORT | CLI_SYMBOLS,
      group_shape, "PATTERN", "drop innermost frames like this one" },
    { "--cull-list", 0, CLI_VALUE_WORDS, OPTION(cull_lists), CLI_REPORT | CLI_SYMBOLS, group_shape,
      "FILE", "the same, patterns one a line" },
    { "--no-cull", 0, CLI_VALUE_FLAG, OPTION(no_cull), CLI_REPORT | CLI_SYMBOLS, group_shape, NULL,
      "keep the frames of known allocators" },
    { "--format", 0, CLI_VALUE_FORMAT, OPTION(format), CLI_SHOWING, group_shape, "FORMAT",
      NULL /* the command's formats */ },

    { "--symbols", 0, CLI_VALUE_WORD, OPTION(symbols), CLI_REPORT | CLI_SYMBOLS, group_symbols,
      "PATH", "where PDBs are: DIR;SRV*CACHE*URL... (_NT_SYMBOL_PATH)" },
    { "--no-symbols", 0, CLI_VALUE_FLAG, OPTION(no_symbols), CLI_REPORT, group_symbols, NULL,
      "frames as module+offset" },
    { "--symbols-loose", 0, CLI_VALUE_FLAG, OPTION(symbols_loose), CLI_REPORT | CLI_SYMBOLS,
      group_symbols, NULL, "use PDBs of another build rather than none" },
    { "--offline", 0, CLI_VALUE_FLAG, OPTION(offline), CLI_REPORT | CLI_SYMBOLS, group_symbols,
      NULL, "ask no servers, only folders and caches" },
    { "--output", 'o', CLI_VALUE_WORD, OPTION(output), CLI_ALL, group_run, "FILE",
      "write to FILE, complete or not at all" },
    { "--jobs", 'j', CLI_VALUE_COUNT, OPTION(jobs), CLI_ALL, group_run, "N",
      "threads (all processors)" },
    { "--memory", 0, CLI_VALUE_SIZE, OPTION(memory_bytes),
      CLI_REPORT | CLI_SYMBOLS | CLI_INFO | CLI_STORE, group_run, "SIZE",
      "stop rather than use more memory: 512M, 4G" },
    { "--no-mmap", 0, CLI_VALUE_FLAG, OPTION(no_mmap), CLI_ALL, group_run, NULL,
      "read files instead of mapping them" },
    { "--progress", 0, CLI_VALUE_PROGRESS, OPTION(progress), CLI_ALL, group_run, "WHEN",
      "bar on stderr: always, never, auto (on a terminal)" },
    { "--strict", 0, CLI_VALUE_FLAG, OPTION(strict), CLI_ALL, group_run, NULL,
      "status 4 when the input is damaged or lost events" },
    { "--help", 'h', CLI_VALUE_FLAG, OPTION(help), CLI_ALL, group_run, NULL, "this" },
};

static const cli_option *find_option(const char *name, size_t size);
static const cli_option *find_letter(char letter);
static void unknown_option(const cli_command *command, const char *word, etl_error *err);
static etl_status parse_long(const cli_command *command, char *const *words, cli_options *out,
                             int *taken, etl_error *err);
static etl_status parse_short(const cli_command *command, char *const *words, cli_options *out,
                              int *taken, etl_error *err);
static etl_status check_command(const cli_command *command, const cli_option *option,
                                const char *spelled, etl_error *err);
static etl_status check_options(const cli_command *command, const cli_options *options,
                                etl_error *err);
static etl_status check_report(const cli_options *options, etl_error *err);

u32 cli_option_count(void)
{
    return (u32)ETL_COUNT_OF(options_table);
}

const cli_option *cli_option_at(u32 index)
{
    assert(index < ETL_COUNT_OF(options_table));
    return &options_table[index];
}

etl_status cli_options_parse(const cli_command *command, int count, char *const *words,
                             cli_options *out, etl_error *err)
{
    *out = (cli_options){
        .frames = etlheap_layout_default().frames_max,
        .sort = ETLHEAP_MEASURE_OUTSTANDING_SIZE,
        .lifetime_max_ns = INT64_MAX,
        .size_max_bytes = UINT64_MAX,
    };
    bool only_inputs = false; /* after "--" */
    etl_status status = ETL_OK;
    for (int i = 0; i < count && status == ETL_OK;) {
        int taken = 1;
        if (only_inputs || words[i][0] != '-' || words[i][1] == '\0')
            status = cli_words_add(&out->inputs, words[i], err);
        else if (strcmp(words[i], "--") == 0)
            only_inputs = true;
        else if (words[i][1] == '-')
            status = parse_long(command, &words[i], out, &taken, err);
        else
            status = parse_short(command, &words[i], out, &taken, err);
        i += taken;
    }
    if (status == ETL_OK && !out->help)
        status = check_options(command, out, err);
    return status;
}

void cli_options_free(cli_options *options)
{
    cli_words *const words[] = { &options->inputs,         &options->processes,
                                 &options->require_frames, &options->cull_frames,
                                 &options->cull_lists,     &options->events };
    for (size_t i = 0; i < ETL_COUNT_OF(words); i++)
        free(words[i]->at);
    free(options->heaps.at);
    free(options->threads.at);
    *options = (cli_options){ 0 };
}

/* The nearest choice within reach. Three letters that begin one are near enough,
 * which also makes a fair answer to abbreviations. */
void cli_hint(const char *word, const char *const *choices, char hint[CLI_HINT_SIZE])
{
    const size_t size = strlen(word);
    const char *nearest = NULL;
    u32 least = size < 6 ? 3 : (u32)size / 2; /* farther is no slip of the finger */
    for (; *choices; choices++) {
        const bool begins = size >= 3 && strncmp(word, *choices, size) == 0;
        const u32 distance = begins ? 0 : cli_edit_distance(word, *choices);
        if (distance < least) {
            least = distance;
            nearest = *choices;
        }
    }
    hint[0] = '\0';
    if (nearest)
        snprintf(hint, CLI_HINT_SIZE, ", did you mean %s?", nearest);
}

static const cli_option *find_option(const char *name, size_t size)
{
    for (size_t i = 0; i < ETL_COUNT_OF(options_table); i++) {
        if (strlen(options_table[i].name) == size &&
            strncmp(options_table[i].name, name, size) == 0)
            return &options_table[i];
    }
    return NULL;
}

static const cli_option *find_letter(char letter)
{
    for (size_t i = 0; i < ETL_COUNT_OF(options_table); i++) {
        if (options_table[i].letter == letter)
            return &options_table[i];
    }
    return NULL;
}

/* Only options that the command has are suggested. */
static void unknown_option(const cli_command *command, const char *word, etl_error *err)
{
    const char *choices[ETL_COUNT_OF(options_table) + 1] = { NULL };
    char name[CLI_WORD_SIZE];
    char hint[CLI_HINT_SIZE];
    size_t count = 0;
    for (size_t i = 0; i < ETL_COUNT_OF(options_table); i++) {
        if (options_table[i].commands & command->bit)
            choices[count++] = options_table[i].name;
    }
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    cli_hint(name, choices, hint);
    if (hint[0] != '\0')
        etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "unknown option %s%s", name, hint);
    else
        etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "unknown option %s; see etlheap %s --help", name,
                      command->name);
}

/* "--name", "--name VALUE", "--name=VALUE" */
static etl_status parse_long(const cli_command *command, char *const *words, cli_options *out,
                             int *taken, etl_error *err)
{
    const char *const word = words[0];
    const size_t size = strcspn(word, "=");
    const cli_option *const option = find_option(word, size);
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
    return cli_value_store(option, option->name, value, out, err);
}

/* "-j 4", "-j4", "-h". Letters are not run together: few options have one. */
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
    return cli_value_store(option, spelled, value, out, err);
}

/* An option that exists elsewhere is told apart from one that does not. */
static etl_status check_command(const cli_command *command, const cli_option *option,
                                const char *spelled, etl_error *err)
{
    if (option->commands & command->bit)
        return ETL_OK;
    return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "%s is no option of %s; see etlheap %s --help",
                         spelled, command->name, command->name);
}

/* What cannot be meant together. Times of which one is an instant are compared
 * once the trace is open. */
static etl_status check_options(const cli_command *command, const cli_options *options,
                                etl_error *err)
{
    const etlheap_format *const format = cli_format_of(options);
    if (options->inputs.count == 0)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "no input: name a trace, as in etlheap %s app.etl", command->name);
    if (command->bit == CLI_STORE && !options->output)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "store needs -o FILE: where the store goes, as in -o app.ehs");
    if ((command->bit & CLI_SHOWING) && !cli_format_fits(format, command->bit))
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "--format %s is no format of %s; see etlheap %s --help", format->name,
                             command->name, command->name);
    if (options->from.given && options->to.given &&
        options->from.is_instant == options->to.is_instant && options->from.ns > options->to.ns)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "--from is after --to: the window is empty");
    return command->bit == CLI_REPORT ? check_report(options, err) : ETL_OK;
}

/* Combinations that would give an empty or a misleading report. */
static etl_status check_report(const cli_options *options, etl_error *err)
{
    const bool text = strcmp(cli_format_of(options)->name, "text") == 0;
    bool has_stack = options->group_by_count == 0;
    for (u32 i = 0; i < options->group_by_count; i++)
        has_stack |= options->group_by[i] == ETLHEAP_KEY_STACK;
    if (options->tree != ETLHEAP_TREE_NONE && !text)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "--tree is text; it cannot be --format %s, whose rows have the stacks",
                             options->format);
    if (options->tree != ETLHEAP_TREE_NONE && !has_stack)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "--tree needs stacks: leave out --group-by or add stack to it");
    if (options->heaps.count > 0 && options->kinds == 1u << ETLHEAP_KIND_VIRTUALALLOC)
        return etl_fail_with(
            err, ETL_ERR_ARGUMENT, 0,
            "--heap and --kind virtualalloc exclude each other: those have no heap");
    return ETL_OK;
}
