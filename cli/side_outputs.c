/*
 * side_outputs.c - writes the verdict of a check in further formats, each to a file of its own.
 * side_outputs.h draws it.
 *
 * Invariant: all files are written and get their names before the main output does, so whoever
 * reads the exit status finds them.
 */
#include "side_outputs.h"

#include "cli/options/output_format.h"
#include "cli/system/terminal.h"
#include "outputs.h"

/* The options of a run whose main output is the side output. */
static cli_options options_of(const cli_options *options, u32 side)
{
    cli_options own = *options;
    own.output = options->side_files[side];
    own.format = cli_side_format(side);
    return own;
}

int cli_side_outputs_open(const cli_options *options, cli_guard *guard, cli_side_outputs *out)
{
    int exit_status = CLI_EXIT_DONE;
    for (u32 i = 0; i < CLI_SIDE_COUNT && exit_status == CLI_EXIT_DONE; i++) {
        const cli_options own = options_of(options, i);
        if (own.output)
            exit_status = cli_output_open(&own, guard, &out->sinks[i]);
        if (exit_status != CLI_EXIT_DONE)
            out->sinks[i] = NULL;
    }
    return exit_status;
}

int cli_side_outputs_write(const cli_options *options, const cli_guard *guard,
                           const cli_request *request, const etlheap_check *check,
                           cli_side_outputs *sides)
{
    int exit_status = CLI_EXIT_DONE;
    for (u32 i = 0; i < CLI_SIDE_COUNT && exit_status == CLI_EXIT_DONE; i++) {
        etlheap_sink *const sink = sides->sinks[i];
        if (!sink)
            continue;
        const cli_options own = options_of(options, i);
        const etlheap_layout layout = cli_request_layout(&own, request);
        sides->sinks[i] = NULL;
        const etl_status status =
            cli_format_of(&own)->write_check(request->result, check, &layout, sink);
        exit_status = cli_output_close(&own, guard, status, sink);
    }
    return exit_status;
}

void cli_side_outputs_discard(cli_side_outputs *sides)
{
    for (u32 i = 0; i < CLI_SIDE_COUNT; i++) {
        etlheap_sink_discard(sides->sinks[i]);
        sides->sinks[i] = NULL;
    }
}
