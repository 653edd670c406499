/*
 * cmd_export.c - `etlheap export`: the formats of other programs.
 */
#include "cli/filter_notes.h"
#include "cli/messages.h"
#include "cli/options/advice.h"
#include "cli/options/given_options.h"
#include "cli/options/output_format.h"
#include "cli/options/source_words.h"
#include "cli/outputs.h"
#include "cli/request.h"
#include "commands.h"

#include <stdlib.h>

typedef struct export_run {
    const cli_options *options;
    const cli_inputs *inputs;
    cli_guard *guard;
    cli_request request;
    cli_words selection; /* of commands that show what was exported */
    cli_sources sources;
    etlheap_text advice; /* said when all is written */
} export_run;

static int export_inputs(export_run *run);
static etl_status write_export(export_run *run, etlheap_sink *sink, etl_error *err);

int cli_run_export(const cli_options *options)
{
    cli_guard guard = { .active = false };
    cli_inputs inputs;
    export_run run = { .options = options, .inputs = &inputs, .guard = &guard };
    int status = cli_inputs_open(options, &guard, &inputs);
    if (status == CLI_EXIT_DONE)
        status = export_inputs(&run);
    cli_request_close(&run.request);
    cli_inputs_close(&inputs);
    cli_guard_end(&guard);
    etlheap_text_free(&run.advice);
    cli_sources_free(&run.sources);
    free(run.selection.at);
    return status;
}

static int export_inputs(export_run *run)
{
    const cli_options *const options = run->options;
    const char *const subject = cli_inputs_subject(run->inputs);
    etl_error err = { .status = ETL_OK };
    etlheap_sink *sink = NULL;
    int exit_status = cli_request_open(options, run->inputs, run->guard, &run->request, &sink);
    if (exit_status != CLI_EXIT_DONE)
        return exit_status;
    const etl_status status = write_export(run, sink, &err);
    if (status != ETL_OK && etlheap_sink_ok(sink))
        return cli_output_fail(sink, subject, &err);
    exit_status = cli_output_close(options, run->guard, ETL_OK, sink);
    if (exit_status != CLI_EXIT_DONE)
        return exit_status;
    cli_note_filters(options, subject, run->request.result, &run->request.query.query, true);
    cli_note_excluded(options, subject, run->request.excluded);
    if (run->advice.size > 0)
        cli_note(NULL, run->advice.bytes);
    const etl_diag_counts *const found = etlheap_result_diagnostics(run->request.result);
    return cli_exit_of_list(options, subject, found);
}

static etl_status write_export(export_run *run, etlheap_sink *sink, etl_error *err)
{
    const cli_options *const options = run->options;
    cli_request *const made = &run->request;
    const etlheap_exporter *const exporter = etlheap_exporter_named(options->format);
    const etlheap_metric metric = options->metric == 0 ? etlheap_exporter_default_metric(exporter)
                                                       : (etlheap_metric)(options->metric - 1);
    if (exporter->asks_events || options->rows || etlheap_metric_asks_events(metric))
        cli_request_add(made, ETLHEAP_ASK_EVENTS, &made->query.query)->frees =
            options->rows || exporter->asks_frees;
    if (exporter->asks_map)
        cli_request_add(made, ETLHEAP_ASK_MAP, &made->query.query);
    etl_status status = cli_selecting_words(options, &run->selection, err);
    if (status == ETL_OK)
        status = cli_request_ask(options, run->inputs, run->guard, false, made, err);
    if (status != ETL_OK)
        return status;
    status = cli_sources_parse(options, &run->sources, err);
    if (status != ETL_OK)
        return status;
    cli_progress progress = cli_progress_begin(options, "writing", run->guard);
    const etlheap_export_request request = {
        .size = sizeof request,
        .result = made->result,
        .query = &made->query.query,
        .metric = metric,
        .rows = options->rows,
        .titles = options->titles,
        .memory_bytes_max = options->memory_bytes,
        .progress = cli_progress_update,
        .progress_user = &progress,
        .output_name = cli_output_is_file(options) ? options->output : NULL,
        .advice = &run->advice,
        .hint = cli_advice,
        .inputs = { options->inputs.at, options->inputs.count },
        .selection = { run->selection.at, run->selection.count },
        .lacks_login = options->lacks_login,
        .sources = options->source_roots.count > 0 ? &run->sources.options : NULL,
    };
    status = etlheap_export(exporter, &request, sink, err);
    if (status == ETL_OK)
        status = cli_request_exclude(made, err);
    cli_symbols_done(&made->symbols);
    cli_progress_end(&progress);
    return status;
}
