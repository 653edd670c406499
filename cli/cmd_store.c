/*
 * cmd_store.c - `etlheap store`: a trace decoded once, into a `.ehs` file that
 * all other commands read in its place; or totals of it, for archives.
 */
#include "commands.h"
#include "inputs.h"
#include "messages.h"
#include "outputs.h"
#include "progress.h"
#include "terminal.h"

/* What came of it: facts of the traces, or a summary of them. */
typedef struct stored {
    etlheap_result *facts;
    etlheap_summary *summary;
} stored;

static int store_inputs(const cli_options *options, const cli_inputs *inputs, cli_guard *guard,
                        stored *out);
static etl_status write_store(const cli_options *options, const cli_inputs *inputs,
                              const cli_guard *guard, etlheap_sink *sink, stored *out,
                              etl_error *err);
static etl_status write_summary(const cli_options *options, const cli_inputs *inputs,
                                const etlheap_options *engine_options,
                                const etlheap_store_options *store, stored *out, etl_error *err);

int cli_run_store(const cli_options *options)
{
    cli_guard guard = { .active = false };
    cli_inputs inputs;
    stored made = { .facts = NULL };
    int status = cli_inputs_open(options, &guard, &inputs);
    if (status == CLI_EXIT_DONE && !options->summary &&
        !cli_inputs_need_traces(&inputs,
                                "it is a store already; name the traces that it was made from"))
        status = CLI_EXIT_USAGE;
    if (status == CLI_EXIT_DONE)
        status = store_inputs(options, &inputs, &guard, &made);
    etlheap_result_free(made.facts);
    etlheap_summary_free(made.summary);
    cli_inputs_close(&inputs);
    cli_guard_end(&guard);
    return status;
}

static int store_inputs(const cli_options *options, const cli_inputs *inputs, cli_guard *guard,
                        stored *out)
{
    etl_error err = { .status = ETL_OK };
    etlheap_sink *sink = NULL;
    int exit_status = cli_output_open_binary(options, guard, &sink);
    if (exit_status != CLI_EXIT_DONE)
        return exit_status;
    const etl_status status = write_store(options, inputs, guard, sink, out, &err);
    /* Why bytes could not be written, the output knows best. */
    if (status != ETL_OK && etlheap_sink_ok(sink))
        return cli_output_fail(sink, cli_inputs_subject(inputs), &err);
    exit_status = cli_output_close(options, guard, ETL_OK, sink);
    if (exit_status != CLI_EXIT_DONE)
        return exit_status;
    return cli_exit_of_diagnostics(options, cli_inputs_subject(inputs),
                                   out->summary ? etlheap_summary_diagnostics(out->summary)
                                                : etlheap_result_diagnostics(out->facts));
}

static etl_status write_store(const cli_options *options, const cli_inputs *inputs,
                              const cli_guard *guard, etlheap_sink *sink, stored *out,
                              etl_error *err)
{
    cli_progress progress = cli_progress_begin(options, "storing", guard);
    const char *const temporary = cli_temporary_folder();
    const etlheap_store_options store = { .size = sizeof store,
                                          .write = cli_sink_put,
                                          .user = sink };
    const etlheap_options engine_options = {
        .size = sizeof engine_options,
        .jobs = options->jobs,
        .memory_bytes_max = options->memory_bytes,
        .temporary_folder = temporary == NULL ? "/tmp" : temporary,
        .progress = cli_progress_update,
        .progress_user = &progress,
        .store = options->summary ? NULL : &store,
    };
    const etl_status status =
        options->summary ? write_summary(options, inputs, &engine_options, &store, out, err)
                         : etlheap_analyze(inputs->traces, (const char *const *)inputs->names,
                                           inputs->count, &engine_options, &out->facts, err);
    cli_progress_end(&progress);
    return status;
}

/* Of traces, or of the full store that was made from them. */
static etl_status write_summary(const cli_options *options, const cli_inputs *inputs,
                                const etlheap_options *engine_options,
                                const etlheap_store_options *store, stored *out, etl_error *err)
{
    const etlheap_summary_options summary_options = {
        .size = sizeof summary_options,
        .every_ns = options->every_ns,
        .jobs = options->jobs,
        .memory_bytes_max = options->memory_bytes,
    };
    const char *const path = inputs->store;
    etl_status status = etlheap_summary_open(&summary_options, &out->summary, err);
    if (status != ETL_OK)
        return status;
    if (path)
        status = etlheap_summary_add_stores(out->summary, &path, 1, engine_options->progress,
                                            engine_options->progress_user, err);
    else
        status = etlheap_summary_add_traces(out->summary, inputs->traces,
                                            (const char *const *)inputs->names, inputs->count,
                                            engine_options, err);
    return status == ETL_OK ? etlheap_summary_write(out->summary, store, err) : status;
}
