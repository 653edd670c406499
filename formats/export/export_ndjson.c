/*
 * export_ndjson.c - the rows of a report, or lifetimes, as one JSON object a line.
 *
 * A row of a report has the keys that it has in the JSON document, but its stack is
 * its frames as text: a line needs nothing else to be read.
 */
#include "formats/json/json_rows.h"
#include "formats/writers.h"
#include "export_rows.h"
#include "export_writers.h"

static etl_status write_rows(const etlheap_table *table, etlheap_sink *sink);

etl_status etlheap_export_ndjson(const etlheap_export_request *request, etlheap_sink *sink,
                                 etl_error *err)
{
    etlheap_table *table;
    etlheap_lifetimes *walk;
    if (request->rows) {
        const etl_status status = export_walk_open(request, &walk, err);
        if (status != ETL_OK)
            return status;
        return export_walk_close(walk, etlheap_write_allocations_ndjson(walk, NULL, sink), err);
    }
    const etl_status status = export_report_open(request, &table, err);
    if (status != ETL_OK)
        return status;
    return export_report_close(table, write_rows(table, sink), err);
}

static etl_status write_rows(const etlheap_table *table, etlheap_sink *sink)
{
    const etlheap_layout layout = etlheap_layout_default();
    const report_columns columns = report_columns_all(table, &layout);
    etlheap_frame_texts texts = { 0 };
    for (u32 i = 0; i < table->row_count && etlheap_sink_ok(sink); i++) {
        const etlheap_row *const row = &table->rows[i];
        etlheap_json json = etlheap_json_begin(sink, 0);
        etlheap_json_object(&json, NULL);
        for (u32 k = 0; k < table->group_by_count; k++) {
            const etlheap_key key = table->group_by[k];
            if (etlheap_key_has_frames(key) && etlheap_key_is_of_free(key) &&
                !etlheap_key_is_stack(key))
                etlheap_json_free_keys(&json, table, row, key, &texts);
            else if (!etlheap_key_is_stack(key))
                etlheap_json_key(&json, row, key);
        }
        etlheap_json_measures(&json, &columns, row);
        etlheap_json_stack_texts(&json, table, row, &texts);
        etlheap_json_object_close(&json);
        etlheap_json_end(&json);
    }
    const bool failed = texts.failed;
    etlheap_frame_texts_free(&texts);
    return failed ? ETL_ERR_MEMORY : ETL_OK;
}
