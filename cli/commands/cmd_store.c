/*
 * cmd_store.c - `etlheap store`: a trace decoded once, into a `.ehs` file that
 * all other commands read in its place; or totals of it, for archives.
 */
#include "cli/batch/many_store.h"
#include "cli/messages.h"
#include "cli/outputs.h"
#include "cli/store_anonymise.h"
#include "cli/symbol_source.h"
#include "commands.h"

static int store_inputs(const cli_options *options, const cli_inputs *inputs, cli_guard *guard,
                        const cli_key *key, cli_stored *out);

/* Checks all that may be wrong before the traces are read. */
static int prepare_anonymising(const cli_options *options, cli_key *key)
{
    etl_error err = { .status = ETL_OK };
    if (!options->anonymise)
        return CLI_EXIT_DONE;
    if (cli_symbols_check(options, &err) != ETL_OK) {
        cli_complain_error(NULL, &err);
        return cli_exit_of(err.status);
    }
    return cli_key_read(options, key);
}

int cli_run_store(const cli_options *options)
{
    cli_guard guard = { .active = false };
    cli_inputs inputs;
    cli_stored made = { .facts = NULL };
    if (options->out_dir)
        return cli_store_many(options);
    cli_key key = { .bytes = NULL };
    int status = prepare_anonymising(options, &key);
    if (status != CLI_EXIT_DONE) {
        cli_key_free(&key);
        return status;
    }
    status = cli_inputs_open(options, &guard, &inputs);
    const bool takes_stores = options->summary || options->anonymise || cli_store_is_part(options);
    if (status == CLI_EXIT_DONE && !takes_stores &&
        !cli_inputs_need_traces(&inputs,
                                "already a store; name the traces that it was made from, or the "
                                "part to keep with --from, --to, --process or --kind, or hide its "
                                "names with --anonymise"))
        status = CLI_EXIT_USAGE;
    if (status == CLI_EXIT_DONE)
        status = store_inputs(options, &inputs, &guard, &key, &made);
    cli_stored_free(&made);
    cli_inputs_close(&inputs);
    cli_guard_end(&guard);
    cli_key_free(&key);
    return status;
}

static int store_inputs(const cli_options *options, const cli_inputs *inputs, cli_guard *guard,
                        const cli_key *key, cli_stored *out)
{
    etl_error err = { .status = ETL_OK };
    etlheap_sink *sink = NULL;
    int exit_status = cli_output_open_binary(options, guard, &sink);
    if (exit_status != CLI_EXIT_DONE)
        return exit_status;
    const etl_status status =
        options->anonymise ? cli_store_anonymise(options, inputs, guard, key, sink, out, &err)
                           : cli_store_write(options, inputs, guard, sink, out, &err);
    /* Errors of stores in a summary name the store themselves: there may be many. */
    const bool is_named = options->summary && inputs->store != NULL;
    /* Why bytes could not be written, the output knows best. */
    if (status != ETL_OK && etlheap_sink_ok(sink))
        return cli_output_fail(sink, is_named ? NULL : cli_inputs_subject(inputs), &err);
    exit_status = cli_output_close(options, guard, ETL_OK, sink);
    if (exit_status != CLI_EXIT_DONE)
        return exit_status;
    if (options->anonymise)
        cli_note_anonymised(options);
    return cli_exit_of_diagnostics(options, cli_inputs_subject(inputs),
                                   cli_stored_diagnostics(out));
}
