/*
 * cmd_symbols.c - `etlheap symbols`: which modules have symbols, which do not.
 */
#include "cli/answer.h"
#include "cli/options/output_format.h"
#include "cli/system/terminal.h"
#include "commands.h"
#include "symbols_source.h"

/* What the list is made of. Start from {0}. */
typedef struct listing {
    cli_request request;
    const etlheap_symbol_list *list;
} listing;

/* No memory is outstanding, with a stack or without. */
static bool is_empty(const etlheap_symbol_list *list)
{
    i64 size = 0;
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++)
        size |= list->size[kind];
    return list->module_count == 0 && size == 0;
}

static etl_status make_list(const cli_options *options, const cli_inputs *inputs,
                            const cli_guard *guard, cli_request *request, etl_error *err)
{
    listing *const out = (listing *)request;
    etl_status status = cli_request_ask(options, inputs, guard, true, request, err);
    if (status == ETL_OK)
        status = etlheap_symbols_list(&request->query.query, &out->list, err);
    cli_symbols_done(&request->symbols);
    return status;
}

static void write_list(const cli_options *options, const cli_request *request, etlheap_sink *sink,
                       cli_written *written)
{
    const etlheap_symbol_list *const list = ((const listing *)request)->list;
    const etlheap_layout layout = cli_layout(options);
    written->status = cli_format_of(options)->write_symbols(request->result, list, &layout, sink);
    written->is_empty = is_empty(list);
    written->diagnostics = &list->diagnostics;
}

static void free_list(cli_request *request)
{
    etlheap_symbol_list_free(((listing *)request)->list);
}

int cli_run_symbols(const cli_options *options)
{
    if (options->sources.count > 0)
        return cli_run_source(options);
    static const cli_answer answer = { make_list, write_list, free_list };
    listing made = { .request = { .result = NULL } };
    return cli_answer_run(options, &answer, &made.request);
}
