/* analyze.c - chooses how traces are read for what is asked of them. */
#include "engine/query/query.h"
#include "engine_run.h"
#include "log_run.h"
#include "parser/sized.h"

/* Options as this library knows them, with what they point to: all is read once. */
typedef struct options_read {
    etlheap_options own;
    etlheap_query report;
    etlheap_windows_options windows;
    etlheap_store_options store;
} options_read;

static etl_status read_options(const etlheap_options *given, options_read *out, etl_error *err)
{
    etlheap_options *const own = &out->own;
    *own = (etlheap_options){ .size = sizeof *own };
    out->windows = (etlheap_windows_options){ .size = sizeof out->windows };
    out->store = (etlheap_store_options){ .size = sizeof out->store };
    etl_status status = etl_read_sized(given, "etlheap_options", own, sizeof *own, err);
    if (status == ETL_OK)
        status = query_read(own->report, &out->report, err);
    if (status == ETL_OK)
        status = etl_read_sized(own->windows, "etlheap_windows_options", &out->windows,
                                sizeof out->windows, err);
    if (status == ETL_OK)
        status = etl_read_sized(own->store, "etlheap_store_options", &out->store, sizeof out->store,
                                err);
    own->report = own->report == NULL ? NULL : &out->report;
    own->windows = own->windows == NULL ? NULL : &out->windows;
    own->store = own->store == NULL ? NULL : &out->store;
    return status;
}

static etl_status check_options(const etlheap_options *options, etl_error *err)
{
    if (options->store != NULL && options->store->write == NULL)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "a store takes a function to write it");
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
    options_read read;
    *out = NULL;
    if (trace_count == 0)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "no trace to analyze");
    etl_status status = read_options(options, &read, err);
    if (status == ETL_OK)
        status = check_options(&read.own, err);
    if (status != ETL_OK)
        return status;
    return log_run_wanted(&from, &read.own) ? log_run(&from, &read.own, &log, out, err)
                                            : engine_run(&from, &read.own, out, err);
}
