/*
 * report_map.c - `etlheap report --map`: how full the address space is.
 *
 * A map is of one moment: that of --at, or the end of the trace. With --at peak it is the moment
 * at which heap blocks took most; without any, committed ranges, and so on.
 */
#include "report_map.h"

#include "cli/answer.h"
#include "cli/options/output_format.h"
#include "cli/options/wants.h"
#include "cli/system/terminal.h"

#define PINS_SHOWN 25u

/* What a map is made of. Start from {0}. */
typedef struct map_report {
    cli_request request;
    etlheap_map_options options;
    etlheap_map *map;
} map_report;

/* The kind whose peak is the moment of the map: of those with a peak the one that people look for
 * first, blocks before ranges (etlheap_kind_place). The last kind if none has a peak. */
static u32 kind_of_peak(const etlheap_peak_moment *peaks)
{
    u32 chosen = ETLHEAP_KIND_COUNT;
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        const etlheap_kind_place place = etlheap_kind_at((etlheap_kind)kind)->place;
        if (peaks[kind].found && place != ETLHEAP_PLACE_NOWHERE &&
            (chosen == ETLHEAP_KIND_COUNT || place < etlheap_kind_at((etlheap_kind)chosen)->place))
            chosen = kind;
    }
    return chosen == ETLHEAP_KIND_COUNT ? ETLHEAP_KIND_COUNT - 1 : chosen;
}

static etl_status find_peak(map_report *out, etl_error *err)
{
    cli_query *const request = &out->request.query;
    etlheap_peak_moment peaks[ETLHEAP_KIND_CAPACITY];
    const etl_status status = etlheap_find_peaks(out->request.result, &request->query, peaks, err);
    const etlheap_peak_moment *const peak = &peaks[status == ETL_OK ? kind_of_peak(peaks) : 0];
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++)
        request->kind_to_ticks[kind] = peak->to_ticks;
    if (status == ETL_OK && peak->found)
        request->query.kind_to_ticks = request->kind_to_ticks;
    return status;
}

static etl_status make_map(const cli_options *options, const cli_inputs *inputs,
                           const cli_guard *guard, cli_request *request, etl_error *err)
{
    map_report *const out = (map_report *)request;
    const bool lists_all = !cli_format_of(options)->is_choice;
    out->options = (etlheap_map_options){
        .size = sizeof out->options,
        .unit = options->map_unit,
        .pins_max = options->top > 0 ? cli_top_limit(options)
                    : lists_all      ? 0
                                     : PINS_SHOWN,
    };
    etlheap_query *const query = &request->query.query;
    query->sums_only = true;
    cli_request_add(request, ETLHEAP_ASK_MAP, query)->map = &out->options;
    etl_status status = cli_request_ask(options, inputs, guard, false, request, err);
    if (status == ETL_OK && options->at_peak)
        status = find_peak(out, err);
    etlheap_answer answer = { .map = NULL };
    if (status == ETL_OK)
        status = etlheap_ask(request->result, request->asked, 1, &answer, err);
    out->map = answer.map;
    if (status == ETL_OK && request->symbols.symbols)
        status = etlheap_table_name(out->map->table, request->symbols.symbols, NULL, err);
    cli_symbols_done(&request->symbols);
    return status;
}

static void write_map(const cli_options *options, const cli_request *request, etlheap_sink *sink,
                      cli_written *written)
{
    const etlheap_map *const map = ((const map_report *)request)->map;
    const etlheap_layout layout = cli_request_layout(options, request);
    written->status = cli_format_of(options)->write_map(request->result, map, &layout, sink);
    written->is_empty = map->process_count == 0;
    written->diagnostics = &map->table->diagnostics;
    written->named = map->table;
}

static void free_map(cli_request *request)
{
    etlheap_map_free(((map_report *)request)->map);
}

int cli_run_map(const cli_options *options)
{
    static const cli_answer answer = { make_map, write_map, free_map };
    map_report made = { .request = { .result = NULL } };
    return cli_answer_run(options, &answer, &made.request);
}
