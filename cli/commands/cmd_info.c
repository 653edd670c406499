/*
 * cmd_info.c - `etlheap info`: what the trace holds, and what can be analysed.
 */
#include "cli/analysis.h"
#include "cli/messages.h"
#include "cli/options/output_format.h"
#include "cli/outputs.h"
#include "cli/system/terminal.h"
#include "commands.h"

static int info_inputs(const cli_options *options, const cli_inputs *inputs, cli_guard *guard,
                       etlheap_result **result);

int cli_run_info(const cli_options *options)
{
    cli_guard guard = { .active = false };
    cli_inputs inputs;
    etlheap_result *result = NULL;
    int status = cli_inputs_open(options, &guard, &inputs);
    if (status == CLI_EXIT_DONE)
        status = info_inputs(options, &inputs, &guard, &result);
    cli_analysis_free(&inputs, result);
    cli_inputs_close(&inputs);
    cli_guard_end(&guard);
    return status;
}

/* The output is opened first: a folder that is missing should not be found out
 * after minutes of reading. */
static int info_inputs(const cli_options *options, const cli_inputs *inputs, cli_guard *guard,
                       etlheap_result **result)
{
    const etlheap_layout layout = cli_layout(options);
    etl_error err = { .status = ETL_OK };
    etlheap_sink *sink = NULL;
    int exit_status = cli_output_open(options, guard, &sink);
    if (exit_status != CLI_EXIT_DONE)
        return exit_status;
    etl_status status = cli_analyze(options, inputs, guard, NULL, 0, result, &err);
    if (status != ETL_OK)
        return cli_output_fail(sink, cli_inputs_subject(inputs), &err);
    status = cli_format_of(options)->write_info(*result, &layout, sink);
    exit_status = cli_output_close(options, guard, status, sink);
    if (exit_status != CLI_EXIT_DONE)
        return exit_status;
    return cli_exit_of_diagnostics(options, cli_inputs_subject(inputs),
                                   etlheap_result_diagnostics(*result));
}
