/*
 * analysis.c - running the engine on a command's inputs, with progress.
 */
#include "analysis.h"

#include "cli/system/terminal.h"
#include "progress.h"

etlheap_options cli_engine_options(const cli_options *options, cli_progress *progress)
{
    return (etlheap_options){
        .size = sizeof(etlheap_options),
        .jobs = options->jobs,
        .memory_bytes_max = options->memory_bytes,
        .temporary_folder = cli_temporary_folder(),
        .progress = cli_progress_update,
        .progress_user = progress,
        .custom_allocators = options->custom.at,
        .custom_allocator_count = options->custom.count,
        .mark_events = options->mark_events.at,
        .mark_event_count = options->mark_events.count,
    };
}

etl_status cli_analyze(const cli_options *options, const cli_inputs *inputs, const cli_guard *guard,
                       const etlheap_question *questions, u32 question_count, etlheap_result **out,
                       etl_error *err)
{
    if (inputs->kept) {
        *out = question_count == 0 ? inputs->kept->inventory : inputs->kept->result;
        return ETL_OK;
    }
    cli_progress progress = cli_inputs_progress(options, inputs, "reading", guard);
    etlheap_options engine_options = cli_engine_options(options, &progress);
    engine_options.inventory_only = question_count == 0;
    engine_options.questions = questions;
    engine_options.question_count = question_count;
    engine_options.name = inputs->name;
    const char *const *const names = (const char *const *)inputs->names;
    const etl_status status =
        inputs->log ? etlheap_umdh_result(inputs->log, inputs->name, out, err)
        : inputs->store
            ? etlheap_open_store(inputs->store, &engine_options, out, err)
            : etlheap_analyze(inputs->traces, names, inputs->count, &engine_options, out, err);
    cli_progress_end(&progress);
    return status;
}

void cli_analysis_free(const cli_inputs *inputs, etlheap_result *result)
{
    if (!inputs->kept)
        etlheap_result_free(result);
}
