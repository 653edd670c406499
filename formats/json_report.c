/*
 * json_report.c - the `etlheap-report-1` document.
 *
 * Keys and their order are part of the interface. A row has the keys it was
 * grouped by, then all measures. Each frame, stack and row stands on a line of
 * its own, so that documents compare well line by line.
 */
#include "json.h"
#include "text_buffer.h"
#include "writers.h"

/* A total has fewer measures than a row: its peaks are not computed. */
static const etlheap_measure total_measures[] = {
    ETLHEAP_MEASURE_COUNT,
    ETLHEAP_MEASURE_SIZE,
    ETLHEAP_MEASURE_IMPACTING_SIZE,
    ETLHEAP_MEASURE_OUTSTANDING_COUNT,
    ETLHEAP_MEASURE_OUTSTANDING_SIZE,
};

static void write_frames(etlheap_json *json, const etlheap_table *table);
static void write_stacks(etlheap_json *json, const etlheap_table *table);
static void write_rows(etlheap_json *json, const etlheap_table *table);
static void write_key(etlheap_json *json, const etlheap_row *row, etlheap_key key);
static void write_index(etlheap_json *json, const char *key, u32 index);
static void write_totals(etlheap_json *json, const etlheap_table *table);

etl_status etlheap_write_report_json(const etlheap_result *result, const etlheap_table *table,
                                     const etlheap_layout *layout, etlheap_sink *sink)
{
    etlheap_json json = etlheap_json_begin(sink, 2);
    (void)layout;
    etlheap_json_object(&json, NULL);
    etlheap_json_string(&json, "schema", "etlheap-report-1");
    etlheap_json_trace(&json, etlheap_result_trace(result));
    etlheap_json_object(&json, "window");
    etlheap_json_i64(&json, "from_ns", table->from_ns);
    etlheap_json_i64(&json, "to_ns", table->to_ns);
    etlheap_json_object_close(&json);
    etlheap_json_array(&json, "group_by");
    for (u32 i = 0; i < table->group_by_count; i++)
        etlheap_json_string(&json, NULL, etlheap_key_word(table->group_by[i]));
    etlheap_json_array_close(&json);
    write_frames(&json, table);
    write_stacks(&json, table);
    write_rows(&json, table);
    write_totals(&json, table);
    etlheap_json_diagnostics(&json, &table->diagnostics);
    etlheap_json_object_close(&json);
    etlheap_json_end(&json);
    return ETL_OK;
}

/* Frames are listed once and referred to by index: stacks share most of them. What
 * few frames are, inlined calls and guesses, is said of those alone. */
static void write_frames(etlheap_json *json, const etlheap_table *table)
{
    etlheap_json_array(json, "frames");
    for (u32 i = 0; i < table->frame_count; i++) {
        const etlheap_frame *const frame = &table->frames[i];
        etlheap_json_object(json, NULL);
        etlheap_json_string(json, "module", frame->module);
        if (frame->module)
            etlheap_json_hex(json, "offset", frame->offset, 1);
        else
            etlheap_json_null(json, "offset");
        etlheap_json_hex(json, "address", frame->address, 1);
        etlheap_json_string(json, "symbol", frame->symbol);
        etlheap_json_string(json, "file", frame->file);
        if (frame->line != 0)
            etlheap_json_u64(json, "line", frame->line);
        else
            etlheap_json_null(json, "line");
        if (frame->is_inlined)
            etlheap_json_bool(json, "inline", true);
        if (frame->is_nearest) {
            etlheap_json_bool(json, "nearest", true);
            etlheap_json_hex(json, "displacement", frame->displacement, 1);
        }
        etlheap_json_object_close(json);
    }
    etlheap_json_array_close(json);
}

static void write_stacks(etlheap_json *json, const etlheap_table *table)
{
    etlheap_json_array(json, "stacks");
    for (u32 i = 0; i < table->stack_count; i++) {
        etlheap_json_array(json, NULL);
        for (u32 at = table->stack_starts[i]; at < table->stack_starts[i + 1]; at++)
            etlheap_json_u64(json, NULL, table->frame_indices[at]);
        etlheap_json_array_close(json);
    }
    etlheap_json_array_close(json);
}

/* Stops when nobody reads any more: there may be millions. */
static void write_rows(etlheap_json *json, const etlheap_table *table)
{
    etlheap_json_array(json, "rows");
    for (u32 i = 0; i < table->row_count && etlheap_sink_ok(json->sink); i++) {
        const etlheap_row *const row = &table->rows[i];
        etlheap_json_object(json, NULL);
        for (u32 k = 0; k < table->group_by_count; k++)
            write_key(json, row, table->group_by[k]);
        for (int m = 0; m < ETLHEAP_MEASURES_COUNT; m++)
            etlheap_json_i64(json, etlheap_measure_word((etlheap_measure)m), row->measures[m]);
        etlheap_json_object_close(json);
    }
    etlheap_json_array_close(json);
}

/* Some keys are two: a process is a name and an id, a type has WPA's word for
 * its effect beside it. */
static void write_key(etlheap_json *json, const etlheap_row *row, etlheap_key key)
{
    const char *const word = etlheap_key_word(key);
    switch (key) {
    case ETLHEAP_KEY_KIND:
        etlheap_json_string(json, word, etlheap_kind_name((etlheap_kind)row->kind));
        break;
    case ETLHEAP_KEY_PROCESS:
        etlheap_json_string(json, word, row->process);
        etlheap_json_u64(json, "pid", row->pid);
        break;
    case ETLHEAP_KEY_HEAP:
        if (row->has_heap)
            etlheap_json_hex(json, word, row->heap_handle, 1);
        else
            etlheap_json_null(json, word);
        break;
    case ETLHEAP_KEY_TYPE:
        etlheap_json_string(json, word, etlheap_type_name((etlheap_type)row->type));
        etlheap_json_string(json, "impacting_type",
                            etlheap_impacting_type_name((etlheap_type)row->type));
        break;
    case ETLHEAP_KEY_FREE_TYPE:
        etlheap_json_string(json, word, etlheap_free_type_name((etlheap_free_type)row->free_type));
        break;
    case ETLHEAP_KEY_STACK:
        write_index(json, word, row->stack);
        break;
    case ETLHEAP_KEY_FRAME:
    case ETLHEAP_KEY_SITE:
        write_index(json, word, row->frame);
        break;
    case ETLHEAP_KEY_MODULE:
        etlheap_json_string(json, word, row->module);
        break;
    case ETLHEAP_KEY_THREAD:
        write_index(json, word, row->thread);
        break;
    case ETLHEAP_KEY_SIZE_CLASS:
        etlheap_json_u64(json, word, row->size_class_bytes);
        break;
    case ETLHEAP_KEY_TYPE_NAME:
        etlheap_json_string(json, word, row->type_name);
        break;
    case ETLHEAP_KEY_COUNT:
        break;
    }
}

/* Indices and thread ids alike: all bits set means none. */
static void write_index(etlheap_json *json, const char *key, u32 index)
{
    static_assert(ETLHEAP_NO_INDEX == UINT32_MAX && ETL_NO_ID == UINT32_MAX, "one value for none");
    if (index == UINT32_MAX)
        etlheap_json_null(json, key);
    else
        etlheap_json_u64(json, key, index);
}

/* Kinds that the trace does not have are left out, not zero. */
static void write_totals(etlheap_json *json, const etlheap_table *table)
{
    etlheap_json_array(json, "totals");
    for (int kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        const etlheap_total *const total = &table->totals[kind];
        if (!total->present)
            continue;
        etlheap_json_object(json, NULL);
        etlheap_json_string(json, "kind", etlheap_kind_name((etlheap_kind)kind));
        for (size_t i = 0; i < ETL_COUNT_OF(total_measures); i++) {
            const etlheap_measure measure = total_measures[i];
            etlheap_json_i64(json, etlheap_measure_word(measure), total->measures[measure]);
        }
        etlheap_json_u64(json, "free_without_alloc", total->free_without_alloc);
        etlheap_json_object_close(json);
    }
    etlheap_json_array_close(json);
}
