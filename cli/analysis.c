/*
 * analysis.c - running the engine on a command's inputs, with progress.
 */
#include "analysis.h"

#include "progress.h"
#include "terminal.h"

etl_status cli_analyze(const cli_options *options, const cli_inputs *inputs, const cli_guard *guard,
                       const etlheap_query *report, etlheap_result **out, etl_error *err)
{
    const char *const temporary = cli_temporary_folder();
    cli_progress progress = cli_progress_begin(options, "reading", guard);
    const etlheap_options engine_options = {
        .size = sizeof engine_options,
        .jobs = options->jobs,
        .memory_bytes_max = options->memory_bytes,
        .census_only = report == NULL,
        .report = report,
        .temporary_folder = temporary == NULL ? "/tmp" : temporary,
        .progress = cli_progress_update,
        .progress_user = &progress,
    };
    const etl_status status =
        inputs->store ? etlheap_open_store(inputs->store, &engine_options, out, err)
                      : etlheap_analyze(inputs->traces, (const char *const *)inputs->names,
                                        inputs->count, &engine_options, out, err);
    cli_progress_end(&progress);
    return status;
}
