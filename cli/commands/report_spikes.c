/*
 * report_spikes.c - `etlheap report --spikes`: memory that came and went.
 *
 * Spikes are few, so text lists ten, and other formats all that the library finds.
 */
#include "report_spikes.h"

#include "cli/answer.h"
#include "cli/options/output_format.h"
#include "cli/options/wants.h"
#include "cli/system/terminal.h"

#define SPIKES_SHOWN 10u

/* Start from {0}. */
typedef struct spikes_report {
    cli_request request;
    etlheap_spikes *spikes;
} spikes_report;

static u32 count_max(const cli_options *options)
{
    if (options->top != 0)
        return cli_top_limit(options);
    return cli_format_of(options)->is_choice ? SPIKES_SHOWN : 0;
}

etl_status cli_spikes_ask(const cli_options *options, const cli_inputs *inputs,
                          const cli_guard *guard, cli_request *request, etlheap_spikes **out,
                          etl_error *err)
{
    const etlheap_spikes_options spikes = { .size = sizeof spikes,
                                            .count_max = count_max(options) };
    etlheap_query *const query = &request->query.query;
    cli_request_add(request, ETLHEAP_ASK_EVENTS, query);
    const etl_status status = cli_request_ask(options, inputs, guard, false, request, err);
    return status == ETL_OK ? etlheap_spikes_make(request->result, query, &spikes, out, err)
                            : status;
}

static etl_status make_spikes(const cli_options *options, const cli_inputs *inputs,
                              const cli_guard *guard, cli_request *request, etl_error *err)
{
    spikes_report *const out = (spikes_report *)request;
    etl_status status = cli_spikes_ask(options, inputs, guard, request, &out->spikes, err);
    if (status == ETL_OK && request->symbols.symbols)
        status = etlheap_spikes_name(out->spikes, request->symbols.symbols, err);
    cli_symbols_done(&request->symbols);
    return status;
}

static void write_spikes(const cli_options *options, const cli_request *request, etlheap_sink *sink,
                         cli_written *written)
{
    const etlheap_spikes *const spikes = ((const spikes_report *)request)->spikes;
    const etlheap_layout layout = cli_request_layout(options, request);
    written->status = cli_format_of(options)->write_spikes(request->result, spikes, &layout, sink);
    written->is_empty = spikes->groups->row_count == 0;
    written->diagnostics = &spikes->groups->diagnostics;
    written->named = spikes->stacks;
}

static void free_spikes(cli_request *request)
{
    etlheap_spikes_free(((spikes_report *)request)->spikes);
}

int cli_run_spikes(const cli_options *options)
{
    static const cli_answer answer = { make_spikes, write_spikes, free_spikes };
    spikes_report made = { .request = { .result = NULL } };
    return cli_answer_run(options, &answer, &made.request);
}
