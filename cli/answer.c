/* answer.c - see answer.h. */
#include "answer.h"

#include "messages.h"
#include "outputs.h"

static int answer_inputs(const cli_options *options, const cli_inputs *inputs, cli_guard *guard,
                         const cli_answer *answer, cli_request *request)
{
    etl_error err = { .status = ETL_OK };
    cli_written written = { .sink = NULL };
    const int exit_status = cli_request_open(options, inputs, guard, request, &written.sink);
    if (exit_status != CLI_EXIT_DONE)
        return exit_status;
    if (answer->make(options, inputs, guard, request, &err) != ETL_OK ||
        cli_request_exclude(request, &err) != ETL_OK)
        return cli_output_fail(written.sink, cli_inputs_subject(inputs), &err);
    answer->write(options, request, written.sink, &written);
    return cli_request_end(options, inputs, guard, request, &written);
}

int cli_answer_run(const cli_options *options, const cli_answer *answer, cli_request *request)
{
    cli_guard guard = { .active = false };
    cli_inputs inputs;
    int status = cli_inputs_open(options, &guard, &inputs);
    if (status == CLI_EXIT_DONE)
        status = answer_inputs(options, &inputs, &guard, answer, request);
    answer->free(request);
    cli_request_close(request);
    cli_inputs_close(&inputs);
    cli_guard_end(&guard);
    return status;
}
