/*
 * overwrites.c - compares the files that a command writes with those it reads; see overwrites.h.
 *
 * In: options. Out: a message about the first pair that is one file.
 *
 * Options that take a FILE are inputs unless the table of outputs lists them, so a new option is
 * checked without being named here. Invariant: this runs before anything is opened for writing,
 * because a file that is truncated or replaced cannot be read any more.
 */
#include "overwrites.h"

#include "messages.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/options/output_format.h"
#include "parser/system/files.h"
#include "parser/system/name_fold.h"

#define OUTPUTS_MAX (CLI_SIDE_COUNT + 3)

/* A file that is written. */
typedef struct output_file {
    const char *option; /* "-o"; as the message about two outputs spells it: "--output" */
    const char *name;   /* NULL: standard output */
    bool is_written;    /* false: a baseline that is only read */
    bool is_baseline;
    cli_file_id id;
} output_file;

/* The options that name outputs. */
static const struct {
    const char *option;
    u16 member;
} output_options[] = {
    { "--baseline", offsetof(cli_options, baseline) },
    { "-o", offsetof(cli_options, output) },
    { "--junit", offsetof(cli_options, side_files[CLI_SIDE_JUNIT]) },
    { "--sarif", offsetof(cli_options, side_files[CLI_SIDE_SARIF]) },
    { "--markdown", offsetof(cli_options, side_files[CLI_SIDE_MARKDOWN]) },
    { "--json", offsetof(cli_options, side_files[CLI_SIDE_JSON]) },
};

static_assert(ETL_COUNT_OF(output_options) + 1 == OUTPUTS_MAX, "every side output is listed");

static cli_file_id id_of_open(int file)
{
    etl_file_stamp stamp;
    etl_path_kind kind = ETL_PATH_ABSENT;
    u64 size_bytes;
    if (!etl_file_examine(file, &kind, &size_bytes) || kind != ETL_PATH_FILE ||
        !etl_file_stamp_of(file, &stamp))
        return (cli_file_id){ .exists = false };
    return (cli_file_id){ true, stamp.device, stamp.number };
}

cli_file_id cli_file_id_of(const char *path)
{
    const int file = etl_path_kind_of(path) == ETL_PATH_FILE ? etl_file_open(path) : -1;
    if (file < 0)
        return (cli_file_id){ .exists = false };
    const cli_file_id id = id_of_open(file);
    (void)etl_file_close(file);
    return id;
}

int cli_file_id_compare(const cli_file_id *a, const cli_file_id *b)
{
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static bool is_same_id(const cli_file_id *a, const cli_file_id *b)
{
    return a->exists && b->exists && cli_file_id_compare(a, b) == 0;
}

const char *cli_input_file_of(const cli_given *given)
{
    const cli_option *const option = given->option;
    if (!given->value || !option->placeholder)
        return NULL;
    if (option->value == CLI_VALUE_CUSTOM)
        return given->value[0] == '@' ? given->value + 1 : NULL;
    bool is_output = option->offset == offsetof(cli_options, baseline); /* compared by its member */
    for (size_t i = 0; i < ETL_COUNT_OF(output_options); i++)
        is_output |= option->offset == output_options[i].member;
    return !is_output && strstr(option->placeholder, "FILE") ? given->value : NULL;
}

static const char *member_of(const cli_options *options, u16 member)
{
    const char *name;
    memcpy(&name, (const char *)options + member, sizeof name);
    return name;
}

static u32 list_outputs(const cli_options *options, output_file *out)
{
    u32 count = 0;
    for (size_t i = 0; i < ETL_COUNT_OF(output_options); i++) {
        const u16 member = output_options[i].member;
        const char *const name = member_of(options, member);
        const bool is_baseline = member == offsetof(cli_options, baseline);
        if (name && (member != offsetof(cli_options, output) || cli_output_is_file(options)))
            out[count++] = (output_file){ .option = output_options[i].option,
                                          .name = name,
                                          .is_written = !is_baseline || options->update_baseline,
                                          .is_baseline = is_baseline,
                                          .id = cli_file_id_of(name) };
    }
    if (!cli_output_is_file(options) && !options->out_dir)
        out[count++] = (output_file){ .option = "standard output",
                                      .is_written = true,
                                      .id = id_of_open(ETL_STDOUT) };
    return count;
}

/* The folder of a name, which the caller frees: "a/b" gives "a", and "b" gives ".". */
static char *folder_of(const char *name, const char **rest)
{
    size_t size = strlen(name);
    while (size > 0 && !etl_path_is_separator(name[size - 1]))
        size--;
    *rest = name + size;
    char *const folder = size > 0 ? strdup(name) : strdup(".");
    if (folder && size > 0)
        folder[size] = '\0';
    return folder;
}

/* Would two names that do not exist yet be one file? */
static bool is_same_new(const char *a, const char *b)
{
    const char *rest_a, *rest_b;
    char *const folder_a = folder_of(a, &rest_a), *const folder_b = folder_of(b, &rest_b);
    const bool same_name =
        etl_path_is_separator('\\') ? etl_name_same(rest_a, rest_b) : strcmp(rest_a, rest_b) == 0;
    const bool same = same_name && folder_a && folder_b && etl_path_is_same(folder_a, folder_b);
    free(folder_a);
    free(folder_b);
    return same;
}

static bool is_same_output(const output_file *a, const output_file *b)
{
    if (is_same_id(&a->id, &b->id))
        return true;
    return a->name && b->name && !a->id.exists && !b->id.exists &&
           (strcmp(a->name, b->name) == 0 || is_same_new(a->name, b->name));
}

static int check_pairs(const output_file *outputs, u32 count)
{
    char message[320];
    for (u32 i = 0; i < count; i++) {
        for (u32 k = 0; k < i; k++) {
            if (!is_same_output(&outputs[k], &outputs[i]))
                continue;
            const char *const first = outputs[k].option, *const second = outputs[i].option;
            snprintf(message, sizeof message,
                     "%s and %s name the same file; name a different file for each",
                     strcmp(first, "-o") == 0 ? "--output" : first, second);
            cli_complain(NULL, message);
            return CLI_EXIT_USAGE;
        }
    }
    return CLI_EXIT_DONE;
}

/* Checks one input against all outputs. `what` is the input as the message calls it. */
static int check_input(const output_file *outputs, u32 count, const char *what, const char *path)
{
    char message[160];
    const cli_file_id id = cli_is_stdin(path) ? id_of_open(ETL_STDIN) : cli_file_id_of(path);
    for (u32 i = 0; i < count; i++) {
        if (!outputs[i].is_written || !is_same_id(&outputs[i].id, &id))
            continue;
        snprintf(message, sizeof message, "%s would overwrite %s; name another file",
                 outputs[i].option, what);
        cli_complain(path, message);
        return CLI_EXIT_USAGE;
    }
    return CLI_EXIT_DONE;
}

static int check_option_files(const cli_options *options, const output_file *outputs, u32 count)
{
    int exit_status = CLI_EXIT_DONE;
    for (u32 i = 0; i < options->given.count && exit_status == CLI_EXIT_DONE; i++) {
        const cli_given *const given = &options->given.at[i];
        const char *const file = cli_input_file_of(given);
        char what[64];
        snprintf(what, sizeof what, "the file of %s", given->option->name);
        if (file)
            exit_status = check_input(outputs, count, what, file);
    }
    return exit_status;
}

/* Nobody replaces a symbol file by a report on purpose. */
static int check_symbol_files(const output_file *outputs, u32 count)
{
    char message[160];
    for (u32 i = 0; i < count; i++) {
        if (!outputs[i].id.exists || !outputs[i].name || outputs[i].is_baseline ||
            !etlheap_symbols_is_file(outputs[i].name))
            continue;
        snprintf(message, sizeof message, "%s would overwrite a symbol file; name another file",
                 outputs[i].option);
        cli_complain(outputs[i].name, message);
        return CLI_EXIT_USAGE;
    }
    return CLI_EXIT_DONE;
}

int cli_overwrites_check(const cli_options *options)
{
    output_file outputs[OUTPUTS_MAX];
    const u32 count = list_outputs(options, outputs);
    int exit_status = check_pairs(outputs, count);
    for (u32 i = 0; i < options->inputs.count && exit_status == CLI_EXIT_DONE; i++)
        exit_status = check_input(outputs, count, "the input", options->inputs.at[i]);
    if (exit_status == CLI_EXIT_DONE)
        exit_status = check_option_files(options, outputs, count);
    return exit_status == CLI_EXIT_DONE ? check_symbol_files(outputs, count) : exit_status;
}
