/*
 * engine_start.c - begins a run before the index of a trace is complete, if it may.
 *
 * The run guesses in which order buffers come (plan_steps.h). If the guess is wrong it begins
 * again, with the whole index.
 */
#include "engine/read/slice_source.h"
#include "engine_run.h"

/* What was written of a store can usually not be taken back; events with names are looked for in
 * all buffers first. */
static bool may_begin_early(const traces_named *traces, const etlheap_options *options,
                            const log_extra *log)
{
    const bool can_undo = options->store == NULL || log != NULL;
    return traces->count == 1 && can_undo && options->mark_event_count == 0 &&
           etl_session_count(traces->traces[0]) == 1 && slice_source_may_grow();
}

etl_status engine_run(const traces_named *traces, const etlheap_options *options,
                      const etlheap_question *question, const log_extra *log, etlheap_result **out,
                      etl_error *err)
{
    bool is_too_early = false;
    etl_status status = ETL_OK;
    *out = NULL;
    if (may_begin_early(traces, options, log)) {
        status = engine_run_once(traces, options, question, log, out, &is_too_early, err);
        if (!is_too_early)
            return status;
        if (log != NULL)
            log->forget(log->user);
    }
    status = traces_index_rest(traces->traces, traces->count, err);
    if (status == ETL_OK)
        status = engine_run_once(traces, options, question, log, out, &is_too_early, err);
    return status;
}
