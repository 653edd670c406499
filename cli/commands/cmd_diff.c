/*
 * cmd_diff.c - `etlheap diff`: what changed between two recordings, or between two logs of UMDH.
 *
 * In: two inputs, or one comparison that UMDH printed. Out: one comparison in the chosen format.
 *
 *     traces, stores    each side is asked the same question ──┐
 *     UMDH logs         parsed, named if there are symbols ────┼▶ two tables ▶ etlheap_diff_tables
 *     UMDH comparison   both sides in one file ────────────────┘
 *
 * Invariant: a recording and a log are never compared with each other (refuse_mixture): a log has
 * the blocks of one moment, without times, threads and builds.
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

/* Everything that the answer is made of. Start from {0}. */
typedef struct diff_inquiry {
    cli_compared_run base, now;
    etlheap_umdh *base_log, *new_log;
    etlheap_result *log_results[2]; /* of logs whose functions are to be named */
    cli_symbols log_symbols[2];
    cli_words asked; /* the options that the answer depends on */
    etlheap_diff *diff;
} diff_inquiry;

static int refuse_mixture(const char *log, const char *other);
static int check_question(const cli_options *options);
static int take_words(const cli_options *options, diff_inquiry *inquiry);
static int check_log_question(const cli_options *options);
static int usage(const char *subject, const char *message);
static int diff_logs(const cli_options *options, cli_guard *guard, diff_inquiry *inquiry);
static int diff_comparison(const cli_options *options, cli_guard *guard, diff_inquiry *inquiry);
static int exit_of_log(const cli_options *options, const char *name, const etlheap_umdh *log);
static etl_status name_logs(const cli_options *options, const cli_guard *guard,
                            diff_inquiry *inquiry, etl_error *err);
static etl_status compare_logs(const cli_options *options, diff_inquiry *inquiry, etl_error *err);
static int diff_recordings(const cli_options *options, cli_guard *guard, diff_inquiry *inquiry);
static etl_status compare(const cli_options *options, diff_inquiry *inquiry, etl_error *err);
static etlheap_diff_options diff_options(const cli_options *options);
static void keep_top(const cli_options *options, etlheap_diff *diff);
static int write_answer(const cli_options *options, const cli_guard *guard,
                        const diff_inquiry *inquiry, etlheap_sink *sink);

int cli_run_diff(const cli_options *options)
{
    cli_guard guard = { .active = false };
    diff_inquiry inquiry = { .diff = NULL };
    /* If the only file does not exist, say that instead of asking for a second one. */
    const cli_input_kind first = cli_input_kind_of(options->inputs.at[0]);
    const bool is_comparison =
        options->inputs.count == 1 && (first == CLI_INPUT_ABSENT || first == CLI_INPUT_COMPARISON);
    int status = is_comparison ? CLI_EXIT_DONE : check_question(options);
    if (status == CLI_EXIT_DONE)
        status = take_words(options, &inquiry);
    if (status != CLI_EXIT_DONE)
        return status;
    if (is_comparison) {
        status = diff_comparison(options, &guard, &inquiry);
        etlheap_diff_free(inquiry.diff);
        etlheap_umdh_close(inquiry.base_log);
        etlheap_umdh_close(inquiry.new_log);
        free(inquiry.asked.at);
        cli_guard_end(&guard);
        return status;
    }
    const bool base_is_log = first == CLI_INPUT_LOG;
    const bool new_is_log = cli_input_kind_of(options->inputs.at[1]) == CLI_INPUT_LOG;
    if (base_is_log != new_is_log)
        status = refuse_mixture(options->inputs.at[base_is_log ? 0 : 1],
                                options->inputs.at[base_is_log ? 1 : 0]);
    else
        status = base_is_log ? diff_logs(options, &guard, &inquiry)
                             : diff_recordings(options, &guard, &inquiry);
    etlheap_diff_free(inquiry.diff);
    cli_compared_close(&inquiry.base);
    cli_compared_close(&inquiry.now);
    for (size_t i = 0; i < ETL_COUNT_OF(inquiry.log_results); i++) {
        cli_symbols_close(&inquiry.log_symbols[i]);
        etlheap_result_free(inquiry.log_results[i]);
    }
    etlheap_umdh_close(inquiry.base_log);
    etlheap_umdh_close(inquiry.new_log);
    free(inquiry.asked.at);
    cli_guard_end(&guard);
    return status;
}

/* A file that does not exist is reported as missing, not as the wrong kind. */
static int refuse_mixture(const char *log, const char *other)
{
    etl_error err = { .status = ETL_OK };
    etlheap_umdh *opened = NULL;
    const etl_status status = etlheap_umdh_open(other, &opened, &err);
    etlheap_umdh_close(opened);
    if (status != ETL_ERR_IO)
        return usage(log, "a UMDH log can only be compared with another UMDH log");
    cli_complain_error(other, &err);
    return cli_exit_of(status);
}

static int check_question(const cli_options *options)
{
    if (options->inputs.count != 2)
        return usage(NULL, "diff takes two inputs, BASE and NEW; to join the files of one "
                           "recording, run etlheap store FILE... -o run.ehs");
    if (cli_is_stdin(options->inputs.at[0]) && cli_is_stdin(options->inputs.at[1]))
        return usage(NULL, "BASE and NEW cannot both come from standard input; name a file for "
                           "one of them");
    return cli_compared_check(options);
}

static int take_words(const cli_options *options, diff_inquiry *inquiry)
{
    etl_error err = { .status = ETL_OK };
    const etl_status status = cli_asking_words(options, &inquiry->asked, &err);
    if (status != ETL_OK)
        cli_complain_error(NULL, &err);
    return cli_exit_of(status);
}

/* Refuses options about times, threads and builds, which a log does not have. */
static int check_log_question(const cli_options *options)
{
    const struct {
        const char *name;
        bool given;
    } refused[] = {
        { "--at-exit", options->at_exit != 0 },
        { "--kind", options->kinds != 0 },
        { "--process", options->processes.count > 0 },
        { "--heap", options->heaps.count > 0 },
        { "--thread", options->threads.count > 0 },
        { "--type", options->types != 0 },
        { "--size", options->size_min_bytes > 0 || options->size_max_bytes < UINT64_MAX },
        { "--require-frame", options->require_frames.count > 0 },
        { "--exclude-frame", options->exclude_frames.count > 0 },
        { "--fold-module", options->fold_modules.count > 0 },
        { "--cull-frame", options->cull_frames.count > 0 },
        { "--cull-list", options->cull_lists.count > 0 },
        { "--group-by", options->group_by_count > 0 },
        { "--stack-tags", options->stack_tags.count > 0 },
    };
    char message[160];
    if (cli_refuse_times(options, options->inputs.at[0]) != CLI_EXIT_DONE)
        return CLI_EXIT_USAGE;
    for (size_t i = 0; i < ETL_COUNT_OF(refused); i++) {
        if (!refused[i].given)
            continue;
        snprintf(message, sizeof message,
                 "%s works with traces and stores only; UMDH logs are compared as a whole",
                 refused[i].name);
        return usage(NULL, message);
    }
    return CLI_EXIT_DONE;
}

static int usage(const char *subject, const char *message)
{
    cli_complain(subject, message);
    return CLI_EXIT_USAGE;
}

static int diff_logs(const cli_options *options, cli_guard *guard, diff_inquiry *inquiry)
{
    etlheap_umdh **const logs[] = { &inquiry->base_log, &inquiry->new_log };
    etl_error err = { .status = ETL_OK };
    etlheap_sink *sink = NULL;
    int exit_status = check_log_question(options);
    for (u32 i = 0; i < ETL_COUNT_OF(logs) && exit_status == CLI_EXIT_DONE; i++) {
        exit_status = cli_exit_of(etlheap_umdh_open(options->inputs.at[i], logs[i], &err));
        if (exit_status != CLI_EXIT_DONE)
            cli_complain_error(options->inputs.at[i], &err);
    }
    if (exit_status == CLI_EXIT_DONE)
        exit_status = cli_output_open(options, guard, &sink);
    if (exit_status != CLI_EXIT_DONE)
        return exit_status;
    if (name_logs(options, guard, inquiry, &err) != ETL_OK ||
        compare_logs(options, inquiry, &err) != ETL_OK)
        return cli_output_fail(sink, NULL, &err);
    exit_status = write_answer(options, guard, inquiry, sink);
    for (u32 i = 0; i < ETL_COUNT_OF(logs) && exit_status == CLI_EXIT_DONE; i++)
        exit_status = exit_of_log(options, options->inputs.at[i], *logs[i]);
    return exit_status;
}

/* Reads what UMDH printed: it has compared already, and named what it could. */
static int diff_comparison(const cli_options *options, cli_guard *guard, diff_inquiry *inquiry)
{
    const char *const name = options->inputs.at[0];
    etl_error err = { .status = ETL_OK };
    etlheap_sink *sink = NULL;
    int exit_status = check_log_question(options);
    if (exit_status == CLI_EXIT_DONE && !etlheap_diff_compares(options->sort))
        return usage(NULL, "--sort: UMDH comparisons have only sizes and counts");
    if (exit_status != CLI_EXIT_DONE)
        return exit_status;
    if (etlheap_umdh_open_comparison(name, &inquiry->base_log, &inquiry->new_log, &err) != ETL_OK) {
        cli_complain_error(name, &err);
        return CLI_EXIT_INPUT;
    }
    exit_status = cli_output_open(options, guard, &sink);
    if (exit_status != CLI_EXIT_DONE)
        return exit_status;
    if (compare_logs(options, inquiry, &err) != ETL_OK)
        return cli_output_fail(sink, name, &err);
    return write_answer(options, guard, inquiry, sink);
}

static int exit_of_log(const cli_options *options, const char *name, const etlheap_umdh *log)
{
    if (!options->strict || etlheap_umdh_info_of(log)->skipped_lines == 0)
        return CLI_EXIT_DONE;
    cli_complain(name, "the log has lines of unknown form (--strict)");
    return CLI_EXIT_STRICT;
}

/* Without a symbol path the frames stay module and offset. */
static etl_status name_logs(const cli_options *options, const cli_guard *guard,
                            diff_inquiry *inquiry, etl_error *err)
{
    etlheap_umdh *const logs[] = { inquiry->base_log, inquiry->new_log };
    etl_status status = cli_symbols_check(options, err);
    for (size_t i = 0; i < ETL_COUNT_OF(logs) && status == ETL_OK; i++) {
        cli_symbols *const symbols = &inquiry->log_symbols[i];
        status = etlheap_umdh_result(logs[i], options->inputs.at[i], &inquiry->log_results[i], err);
        if (status == ETL_OK)
            status = cli_symbols_open(options, guard, inquiry->log_results[i], false, symbols, err);
        if (status == ETL_OK && symbols->symbols)
            status = etlheap_umdh_name(logs[i], symbols->symbols, err);
        cli_symbols_done(symbols);
    }
    return status;
}

/* Ids of backtraces are comparable within one process; otherwise stacks are compared. */
static etl_status compare_logs(const cli_options *options, diff_inquiry *inquiry, etl_error *err)
{
    etlheap_table base = *etlheap_umdh_table(inquiry->base_log);
    etlheap_table now = *etlheap_umdh_table(inquiry->new_log);
    etlheap_diff_options asked = diff_options(options);
    asked.by_direction = true;
    if (!etlheap_umdh_same_process(inquiry->base_log, inquiry->new_log)) {
        base.group_by_count--;
        now.group_by_count--;
    }
    const etl_status status = etlheap_diff_tables(&base, &now, &asked, &inquiry->diff, err);
    if (status == ETL_OK)
        keep_top(options, inquiry->diff);
    return status;
}

static int diff_recordings(const cli_options *options, cli_guard *guard, diff_inquiry *inquiry)
{
    static const etlheap_key by_stack[] = { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS,
                                            ETLHEAP_KEY_STACK };
    const cli_compared_keys keys = { by_stack, (u32)ETL_COUNT_OF(by_stack) };
    cli_compared_run *const sides[] = { &inquiry->base, &inquiry->now };
    etl_error err = { .status = ETL_OK };
    etlheap_sink *sink = NULL;
    int exit_status = CLI_EXIT_DONE;
    for (u32 i = 0; i < ETL_COUNT_OF(sides) && exit_status == CLI_EXIT_DONE; i++)
        exit_status = cli_compared_open(options, i, keys, guard, sides[i]);
    const cli_inputs *const both[] = { &inquiry->base.inputs, &inquiry->now.inputs };
    if (exit_status == CLI_EXIT_DONE)
        exit_status = cli_compared_parts(options, both, 2, false);
    if (exit_status == CLI_EXIT_DONE)
        exit_status = cli_compared_check_window(&inquiry->now);
    if (exit_status == CLI_EXIT_DONE)
        exit_status = cli_request_open(&inquiry->base.options, &inquiry->base.inputs, guard,
                                       &inquiry->base.request, &sink);
    if (exit_status != CLI_EXIT_DONE)
        return exit_status;
    for (u32 i = 0; i < ETL_COUNT_OF(sides); i++) {
        if (cli_compared_ask(guard, sides[i], &err) != ETL_OK)
            return cli_output_fail(sink, options->inputs.at[i], &err);
    }
    if (compare(options, inquiry, &err) != ETL_OK)
        return cli_output_fail(sink, NULL, &err);
    exit_status = write_answer(options, guard, inquiry, sink);
    for (u32 i = 0; i < ETL_COUNT_OF(sides) && exit_status == CLI_EXIT_DONE; i++)
        cli_note_filters(options, options->inputs.at[i], sides[i]->request.result,
                         &sides[i]->request.query.query, sides[i]->table->row_count == 0);
    for (u32 i = 0; i < ETL_COUNT_OF(sides) && exit_status == CLI_EXIT_DONE; i++)
        cli_note_excluded(options, options->inputs.at[i], sides[i]->request.excluded);
    for (u32 i = 0; i < ETL_COUNT_OF(sides) && exit_status == CLI_EXIT_DONE; i++)
        exit_status =
            cli_exit_of_answer(options, options->inputs.at[i], &sides[i]->table->diagnostics);
    return exit_status;
}

static etl_status compare(const cli_options *options, diff_inquiry *inquiry, etl_error *err)
{
    etlheap_diff_options asked = diff_options(options);
    asked.base_result = inquiry->base.request.result;
    asked.new_result = inquiry->now.request.result;
    const etl_status status =
        etlheap_diff_tables(inquiry->base.table, inquiry->now.table, &asked, &inquiry->diff, err);
    if (status == ETL_OK)
        keep_top(options, inquiry->diff);
    return status;
}

static etlheap_diff_options diff_options(const cli_options *options)
{
    etlheap_diff_options asked = etlheap_diff_options_default();
    asked.measure = options->sort;
    asked.ascending = options->sort_ascending;
    asked.keep_unchanged = options->all || cli_format_of(options)->shows_equal;
    asked.per_second = options->per_second;
    asked.jobs = options->jobs;
    return asked;
}

/* Leaves only the first rows; text keeps all, because it counts the rows that it leaves out. */
static void keep_top(const cli_options *options, etlheap_diff *diff)
{
    const u32 rows_max = cli_compared_rows(options);
    if (rows_max > 0)
        etlheap_diff_keep_top(diff, rows_max);
}

static int write_answer(const cli_options *options, const cli_guard *guard,
                        const diff_inquiry *inquiry, etlheap_sink *sink)
{
    const etlheap_table *const excluded[] = { inquiry->base.request.excluded,
                                              inquiry->now.request.excluded };
    etlheap_layout layout = cli_compared_layout(options, &inquiry->asked);
    layout.excluded = excluded;
    layout.excluded_count = excluded[0] ? (u32)ETL_COUNT_OF(excluded) : 0;
    const etlheap_umdh *const logs[] = { inquiry->base_log, inquiry->new_log };
    const cli_compared_run *const sides[] = { &inquiry->base, &inquiry->now };
    etlheap_diff_side shown[2];
    for (size_t i = 0; i < ETL_COUNT_OF(shown); i++) {
        shown[i] =
            (etlheap_diff_side){ .name = options->inputs.at[i % options->inputs.count],
                                 .result = sides[i]->request.result,
                                 .log = logs[i],
                                 .table = logs[i] ? etlheap_umdh_table(logs[i]) : sides[i]->table };
    }
    const etlheap_diff_answer answer = { .diff = inquiry->diff, .base = shown[0], .now = shown[1] };
    const etl_status status = cli_format_of(options)->write_diff(&answer, &layout, sink);
    return cli_output_close(options, guard, status, sink);
}
