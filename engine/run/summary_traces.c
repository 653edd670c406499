/*
 * summary_traces.c - adds traces to a summary.
 *
 * A trace goes through a log (log_run.h), which is read as often as there are tables to be
 * made. So a summary of a trace is the summary of its store, in the memory that a store takes.
 */
#include "engine/summary/summary_build.h"
#include "log_run.h"
#include "parser/sized.h"
#include "parser/system/files.h"

etl_status etlheap_summary_add_traces(etlheap_summary *s, etl_trace *const *traces,
                                      const char *const *names, u32 trace_count,
                                      const etlheap_options *options, etl_error *err)
{
    const traces_named from = { traces, names, trace_count };
    const log_run_options log = { .memory_bytes_max = LOG_MEMORY_BYTES,
                                  .with_inventory = true,
                                  .with_addresses = true };
    etlheap_options own = { .size = sizeof own };
    etlheap_result *result = NULL;
    if (trace_count == 0)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "no trace to analyze");
    etl_status status = etl_read_sized(options, "etlheap_options", &own, sizeof own, err);
    if (status != ETL_OK)
        return status;
    if (own.temporary_folder == NULL)
        own.temporary_folder = etl_temporary_default;
    own.named_kinds = true; /* as a store keeps them */
    status = log_run(&from, &own, &log, &result, err);
    if (status == ETL_OK)
        status = summary_add_result(s, result, names[0], err);
    etlheap_result_free(result);
    return status;
}
