/*
 * report_spikes.c - `etlheap report --spikes`: memory that came and went.
 *
 * Spikes are few, so text lists ten, and other formats all that the library finds.
 */
#include "report_spikes.h"

#include "cli/options/output_format.h"
#include "cli/options/wants.h"
#include "cli/outputs.h"
#include "cli/question.h"
#include "cli/system/terminal.h"

#include <stdlib.h>

#define SPIKES_SHOWN 10u

/* Start from {0}. */
typedef struct spikes_report {
    cli_question question;
    etlheap_spikes *spikes;
} spikes_report;

static u32 count_max(const cli_options *options)
{
    if (options->top != 0)
        return cli_top_limit(options);
    return cli_format_of(options)->is_choice ? SPIKES_SHOWN : 0;
}

static etl_status make_spikes(const cli_options *options, const cli_inputs *inputs,
                              const cli_guard *guard, spikes_report *out, etl_error *err)
{
    const etlheap_spikes_options spikes = { .size = sizeof spikes,
                                            .count_max = count_max(options) };
    cli_question *const question = &out->question;
    etlheap_query *const query = &question->query.query;
    cli_question_add(question, ETLHEAP_ASK_EVENTS, query);
    etl_status status = cli_question_ask(options, inputs, guard, false, question, err);
    if (status == ETL_OK)
        status = etlheap_spikes_make(question->result, query, &spikes, &out->spikes, err);
    if (status == ETL_OK && question->symbols.symbols)
        status = etlheap_spikes_name(out->spikes, question->symbols.symbols, err);
    cli_symbols_done(&question->symbols);
    return status;
}

static int report_inputs(const cli_options *options, const cli_inputs *inputs, cli_guard *guard,
                         spikes_report *out)
{
    const etlheap_layout layout = cli_layout(options);
    etl_error err = { .status = ETL_OK };
    etlheap_sink *sink = NULL;
    const int exit_status = cli_question_open(options, inputs, guard, &out->question, &sink);
    if (exit_status != CLI_EXIT_DONE)
        return exit_status;
    etl_status status = make_spikes(options, inputs, guard, out, &err);
    if (status != ETL_OK)
        return cli_output_fail(sink, cli_inputs_subject(inputs), &err);
    status = cli_format_of(options)->write_spikes(out->question.result, out->spikes, &layout, sink);
    const cli_written written = { status, sink, out->spikes->groups->row_count == 0,
                                  &out->spikes->groups->diagnostics, out->spikes->stacks };
    return cli_question_end(options, inputs, guard, &out->question, &written);
}

int cli_run_spikes(const cli_options *options)
{
    cli_guard guard = { .active = false };
    cli_inputs inputs;
    spikes_report made = { .question = { .result = NULL } };
    int status = cli_inputs_open(options, &guard, &inputs);
    if (status == CLI_EXIT_DONE)
        status = report_inputs(options, &inputs, &guard, &made);
    etlheap_spikes_free(made.spikes);
    cli_question_close(&made.question);
    cli_inputs_close(&inputs);
    cli_guard_end(&guard);
    return status;
}
