/*
 * outputs.c - where a command's result goes.
 *
 * In: -o, and whether the output is text. Out: a sink for a file, a compressed file or standard
 * output, and later an exit status. Invariant: a failed or cancelled run leaves no file that looks
 * complete, and does not destroy an older one.
 */
#include "outputs.h"

#include "cli/system/bus_guard.h"
#include "cli/system/host.h"
#include "cli/system/terminal.h"
#include "messages.h"

#include <stdlib.h>

#include "cli/options/output_format.h"
#include "parser/system/files.h"

static const char standard_output[] = "standard output";

static int open_output(const cli_options *options, cli_guard *guard, etlheap_sink **out);
static const char *name_of(const cli_options *options);
static bool is_special(const char *path);
static bool is_plain_text(const cli_options *options);
static bool is_for_people(const cli_options *options);

int cli_output_open(const cli_options *options, cli_guard *guard, etlheap_sink **out)
{
    etl_error err = { .status = ETL_OK };
    int exit_status = open_output(options, guard, out);
    if (exit_status == CLI_EXIT_DONE && is_plain_text(options))
        etlheap_sink_ascii(*out);
    if (exit_status == CLI_EXIT_DONE && is_for_people(options))
        etlheap_sink_log_safe(*out);
    if (exit_status == CLI_EXIT_DONE && options->csv_safe)
        etlheap_sink_csv_safe(*out);
    if (exit_status == CLI_EXIT_DONE && cli_output_is_compressed(options) &&
        etlheap_sink_compress(*out, &err) != ETL_OK)
        exit_status = cli_output_fail(*out, name_of(options), &err);
    return exit_status;
}

int cli_output_open_binary(const cli_options *options, cli_guard *guard, etlheap_sink **out)
{
    if (!cli_output_is_terminal(options))
        return open_output(options, guard, out);
    cli_complain(NULL, "this format is binary and cannot be shown on a terminal; write it to a "
                       "file with -o FILE, or pipe it to another program");
    return CLI_EXIT_USAGE;
}

/* Signals are held back while a file is incomplete, so whoever writes it asks for them. */
static bool goes_on(void *user)
{
    const cli_guard *const guard = user;
    return !cli_guard_interrupted(guard) && !cli_bus_guard_tripped();
}

static bool is_wanted(void *user)
{
    const cli_served *const served = user;
    return !cli_is_cancelled(served->cancel) && !cli_served_is_full(served) &&
           !cli_bus_guard_tripped();
}

/* For a question that no command line asks. */
static int open_served(const cli_served *served, etlheap_sink **out)
{
    etl_error err = { .status = ETL_OK };
    const etl_status status = etlheap_sink_open_text(served->body, out, &err);
    if (status == ETL_OK)
        etlheap_sink_watch(*out, is_wanted, (void *)(uintptr_t)served);
    else
        cli_complain_error(NULL, &err);
    return cli_exit_of(status);
}

static int open_output(const cli_options *options, cli_guard *guard, etlheap_sink **out)
{
    etl_error err = { .status = ETL_OK };
    etl_status status;
    if (options->served)
        return open_served(options->served, out);
    if (cli_output_is_file(options)) {
        /* A pipe leaves nothing over, and may hold the program for ever. */
        if (!is_special(options->output))
            cli_guard_begin(guard);
        status = etlheap_sink_open_file(options->output, out, &err);
    } else {
        status = etlheap_sink_open_descriptor(ETL_STDOUT, standard_output, out, &err);
    }
    if (status == ETL_OK)
        etlheap_sink_watch(*out, goes_on, guard);
    if (status != ETL_OK)
        cli_complain_error(name_of(options), &err);
    return cli_exit_of(status);
}

/* Where no signal ends the program, a reader that has left, as `| head -1` does, is no failure: it
 * has what it wanted. Removes the output then. */
static bool ends_early(etlheap_sink *sink)
{
    if (!sink || cli_host_has_sigpipe() || !etlheap_sink_reader_left(sink))
        return false;
    etlheap_sink_discard(sink);
    return true;
}

static int complete(etlheap_sink *sink, const char *name)
{
    etl_error err = { .status = ETL_OK };
    const etl_status status = etlheap_sink_close(sink, &err);
    if (status != ETL_OK)
        cli_complain_error(name, &err);
    return cli_exit_of(status);
}

int cli_output_close_stdout(etlheap_sink *sink)
{
    etlheap_sink_flush(sink);
    return ends_early(sink) ? CLI_EXIT_DONE : complete(sink, standard_output);
}

/* Asked to stop while writing: the file would be complete, but the user said no. */
int cli_output_close(const cli_options *options, const cli_guard *guard, etl_status status,
                     etlheap_sink *sink)
{
    etl_error err = { .status = ETL_OK };
    if (cli_guard_interrupted(guard)) {
        etlheap_sink_discard(sink);
        return CLI_EXIT_INPUT;
    }
    if (cli_bus_guard_tripped()) {
        etlheap_sink_discard(sink);
        cli_complain(options->inputs.count == 1 ? options->inputs.at[0] : NULL,
                     cli_bus_guard_message);
        return CLI_EXIT_INPUT;
    }
    if (status != ETL_OK && ends_early(sink))
        return CLI_EXIT_DONE;
    if (status != ETL_OK) {
        etlheap_sink_discard(sink);
        (void)etl_fail_with(&err, status, 0, "%s", etl_status_name(status));
        cli_complain_error(status == ETL_ERR_MEMORY ? NULL : name_of(options), &err);
        return cli_exit_of(status);
    }
    return cli_output_is_file(options) ? complete(sink, options->output)
                                       : cli_output_close_stdout(sink);
}

int cli_output_fail(etlheap_sink *sink, const char *subject, const etl_error *err)
{
    if (ends_early(sink))
        return CLI_EXIT_DONE;
    etlheap_sink_discard(sink);
    if (cli_bus_guard_tripped())
        cli_complain(subject, cli_bus_guard_message);
    else if (err->status != ETL_ERR_CANCELLED)
        cli_complain_error(subject, err);
    return cli_exit_of(err->status);
}

void cli_output_make_folder(const char *path)
{
    char *const part = strdup(path);
    const size_t root = etl_path_root_size(path);
    for (char *c = part ? part + root : NULL; c && *c != '\0'; c++) {
        if (!etl_path_is_separator(*c))
            continue;
        const char separator = *c;
        *c = '\0';
        (void)etl_folder_make(part);
        *c = separator;
    }
    free(part);
}

bool cli_sink_put(void *user, const void *bytes, size_t size)
{
    etlheap_sink *const sink = user;
    etlheap_sink_write(sink, bytes, size);
    return etlheap_sink_ok(sink);
}

static const char *name_of(const cli_options *options)
{
    return cli_output_is_file(options) ? options->output : standard_output;
}

/* Other formats are for programs, whatever terminal shows them. */
static bool is_plain_text(const cli_options *options)
{
    return (!options->format || strcmp(options->format, "text") == 0) && cli_layout(options).ascii;
}

static bool is_for_people(const cli_options *options)
{
    const etlheap_format *const format = options->is_export ? NULL : cli_format_of(options);
    return format && format->for_people;
}

static bool is_special(const char *path)
{
    const etl_path_kind kind = etl_path_kind_of(path);
    return kind == ETL_PATH_FOLDER || kind == ETL_PATH_OTHER;
}
