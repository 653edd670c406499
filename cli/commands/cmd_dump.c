/*
 * cmd_dump.c - `etlheap dump`: prints every record, one line each, in time order.
 *
 * In: traces, filters, and descriptions of custom heaps, to decode their events. Stores are
 * refused: they have no single records. Out: a head (text only), then a line of text or a JSON
 * object for each record; if nothing is listed, notes on stderr.
 *
 * The engine's stream (engine/read/stream.c) gives records in order; a filter (record_filter.c)
 * chooses; a writer prints. The listing keeps no records, so its memory does not depend on the
 * length of the trace. Only process names in a filter, and an empty listing, need an analysis of
 * the traces. Invariant: the loop in dump_records stops as soon as the output fails, or
 * `dump | head` would read the whole trace.
 */
#include "cli/analysis.h"
#include "cli/filter_notes.h"
#include "cli/messages.h"
#include "cli/options/output_format.h"
#include "cli/outputs.h"
#include "cli/progress.h"
#include "cli/record_filter.h"
#include "cli/system/terminal.h"
#include "commands.h"

#define RECORDS_PER_POLL 4096
#define NS_PER_FILETIME  100

/* Duration and bytes for the progress bar. Progress follows time, because reads are not
 * sequential. */
typedef struct dump_extent {
    u64 bytes;
    i64 duration_ns; /* 0 unknown */
} dump_extent;

/* A listing in progress. */
typedef struct dump {
    const cli_options *options;
    const cli_inputs *inputs;
    cli_guard *guard;
    cli_record_filter filter;
    etlheap_stream *stream;
    u64 listed;
} dump;

static int dump_inputs(dump *job);
static void note_filters(const dump *job);
static etl_status dump_records(dump *job, etlheap_sink *sink, etl_error *err);
static etl_status dump_record(dump *job, const etlheap_stream_record *record, etlheap_text *scratch,
                              etlheap_sink *sink);
static dump_extent extent_of(const cli_inputs *inputs);
static bool poll_progress(cli_progress *progress, const dump_extent *extent, i64 time_ns);

int cli_run_dump(const cli_options *options)
{
    cli_guard guard = { .active = false };
    cli_inputs inputs;
    dump job = { .options = options, .inputs = &inputs, .guard = &guard };
    int status = cli_inputs_open(options, &guard, &inputs);
    if (status == CLI_EXIT_DONE &&
        !cli_inputs_need_traces(
            &inputs, "a store has no single records; dump the trace that it was made from"))
        status = CLI_EXIT_INPUT;
    if (status == CLI_EXIT_DONE)
        status = dump_inputs(&job);
    etlheap_stream_close(job.stream);
    cli_record_filter_free(&job.filter);
    cli_inputs_close(&inputs);
    cli_guard_end(&guard);
    return status;
}

/* Checks everything that can be wrong, the cheapest first: the output, the filters, the traces. */
static int dump_inputs(dump *job)
{
    const char *const subject = cli_inputs_subject(job->inputs);
    etl_error err = { .status = ETL_OK };
    etlheap_sink *sink = NULL;
    int exit_status = cli_output_open(job->options, job->guard, &sink);
    if (exit_status != CLI_EXIT_DONE)
        return exit_status;
    etl_status status =
        cli_record_filter_build(job->options, job->inputs, job->guard, &job->filter, &err);
    if (status == ETL_OK)
        status = etlheap_stream_open(job->inputs->traces, job->inputs->count, &job->stream, &err);
    if (status == ETL_OK) {
        etlheap_stream_describe(job->stream);
        status = dump_records(job, sink, &err);
    }
    if (status != ETL_OK)
        return cli_output_fail(sink, subject, &err);
    exit_status = cli_output_close(job->options, job->guard, ETL_OK, sink);
    if (exit_status != CLI_EXIT_DONE)
        return exit_status;
    if (job->listed == 0)
        note_filters(job);
    return cli_exit_of_list(job->options, subject, etlheap_stream_diagnostics(job->stream));
}

/* Explains an empty listing. Needs an analysis of the traces. */
static void note_filters(const dump *job)
{
    etlheap_result *result = NULL;
    if (cli_analyze(job->options, job->inputs, job->guard, NULL, 0, &result, NULL) == ETL_OK)
        cli_note_record_filters(job->options, cli_inputs_subject(job->inputs), result,
                                &job->inputs->clock);
    etlheap_result_free(result);
}

/* The loop over all records. It ends early if the output cannot be written any more. */
static etl_status dump_records(dump *job, etlheap_sink *sink, etl_error *err)
{
    const dump_extent extent = extent_of(job->inputs);
    const etlheap_format *const format = cli_format_of(job->options);
    cli_progress progress = cli_progress_begin(job->options, "listing", job->guard);
    etlheap_text scratch = { 0 };
    etlheap_stream_record record;
    /* Lines and a bar would overwrite each other. */
    progress.wanted = progress.wanted && !cli_output_is_terminal(job->options);
    etl_status status = ETL_OK;
    if (format->write_dump_head)
        format->write_dump_head(sink);
    for (u64 i = 1; status == ETL_OK && etlheap_sink_ok(sink); i++) {
        if (!etlheap_stream_next(job->stream, &record)) {
            status = etlheap_stream_status(job->stream);
            break;
        }
        status = dump_record(job, &record, &scratch, sink);
        if (i % RECORDS_PER_POLL == 0 && !poll_progress(&progress, &extent, record.time_ns))
            status = ETL_ERR_CANCELLED;
    }
    cli_progress_end(&progress);
    etlheap_text_free(&scratch);
    if (status != ETL_OK)
        return etl_fail_with(err, status, 0, "%s", etl_status_name(status));
    return ETL_OK;
}

static etl_status dump_record(dump *job, const etlheap_stream_record *record, etlheap_text *scratch,
                              etlheap_sink *sink)
{
    /* Decoding here is for display; damage was already counted by the stream. */
    etl_diag_counts ignored = { { 0 } };
    etl_event event;
    if (!etl_decode(&record->record, &event, &ignored))
        (void)etl_custom_decode(job->options->custom.at, job->options->custom.count,
                                &record->record, &event, &ignored);
    if (!cli_record_passes(&job->filter, record, &event, scratch))
        return ETL_OK;
    job->listed++;
    return cli_format_of(job->options)->write_record(record, &event, scratch, sink);
}

/* The duration of the first session, for the progress bar. A session that crashed does not record
 * its end, so its dump shows no bar. */
static dump_extent extent_of(const cli_inputs *inputs)
{
    const etl_session *const session = etl_session_of(inputs->traces[0], 0);
    dump_extent extent = { .bytes = 0 };
    i64 span;
    for (u32 i = 0; i < inputs->count; i++)
        extent.bytes = etl_sat_add_u64(extent.bytes, etl_file_size(inputs->traces[i]));
    if (!__builtin_sub_overflow(session->end_time_filetime, session->start_time_filetime, &span) &&
        span > 0 && span < INT64_MAX / NS_PER_FILETIME)
        extent.duration_ns = span * NS_PER_FILETIME;
    return extent;
}

/* Interruptions are noticed here, so call this even if no bar is shown. */
static bool poll_progress(cli_progress *progress, const dump_extent *extent, i64 time_ns)
{
    const i64 time = time_ns < 0 ? 0 : time_ns;
    if (extent->duration_ns <= 0 || time > extent->duration_ns)
        return cli_progress_update(progress, 0, 0);
    const double share = (double)time / (double)extent->duration_ns;
    return cli_progress_update(progress, (u64)(share * (double)extent->bytes), extent->bytes);
}
