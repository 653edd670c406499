/*
 * cmd_windows.c - `etlheap windows`: totals for each time window.
 *
 * In: options and inputs. Out: the windows in the chosen format; with --find-growth also the
 * largest lasting rise and the stacks that explain it.
 *
 * The engine follows groups through windows that it knows before it reads a trace. If the user does
 * not say how long windows should be, a good length is known only afterwards. Then all lifetimes
 * are kept, which takes more memory than --every DURATION does (advise says so when memory runs
 * out). Explaining growth is a second question over the rise, by stack, restricted to the group
 * that grows. Invariant: types are never keys here, since each window has types of its own.
 */
#include "cli/messages.h"
#include "cli/options/output_format.h"
#include "cli/options/wants.h"
#include "cli/options/window_plan.h"
#include "cli/outputs.h"
#include "cli/request.h"
#include "cli/system/terminal.h"
#include "commands.h"
#include "windows_spikes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define GROUPS_SHOWN 10
#define PID_SIZE     16
#define RISES_SHOWN  5u

/* Everything that the answer is made of. Start from {0}. */
typedef struct inquiry {
    cli_request request;
    cli_window_plan plan;
    etlheap_windows *windows;
    etlheap_windows *stacks;           /* NULL: nothing grows, or that was not asked for */
    etlheap_growth rises[RISES_SHOWN]; /* the largest first */
    bool *explains;
    etlheap_windows_answer answer;
} inquiry;

static int answer_inputs(const cli_options *options, const cli_inputs *inputs, cli_guard *guard,
                         inquiry *out);
static etlheap_layout layout_of(const cli_options *options, const inquiry *made);
static etl_status make_answer(const cli_options *options, const cli_inputs *inputs,
                              const cli_guard *guard, inquiry *out, etl_error *err);
static void advise(etl_error *err);
static void decide(const cli_options *options, inquiry *out);
static etl_status explain_growth(const cli_options *options, inquiry *out, etl_error *err);
static etl_status make_stacks(inquiry *out, etl_error *err);
static bool has_key(const etlheap_query *query, etlheap_key key);
static etl_status choose_stacks(const cli_options *options, inquiry *out, etl_error *err);
static etl_status drop_unlisted(inquiry *out, etl_error *err);
static etl_status name_windows(const cli_options *options, inquiry *out, etl_error *err);
static etl_status name_listed(const cli_options *options, inquiry *out, etl_error *err);
static bool is_text(const cli_options *options);

int cli_run_windows(const cli_options *options)
{
    if (options->find_spikes)
        return cli_run_windows_spikes(options);
    cli_guard guard = { .active = false };
    cli_inputs inputs;
    inquiry made = { .request = { .result = NULL } };
    int status = cli_inputs_open(options, &guard, &inputs);
    if (status == CLI_EXIT_DONE)
        status = answer_inputs(options, &inputs, &guard, &made);
    free(made.explains);
    etlheap_windows_free(made.stacks);
    etlheap_windows_free(made.windows);
    cli_request_close(&made.request);
    cli_window_plan_free(&made.plan);
    cli_inputs_close(&inputs);
    cli_guard_end(&guard);
    return status;
}

static int answer_inputs(const cli_options *options, const cli_inputs *inputs, cli_guard *guard,
                         inquiry *out)
{
    etl_error err = { .status = ETL_OK };
    etlheap_sink *sink = NULL;
    etl_status status = cli_window_plan_make(options, &inputs->clock, &out->plan, &err);
    if (status != ETL_OK) {
        cli_complain_error(NULL, &err);
        return cli_exit_of(status);
    }
    const int exit_status = cli_request_open(options, inputs, guard, &out->request, &sink);
    if (exit_status != CLI_EXIT_DONE)
        return exit_status;
    status = make_answer(options, inputs, guard, out, &err);
    if (status == ETL_OK)
        status = cli_request_exclude(&out->request, &err);
    if (status != ETL_OK)
        return cli_output_fail(sink, cli_inputs_subject(inputs), &err);
    const etlheap_layout layout = layout_of(options, out);
    status =
        cli_format_of(options)->write_windows(out->request.result, &out->answer, &layout, sink);
    const etlheap_table *const table = out->windows->table;
    const cli_written written = { status, sink, table->row_count == 0, &table->diagnostics, NULL };
    return cli_request_end(options, inputs, guard, &out->request, &written);
}

/* A group takes a block of lines, so fewer groups are shown than rows elsewhere. */
static etlheap_layout layout_of(const cli_options *options, const inquiry *made)
{
    etlheap_layout layout = cli_request_layout(options, &made->request);
    if (options->top == 0)
        layout.rows_max = GROUPS_SHOWN;
    return layout;
}

/* Keeps the groups that --top and --skip leave; in text the layout does. */
static etl_status cut_rows(const cli_options *options, etlheap_windows *windows, etl_error *err)
{
    etl_status status = ETL_OK;
    if (cli_top_reach(options) > 0)
        status = etlheap_table_keep_top(windows->table, cli_top_reach(options), err);
    if (status == ETL_OK && options->skip > 0)
        status = etlheap_windows_skip(windows, options->skip, err);
    return status;
}

static etl_status make_answer(const cli_options *options, const cli_inputs *inputs,
                              const cli_guard *guard, inquiry *out, etl_error *err)
{
    etlheap_query *const query = &out->request.query.query;
    cli_group_windows(options, query);
    cli_request_add(&out->request, out->plan.is_open ? ETLHEAP_ASK_EVENTS : ETLHEAP_ASK_WINDOWS,
                    query)
        ->windows = out->plan.is_open ? NULL : &out->plan.windows;
    etl_status status = cli_request_ask(options, inputs, guard, false, &out->request, err);
    if (status == ETL_ERR_LIMIT && out->plan.is_open)
        advise(err);
    if (status == ETL_OK) {
        decide(options, out);
        status = etlheap_windows_make(out->request.result, query, &out->plan.windows, &out->windows,
                                      err);
    }
    if (status == ETL_OK && options->find_growth)
        status = explain_growth(options, out, err);
    else if (status == ETL_OK && !is_text(options))
        status = cut_rows(options, out->windows, err);
    if (status == ETL_OK && out->request.symbols.symbols)
        status = name_windows(options, out, err);
    cli_symbols_done(&out->request.symbols);
    out->answer.windows = out->windows;
    out->answer.marks = options->at_marks ? inputs->clock.marks : NULL;
    return status;
}

/* Advises --every when memory ran out; the top of the file says why it helps. */
static void advise(etl_error *err)
{
    const size_t size = strlen(err->message);
    snprintf(err->message + size, sizeof err->message - size, "; with --every less is needed");
}

/* A summary has its own windows and needs no lifetimes. */
static void decide(const cli_options *options, inquiry *out)
{
    etlheap_query *const query = &out->request.query.query;
    const etlheap_trace_info *const trace = etlheap_result_trace(out->request.result);
    if (etlheap_result_is_summary(out->request.result)) {
        if (out->plan.is_open)
            out->plan.windows.every_ns = etlheap_summary_every_ns(out->request.result);
        return;
    }
    out->plan.windows.join_rest = out->plan.is_open; /* nobody asked for equal windows */
    cli_window_plan_decide(options, query->from_ns == INT64_MIN ? 0 : query->from_ns,
                           query->to_ns == INT64_MAX ? trace->end_ns : query->to_ns, &out->plan);
}

/* Finds the largest lasting rise, then asks for the same windows again by stack. */
static etl_status explain_growth(const cli_options *options, inquiry *out, etl_error *err)
{
    out->answer.windows = out->windows;
    out->answer.growth_wanted = true;
    const u32 count = etlheap_windows_find_rises(out->windows, out->rises, RISES_SHOWN);
    if (count == 0)
        return ETL_OK;
    out->answer.growth = out->rises;
    out->answer.other_count = count - 1;
    const etl_status status = make_stacks(out, err);
    out->answer.stacks = out->stacks;
    return status == ETL_OK ? choose_stacks(options, out, err) : status;
}

/* Asks for the stacks of the growing group. Its keys become filters where they can, so that less is
 * grouped; afterwards all keys decide which rows belong to it. */
static etl_status make_stacks(inquiry *out, etl_error *err)
{
    etlheap_query query = out->request.query.query;
    etlheap_windows_options windows = out->plan.windows;
    const etlheap_row *const row = &out->windows->table->rows[out->rises[0].row];
    char pid[PID_SIZE];
    const char *const processes[] = { row->pid == ETL_NO_ID ? row->process : pid };
    snprintf(pid, sizeof pid, "%" PRIu32, row->pid);
    if (has_key(&query, ETLHEAP_KEY_KIND))
        query.kinds = 1u << row->kind;
    if (has_key(&query, ETLHEAP_KEY_PROCESS)) {
        query.processes = processes;
        query.process_count = 1;
    }
    if (!has_key(&query, ETLHEAP_KEY_STACK))
        query.group_by[query.group_by_count++] = ETLHEAP_KEY_STACK;
    query.sort = ETLHEAP_MEASURE_IMPACTING_SIZE;
    query.sort_ascending = false;
    windows.measured_first = out->rises[0].first_window;
    windows.measured_count = out->rises[0].window_count;
    return etlheap_windows_make(out->request.result, &query, &windows, &out->stacks, err);
}

static bool has_key(const etlheap_query *query, etlheap_key key)
{
    for (u32 i = 0; i < query->group_by_count; i++) {
        if (query->group_by[i] == key)
            return true;
    }
    return false;
}

/* Chooses the stacks. Frames and sites are compared by function, so they need names first. */
static etl_status choose_stacks(const cli_options *options, inquiry *out, etl_error *err)
{
    const etlheap_query *const query = &out->request.query.query;
    const bool by_function = has_key(query, ETLHEAP_KEY_FRAME) || has_key(query, ETLHEAP_KEY_SITE);
    const etlheap_layout layout = layout_of(options, out);
    out->explains = calloc((size_t)out->stacks->table->row_count + 1, sizeof *out->explains);
    if (!out->explains)
        return etl_no_memory(err);
    if (out->request.symbols.symbols && by_function) {
        etl_status status =
            etlheap_table_name(out->windows->table, out->request.symbols.symbols, NULL, err);
        if (status == ETL_OK)
            status =
                etlheap_table_name(out->stacks->table, out->request.symbols.symbols, NULL, err);
        if (status != ETL_OK)
            return status;
    }
    out->answer.explains = out->explains;
    out->answer.unexplained = etlheap_windows_explain(
        &out->answer, is_text(options) || options->top > 0 ? &layout : NULL, out->explains);
    return is_text(options) ? ETL_OK : drop_unlisted(out, err);
}

/* Documents list the stacks that explain the growth and nothing of the others, whose frames would
 * make them large. Text also adds up the others. */
static etl_status drop_unlisted(inquiry *out, etl_error *err)
{
    u32 listed = out->stacks->table->row_count;
    while (listed > 0 && !out->explains[listed - 1])
        listed--;
    return etlheap_table_keep_top(out->stacks->table, listed, err);
}

static etl_status name_windows(const cli_options *options, inquiry *out, etl_error *err)
{
    etlheap_symbols *const symbols = out->request.symbols.symbols;
    etl_status status = ETL_OK;
    if (out->explains)
        status = etlheap_table_name(out->stacks->table, symbols, out->explains, err);
    if (status == ETL_OK && is_text(options))
        status = name_listed(options, out, err);
    else if (status == ETL_OK)
        status = etlheap_table_name(out->windows->table, symbols, NULL, err);
    return status;
}

/* Names only what is listed, because with a symbol server each name may be a download. */
static etl_status name_listed(const cli_options *options, inquiry *out, etl_error *err)
{
    const etlheap_layout layout = layout_of(options, out);
    bool *const listed = calloc((size_t)out->windows->table->row_count + 1, sizeof *listed);
    if (!listed)
        return etl_no_memory(err);
    if (!options->find_growth)
        etlheap_layout_choose(&layout, out->windows->table, listed);
    else if (out->answer.growth) {
        for (u32 i = 0; i <= out->answer.other_count; i++)
            listed[out->rises[i].row] = true;
    }
    const etl_status status =
        etlheap_table_name(out->windows->table, out->request.symbols.symbols, listed, err);
    free(listed);
    return status;
}

static bool is_text(const cli_options *options)
{
    return strcmp(cli_format_of(options)->name, "text") == 0;
}
