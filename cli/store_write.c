/*
 * store_write.c - writes the store of inputs, or the summary of them, into a sink.
 *
 * In: inputs and options. Out: the bytes of an .ehs file, and facts for messages about what was
 * lost.
 */
#include "store_write.h"

#include "analysis.h"
#include "cli/system/terminal.h"
#include "outputs.h"
#include "progress.h"
#include "report_query.h"

static etl_status write_summary(const cli_options *options, const cli_inputs *inputs,
                                const etlheap_options *engine_options,
                                const etlheap_store_options *store, cli_stored *out,
                                etl_error *err);

static etl_status write_part(const cli_options *options, const cli_inputs *inputs,
                             const etlheap_options *engine_options, etlheap_result **facts,
                             etl_error *err);

void cli_stored_free(cli_stored *stored)
{
    etlheap_result_free(stored->facts);
    etlheap_summary_free(stored->summary);
    *stored = (cli_stored){ .facts = NULL };
}

const etl_diag_counts *cli_stored_diagnostics(const cli_stored *stored)
{
    return stored->summary ? etlheap_summary_diagnostics(stored->summary)
                           : etlheap_result_diagnostics(stored->facts);
}

etl_status cli_store_write(const cli_options *options, const cli_inputs *inputs,
                           const cli_guard *guard, etlheap_sink *sink, cli_stored *out,
                           etl_error *err)
{
    const etlheap_store_options store = { .size = sizeof store,
                                          .write = cli_sink_put,
                                          .user = sink };
    return cli_store_write_to(options, inputs, guard, &store, out, err);
}

etl_status cli_store_write_to(const cli_options *options, const cli_inputs *inputs,
                              const cli_guard *guard, const etlheap_store_options *store,
                              cli_stored *out, etl_error *err)
{
    cli_progress progress = cli_inputs_progress(options, inputs, "storing", guard);
    etlheap_options engine_options = cli_engine_options(options, &progress);
    engine_options.store = options->summary ? NULL : store;
    etl_status status;
    if (cli_store_is_part(options))
        status = write_part(options, inputs, &engine_options, &out->facts, err);
    else if (options->summary)
        status = write_summary(options, inputs, &engine_options, store, out, err);
    else
        status = etlheap_analyze(inputs->traces, (const char *const *)inputs->names, inputs->count,
                                 &engine_options, &out->facts, err);
    cli_progress_end(&progress);
    return status;
}

bool cli_store_is_part(const cli_options *options)
{
    return options->from.given || options->to.given || options->kinds != 0 ||
           options->processes.count > 0;
}

/* Opens the store whose part is written. Its own clock and marks are those of the options. */
static etl_status open_whole(const cli_inputs *inputs, const etlheap_options *engine_options,
                             cli_clock *clock, etlheap_result **out, etl_error *err)
{
    const etlheap_question events = { .size = sizeof events, .kind = ETLHEAP_ASK_EVENTS };
    etlheap_options opening = *engine_options;
    opening.store = NULL;
    opening.questions = &events;
    opening.question_count = 1;
    opening.name = inputs->name;
    const etl_status status = etlheap_open_store(inputs->store, &opening, out, err);
    if (status == ETL_OK)
        cli_clock_of_store(*out, clock);
    return status;
}

/* Of traces, or of a store, whole or a part itself. */
static etl_status write_part(const cli_options *options, const cli_inputs *inputs,
                             const etlheap_options *engine_options, etlheap_result **facts,
                             etl_error *err)
{
    etlheap_part part = etlheap_part_whole();
    etlheap_store_options store = *engine_options->store;
    etlheap_options own = *engine_options;
    cli_clock clock = inputs->clock;
    etl_status status =
        inputs->store ? open_whole(inputs, engine_options, &clock, facts, err) : ETL_OK;
    if (status == ETL_OK)
        status = cli_window(options, &clock, &part.from_ns, &part.to_ns, err);
    part.kinds = options->kinds;
    part.processes = options->processes.at;
    part.process_count = options->processes.count;
    store.part = &part;
    own.store = &store;
    if (status != ETL_OK)
        return status;
    return inputs->store ? etlheap_store_part(*facts, &own, err)
                         : etlheap_analyze(inputs->traces, (const char *const *)inputs->names,
                                           inputs->count, &own, facts, err);
}

/* Of traces, or of the full store that was made from them. */
static etl_status write_summary(const cli_options *options, const cli_inputs *inputs,
                                const etlheap_options *engine_options,
                                const etlheap_store_options *store, cli_stored *out, etl_error *err)
{
    const etlheap_summary_options summary_options = {
        .size = sizeof summary_options,
        .every_ns = options->every_ns,
        .jobs = options->jobs,
        .memory_bytes_max = options->memory_bytes,
    };
    const char *const path = inputs->store, *const name = inputs->name;
    etl_status status = etlheap_summary_open(&summary_options, &out->summary, err);
    if (status != ETL_OK)
        return status;
    if (path)
        status = etlheap_summary_add_stores(out->summary, &path, &name, 1, engine_options->progress,
                                            engine_options->progress_user, err);
    else
        status = etlheap_summary_add_traces(out->summary, inputs->traces,
                                            (const char *const *)inputs->names, inputs->count,
                                            engine_options, err);
    return status == ETL_OK ? etlheap_summary_write(out->summary, store, err) : status;
}
