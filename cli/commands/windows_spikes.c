/*
 * windows_spikes.c - `etlheap windows --find-spikes`: a window around each spike.
 *
 * In: options and inputs. Out: the spikes that `report --spikes` lists, the highest first, and for
 * each the totals of the window from its rise to its fall. Invariant: window i is that of spike i.
 */
#include "windows_spikes.h"

#include "cli/answer.h"
#include "cli/options/output_format.h"
#include "report_spikes.h"

#include <stdlib.h>

/* Start from {0}. */
typedef struct windows_spikes {
    cli_request request;
    etlheap_spikes *spikes;
    etlheap_windows *windows;
} windows_spikes;

/* Without spikes there is one window, which is not shown. */
static etl_status make_windows(windows_spikes *out, etl_error *err)
{
    const u32 count = out->spikes->count;
    etlheap_time_range *const ranges = calloc((size_t)count + 1, sizeof *ranges);
    const etlheap_windows_options windows = { .size = sizeof windows,
                                              .ranges = ranges,
                                              .range_count = count };
    if (ranges == NULL)
        return etl_no_memory(err);
    for (u32 i = 0; i < count; i++)
        ranges[i] =
            (etlheap_time_range){ out->spikes->spikes[i].from_ns, out->spikes->spikes[i].to_ns };
    const etl_status status = etlheap_windows_make(out->request.result, &out->request.query.query,
                                                   &windows, &out->windows, err);
    free(ranges);
    return status;
}

static etl_status make_answer(const cli_options *options, const cli_inputs *inputs,
                              const cli_guard *guard, cli_request *request, etl_error *err)
{
    windows_spikes *const out = (windows_spikes *)request;
    cli_group_windows(options, &request->query.query);
    etl_status status = cli_spikes_ask(options, inputs, guard, request, &out->spikes, err);
    if (status == ETL_OK)
        status = make_windows(out, err);
    cli_symbols_done(&request->symbols);
    return status;
}

static void write_answer(const cli_options *options, const cli_request *request, etlheap_sink *sink,
                         cli_written *written)
{
    const windows_spikes *const made = (const windows_spikes *)request;
    const etlheap_layout layout = cli_request_layout(options, request);
    const etlheap_windows_answer answer = { .windows = made->windows, .spikes = made->spikes };
    written->status =
        cli_format_of(options)->write_windows(request->result, &answer, &layout, sink);
    written->is_empty = made->windows->table->row_count == 0;
    written->diagnostics = &made->windows->table->diagnostics;
}

static void free_answer(cli_request *request)
{
    windows_spikes *const made = (windows_spikes *)request;
    etlheap_windows_free(made->windows);
    etlheap_spikes_free(made->spikes);
}

int cli_run_windows_spikes(const cli_options *options)
{
    static const cli_answer answer = { make_answer, write_answer, free_answer };
    windows_spikes made = { .request = { .result = NULL } };
    return cli_answer_run(options, &answer, &made.request);
}
