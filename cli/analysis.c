/*
 * analysis.c - running the engine on a command's inputs, with progress.
 */
#include "analysis.h"

#include "cli/system/terminal.h"
#include "progress.h"

static etl_status open_store(const cli_inputs *inputs, const etlheap_options *options, bool walks,
                             etlheap_result **out, etl_error *err);
static etl_status analyze(const cli_inputs *inputs, const etlheap_options *options, bool walks,
                          etlheap_result **out, etl_error *err);

etl_status cli_analyze(const cli_options *options, const cli_inputs *inputs, const cli_guard *guard,
                       const cli_purpose *purpose, etlheap_result **out, etl_error *err)
{
    cli_progress progress = cli_progress_begin(options, "reading", guard);
    const etlheap_options engine_options = {
        .size = sizeof engine_options,
        .jobs = options->jobs,
        .memory_bytes_max = options->memory_bytes,
        .census_only = purpose == NULL,
        .report = purpose ? purpose->report : NULL,
        .windows = purpose ? purpose->windows : NULL,
        .temporary_folder = cli_temporary_folder(),
        .progress = cli_progress_update,
        .progress_user = &progress,
    };
    const bool walks = purpose && purpose->lifetimes;
    const etl_status status = inputs->store ? open_store(inputs, &engine_options, walks, out, err)
                                            : analyze(inputs, &engine_options, walks, out, err);
    cli_progress_end(&progress);
    return status;
}

static etl_status open_store(const cli_inputs *inputs, const etlheap_options *options, bool walks,
                             etlheap_result **out, etl_error *err)
{
    return walks ? etlheap_lifetimes_open_store(inputs->store, options, out, err)
                 : etlheap_open_store(inputs->store, options, out, err);
}

static etl_status analyze(const cli_inputs *inputs, const etlheap_options *options, bool walks,
                          etlheap_result **out, etl_error *err)
{
    const char *const *const names = (const char *const *)inputs->names;
    return walks
               ? etlheap_lifetimes_analyze(inputs->traces, names, inputs->count, options, out, err)
               : etlheap_analyze(inputs->traces, names, inputs->count, options, out, err);
}
