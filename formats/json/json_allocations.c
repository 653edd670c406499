/*
 * json_allocations.c - lifetimes as the `etlheap-allocations-1` document, and as
 * one object a line.
 *
 * A row has the same keys in both, but for its stack: the document lists stacks
 * once, behind the rows, which stream; a line has its frames as text, and needs
 * nothing else to be read.
 */
#include "formats/parts/allocation_rows.h"
#include "formats/writers.h"
#include "formats/parts/layout_read.h"
#include "json.h"
#include "json_rows.h"

static const u8 shown[] = {
    ETLHEAP_ALLOCATION_IS_REALLOC, ETLHEAP_ALLOCATION_ADDRESS,   ETLHEAP_ALLOCATION_SIZE,
    ETLHEAP_ALLOCATION_ALLOC_TIME, ETLHEAP_ALLOCATION_FREE_TIME, ETLHEAP_ALLOCATION_LIFETIME,
};
static const etlheap_field_list columns = { etlheap_allocation_fields, shown, ETL_COUNT_OF(shown) };

static void write_row(etlheap_json *json, const etlheap_row *row, const etlheap_lifetime *lifetime)
{
    etlheap_value values[ETLHEAP_ALLOCATION_COLUMN_COUNT];
    for (size_t i = 0; i < ETLHEAP_ALLOCATION_KEYS; i++)
        etlheap_json_key(json, row, etlheap_allocation_keys[i]);
    etlheap_allocation_values(lifetime, values);
    etlheap_json_values(json, &columns, values);
    etlheap_json_key(json, row, ETLHEAP_KEY_THREAD);
}

etl_status etlheap_write_allocations_json(etlheap_lifetimes *walk, const etlheap_layout *given,
                                          etlheap_sink *sink)
{
    etlheap_json json;
    const etlheap_table *const table = etlheap_lifetimes_table(walk);
    etlheap_lifetime lifetime;
    const etl_status status = etlheap_json_document(&json, "etlheap-allocations-1", 2, given, sink);
    if (status != ETL_OK)
        return status;
    etlheap_json_recording(&json, etlheap_lifetimes_result(walk));
    etlheap_json_window_open(&json, etlheap_lifetimes_result(walk), table->from_ns, table->to_ns);
    etlheap_json_object_close(&json);
    etlheap_json_array(&json, "rows");
    while (etlheap_sink_ok(sink) && etlheap_lifetimes_next(walk, &lifetime)) {
        const etlheap_row row = etlheap_allocation_row(walk, &lifetime);
        etlheap_json_object(&json, NULL);
        write_row(&json, &row, &lifetime);
        etlheap_json_key(&json, &row, ETLHEAP_KEY_STACK);
        etlheap_json_key(&json, &row, ETLHEAP_KEY_FREE_THREAD);
        etlheap_json_key(&json, &row, ETLHEAP_KEY_FREE_STACK);
        etlheap_json_object_close(&json);
    }
    etlheap_json_array_close(&json);
    etlheap_json_frames(&json, table);
    etlheap_json_stacks(&json, table);
    etlheap_json_diagnostics(&json, &table->diagnostics);
    etlheap_json_document_end(&json);
    return etlheap_lifetimes_status(walk, NULL);
}

etl_status etlheap_write_allocations_ndjson(etlheap_lifetimes *walk, const etlheap_layout *given,
                                            etlheap_sink *sink)
{
    etlheap_layout layout;
    const etl_status layout_status = etlheap_layout_read(given, &layout);
    if (layout_status != ETL_OK)
        return layout_status;
    etlheap_frame_texts texts = { 0 };
    etlheap_lifetime lifetime;
    while (etlheap_sink_ok(sink) && etlheap_lifetimes_next(walk, &lifetime)) {
        const etlheap_row row = etlheap_allocation_row(walk, &lifetime);
        etlheap_json json = etlheap_json_begin(sink, 0);
        etlheap_json_object(&json, NULL);
        write_row(&json, &row, &lifetime);
        etlheap_json_stack_texts(&json, etlheap_lifetimes_table(walk), &row, &texts);
        etlheap_json_key(&json, &row, ETLHEAP_KEY_FREE_THREAD);
        etlheap_json_free_keys(&json, etlheap_lifetimes_table(walk), &row, ETLHEAP_KEY_FREE_STACK,
                               &texts);
        etlheap_json_object_close(&json);
        etlheap_json_end(&json);
    }
    const bool failed = texts.failed;
    etlheap_frame_texts_free(&texts);
    return failed ? ETL_ERR_MEMORY : etlheap_lifetimes_status(walk, NULL);
}
