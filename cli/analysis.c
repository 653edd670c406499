/*
 * analysis.c - running the engine on a command's inputs, with progress.
 */
#include "analysis.h"

#include "cli/system/terminal.h"
#include "progress.h"

etl_status cli_analyze(const cli_options *options, const cli_inputs *inputs, const cli_guard *guard,
                       const etlheap_question *questions, u32 question_count, etlheap_result **out,
                       etl_error *err)
{
    cli_progress progress = cli_inputs_progress(options, inputs, "reading", guard);
    const etlheap_options engine_options = {
        .size = sizeof engine_options,
        .jobs = options->jobs,
        .memory_bytes_max = options->memory_bytes,
        .inventory_only = question_count == 0,
        .questions = questions,
        .question_count = question_count,
        .temporary_folder = cli_temporary_folder(),
        .progress = cli_progress_update,
        .progress_user = &progress,
        .custom_allocators = options->custom.at,
        .custom_allocator_count = options->custom.count,
        .mark_events = options->mark_events.at,
        .mark_event_count = options->mark_events.count,
        .name = inputs->name,
    };
    const char *const *const names = (const char *const *)inputs->names;
    const etl_status status =
        inputs->log ? etlheap_umdh_result(inputs->log, inputs->name, out, err)
        : inputs->store
            ? etlheap_open_store(inputs->store, &engine_options, out, err)
            : etlheap_analyze(inputs->traces, names, inputs->count, &engine_options, out, err);
    cli_progress_end(&progress);
    return status;
}
