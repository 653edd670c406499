/*
 * cmd_allocations.c - `etlheap allocations`: lifetimes one by one.
 *
 * In: options and inputs. Out: a list in the chosen format, written as it is read, and notes for
 * which a list has no place. Invariant: --address selects here, not in the query, so whatever
 * counts what the list selects has to walk over it.
 */
#include "cli/filter_notes.h"
#include "cli/messages.h"
#include "cli/options/output_format.h"
#include "cli/options/wants.h"
#include "cli/outputs.h"
#include "cli/request.h"
#include "cli/system/terminal.h"
#include "commands.h"

/* What the list is made of. Start from {0}. */
typedef struct listing {
    cli_request request;
    cli_progress progress;
    etlheap_lifetimes *walk;
    etlheap_table excluded;       /* the totals of what was left out at the addresses ... */
    const etlheap_table *counted; /* ... NULL: those of the question */
} listing;

static int list_inputs(const cli_options *options, const cli_inputs *inputs, cli_guard *guard,
                       listing *out);
static etl_status open_walk(const cli_options *options, const cli_inputs *inputs,
                            const cli_guard *guard, listing *out, etl_error *err);
static void note_findings(const cli_options *options, const cli_inputs *inputs,
                          const listing *made);

int cli_run_allocations(const cli_options *options)
{
    cli_guard guard = { .active = false };
    cli_inputs inputs;
    listing made = { .walk = NULL };
    int status = cli_inputs_open(options, &guard, &inputs);
    if (status == CLI_EXIT_DONE)
        status = list_inputs(options, &inputs, &guard, &made);
    etlheap_lifetimes_close(made.walk);
    cli_request_close(&made.request);
    cli_inputs_close(&inputs);
    cli_guard_end(&guard);
    return status;
}

static int list_inputs(const cli_options *options, const cli_inputs *inputs, cli_guard *guard,
                       listing *out)
{
    const char *const subject = cli_inputs_subject(inputs);
    etl_error err = { .status = ETL_OK };
    etlheap_sink *sink = NULL;
    int exit_status = cli_request_open(options, inputs, guard, &out->request, &sink);
    if (exit_status != CLI_EXIT_DONE)
        return exit_status;
    etl_status status = open_walk(options, inputs, guard, out, &err);
    etlheap_layout layout = cli_request_layout(options, &out->request);
    if (out->counted)
        layout.excluded = &out->counted;
    if (status == ETL_OK)
        status = cli_format_of(options)->write_allocations(out->walk, &layout, sink);
    cli_progress_end(&out->progress);
    if (out->walk && etlheap_lifetimes_status(out->walk, &err) == ETL_OK && status != ETL_OK)
        etl_fail_with(&err, status, 0, "%s", etl_status_name(status));
    if (status != ETL_OK)
        return cli_output_fail(sink, subject, &err);
    exit_status = cli_output_close(options, guard, ETL_OK, sink);
    if (exit_status != CLI_EXIT_DONE)
        return exit_status;
    cli_note_filters(options, subject, out->request.result, &out->request.query.query,
                     etlheap_lifetimes_count(out->walk) == 0);
    cli_note_excluded(options, subject, out->counted ? out->counted : out->request.excluded);
    if (options->strict)
        return cli_exit_of_diagnostics(options, subject,
                                       &etlheap_lifetimes_table(out->walk)->diagnostics);
    note_findings(options, inputs, out);
    return CLI_EXIT_DONE;
}

/* Counts the excluded blocks at the addresses, which a table does not select by. */
static etl_status count_excluded(listing *out, const etlheap_lifetimes_options *asked,
                                 etl_error *err)
{
    etlheap_lifetimes_options options = *asked;
    etlheap_lifetimes *walk = NULL;
    etlheap_lifetime life;
    options.top = 0;
    options.frees = false;
    out->excluded = *out->request.excluded;
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++)
        memset(out->excluded.totals[kind].measures, 0, sizeof out->excluded.totals[kind].measures);
    etl_status status = etlheap_lifetimes_open(out->request.result, &out->request.excluded_query,
                                               &options, &walk, err);
    while (status == ETL_OK && etlheap_lifetimes_next(walk, &life)) {
        i64 *const sums = out->excluded.totals[life.kind].measures;
        const bool stays = life.type == ETLHEAP_TYPE_AIFO || life.type == ETLHEAP_TYPE_AOFO;
        const i64 size = (i64)etl_min_u64(life.size_bytes, INT64_MAX);
        sums[ETLHEAP_MEASURE_COUNT]++;
        sums[ETLHEAP_MEASURE_SIZE] = etl_sat_add_i64(sums[ETLHEAP_MEASURE_SIZE], size);
        sums[ETLHEAP_MEASURE_OUTSTANDING_COUNT] += stays;
        sums[ETLHEAP_MEASURE_OUTSTANDING_SIZE] =
            etl_sat_add_i64(sums[ETLHEAP_MEASURE_OUTSTANDING_SIZE], stays ? size : 0);
    }
    if (status == ETL_OK)
        status = etlheap_lifetimes_status(walk, err);
    etlheap_lifetimes_close(walk);
    out->counted = &out->excluded;
    return status;
}

/* Lines and a bar would overwrite each other on a terminal. */
static etl_status open_walk(const cli_options *options, const cli_inputs *inputs,
                            const cli_guard *guard, listing *out, etl_error *err)
{
    const bool shows_frees = !cli_format_of(options)->is_choice;
    cli_request_add(&out->request, ETLHEAP_ASK_EVENTS, &out->request.query.query)->frees =
        shows_frees;
    etl_status status = cli_request_ask(options, inputs, guard, false, &out->request, err);
    if (status != ETL_OK)
        return status;
    out->progress = cli_progress_begin(options, "listing", guard);
    out->progress.wanted = out->progress.wanted && !cli_output_is_terminal(options);
    const etlheap_lifetimes_options walk_options = {
        .size = sizeof walk_options,
        .sort = options->lifetime_sort,
        .sort_descending = options->lifetime_descending,
        .top = cli_top_limit(options),
        .skip = options->skip,
        .by_address = cli_has_address(options),
        .address_first = options->address_first,
        .address_last = options->address_last,
        .memory_bytes_max = options->memory_bytes,
        .frees = shows_frees,
        .progress = cli_progress_update,
        .progress_user = &out->progress,
    };
    status = etlheap_lifetimes_open(out->request.result, &out->request.query.query, &walk_options,
                                    &out->walk, err);
    if (status == ETL_OK)
        status = cli_request_exclude(&out->request, err);
    if (status == ETL_OK && out->request.excluded && walk_options.by_address)
        status = count_excluded(out, &walk_options, err);
    cli_symbols_done(&out->request.symbols);
    return status;
}

/* A list has no room for what was lost: but for the document, which has it, that
 * goes to stderr. */
static void note_findings(const cli_options *options, const cli_inputs *inputs, const listing *made)
{
    const char *const subject = cli_inputs_subject(inputs);
    if (strcmp(cli_format_of(options)->name, "json") == 0)
        return;
    if (etlheap_result_kinds(made->request.result) == 0)
        cli_note(subject, etl_diag_describe(ETL_DIAG_trace_without_memory_events)->advice);
    cli_note_losses(subject, &etlheap_lifetimes_table(made->walk)->diagnostics);
}
