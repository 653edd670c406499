/*
 * cmd_trend.c - `etlheap trend`: how memory develops over several recordings, or logs of UMDH.
 *
 * In: the inputs, one for each run. Out: the trend in the chosen format.
 *
 *     inputs ──▶ opened ──▶ sorted by start time ──▶ asked ──▶ etlheap_trend_tables
 *
 * Each run is asked the same question, and its table is all that is kept. Invariant: rows are
 * grouped by site unless the user chooses keys, because callers change from build to build while
 * the allocating site mostly stays.
 */
#include "cli/compared_parts.h"
#include "cli/compared_run.h"
#include "cli/filter_notes.h"
#include "cli/input_kinds.h"
#include "cli/messages.h"
#include "cli/outputs.h"
#include "cli/system/terminal.h"
#include "commands.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/options/given_options.h"
#include "cli/options/output_format.h"
#include "cli/options/wants.h"

#define RUNS_MIN 3u

/* Everything that the answer is made of. Start from {0}. */
typedef struct trend_inquiry {
    cli_compared_run *runs; /* as given */
    u32 *order;             /* runs by time */
    u32 count;
    cli_words asked; /* the options that the answer depends on */
    etlheap_trend *trend;
} trend_inquiry;

static int check_question(const cli_options *options);
static int check_mixture(const cli_options *options);
static int usage(const char *subject, const char *message);
static int answer(const cli_options *options, cli_guard *guard, trend_inquiry *inquiry);
static void order_runs(const cli_options *options, trend_inquiry *inquiry);
static etl_status compare(const cli_options *options, trend_inquiry *inquiry, etl_error *err);
static int write_answer(const cli_options *options, const cli_guard *guard,
                        const trend_inquiry *inquiry, etlheap_sink *sink);
static int exit_of_runs(const cli_options *options, const trend_inquiry *inquiry);

int cli_run_trend(const cli_options *options)
{
    cli_guard guard = { .active = false };
    trend_inquiry inquiry = { .count = options->inputs.count };
    int status = check_question(options);
    if (status != CLI_EXIT_DONE)
        return status;
    inquiry.runs = calloc(inquiry.count, sizeof *inquiry.runs);
    inquiry.order = calloc(inquiry.count, sizeof *inquiry.order);
    if (inquiry.runs && inquiry.order) {
        status = answer(options, &guard, &inquiry);
    } else {
        cli_complain(NULL, "out of memory");
        status = cli_exit_of(ETL_ERR_MEMORY);
    }
    etlheap_trend_free(inquiry.trend);
    for (u32 i = 0; inquiry.runs && i < inquiry.count; i++)
        cli_compared_close(&inquiry.runs[i]);
    free(inquiry.asked.at);
    free(inquiry.runs);
    free(inquiry.order);
    cli_guard_end(&guard);
    return status;
}

static int check_question(const cli_options *options)
{
    char message[160];
    u32 from_stdin = 0;
    for (u32 i = 0; i < options->inputs.count; i++)
        from_stdin += cli_is_stdin(options->inputs.at[i]);
    if (options->inputs.count < RUNS_MIN)
        return usage(NULL,
                     "trend takes three or more inputs, one per run; etlheap diff compares two");
    if (options->inputs.count > ETLHEAP_TREND_RUNS_MAX) {
        snprintf(message, sizeof message, "trend takes at most %u inputs", ETLHEAP_TREND_RUNS_MAX);
        return usage(NULL, message);
    }
    if (from_stdin > 1)
        return usage(NULL, "only one run can come from standard input; name files for the others");
    const int status = cli_compared_check(options);
    return status == CLI_EXIT_DONE ? check_mixture(options) : status;
}

/* Files that do not exist are skipped here: opening them reports them as missing. */
static int check_mixture(const cli_options *options)
{
    const char *log = NULL;
    u32 logs = 0, absent = 0;
    for (u32 i = 0; i < options->inputs.count; i++) {
        const cli_input_kind kind = cli_input_kind_of(options->inputs.at[i]);
        log = kind == CLI_INPUT_LOG ? options->inputs.at[i] : log;
        logs += kind == CLI_INPUT_LOG;
        absent += kind == CLI_INPUT_ABSENT;
    }
    if (logs == 0 || logs == options->inputs.count || absent > 0)
        return CLI_EXIT_DONE;
    return usage(log, "UMDH logs can only be compared with other UMDH logs");
}

static int usage(const char *subject, const char *message)
{
    cli_complain(subject, message);
    return CLI_EXIT_USAGE;
}

static int answer(const cli_options *options, cli_guard *guard, trend_inquiry *inquiry)
{
    /* The default keys. Callers change from build to build; the site stays the same over many
     * runs. */
    static const etlheap_key by_site[] = { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS,
                                           ETLHEAP_KEY_SITE };
    const cli_compared_keys keys = { by_site, (u32)ETL_COUNT_OF(by_site) };
    cli_compared_run *const runs = inquiry->runs;
    etl_error err = { .status = ETL_OK };
    etlheap_sink *sink = NULL;
    int status = CLI_EXIT_DONE;
    for (u32 i = 0; i < inquiry->count && status == CLI_EXIT_DONE; i++) {
        status = cli_compared_open(options, i, keys, guard, &runs[i]);
        if (status == CLI_EXIT_DONE && i > 0)
            status = cli_compared_check_window(&runs[i]);
    }
    for (u32 i = 1; i < inquiry->count && status == CLI_EXIT_DONE; i++) {
        const cli_inputs *const both[] = { &runs[0].inputs, &runs[i].inputs };
        status = cli_compared_parts(options, both, 2, false);
    }
    if (status == CLI_EXIT_DONE)
        status =
            cli_request_open(&runs[0].options, &runs[0].inputs, guard, &runs[0].request, &sink);
    if (status != CLI_EXIT_DONE)
        return status;
    for (u32 i = 0; i < inquiry->count; i++) {
        if (cli_compared_ask(guard, &runs[i], &err) != ETL_OK)
            return cli_output_fail(sink, options->inputs.at[i], &err);
    }
    order_runs(options, inquiry);
    if (cli_asking_words(options, &inquiry->asked, &err) != ETL_OK ||
        compare(options, inquiry, &err) != ETL_OK)
        return cli_output_fail(sink, NULL, &err);
    status = write_answer(options, guard, inquiry, sink);
    return status == CLI_EXIT_DONE ? exit_of_runs(options, inquiry) : status;
}

static i64 start_of(const cli_compared_run *run)
{
    return etlheap_result_trace(run->request.result)->start_time_filetime;
}

/* Sorts runs by time; among equal times, the one given first comes first. */
static void order_runs(const cli_options *options, trend_inquiry *inquiry)
{
    bool unknown = false, equal = false;
    for (u32 i = 0; i < inquiry->count; i++) {
        inquiry->order[i] = i;
        unknown = unknown || start_of(&inquiry->runs[i]) <= 0;
    }
    if (options->in_order)
        return;
    if (unknown) {
        cli_note(NULL, "the start times of some runs are unknown; the runs are in the order given");
        return;
    }
    for (u32 i = 1; i < inquiry->count; i++) {
        const i64 start = start_of(&inquiry->runs[i]);
        u32 at = i;
        for (; at > 0 && start_of(&inquiry->runs[inquiry->order[at - 1]]) > start; at--)
            inquiry->order[at] = inquiry->order[at - 1];
        inquiry->order[at] = i;
        equal = equal || (at > 0 && start_of(&inquiry->runs[inquiry->order[at - 1]]) == start);
    }
    if (equal)
        cli_note(NULL, "some runs started at the same time; those are in the order given");
}

static etl_status compare(const cli_options *options, trend_inquiry *inquiry, etl_error *err)
{
    etlheap_trend_options asked = etlheap_trend_options_default();
    const etlheap_table *tables[ETLHEAP_TREND_RUNS_MAX];
    const etlheap_result *results[ETLHEAP_TREND_RUNS_MAX];
    for (u32 i = 0; i < inquiry->count; i++) {
        tables[i] = inquiry->runs[inquiry->order[i]].table;
        results[i] = inquiry->runs[inquiry->order[i]].request.result;
    }
    asked.measure = options->sort;
    asked.ascending = options->sort_ascending;
    asked.keep_steady = options->all;
    const etl_status status =
        etlheap_trend_tables(tables, results, inquiry->count, &asked, &inquiry->trend, err);
    const u32 rows_max = cli_compared_rows(options);
    if (status == ETL_OK && rows_max > 0)
        etlheap_trend_keep_top(inquiry->trend, rows_max);
    return status;
}

static int write_answer(const cli_options *options, const cli_guard *guard,
                        const trend_inquiry *inquiry, etlheap_sink *sink)
{
    etlheap_layout layout = cli_compared_layout(options, &inquiry->asked);
    const etlheap_table *excluded[ETLHEAP_TREND_RUNS_MAX];
    etlheap_trend_run shown[ETLHEAP_TREND_RUNS_MAX];
    for (u32 i = 0; i < inquiry->count; i++) {
        const cli_compared_run *const run = &inquiry->runs[inquiry->order[i]];
        shown[i] = (etlheap_trend_run){ .name = options->inputs.at[inquiry->order[i]],
                                        .result = run->request.result,
                                        .table = run->table };
        excluded[i] = run->request.excluded;
    }
    layout.excluded = excluded;
    layout.excluded_count = options->exclude_frames.count > 0 ? inquiry->count : 0;
    const etlheap_trend_answer told = { .trend = inquiry->trend, .runs = shown };
    const etl_status status = cli_format_of(options)->write_trend(&told, &layout, sink);
    return cli_output_close(options, guard, status, sink);
}

static int exit_of_runs(const cli_options *options, const trend_inquiry *inquiry)
{
    int status = CLI_EXIT_DONE;
    for (u32 i = 0; i < inquiry->count; i++) {
        const cli_compared_run *const run = &inquiry->runs[i];
        cli_note_filters(options, options->inputs.at[i], run->request.result,
                         &run->request.query.query, run->table->row_count == 0);
        cli_note_excluded(options, options->inputs.at[i], run->request.excluded);
    }
    for (u32 i = 0; i < inquiry->count && status == CLI_EXIT_DONE; i++)
        status = cli_exit_of_answer(options, options->inputs.at[i],
                                    &inquiry->runs[i].table->diagnostics);
    return status;
}
