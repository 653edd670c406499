/*
 * cmd_merge.c - `etlheap merge`: stores of many runs added up to one summary.
 */
#include "cli/inputs.h"
#include "cli/messages.h"
#include "cli/outputs.h"
#include "cli/progress.h"
#include "cli/memory_limit.h"
#include "commands.h"

static int merge_inputs(const cli_options *options, cli_guard *guard, const cli_stores *stores,
                        etlheap_summary *summary);
static etl_status add_inputs(const cli_options *options, const cli_guard *guard,
                             const cli_stores *stores, etlheap_summary *summary, etl_error *err);

int cli_run_merge(const cli_options *options)
{
    const etlheap_summary_options summary_options = {
        .size = sizeof summary_options,
        .every_ns = options->every_ns,
        .allow_duplicates = options->allow_duplicates,
        .jobs = options->jobs,
        .memory_bytes_max = options->memory_bytes,
    };
    cli_guard guard = { .active = false };
    etlheap_summary *summary = NULL;
    etl_error err = { .status = ETL_OK };
    cli_stores stores;
    int status = cli_stores_open(options, &guard, &stores);
    if (status == CLI_EXIT_DONE &&
        etlheap_summary_open(&summary_options, &summary, &err) != ETL_OK) {
        cli_complain_error(NULL, &err);
        status = cli_exit_of(err.status);
    }
    if (status == CLI_EXIT_DONE)
        status = merge_inputs(options, &guard, &stores, summary);
    etlheap_summary_free(summary);
    cli_stores_close(&stores);
    cli_guard_end(&guard);
    return status;
}

static int merge_inputs(const cli_options *options, cli_guard *guard, const cli_stores *stores,
                        etlheap_summary *summary)
{
    etl_error err = { .status = ETL_OK };
    etlheap_sink *sink = NULL;
    int exit_status = cli_output_open_binary(options, guard, &sink);
    if (exit_status != CLI_EXIT_DONE)
        return exit_status;
    const etlheap_store_options store = { .size = sizeof store,
                                          .write = cli_sink_put,
                                          .user = sink };
    etl_status status = add_inputs(options, guard, stores, summary, &err);
    if (status == ETL_OK)
        status = etlheap_summary_write(summary, &store, &err);
    if (status != ETL_OK && etlheap_sink_ok(sink))
        return cli_output_fail(sink, NULL, &err);
    exit_status = cli_output_close(options, guard, ETL_OK, sink);
    if (exit_status != CLI_EXIT_DONE)
        return exit_status;
    return cli_exit_of_diagnostics(options, NULL, etlheap_summary_diagnostics(summary));
}

static etl_status add_inputs(const cli_options *options, const cli_guard *guard,
                             const cli_stores *stores, etlheap_summary *summary, etl_error *err)
{
    for (u32 i = 0; i < stores->count; i++)
        cli_memory_note_input(stores->paths[i], true, false);
    cli_progress progress = cli_progress_begin(options, "merging", guard);
    const etl_status status =
        etlheap_summary_add_stores(summary, stores->paths, options->inputs.at, stores->count,
                                   cli_progress_update, &progress, err);
    cli_progress_end(&progress);
    return status;
}
