/*
 * outputs.c - where a command's result goes.
 */
#include "outputs.h"

#include "messages.h"

#include <unistd.h>

static const char standard_output[] = "standard output";

static const char *name_of(const cli_options *options);

int cli_output_open(const cli_options *options, cli_guard *guard, etlheap_sink **out)
{
    etl_error err = { .status = ETL_OK };
    etl_status status;
    if (options->output) {
        cli_guard_begin(guard);
        status = etlheap_sink_open_file(options->output, out, &err);
    } else {
        status = etlheap_sink_open_descriptor(STDOUT_FILENO, standard_output, out, &err);
    }
    if (status != ETL_OK)
        cli_complain(name_of(options), err.message);
    return cli_exit_of(status);
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
    if (status != ETL_OK) {
        etlheap_sink_discard(sink);
        cli_complain(name_of(options), etl_status_name(status));
        return cli_exit_of(status);
    }
    status = etlheap_sink_close(sink, &err);
    if (status != ETL_OK)
        cli_complain(name_of(options), err.message);
    return cli_exit_of(status);
}

int cli_output_fail(etlheap_sink *sink, const char *subject, const etl_error *err)
{
    etlheap_sink_discard(sink);
    if (err->status != ETL_ERR_CANCELLED)
        cli_complain(subject, err->message);
    return cli_exit_of(err->status);
}

static const char *name_of(const cli_options *options)
{
    return options->output ? options->output : standard_output;
}
