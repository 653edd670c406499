/*
 * cmd_store.c - `etlheap store`: a trace decoded once, into a `.ehs` file that
 * all other commands read in its place.
 */
#include "commands.h"
#include "inputs.h"
#include "messages.h"
#include "outputs.h"
#include "progress.h"

static int store_inputs(const cli_options *options, const cli_inputs *inputs, cli_guard *guard,
                        etlheap_result **facts);
static etl_status write_store(const cli_options *options, const cli_inputs *inputs,
                              const cli_guard *guard, etlheap_sink *sink, etlheap_result **facts,
                              etl_error *err);
static bool put(void *user, const void *bytes, size_t size);

int cli_run_store(const cli_options *options)
{
    cli_guard guard = { .active = false };
    cli_inputs inputs;
    etlheap_result *facts = NULL;
    int status = cli_inputs_open(options, &guard, &inputs);
    if (status == CLI_EXIT_DONE &&
        !cli_inputs_need_traces(&inputs,
                                "it is a store already; name the traces that it was made from"))
        status = CLI_EXIT_USAGE;
    if (status == CLI_EXIT_DONE)
        status = store_inputs(options, &inputs, &guard, &facts);
    etlheap_result_free(facts);
    cli_inputs_close(&inputs);
    cli_guard_end(&guard);
    return status;
}

static int store_inputs(const cli_options *options, const cli_inputs *inputs, cli_guard *guard,
                        etlheap_result **facts)
{
    etl_error err = { .status = ETL_OK };
    etlheap_sink *sink = NULL;
    int exit_status = cli_output_open(options, guard, &sink);
    if (exit_status != CLI_EXIT_DONE)
        return exit_status;
    const etl_status status = write_store(options, inputs, guard, sink, facts, &err);
    /* Why bytes could not be written, the output knows best. */
    if (status != ETL_OK && etlheap_sink_ok(sink))
        return cli_output_fail(sink, cli_inputs_subject(inputs), &err);
    exit_status = cli_output_close(options, guard, ETL_OK, sink);
    if (exit_status != CLI_EXIT_DONE)
        return exit_status;
    return cli_exit_of_diagnostics(options, cli_inputs_subject(inputs),
                                   etlheap_result_diagnostics(*facts));
}

static etl_status write_store(const cli_options *options, const cli_inputs *inputs,
                              const cli_guard *guard, etlheap_sink *sink, etlheap_result **facts,
                              etl_error *err)
{
    cli_progress progress = cli_progress_begin(options, "storing", guard);
    const etlheap_store_options store = { .size = sizeof store, .write = put, .user = sink };
    const etlheap_options engine_options = {
        .size = sizeof engine_options,
        .jobs = options->jobs,
        .memory_bytes_max = options->memory_bytes,
        .progress = cli_progress_update,
        .progress_user = &progress,
        .store = &store,
    };
    const etl_status status = etlheap_analyze(inputs->traces, (const char *const *)inputs->names,
                                              inputs->count, &engine_options, facts, err);
    cli_progress_end(&progress);
    return status;
}

static bool put(void *user, const void *bytes, size_t size)
{
    etlheap_sink *const sink = user;
    etlheap_sink_write(sink, bytes, size);
    return etlheap_sink_ok(sink);
}
