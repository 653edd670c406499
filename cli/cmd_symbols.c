/*
 * cmd_symbols.c - `etlheap symbols`: which modules have symbols, which do not.
 */
#include "analysis.h"
#include "commands.h"
#include "messages.h"
#include "outputs.h"
#include "report_query.h"
#include "symbol_source.h"
#include "terminal.h"

/* What the list is made of. Start from {0}. */
typedef struct listing {
    cli_query query;
    etlheap_result *result;
    cli_symbols symbols;
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
    listing made = { .result = NULL };
    int status = cli_inputs_open(options, &guard, &inputs);
    if (status == CLI_EXIT_DONE)
        status = list_inputs(options, &inputs, &guard, &made);
    etlheap_symbol_list_free(made.list);
    cli_symbols_close(&made.symbols);
    etlheap_result_free(made.result);
    cli_query_free(&made.query);
    cli_inputs_close(&inputs);
    cli_guard_end(&guard);
    return status;
}

/* What is wrong with options or output is said before the long work. */
static int list_inputs(const cli_options *options, const cli_inputs *inputs, cli_guard *guard,
                       listing *out)
{
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
    status = make_list(options, inputs, guard, out, &err);
    if (status != ETL_OK)
        return cli_output_fail(sink, cli_inputs_subject(inputs), &err);
    status = cli_format_of(options)->write_symbols(out->result, out->list, &layout, sink);
    exit_status = cli_output_close(options, guard, status, sink);
    if (exit_status != CLI_EXIT_DONE)
        return exit_status;
    return cli_exit_of_diagnostics(options, cli_inputs_subject(inputs), &out->list->diagnostics);
}

static etl_status make_list(const cli_options *options, const cli_inputs *inputs,
                            const cli_guard *guard, listing *out, etl_error *err)
{
    etl_status status = cli_analyze(options, inputs, guard, &out->query.query, &out->result, err);
    if (status == ETL_OK)
        status = cli_symbols_open(options, guard, out->result, true, &out->symbols, err);
    out->query.query.symbols = out->symbols.symbols;
    if (status == ETL_OK)
        status = etlheap_symbols_list(&out->query.query, &out->list, err);
    cli_symbols_done(&out->symbols);
    return status;
}
