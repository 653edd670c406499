/*
 * cmd_report.c - `etlheap report`: memory outstanding by process, heap and stack, as a table,
 * histogram, tree or list of suspects.
 *
 * In: options and inputs. Out: the answer in the chosen format.
 *
 *     options ──▶ questions ──▶ engine, all at once ──▶ table, histogram, suspects ──▶ format
 *
 * Only what the output shows is asked for: peaks need the order of all events, and names may be
 * downloads. --at peak takes two rounds, because the moment of each kind's peak ends the window of
 * the second. Invariant: JSON always has peaks; shows_peaks may skip them only for formats that do
 * not show them.
 */
#include "cli/answer.h"
#include "cli/options/given_options.h"
#include "cli/options/output_format.h"
#include "cli/options/views.h"
#include "cli/options/wants.h"
#include "cli/system/terminal.h"
#include "commands.h"
#include "report_map.h"
#include "report_spikes.h"

#include <stdlib.h>

/* Everything that a report is made of. Start from {0}. */
typedef struct report {
    cli_request request;
    etlheap_table *table;               /* NULL: suspects have theirs */
    const etlheap_histogram *histogram; /* NULL: none is asked for */
    etlheap_suspects *suspects;         /* NULL: none are asked for */
    etlheap_query spread;               /* of the histogram */
    char *peak_of;                      /* with --at peak: the options that select what has it */
} report;

static void free_report(cli_request *request);
static void write_report(const cli_options *options, const cli_request *request, etlheap_sink *sink,
                         cli_written *written);
static etl_status make_report(const cli_options *options, const cli_inputs *inputs,
                              const cli_guard *guard, cli_request *request, etl_error *err);
static etl_status write_answer(const etlheap_format *format, const report *made,
                               const etlheap_layout *layout, etlheap_sink *sink);
static etlheap_table *table_of(const report *made);
static void set_questions(const cli_options *options, report *out);
static etl_status ask(const cli_options *options, report *out, etl_error *err);
static void group_coarsely(etlheap_query *query);
static void spread(const cli_options *options, const etlheap_query *query, etlheap_query *out);
static bool shows_peaks(const cli_options *options);
static etl_status find_peaks(report *out, etl_error *err);
static bool is_outline(const cli_options *options);
static bool sums_all(const cli_options *options);
static etl_status name_frames(const cli_options *options, report *out, etl_error *err);

/* Views that have no rows of a table. */
static const struct {
    const char *option;
    int (*run)(const cli_options *options);
} others[] = {
    { "--map", cli_run_map },
    { "--spikes", cli_run_spikes },
};

int cli_run_report(const cli_options *options)
{
    for (size_t i = 0; i < ETL_COUNT_OF(others); i++) {
        if (cli_is_given(options, others[i].option))
            return others[i].run(options);
    }
    static const cli_answer answer = { make_report, write_report, free_report };
    report made = { .request = { .result = NULL } };
    return cli_answer_run(options, &answer, &made.request);
}

static void free_report(cli_request *request)
{
    report *const made = (report *)request;
    etlheap_histogram_free(made->histogram);
    etlheap_table_free(made->table);
    etlheap_suspects_free(made->suspects);
    free(made->peak_of);
}

static void write_report(const cli_options *options, const cli_request *request, etlheap_sink *sink,
                         cli_written *written)
{
    const report *const made = (const report *)request;
    const cli_patterns *const root = &request->query.root;
    const etlheap_table *const table = table_of(made);
    etlheap_layout layout = cli_request_layout(options, request);
    layout.columns_beside = request->query.columns_beside;
    layout.tree_root = root->count > 0 ? root->at : NULL;
    layout.peak_of = made->peak_of;
    written->status = write_answer(cli_format_of(options), made, &layout, sink);
    written->is_empty = made->suspects ? made->suspects->group_count == 0 : table->row_count == 0;
    written->diagnostics = &table->diagnostics;
    written->named = table;
}

static etlheap_table *table_of(const report *made)
{
    return made->suspects ? made->suspects->table : made->table;
}

static etl_status write_answer(const etlheap_format *format, const report *made,
                               const etlheap_layout *layout, etlheap_sink *sink)
{
    const etlheap_result *const result = made->request.result;
    if (made->suspects)
        return format->write_suspects(result, made->suspects, layout, sink);
    return made->histogram
               ? format->write_histogram(result, made->table, made->histogram, layout, sink)
               : format->write_report(result, made->table, layout, sink);
}

static etl_status make_report(const cli_options *options, const cli_inputs *inputs,
                              const cli_guard *guard, cli_request *request, etl_error *err)
{
    report *const out = (report *)request;
    set_questions(options, out);
    etl_status status = cli_request_ask(options, inputs, guard, false, &out->request, err);
    if (status == ETL_OK)
        status = ask(options, out, err);
    if (status == ETL_OK && cli_top_reach(options) > 0 && !sums_all(options))
        status = etlheap_table_keep_top(table_of(out), cli_top_reach(options), err);
    if (status == ETL_OK && options->skip > 0 && !sums_all(options))
        status = etlheap_table_skip(table_of(out), options->skip, err);
    if (status == ETL_OK && out->request.symbols.symbols)
        status = name_frames(options, out, err);
    cli_symbols_done(&out->request.symbols);
    return status;
}

/* The table comes first, then the histogram if one is wanted. */
static void set_questions(const cli_options *options, report *out)
{
    etlheap_query *const query = &out->request.query.query;
    if (options->suspects) {
        cli_request_add(&out->request, ETLHEAP_ASK_SUSPECTS, query);
        return;
    }
    if (options->histogram != 0 && strcmp(cli_format_of(options)->name, "json") != 0)
        group_coarsely(query);
    query->sums_only = !shows_peaks(options);
    if (is_outline(options)) {
        const etlheap_layout layout = cli_layout(options);
        query->whole_rows_max = etlheap_layout_whole_rows(&layout);
    }
    if (!sums_all(options))
        query->rows_max = cli_top_reach(options);
    /* With --at peak, the table is asked for in a second round, when the peak is known. */
    cli_request_add(&out->request, options->at_peak ? ETLHEAP_ASK_EVENTS : ETLHEAP_ASK_TABLE,
                    query);
    if (options->histogram == 0)
        return;
    spread(options, query, &out->spread);
    cli_request_add(&out->request, ETLHEAP_ASK_HISTOGRAM, &out->spread)->by =
        (etlheap_histogram_by)(options->histogram - 1);
}

static etl_status ask(const cli_options *options, report *out, etl_error *err)
{
    cli_request *const request = &out->request;
    etlheap_answer answers[CLI_ASKED_MAX];
    etl_status status = options->at_peak ? find_peaks(out, err) : ETL_OK;
    if (options->at_peak && status == ETL_OK)
        status = cli_given_selection(options, "--at", &out->peak_of, err);
    if (options->at_peak)
        request->asked[0].kind = ETLHEAP_ASK_TABLE;
    /* Set only now, because symbols are open, and because rows of a summary have no heaps. */
    out->spread.symbols = request->query.query.symbols;
    if (status == ETL_OK)
        status = etlheap_ask(request->result, request->asked, request->asked_count, answers, err);
    if (status != ETL_OK)
        return status;
    out->table = answers[0].table;
    out->suspects = answers[0].suspects;
    out->histogram = options->histogram != 0 ? answers[1].histogram : NULL;
    return ETL_OK;
}

/* Formats other than JSON show buckets in place of rows, so only the totals of the table are
 * needed. */
static void group_coarsely(etlheap_query *query)
{
    query->group_by[0] = ETLHEAP_KEY_KIND;
    query->group_by[1] = ETLHEAP_KEY_TYPE;
    query->group_by_count = 2;
    query->sort = ETLHEAP_MEASURE_OUTSTANDING_SIZE;
    etlheap_query_drop_measures(query);
}

/* Peaks take the order of all events, and the text report seldom has a column for
 * them. */
static bool shows_peaks(const cli_options *options)
{
    const u32 peaks = ETLHEAP_MEASURE_BIT(PEAK_COUNT) | ETLHEAP_MEASURE_BIT(PEAK_SIZE);
    const cli_columns *const columns = &options->columns;
    const bool lists_all = !cli_format_of(options)->is_choice && options->tree == ETLHEAP_TREE_NONE;
    cli_options plain = *options;
    plain.columns = (cli_columns){ 0 };
    if (cli_uses(options, peaks))
        return true;
    if ((columns->count > 0 && !columns->is_change) || (columns->removed & peaks) == peaks)
        return false;
    return lists_all || cli_wants_transient(options) || cli_wants_lifetimes(&plain) ||
           cli_views_need(&plain, offsetof(etlheap_query, growth));
}

/* Each kind has its own moment, at which the window ends for it. */
static etl_status find_peaks(report *out, etl_error *err)
{
    cli_query *const chosen = &out->request.query;
    etlheap_peak_moment peaks[ETLHEAP_KIND_CAPACITY];
    const etl_status status = etlheap_find_peaks(out->request.result, &chosen->query, peaks, err);
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++)
        chosen->kind_to_ticks[kind] = peaks[kind].to_ticks;
    chosen->query.kind_to_ticks = out->spread.kind_to_ticks = chosen->kind_to_ticks;
    return status;
}

/* The query of the histogram: by process only if the user mentions processes. */
static void spread(const cli_options *options, const etlheap_query *query, etlheap_query *out)
{
    bool by_process = options->processes.count > 0;
    for (u32 i = 0; i < options->group_by_count; i++)
        by_process |= options->group_by[i] == ETLHEAP_KEY_PROCESS;
    *out = *query;
    out->group_by_count = 0;
    if (by_process)
        out->group_by[out->group_by_count++] = ETLHEAP_KEY_PROCESS;
}

/* The outline of the text report lists fewer rows but sums all of them. */
static bool is_outline(const cli_options *options)
{
    return cli_format_of(options)->is_choice && options->tree == ETLHEAP_TREE_NONE;
}

/* Trees, too, are made of more rows than they show. */
static bool sums_all(const cli_options *options)
{
    return is_outline(options) || options->tree != ETLHEAP_TREE_NONE;
}

/* Names only what is shown, because with a symbol server each name may be a download. */
static etl_status name_frames(const cli_options *options, report *out, etl_error *err)
{
    etlheap_table *const table = table_of(out);
    if (!is_outline(options))
        return etlheap_table_name(table, out->request.symbols.symbols, NULL, err);
    etlheap_layout layout = cli_layout(options);
    layout.rows_of_each_kind &= !out->suspects; /* which are listed in one order */
    bool *const listed = calloc((size_t)table->row_count + 1, sizeof *listed);
    if (!listed)
        return etl_no_memory(err);
    etlheap_layout_choose(&layout, table, listed);
    const etl_status status = etlheap_table_name(table, out->request.symbols.symbols, listed, err);
    free(listed);
    return status;
}
