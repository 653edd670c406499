/*
 * export_parquet_lifetimes.c - lifetimes as a Parquet table, one a row, by time of
 * allocation.
 *
 * Columns are those of `allocations`, with the same words. What stands in words is
 * looked up once a row group: kinds and types by what they are, processes by their
 * number.
 */
#include "export_parquet.h"
#include "export_rows.h"

#include <stdlib.h>

static const export_column own_columns[] = {
    { ETLHEAP_FIELD_KIND, .type = PARQUET_STRING },
    { ETLHEAP_FIELD_PROCESS, .type = PARQUET_STRING, .is_optional = true },
    { ETLHEAP_FIELD_PID, .type = PARQUET_INT64, .is_optional = true, .repeats = true },
    { ETLHEAP_FIELD_HEAP, .type = PARQUET_UINT64, .is_optional = true, .repeats = true },
    { ETLHEAP_FIELD_HEAP_NAME, .type = PARQUET_STRING, .is_optional = true },
    { ETLHEAP_FIELD_TYPE, .type = PARQUET_STRING },
    { ETLHEAP_FIELD_IMPACTING_TYPE, .type = PARQUET_STRING },
    { ETLHEAP_FIELD_FREE_TYPE, .type = PARQUET_STRING },
    { ETLHEAP_FIELD_IS_REALLOC, .type = PARQUET_BOOLEAN },
    { ETLHEAP_FIELD_ADDRESS, .type = PARQUET_UINT64 },
    { ETLHEAP_FIELD_SIZE, .type = PARQUET_INT64, .repeats = true },
    { ETLHEAP_FIELD_ALLOC_TIME, .type = PARQUET_INT64, .is_optional = true },
    { ETLHEAP_FIELD_FREE_TIME, .type = PARQUET_INT64, .is_optional = true },
    { ETLHEAP_FIELD_LIFETIME, .type = PARQUET_INT64, .is_optional = true },
    { ETLHEAP_FIELD_THREAD, .type = PARQUET_INT64, .is_optional = true, .repeats = true },
    { ETLHEAP_FIELD_THREAD_NAME, .type = PARQUET_STRING, .is_optional = true },
    { ETLHEAP_FIELD_FREE_THREAD, .type = PARQUET_INT64, .is_optional = true, .repeats = true },
    { ETLHEAP_FIELD_FREE_STACK, .type = PARQUET_STRING, .is_optional = true, .is_list = true },
};

#define OWN_COLUMNS ETL_COUNT_OF(own_columns)

typedef struct lifetime_table {
    parquet_writer *writer;
    export_run run;
    export_stacks stacks, freeing;
    parquet_name kinds[ETLHEAP_KIND_COUNT];
    parquet_name types[ETLHEAP_TYPE_COUNT], impacting_types[ETLHEAP_TYPE_COUNT];
    parquet_name free_types[ETLHEAP_FREE_TYPE_COUNT];
    parquet_name *processes; /* by etlheap_process.v */
} lifetime_table;

static etl_status write_lifetimes(const etlheap_export_request *request, etlheap_lifetimes *walk,
                                  etlheap_sink *sink);
static void put_lifetime(lifetime_table *out, const etlheap_lifetimes *walk,
                         const etlheap_lifetime *lifetime);
static void put_time(parquet_writer *writer, i64 ns);

etl_status export_parquet_lifetimes(const etlheap_export_request *request, etlheap_sink *sink,
                                    etl_error *err)
{
    etlheap_lifetimes *walk;
    const etl_status status = export_walk_open(request, &walk, err);
    if (status != ETL_OK)
        return status;
    return export_walk_close(walk, write_lifetimes(request, walk, sink), err);
}

static etl_status write_lifetimes(const etlheap_export_request *request, etlheap_lifetimes *walk,
                                  etlheap_sink *sink)
{
    const etlheap_result *const result = request->result;
    parquet_column columns[OWN_COLUMNS + EXPORT_STACK_COLUMNS + EXPORT_RUN_COLUMNS];
    lifetime_table out = { 0 };
    etlheap_lifetime lifetime;
    parquet_column *end = export_columns_add(columns, own_columns, OWN_COLUMNS);
    end = export_columns_add(end, export_stack_columns, EXPORT_STACK_COLUMNS);
    (void)export_columns_add(end, export_run_columns, EXPORT_RUN_COLUMNS);
    const parquet_options options = {
        .name = "lifetimes",
        .columns = columns,
        .column_count = ETL_COUNT_OF(columns),
        .memory_bytes_max = request->memory_bytes_max,
    };
    out.processes = calloc((size_t)etlheap_process_count(result) + 1, sizeof *out.processes);
    out.writer = out.processes ? parquet_open(&options, sink) : NULL;
    if (!out.writer) {
        free(out.processes);
        return ETL_ERR_MEMORY;
    }
    export_run_begin(&out.run, result);
    while (etlheap_sink_ok(sink) && etlheap_lifetimes_next(walk, &lifetime))
        put_lifetime(&out, walk, &lifetime);
    export_facts(result, etlheap_lifetimes_table(walk), "etlheap-parquet-lifetimes-1", out.writer);
    const bool failed = out.stacks.failed || out.freeing.failed || out.run.files.failed;
    const etl_status status = parquet_close(out.writer);
    export_run_end(&out.run);
    export_stacks_free(&out.stacks);
    export_stacks_free(&out.freeing);
    free(out.processes);
    return failed ? ETL_ERR_MEMORY : status;
}

static void put_lifetime(lifetime_table *out, const etlheap_lifetimes *walk,
                         const etlheap_lifetime *lifetime)
{
    parquet_writer *const writer = out->writer;
    const etlheap_row row = etlheap_allocation_row(walk, lifetime);
    const etlheap_type type = (etlheap_type)lifetime->type;
    parquet_put_name(writer, &out->kinds[row.kind], etlheap_kind_name((etlheap_kind)row.kind));
    parquet_put_name(writer, &out->processes[lifetime->process.v],
                     etlheap_process_is_named(row.process) ? row.process : NULL);
    export_put_number(writer, row.pid != ETL_NO_ID, row.pid);
    export_heap_put(&row, writer);
    parquet_put_name(writer, &out->types[type], etlheap_type_name(type));
    parquet_put_name(writer, &out->impacting_types[type], etlheap_impacting_type_name(type));
    parquet_put_name(writer, &out->free_types[row.free_type],
                     etlheap_free_type_name((etlheap_free_type)row.free_type));
    parquet_put_number(writer, lifetime->is_realloc);
    parquet_put_number(writer, lifetime->address);
    parquet_put_number(writer, etl_min_u64(lifetime->size_bytes, INT64_MAX));
    put_time(writer, lifetime->alloc_ns);
    put_time(writer, lifetime->free_ns);
    put_time(writer, lifetime->lifetime_ns);
    export_put_number(writer, row.thread != ETL_NO_ID, row.thread);
    export_put_text(writer, row.thread_name);
    export_put_number(writer, row.free_thread != ETL_NO_ID, row.free_thread);
    export_stacks_put_list(&out->freeing, etlheap_lifetimes_table(walk), row.free_stack, writer);
    export_stacks_put(&out->stacks, etlheap_lifetimes_table(walk), &row, writer);
    export_run_put(&out->run, writer);
    parquet_end_row(writer);
}

/* Before the trace and never are no times. */
static void put_time(parquet_writer *writer, i64 ns)
{
    export_put_number(writer, ns != INT64_MIN && ns != INT64_MAX, (u64)ns);
}
