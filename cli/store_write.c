/*
 * store_write.c - writes the store of inputs, or the summary of them, into a sink.
 *
 * In: inputs and options. Out: the bytes of an .ehs file, and facts for messages about what was
 * lost.
 */
#include "store_write.h"

#include "analysis.h"
#include "cli/system/terminal.h"
#include "outputs.h"
#include "progress.h"

static etl_status write_summary(const cli_options *options, const cli_inputs *inputs,
                                const etlheap_options *engine_options,
                                const etlheap_store_options *store, cli_stored *out,
                                etl_error *err);

void cli_stored_free(cli_stored *stored)
{
    etlheap_result_free(stored->facts);
    etlheap_summary_free(stored->summary);
    *stored = (cli_stored){ .facts = NULL };
}

const etl_diag_counts *cli_stored_diagnostics(const cli_stored *stored)
{
    return stored->summary ? etlheap_summary_diagnostics(stored->summary)
                           : etlheap_result_diagnostics(stored->facts);
}

etl_status cli_store_write(const cli_options *options, const cli_inputs *inputs,
                           const cli_guard *guard, etlheap_sink *sink, cli_stored *out,
                           etl_error *err)
{
    cli_progress progress = cli_inputs_progress(options, inputs, "storing", guard);
    const etlheap_store_options store = { .size = sizeof store,
                                          .write = cli_sink_put,
                                          .user = sink };
    etlheap_options engine_options = cli_engine_options(options, &progress);
    engine_options.store = options->summary ? NULL : &store;
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
                                const etlheap_store_options *store, cli_stored *out, etl_error *err)
{
    const etlheap_summary_options summary_options = {
        .size = sizeof summary_options,
        .every_ns = options->every_ns,
        .jobs = options->jobs,
        .memory_bytes_max = options->memory_bytes,
    };
    const char *const path = inputs->store, *const name = inputs->name;
    etl_status status = etlheap_summary_open(&summary_options, &out->summary, err);
    if (status != ETL_OK)
        return status;
    if (path)
        status = etlheap_summary_add_stores(out->summary, &path, &name, 1, engine_options->progress,
                                            engine_options->progress_user, err);
    else
        status = etlheap_summary_add_traces(out->summary, inputs->traces,
                                            (const char *const *)inputs->names, inputs->count,
                                            engine_options, err);
    return status == ETL_OK ? etlheap_summary_write(out->summary, store, err) : status;
}
