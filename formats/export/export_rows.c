/*
 * export_rows.c - opens and closes what exporters of rows write: a report's table, or a walk over
 * lifetimes.
 *
 * In: a request. Out: a table or a walk, with its names. Closing returns the status of writing, or
 * what stopped the walk.
 */
#include "export_rows.h"

#include "export_samples.h"

static etl_status finish(etl_status status, etl_status written, etl_error *err);

etl_status export_report_open(const etlheap_export_request *request, etlheap_table **out,
                              etl_error *err)
{
    const etlheap_query *const query = request->query;
    return export_table_open(request, query->group_by, query->group_by_count, out, err);
}

etl_status export_report_close(etlheap_table *table, etl_status written, etl_error *err)
{
    etlheap_table_free(table);
    return finish(ETL_OK, written, err);
}

etl_status export_walk_open(const etlheap_export_request *request, etlheap_lifetimes **out,
                            etl_error *err)
{
    const etlheap_lifetimes_options options = {
        .size = sizeof options,
        .sort = ETLHEAP_LIFETIME_ALLOC_TIME,
        .memory_bytes_max = request->memory_bytes_max,
        .frees = request->rows,
        .progress = request->progress,
        .progress_user = request->progress_user,
    };
    return etlheap_lifetimes_open(request->result, request->query, &options, out, err);
}

etl_status export_walk_close(etlheap_lifetimes *walk, etl_status written, etl_error *err)
{
    const etl_status status = etlheap_lifetimes_status(walk, err);
    etlheap_lifetimes_close(walk);
    return finish(status, written, err);
}

/* What the engine says is more than what a writer can tell. */
static etl_status finish(etl_status status, etl_status written, etl_error *err)
{
    if (status == ETL_OK && written != ETL_OK)
        return etl_fail_with(err, written, 0, "out of memory");
    return status;
}
