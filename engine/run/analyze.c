/* analyze.c - chooses how traces are read for what is asked of them. */
#include "engine_run.h"
#include "log_run.h"

static etl_status check_options(const etlheap_options *options, etl_error *err)
{
    if (options->store != NULL && (options->census_only || options->report != NULL))
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "a store is written in place of a census or a report");
    return ETL_OK;
}

etl_status etlheap_analyze(etl_trace *const *traces, const char *const *names, u32 trace_count,
                           const etlheap_options *options, etlheap_result **out, etl_error *err)
{
    const traces_named from = { traces, names, trace_count };
    const log_run_options log = { .memory_bytes_max = LOG_MEMORY_BYTES };
    etlheap_options own = { .size = sizeof own };
    *out = NULL;
    if (trace_count == 0)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "no trace to analyze");
    if (options != NULL)
        memcpy(&own, options, options->size < sizeof own ? options->size : sizeof own);
    const etl_status status = check_options(&own, err);
    if (status != ETL_OK)
        return status;
    return log_run_wanted(&from, &own) ? log_run(&from, &own, &log, out, err)
                                       : engine_run(&from, &own, out, err);
}
