/*
 * export_parquet_report.c - the rows of a report as a Parquet table.
 *
 * In: an export request, whose query is answered with the keys below. Out, to a sink: a Parquet
 * file whose metadata has the trace, the window and losses (export_facts).
 *
 * The columns are the same for every request, with the words of the JSON document: the keys of a
 * report, the stack, measures, and the recording. Only measures that the query does not ask for are
 * left out.
 * Invariant: values have no names, so list_columns and put_row must keep one order and skip the
 * same measures.
 */
#include "formats/parts/field_units.h"
#include "formats/parts/text_parts.h"
#include "export_parquet.h"
#include "export_samples.h"

static const etlheap_key keys[] = { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_HEAP,
                                    ETLHEAP_KEY_TYPE, ETLHEAP_KEY_STACK };

/* A summary may cover many runs, between which handles and process ids differ: these are NULL. */
static const etlheap_key summary_keys[] = { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_TYPE,
                                            ETLHEAP_KEY_STACK };

static const export_column key_columns[] = {
    { ETLHEAP_FIELD_KIND, .type = PARQUET_STRING },
    { ETLHEAP_FIELD_PROCESS, .type = PARQUET_STRING, .is_optional = true },
    { ETLHEAP_FIELD_PID, .type = PARQUET_INT64, .is_optional = true, .repeats = true },
    { ETLHEAP_FIELD_HEAP, .type = PARQUET_UINT64, .is_optional = true, .repeats = true },
    { ETLHEAP_FIELD_HEAP_NAME, .type = PARQUET_STRING, .is_optional = true },
    { ETLHEAP_FIELD_TYPE, .type = PARQUET_STRING },
    { ETLHEAP_FIELD_IMPACTING_TYPE, .type = PARQUET_STRING },
};

#define KEY_COLUMNS ETL_COUNT_OF(key_columns)
#define COLUMNS_MAX                                                                                \
    (KEY_COLUMNS + EXPORT_STACK_COLUMNS + ETLHEAP_MEASURES_COUNT + EXPORT_RUN_COLUMNS)

typedef struct report_table {
    const etlheap_table *table;
    parquet_writer *writer;
    export_run run;
    export_stacks stacks;
} report_table;

static etl_status write_report(const etlheap_export_request *request, const etlheap_table *table,
                               etlheap_sink *sink);
static u32 list_columns(const etlheap_table *table, parquet_column columns[COLUMNS_MAX]);
static void put_row(report_table *out, const etlheap_row *row);

etl_status export_parquet_report(const etlheap_export_request *request, etlheap_sink *sink,
                                 etl_error *err)
{
    etlheap_table *table;
    const bool is_summary = etlheap_result_is_summary(request->result);
    etl_status status = export_table_open(
        request, is_summary ? summary_keys : keys,
        is_summary ? ETL_COUNT_OF(summary_keys) : ETL_COUNT_OF(keys), &table, err);
    if (status != ETL_OK)
        return status;
    status = write_report(request, table, sink);
    etlheap_table_free(table);
    /* Nothing else fails in write_report: the sink keeps its own errors. */
    return status == ETL_OK ? ETL_OK : etl_fail_with(err, status, 0, "out of memory");
}

static etl_status write_report(const etlheap_export_request *request, const etlheap_table *table,
                               etlheap_sink *sink)
{
    parquet_column columns[COLUMNS_MAX];
    const parquet_options options = {
        .name = "summaries",
        .columns = columns,
        .column_count = list_columns(table, columns),
        .memory_bytes_max = request->memory_bytes_max,
    };
    report_table out = { .table = table };
    out.writer = parquet_open(&options, sink);
    if (!out.writer)
        return ETL_ERR_MEMORY;
    export_run_begin(&out.run, request->result);
    for (u32 i = 0; i < table->row_count && etlheap_sink_ok(sink); i++)
        put_row(&out, &table->rows[i]);
    export_facts(request->result, table, "etlheap-parquet-summaries-1", out.writer);
    const bool failed = out.stacks.failed || out.run.files.failed;
    const etl_status status = parquet_close(out.writer);
    export_run_end(&out.run);
    export_stacks_free(&out.stacks);
    return failed ? ETL_ERR_MEMORY : status;
}

/* What does not add up, such as peaks of summaries, may not be known. */
static u32 list_columns(const etlheap_table *table, parquet_column columns[COLUMNS_MAX])
{
    parquet_column *at = export_columns_add(columns, key_columns, KEY_COLUMNS);
    at = export_columns_add(at, export_stack_columns, EXPORT_STACK_COLUMNS);
    for (int m = 0; m < ETLHEAP_MEASURES_COUNT; m++) {
        if ((table->measures >> m & 1) == 0)
            continue;
        *at++ = (parquet_column){
            .name = etlheap_measure_word((etlheap_measure)m),
            .type = PARQUET_INT64,
            .is_optional = !etlheap_measure_style_of((etlheap_measure)m).adds_up,
            .repeats = true,
        };
    }
    at = export_columns_add(at, export_run_columns, EXPORT_RUN_COLUMNS);
    return (u32)(at - columns);
}

static void put_row(report_table *out, const etlheap_row *row)
{
    parquet_writer *const writer = out->writer;
    export_put_text(writer, etlheap_kind_name((etlheap_kind)row->kind));
    export_put_text(writer, etlheap_process_is_named(row->process) ? row->process : NULL);
    export_put_number(writer, row->pid != ETL_NO_ID, row->pid);
    export_heap_put(row, writer);
    export_put_text(writer, etlheap_type_name((etlheap_type)row->type));
    export_put_text(writer, etlheap_impacting_type_name((etlheap_type)row->type));
    export_stacks_put(&out->stacks, out->table, row, writer);
    for (int m = 0; m < ETLHEAP_MEASURES_COUNT; m++) {
        const i64 value = etlheap_shown_measure(row->kind, (etlheap_measure)m, row->measures[m]);
        if ((out->table->measures >> m & 1) != 0)
            export_put_number(writer, value != ETLHEAP_NOT_KNOWN, (u64)value);
    }
    export_run_put(&out->run, writer);
    parquet_end_row(writer);
}
