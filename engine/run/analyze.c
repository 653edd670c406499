/* analyze.c - chooses how traces and stores are read for what is asked of them. */
#include "engine/result/archive.h"
#include "engine/result/result.h"
#include "engine_run.h"
#include "log_run.h"
#include "options_read.h"

etl_status etlheap_analyze(etl_trace *const *traces, const char *const *names, u32 trace_count,
                           const etlheap_options *options, etlheap_result **out, etl_error *err)
{
    const traces_named from = { traces, names, trace_count };
    options_read read;
    *out = NULL;
    if (trace_count == 0)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "no trace to analyze");
    const etl_status status = options_read_all(options, &read, err);
    if (status != ETL_OK)
        return status;
    if (read.own.store != NULL && read.own.store->part != NULL)
        return log_run_part(&from, &read.own, out, err);
    const log_run_options log = { .memory_bytes_max = LOG_MEMORY_BYTES,
                                  .with_addresses = options_ask_addresses(&read),
                                  .needs = read.needs };
    const etlheap_question *const question = read.own.question_count == 0 ? NULL : &read.question;
    return log_run_wanted(&from, &read) ? log_run(&from, &read.own, &log, out, err)
                                        : engine_run(&from, &read.own, question, NULL, out, err);
}

etl_status etlheap_open_store(const char *path, const etlheap_options *options,
                              etlheap_result **out, etl_error *err)
{
    options_read read;
    etl_map map;
    *out = NULL;
    etl_status status = options_read_all(options, &read, err);
    if (status == ETL_OK)
        status = etl_map_open(path, false, &map, err);
    if (status != ETL_OK)
        return status;
    const bool is_asked = read.own.question_count > 0;
    const archive_request request = {
        .name = read.own.name != NULL ? read.own.name : path,
        .memory_bytes_max = read.own.memory_bytes_max,
        .cancel = read.own.cancel,
        .facts_only = read.own.inventory_only,
        .as_rows = !is_asked,
        .no_named_kinds = !is_asked && !read.own.named_kinds,
        .keeps_sums = read.own.keeps_sums,
        .no_addresses = is_asked && !options_ask_addresses(&read),
    };
    const u64 store_bytes = map.bytes.size;
    status = archive_open(&map, &request, out, err);
    if (status == ETL_OK)
        (*out)->info.store_bytes = store_bytes;
    return status;
}
