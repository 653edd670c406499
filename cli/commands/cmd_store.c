/*
 * cmd_store.c - `etlheap store`: a trace decoded once, into a `.ehs` file that
 * all other commands read in its place; or totals of it, for archives.
 */
#include "cli/batch/many_store.h"
#include "cli/messages.h"
#include "cli/outputs.h"
#include "cli/store_write.h"
#include "commands.h"

static int store_inputs(const cli_options *options, const cli_inputs *inputs, cli_guard *guard,
                        cli_stored *out);

int cli_run_store(const cli_options *options)
{
    cli_guard guard = { .active = false };
    cli_inputs inputs;
    cli_stored made = { .facts = NULL };
    if (options->out_dir)
        return cli_store_many(options);
    int status = cli_inputs_open(options, &guard, &inputs);
    if (status == CLI_EXIT_DONE && !options->summary && !cli_store_is_part(options) &&
        !cli_inputs_need_traces(&inputs,
                                "already a store; name the traces that it was made from, or the "
                                "part to keep with --from, --to, --process or --kind"))
        status = CLI_EXIT_USAGE;
    if (status == CLI_EXIT_DONE)
        status = store_inputs(options, &inputs, &guard, &made);
    cli_stored_free(&made);
    cli_inputs_close(&inputs);
    cli_guard_end(&guard);
    return status;
}

static int store_inputs(const cli_options *options, const cli_inputs *inputs, cli_guard *guard,
                        cli_stored *out)
{
    etl_error err = { .status = ETL_OK };
    etlheap_sink *sink = NULL;
    int exit_status = cli_output_open_binary(options, guard, &sink);
    if (exit_status != CLI_EXIT_DONE)
        return exit_status;
    const etl_status status = cli_store_write(options, inputs, guard, sink, out, &err);
    /* Why bytes could not be written, the output knows best. */
    if (status != ETL_OK && etlheap_sink_ok(sink))
        return cli_output_fail(sink, cli_inputs_subject(inputs), &err);
    exit_status = cli_output_close(options, guard, ETL_OK, sink);
    if (exit_status != CLI_EXIT_DONE)
        return exit_status;
    return cli_exit_of_diagnostics(options, cli_inputs_subject(inputs),
                                   cli_stored_diagnostics(out));
}
