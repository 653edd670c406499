/*
 * symbols_source.c - `etlheap symbols --source`: lines of code around places in the stacks.
 *
 * In: FILE:LINE, folders of sources. Out: the lines. Invariant: only files are read that the
 * symbols of the input name: whoever asks chooses among them.
 */
#include "symbols_source.h"

#include "cli/answer.h"
#include "cli/naming.h"
#include "cli/options/output_format.h"
#include "cli/options/source_words.h"
#include "cli/system/terminal.h"

/* Start from {0}. */
typedef struct source_report {
    cli_request request;
    cli_sources sources;
    etlheap_source_lines *lines;
} source_report;

/* The first place whose file no symbols name; NULL: all are named. */
static const etlheap_source_place *unnamed(const cli_sources *sources,
                                           const etlheap_symbols *symbols)
{
    for (u32 i = 0; i < sources->count; i++) {
        if (!etlheap_source_is_named(symbols, &sources->places[i]))
            return &sources->places[i];
    }
    return NULL;
}

/* All stacks are named, unless a session has done that. */
static etl_status find_files(const source_report *report, etl_error *err)
{
    etlheap_symbols *const symbols = report->request.symbols.symbols;
    etl_status status = ETL_OK;
    if (!report->request.symbols.is_kept)
        status = cli_name_all(report->request.result, symbols, report->request.query.query.jobs,
                              report->request.query.query.cancel, err);
    const etlheap_source_place *const place =
        status == ETL_OK ? unnamed(&report->sources, symbols) : NULL;
    if (!place)
        return status;
    return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                         "no symbols of the stacks name the source file '%.100s'%s", place->file,
                         etlheap_symbols_source_count(symbols) == 0 ? ": they name no source files"
                                                                    : "");
}

static etl_status make_lines(const cli_options *options, const cli_inputs *inputs,
                             const cli_guard *guard, cli_request *request, etl_error *err)
{
    source_report *const out = (source_report *)request;
    request->query.query.kinds = ETLHEAP_KINDS_ALL;
    etl_status status = cli_sources_parse(options, &out->sources, err);
    if (status == ETL_OK)
        status = cli_request_ask(options, inputs, guard, true, request, err);
    if (status == ETL_OK)
        status = find_files(out, err);
    cli_symbols_done(&request->symbols);
    return status == ETL_OK ? etlheap_source_lines_read(request->symbols.symbols,
                                                        out->sources.places, out->sources.count,
                                                        &out->sources.options, &out->lines, err)
                            : status;
}

static void write_lines(const cli_options *options, const cli_request *request, etlheap_sink *sink,
                        cli_written *written)
{
    const etlheap_source_lines *const lines = ((const source_report *)request)->lines;
    const etlheap_layout layout = cli_layout(options);
    written->status = strcmp(cli_format_of(options)->name, "json") == 0
                          ? etlheap_source_lines_write_json(lines, sink)
                          : etlheap_source_lines_write_text(lines, &layout, sink);
    written->diagnostics = etlheap_result_diagnostics(request->result);
}

static void free_lines(cli_request *request)
{
    source_report *const made = (source_report *)request;
    etlheap_source_lines_free(made->lines);
    cli_sources_free(&made->sources);
}

int cli_run_source(const cli_options *options)
{
    static const cli_answer answer = { make_lines, write_lines, free_lines };
    source_report made = { .request = { .result = NULL } };
    return cli_answer_run(options, &answer, &made.request);
}
