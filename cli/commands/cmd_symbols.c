/*
 * cmd_symbols.c - `etlheap symbols`: which modules have symbols, which do not.
 */
#include "cli/messages.h"
#include "cli/options/output_format.h"
#include "cli/outputs.h"
#include "cli/question.h"
#include "cli/system/terminal.h"
#include "commands.h"

/* What the list is made of. Start from {0}. */
typedef struct listing {
    cli_question question;
    const etlheap_symbol_list *list;
} listing;

static int list_inputs(const cli_options *options, const cli_inputs *inputs, cli_guard *guard,
                       listing *out);
static etl_status make_list(const cli_options *options, const cli_inputs *inputs,
                            const cli_guard *guard, listing *out, etl_error *err);

int cli_run_symbols(const cli_options *options)
{
    cli_guard guard = { .active = false };
    cli_inputs inputs;
    listing made = { .question = { .result = NULL } };
    int status = cli_inputs_open(options, &guard, &inputs);
    if (status == CLI_EXIT_DONE)
        status = list_inputs(options, &inputs, &guard, &made);
    etlheap_symbol_list_free(made.list);
    cli_question_close(&made.question);
    cli_inputs_close(&inputs);
    cli_guard_end(&guard);
    return status;
}

/* No memory is outstanding, with a stack or without. */
static bool is_empty(const etlheap_symbol_list *list)
{
    i64 size = 0;
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++)
        size |= list->size[kind];
    return list->module_count == 0 && size == 0;
}

static int list_inputs(const cli_options *options, const cli_inputs *inputs, cli_guard *guard,
                       listing *out)
{
    const etlheap_layout layout = cli_layout(options);
    etl_error err = { .status = ETL_OK };
    etlheap_sink *sink = NULL;
    const int exit_status = cli_question_open(options, inputs, guard, &out->question, &sink);
    if (exit_status != CLI_EXIT_DONE)
        return exit_status;
    etl_status status = make_list(options, inputs, guard, out, &err);
    if (status != ETL_OK)
        return cli_output_fail(sink, cli_inputs_subject(inputs), &err);
    status = cli_format_of(options)->write_symbols(out->question.result, out->list, &layout, sink);
    const cli_written written = { status, sink, is_empty(out->list), &out->list->diagnostics,
                                  NULL };
    return cli_question_end(options, inputs, guard, &out->question, &written);
}

static etl_status make_list(const cli_options *options, const cli_inputs *inputs,
                            const cli_guard *guard, listing *out, etl_error *err)
{
    etl_status status = cli_question_ask(options, inputs, guard, true, &out->question, err);
    if (status == ETL_OK)
        status = etlheap_symbols_list(&out->question.query.query, &out->list, err);
    cli_symbols_done(&out->question.symbols);
    return status;
}
