/*
 * cmd_report.c - `etlheap report`: memory outstanding per process, heap and stack.
 */
#include "analysis.h"
#include "commands.h"
#include "messages.h"
#include "outputs.h"
#include "report_query.h"
#include "symbol_source.h"
#include "terminal.h"

#include <stdlib.h>

/* What a report is made of. Start from {0}. */
typedef struct report {
    cli_query query;
    etlheap_result *result;
    cli_symbols symbols;
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
    report made = { .result = NULL };
    int status = cli_inputs_open(options, &guard, &inputs);
    if (status == CLI_EXIT_DONE)
        status = report_inputs(options, &inputs, &guard, &made);
    etlheap_table_free(made.table);
    cli_symbols_close(&made.symbols);
    etlheap_result_free(made.result);
    cli_query_free(&made.query);
    cli_inputs_close(&inputs);
    cli_guard_end(&guard);
    return status;
}

/* What is wrong with options or output is said before the long work. */
static int report_inputs(const cli_options *options, const cli_inputs *inputs, cli_guard *guard,
                         report *out)
{
    const etlheap_format *const format = cli_format_of(options);
    const etlheap_layout layout = cli_layout(options);
    etl_error err = { .status = ETL_OK };
    etlheap_sink *sink = NULL;
    etl_status status = cli_query_build(options, inputs->start_filetime, &out->query, &err);
    if (status == ETL_OK)
        status = cli_symbols_check(options, &err);
    if (status != ETL_OK) {
        cli_complain(NULL, err.message);
        return cli_exit_of(status);
    }
    int exit_status = cli_output_open(options, guard, &sink);
    if (exit_status != CLI_EXIT_DONE)
        return exit_status;
    status = make_report(options, inputs, guard, out, &err);
    if (status != ETL_OK)
        return cli_output_fail(sink, cli_inputs_subject(inputs), &err);
    status = format->write_report(out->result, out->table, &layout, sink);
    exit_status = cli_output_close(options, guard, status, sink);
    if (exit_status != CLI_EXIT_DONE)
        return exit_status;
    return cli_exit_of_diagnostics(options, cli_inputs_subject(inputs), &out->table->diagnostics);
}

static etl_status make_report(const cli_options *options, const cli_inputs *inputs,
                              const cli_guard *guard, report *out, etl_error *err)
{
    etl_status status = cli_analyze(options, inputs, guard, &out->query.query, &out->result, err);
    if (status == ETL_OK)
        status = cli_symbols_open(options, guard, out->result, false, &out->symbols, err);
    out->query.query.symbols = out->symbols.symbols;
    if (status == ETL_OK)
        status = etlheap_aggregate(out->result, &out->query.query, &out->table, err);
    if (status == ETL_OK && options->top > 0 && !is_outline(options))
        status = etlheap_table_keep_top(&out->table, options->top, err);
    if (status == ETL_OK && out->symbols.symbols)
        status = name_frames(options, out, err);
    cli_symbols_done(&out->symbols);
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
        return etlheap_table_name(&out->table, out->symbols.symbols, NULL, err);
    bool *const listed = calloc((size_t)out->table->row_count + 1, sizeof *listed);
    if (!listed)
        return etl_fail_with(err, ETL_ERR_MEMORY, 0, "out of memory");
    etlheap_layout_choose(&layout, out->table, listed);
    const etl_status status = etlheap_table_name(&out->table, out->symbols.symbols, listed, err);
    free(listed);
    return status;
}
