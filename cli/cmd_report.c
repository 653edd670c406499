/*
 * cmd_report.c - `etlheap report`: memory outstanding per process, heap and stack.
 */
#include "commands.h"
#include "messages.h"
#include "outputs.h"
#include "question.h"
#include "terminal.h"

#include <stdlib.h>

/* What a report is made of. Start from {0}. */
typedef struct report {
    cli_question question;
    const etlheap_table *table;
} report;

static int report_inputs(const cli_options *options, const cli_inputs *inputs, cli_guard *guard,
                         report *out);
static etl_status make_report(const cli_options *options, const cli_inputs *inputs,
                              const cli_guard *guard, report *out, etl_error *err);
static bool is_outline(const cli_options *options);
static etl_status name_frames(const cli_options *options, report *out, etl_error *err);

int cli_run_report(const cli_options *options)
{
    cli_guard guard = { .active = false };
    cli_inputs inputs;
    report made = { .question = { .result = NULL } };
    int status = cli_inputs_open(options, &guard, &inputs);
    if (status == CLI_EXIT_DONE)
        status = report_inputs(options, &inputs, &guard, &made);
    etlheap_table_free(made.table);
    cli_question_close(&made.question);
    cli_inputs_close(&inputs);
    cli_guard_end(&guard);
    return status;
}

static int report_inputs(const cli_options *options, const cli_inputs *inputs, cli_guard *guard,
                         report *out)
{
    const etlheap_format *const format = cli_format_of(options);
    const etlheap_layout layout = cli_layout(options);
    etl_error err = { .status = ETL_OK };
    etlheap_sink *sink = NULL;
    int exit_status = cli_question_open(options, inputs, guard, &out->question, &sink);
    if (exit_status != CLI_EXIT_DONE)
        return exit_status;
    etl_status status = make_report(options, inputs, guard, out, &err);
    if (status != ETL_OK)
        return cli_output_fail(sink, cli_inputs_subject(inputs), &err);
    status = format->write_report(out->question.result, out->table, &layout, sink);
    exit_status = cli_output_close(options, guard, status, sink);
    if (exit_status != CLI_EXIT_DONE)
        return exit_status;
    return cli_exit_of_diagnostics(options, cli_inputs_subject(inputs), &out->table->diagnostics);
}

static etl_status make_report(const cli_options *options, const cli_inputs *inputs,
                              const cli_guard *guard, report *out, etl_error *err)
{
    etl_status status = cli_question_ask(options, inputs, guard, false, &out->question, err);
    if (status == ETL_OK)
        status =
            etlheap_aggregate(out->question.result, &out->question.query.query, &out->table, err);
    if (status == ETL_OK && options->top > 0 && !is_outline(options))
        status = etlheap_table_keep_top(&out->table, options->top, err);
    if (status == ETL_OK && out->question.symbols.symbols)
        status = name_frames(options, out, err);
    cli_symbols_done(&out->question.symbols);
    return status;
}

/* The outline of the text report lists fewer rows but sums all of them. */
static bool is_outline(const cli_options *options)
{
    return strcmp(cli_format_of(options)->name, "text") == 0 && options->tree == ETLHEAP_TREE_NONE;
}

/* What is not shown needs no name: with a server it would be a download. */
static etl_status name_frames(const cli_options *options, report *out, etl_error *err)
{
    const etlheap_layout layout = cli_layout(options);
    if (!is_outline(options))
        return etlheap_table_name(&out->table, out->question.symbols.symbols, NULL, err);
    bool *const listed = calloc((size_t)out->table->row_count + 1, sizeof *listed);
    if (!listed)
        return etl_fail_with(err, ETL_ERR_MEMORY, 0, "out of memory");
    etlheap_layout_choose(&layout, out->table, listed);
    const etl_status status =
        etlheap_table_name(&out->table, out->question.symbols.symbols, listed, err);
    free(listed);
    return status;
}
