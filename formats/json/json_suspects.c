/*
 * json_suspects.c - the `etlheap-suspects-1` document.
 *
 * Keys and their order are part of the interface: those of the grouping, then what is known of the
 * row's blocks, then why it is a suspect.
 */
#include "formats/io/text_buffer.h"
#include "formats/parts/suspect_parts.h"
#include "formats/writers.h"
#include "json_rows.h"

void etlheap_json_suspect(etlheap_json *json, const etlheap_row *row,
                          const etlheap_suspect *suspect, etlheap_text *text)
{
    etlheap_value values[SUSPECT_COLUMN_COUNT];
    suspect_values(row, suspect, values);
    etlheap_json_values(json, &suspect_columns, values);
    etlheap_json_array(json, etlheap_field_key(ETLHEAP_FIELD_THREADS));
    for (u32 i = 0; i < suspect->thread_count; i++)
        etlheap_json_u64(json, NULL, suspect->threads[i]);
    etlheap_json_array_close(json);
    etlheap_json_bool(json, "has_more_threads", suspect->has_more_threads);
    etlheap_text_clear(text);
    suspect_add_reason(row, suspect, text);
    etlheap_json_string(json, etlheap_field_key(ETLHEAP_FIELD_REASON), etlheap_text_of(text));
}

static void write_rows(etlheap_json *json, const etlheap_suspects *suspects, etlheap_text *text)
{
    const etlheap_table *const table = suspects->table;
    etlheap_json_array(json, "rows");
    for (u32 i = 0; i < table->row_count && etlheap_sink_ok(json->sink); i++) {
        etlheap_json_object(json, NULL);
        for (u32 k = 0; k < table->group_by_count; k++)
            etlheap_json_key(json, &table->rows[i], table->group_by[k]);
        etlheap_json_suspect(json, &table->rows[i], &suspects->rows[i], text);
        etlheap_json_object_close(json);
    }
    etlheap_json_array_close(json);
    etlheap_json_u64(json, "never_freed_groups", suspects->group_count);
}

etl_status etlheap_write_suspects_json(const etlheap_result *result,
                                       const etlheap_suspects *suspects,
                                       const etlheap_layout *given, etlheap_sink *sink)
{
    const etlheap_table *const table = suspects->table;
    etlheap_text text = { 0 };
    etlheap_json json;
    const etl_status status = etlheap_json_document(&json, "etlheap-suspects-1", 2, given, sink);
    if (status != ETL_OK)
        return status;
    etlheap_json_recording(&json, result);
    etlheap_json_window(&json, result, table);
    etlheap_json_group_by(&json, table);
    etlheap_json_frames(&json, table);
    etlheap_json_stacks(&json, table);
    write_rows(&json, suspects, &text);
    etlheap_json_diagnostics(&json, &table->diagnostics);
    etlheap_json_document_end(&json);
    const bool failed = text.failed;
    etlheap_text_free(&text);
    return failed ? ETL_ERR_MEMORY : ETL_OK;
}
