/*
 * request.c - asks questions about a command's inputs, with names of functions.
 *
 * In: options and opened inputs. Out: answers, with the result and symbols that they point into.
 * Commands add questions, and all are asked at once, so that the trace is read once. Invariant:
 * answers are valid until the question is closed.
 */
#include "request.h"

#include "analysis.h"
#include "filter_notes.h"
#include "messages.h"
#include "outputs.h"
#include "cli/system/terminal.h"

#include <inttypes.h>
#include <stdio.h>

static void leave_out_heaps(etlheap_query *query);
static void note_functions(const etlheap_tags *tags);
static void note_skipped(const char *file, const etlheap_skipped_lines *skipped);
static void set_excluded(cli_request *request);

static bool is_binary(const cli_options *options);

int cli_request_open(const cli_options *options, const cli_inputs *inputs, cli_guard *guard,
                     cli_request *out, etlheap_sink **sink)
{
    etl_error err = { .status = ETL_OK };
    etl_status status = cli_query_build(options, &inputs->clock, &out->query, &err);
    if (status == ETL_OK)
        status = cli_symbols_check(options, &err);
    if (status != ETL_OK) {
        cli_complain_error(NULL, &err);
        return cli_exit_of(status);
    }
    return is_binary(options) ? cli_output_open_binary(options, guard, sink)
                              : cli_output_open(options, guard, sink);
}

etlheap_question *cli_request_add(cli_request *request, etlheap_question_kind kind,
                                  const etlheap_query *query)
{
    etlheap_question *const out = &request->asked[request->asked_count++];
    assert(request->asked_count <= CLI_ASKED_MAX);
    *out = (etlheap_question){ .size = sizeof *out, .kind = kind, .query = query };
    return out;
}

/* The question about what --exclude-frame leaves out, after the others. */
static void add_excluded(cli_request *request, etlheap_question *asked, u32 *count)
{
    if (request->query.query.exclude_frame_count == 0)
        return;
    set_excluded(request);
    asked[(*count)++] = (etlheap_question){ .size = sizeof *asked,
                                            .kind = ETLHEAP_ASK_TABLE,
                                            .query = &request->excluded_query };
}

etl_status cli_request_ask(const cli_options *options, const cli_inputs *inputs,
                           const cli_guard *guard, bool always, cli_request *request,
                           etl_error *err)
{
    etlheap_query *const query = &request->query.query;
    if (request->asked_count == 0)
        cli_request_add(request, ETLHEAP_ASK_TABLE, query);
    etlheap_question asked[CLI_ASKED_MAX + 1];
    u32 count = request->asked_count;
    memcpy(asked, request->asked, count * sizeof *asked);
    add_excluded(request, asked, &count);
    etl_status status = cli_analyze(options, inputs, guard, asked, count, &request->result, err);
    request->is_kept = inputs->kept != NULL;
    if (status == ETL_OK && etlheap_result_is_summary(request->result) &&
        options->group_by_count == 0)
        leave_out_heaps(query);
    const bool has_symbols = inputs->kept && (inputs->kept->symbols || !always);
    if (status == ETL_OK && has_symbols)
        request->symbols = (cli_symbols){ .symbols = inputs->kept->symbols, .is_kept = true };
    else if (status == ETL_OK)
        status = cli_symbols_open(options, guard, request->result, always, &request->symbols, err);
    query->symbols = request->symbols.symbols;
    if (status == ETL_OK && query->tags && !query->symbols)
        note_functions(query->tags);
    if (status == ETL_OK && !options->unpacks_first) /* of compared runs, the last one */
        note_skipped(options->pool_tags, &request->query.pool_tags_skipped);
    return status;
}

/* A summary has none. Who names the key is told so. */
static void leave_out_heaps(etlheap_query *query)
{
    u32 kept = 0;
    for (u32 i = 0; i < query->group_by_count; i++) {
        if (query->group_by[i] != ETLHEAP_KEY_HEAP)
            query->group_by[kept++] = query->group_by[i];
    }
    query->group_by_count = kept;
}

/* If many lines say nothing, the file has another form. */
static void note_skipped(const char *file, const etlheap_skipped_lines *skipped)
{
    char message[160];
    if (skipped->count == 0)
        return;
    snprintf(message, sizeof message,
             "lines without TAG - BINARY - DESCRIPTION: %" PRIu32 ", the first is line %" PRIu32,
             skipped->count, skipped->first);
    cli_note(file, message);
}

/* Entry points that never match look like memory that nobody tagged. */
static void note_functions(const etlheap_tags *tags)
{
    char message[160];
    const u32 by_function = etlheap_tags_function_entries(tags);
    if (by_function == 0)
        return;
    snprintf(message, sizeof message,
             "%" PRIu32 " of %" PRIu32
             " entry points of the stack tags name functions, which needs --symbols",
             by_function, etlheap_tags_entries(tags));
    cli_note(NULL, message);
}

int cli_request_end(const cli_options *options, const cli_inputs *inputs, const cli_guard *guard,
                    const cli_request *request, const cli_written *written)
{
    const char *const subject = cli_inputs_subject(inputs);
    const int status = cli_output_close(options, guard, written->status, written->sink);
    if (status != CLI_EXIT_DONE)
        return status;
    cli_note_filters(options, subject, request->result, &request->query.query, written->is_empty);
    cli_note_excluded(options, subject, request->excluded);
    if (written->named)
        cli_note_unnamed(options, written->named);
    return cli_exit_of_answer(options, subject, written->diagnostics);
}

void cli_request_close(cli_request *request)
{
    etlheap_table_free((etlheap_table *)(uintptr_t)request->excluded);
    cli_symbols_close(&request->symbols);
    if (!request->is_kept)
        etlheap_result_free(request->result);
    cli_query_free(&request->query);
}

/* Sums of each kind, without anything that takes more than sums. */
static void set_excluded(cli_request *request)
{
    etlheap_query *const query = &request->excluded_query;
    *query = request->query.query;
    query->group_by[0] = ETLHEAP_KEY_KIND;
    query->group_by_count = 1;
    query->sort = ETLHEAP_MEASURE_OUTSTANDING_SIZE;
    query->sums_only = true;
    query->keep_lifetimes = false;
    query->whole_rows_max = 0;
    query->fold_module_count = 0;
    query->only_excluded = true;
    etlheap_query_drop_measures(query);
}

etl_status cli_request_exclude(cli_request *request, etl_error *err)
{
    etlheap_table *table = NULL;
    if (request->query.query.exclude_frame_count == 0)
        return ETL_OK;
    set_excluded(request);
    const etl_status status =
        etlheap_aggregate(request->result, &request->excluded_query, &table, err);
    request->excluded = table;
    return status;
}

etlheap_layout cli_request_layout(const cli_options *options, const cli_request *request)
{
    etlheap_layout layout = cli_layout(options);
    layout.excluded = &request->excluded;
    layout.excluded_count = request->excluded ? 1 : 0;
    return layout;
}

/* Only some formats of other programs are. */
static bool is_binary(const cli_options *options)
{
    const etlheap_exporter *const exporter =
        options->is_export ? etlheap_exporter_named(options->format) : NULL;
    return exporter && !exporter->is_text;
}
