/*
 * baseline.c - opens, asks, writes and replaces the baseline of `etlheap check`. baseline.h has the
 * table of verdicts after which a baseline is replaced.
 *
 * In: the options and inputs of a check, later its verdict. Out: the baseline's answer to the
 * check's question, and a new baseline if the verdict allows one.
 *
 *     file of --baseline ──open──▶ inputs ──ask──▶ tables ──▶ verdict (the gate)
 *     inputs of this run ──write──▶ temporary file ──replace──▶ file of --baseline
 *
 * The next baseline is written beside the old one and gets its name last, after the verdict is out.
 * So a run that is killed leaves the old baseline whole. Invariant: only a store is ever
 * overwritten. A trace as --baseline is refused together with --update-baseline.
 */
#include "baseline.h"

#include "analysis.h"
#include "cli/system/terminal.h"
#include "messages.h"
#include "outputs.h"
#include "progress.h"

#include <errno.h>
#include <stdio.h>

#include "parser/system/files.h"

#define COPY_BYTES ((size_t)1 << 16)

static etl_status write_store(const cli_options *options, const cli_inputs *inputs,
                              const cli_guard *guard, const cli_baseline *baseline, etl_error *err);
static etl_status copy_store(const char *path, etlheap_sink *sink, etl_error *err);

int cli_baseline_open(const cli_options *options, cli_guard *guard, cli_baseline *out)
{
    etl_error err = { .status = ETL_OK };
    if ((options->update_baseline || options->require_baseline) &&
        etl_path_kind_of(options->baseline) == ETL_PATH_ABSENT && errno == ENOENT)
        return CLI_EXIT_DONE;
    out->exists = true;
    out->options = *options;
    out->options.memory_bytes = cli_baseline_share(options, out);
    out->options.unpacks_first = true;
    out->options.inputs = (cli_words){ (const char **)(uintptr_t)&options->baseline, 1 };
    const int exit_status = cli_inputs_open(&out->options, guard, &out->inputs);
    if (exit_status != CLI_EXIT_DONE)
        return exit_status;
    if (options->update_baseline && !out->inputs.store) {
        cli_complain(options->baseline, "is a trace, which --update-baseline would overwrite with "
                                        "a store; name a store as --baseline");
        return CLI_EXIT_USAGE;
    }
    const etl_status status =
        cli_query_build(&out->options, &out->inputs.clock, &out->request.query, &err);
    if (status != ETL_OK)
        cli_complain_error(options->baseline, &err);
    return cli_exit_of(status);
}

void cli_baseline_close(cli_baseline *baseline)
{
    etlheap_sink_discard(baseline->next);
    cli_request_close(&baseline->request);
    cli_inputs_close(&baseline->inputs);
}

u64 cli_baseline_share(const cli_options *options, const cli_baseline *baseline)
{
    const u64 parts = 1u + (baseline->exists ? 1u : 0u) + (options->update_baseline ? 1u : 0u);
    const u64 share = options->memory_bytes / parts;
    return share == 0 && options->memory_bytes > 0 ? 1 : share;
}

etl_status cli_baseline_ask(const cli_guard *guard, cli_baseline *baseline, etl_error *err)
{
    return cli_request_ask(&baseline->options, &baseline->inputs, guard, false, &baseline->request,
                           err);
}

etlheap_ratchet cli_baseline_decide(const cli_options *options, const cli_baseline *baseline,
                                    const etlheap_gate *gate)
{
    if (!options->update_baseline)
        return ETLHEAP_RATCHET_NONE;
    if (options->accept)
        return gate->is_lossy || (gate->is_unmeasured && !options->allow_empty) ||
                       (gate->doubts >> ETLHEAP_DOUBT_MISSING_PROCESS & 1) != 0
                   ? ETLHEAP_RATCHET_REFUSED
                   : ETLHEAP_RATCHET_ACCEPTED;
    if (gate->outcome != ETLHEAP_OUTCOME_PASS)
        return ETLHEAP_RATCHET_KEPT;
    if (!baseline->exists)
        return gate->may_found ? ETLHEAP_RATCHET_CREATED : ETLHEAP_RATCHET_KEPT;
    return gate->may_tighten && gate->shrunk_count > 0 ? ETLHEAP_RATCHET_TIGHTENED
                                                       : ETLHEAP_RATCHET_KEPT;
}

int cli_baseline_write(const cli_options *options, const cli_inputs *inputs, cli_guard *guard,
                       cli_baseline *baseline)
{
    etl_error err = { .status = ETL_OK };
    cli_guard_begin(guard);
    etl_status status = etlheap_sink_open_file(options->baseline, &baseline->next, &err);
    if (status == ETL_OK)
        status = inputs->store ? copy_store(inputs->store, baseline->next, &err)
                               : write_store(options, inputs, guard, baseline, &err);
    /* The sink knows best why a write failed, so cli_baseline_replace reports it. */
    if (status == ETL_OK || (baseline->next && !etlheap_sink_ok(baseline->next)))
        return CLI_EXIT_DONE;
    etlheap_sink *const sink = baseline->next;
    baseline->next = NULL;
    return cli_output_fail(sink, options->baseline, &err);
}

int cli_baseline_replace(const cli_options *options, const cli_guard *guard, cli_baseline *baseline)
{
    etlheap_sink *const sink = baseline->next;
    cli_options output = *options;
    output.output = options->baseline;
    baseline->next = NULL;
    return cli_output_close(&output, guard, ETL_OK, sink);
}

static etl_status write_store(const cli_options *options, const cli_inputs *inputs,
                              const cli_guard *guard, const cli_baseline *baseline, etl_error *err)
{
    etlheap_result *facts = NULL;
    cli_progress progress = cli_inputs_progress(options, inputs, "storing", guard);
    const etlheap_store_options store = { .size = sizeof store,
                                          .write = cli_sink_put,
                                          .user = baseline->next };
    etlheap_options engine_options = cli_engine_options(options, &progress);
    engine_options.memory_bytes_max = cli_baseline_share(options, baseline);
    engine_options.store = &store;
    const etl_status status = etlheap_analyze(inputs->traces, (const char *const *)inputs->names,
                                              inputs->count, &engine_options, &facts, err);
    cli_progress_end(&progress);
    etlheap_result_free(facts);
    return status;
}

static etl_status copy_store(const char *path, etlheap_sink *sink, etl_error *err)
{
    static const char failed[] = "cannot copy the store %.80s: %s";
    char bytes[COPY_BYTES];
    FILE *const file = etl_file_stream(path);
    if (!file)
        return etl_fail_with(err, ETL_ERR_IO, 0, failed, path, strerror(errno));
    for (size_t size; (size = fread(bytes, 1, sizeof bytes, file)) > 0;)
        etlheap_sink_write(sink, bytes, size);
    const etl_status status =
        ferror(file) ? etl_fail_with(err, ETL_ERR_IO, 0, failed, path, strerror(errno)) : ETL_OK;
    fclose(file);
    return status;
}
