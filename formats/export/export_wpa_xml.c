/*
 * export_wpa_xml.c - writes the data of WPA's tables Heap Allocations and VirtualAlloc Commit
 * LifeTimes as XML.
 *
 * In: lifetimes, or sums of a summary. Out: a document that wpa_xml.xsd describes and the
 * tests read (tests/support/wpa_xml_read.c):
 *
 *     WpaTables
 *       Trace/File          what was recorded
 *       Window              [From, To), which types and impacting sizes refer to
 *       Table               one for each kind that is selected
 *         Columns/Column    the attribute of a row that has it, WPA's title and GUID
 *         Rows/Row          a lifetime, or the sums of all with the same keys
 *         Total             the sums of all rows
 *       Stacks              of all tables
 *         Frame             each once
 *         Node              a frame and who calls it; a row's Stack is the innermost
 *       Diagnostics         what was lost
 *
 * Invariant: rows come before the stacks that they refer to, because those are complete only after
 * the last row. So only frames and nodes are kept of what was written.
 */
#include "formats/io/units.h"
#include "formats/io/xml.h"
#include "formats/parts/allocation_rows.h"
#include "export_samples.h"
#include "export_tree.h"
#include "export_writers.h"
#include "wpa_columns.h"
#include "wpa_frames.h"
#include "formats/parts/layout_read.h"

#define PAGE_MASK (~(u64)4095)

typedef struct wpa_writer {
    const etlheap_export_request *request;
    etlheap_xml xml;
    const etlheap_table *table; /* that rows refer to */
    wpa_frames frames;
    export_tree tree;
    etlheap_text text;
    u64 row_count; /* of the table of WPA at hand */
    i64 count, impacting_size, size_bytes;
    etl_diag_counts diagnostics;
    bool has_begun;
} wpa_writer;

static etl_status write_sums(wpa_writer *w, u32 kinds, etlheap_sink *sink, etl_error *err);
static etl_status write_lifetimes(wpa_writer *w, u32 kinds, etlheap_sink *sink, etl_error *err);
static etl_status write_walk(wpa_writer *w, const wpa_table *table, etlheap_sink *sink,
                             etl_error *err);
static etlheap_row row_of(const etlheap_lifetimes *walk, const etlheap_lifetime *lifetime);
static void begin_document(wpa_writer *w, etlheap_sink *sink);
static void begin_table(wpa_writer *w, const wpa_table *table);
static bool has_field(const wpa_writer *w, const wpa_table *table, wpa_field field);
static void write_row(wpa_writer *w, const wpa_table *table, const etlheap_row *row,
                      const etlheap_lifetime *lifetime);
static void write_cell(wpa_writer *w, wpa_field field, const etlheap_row *row);
static void write_lifetime_cell(wpa_writer *w, wpa_field field, const etlheap_lifetime *lifetime);
static void end_table(wpa_writer *w);
static void write_stacks(wpa_writer *w, const etlheap_sink *sink);
static void write_frame(wpa_writer *w, u32 number);
static void end_document(wpa_writer *w, const etlheap_sink *sink);

etl_status etlheap_export_wpa_xml(const etlheap_export_request *request, etlheap_sink *sink,
                                  etl_error *err)
{
    wpa_writer w = { .request = request };
    u32 kinds;
    etl_status status = wpa_kinds_of(request->query, &kinds, err);
    if (status == ETL_OK)
        status = request->rows ? write_lifetimes(&w, kinds, sink, err)
                               : write_sums(&w, kinds, sink, err);
    if (status == ETL_OK)
        end_document(&w, sink);
    bool failed = w.tree.failed || w.frames.failed || w.text.failed;
    if (w.has_begun)
        failed |= etlheap_xml_end(&w.xml) != ETL_OK;
    export_tree_free(&w.tree);
    wpa_frames_free(&w.frames);
    etlheap_text_free(&w.text);
    if (status == ETL_OK && failed)
        return etl_no_memory(err);
    return status;
}

/* A summary has no heaps to tell apart. */
static etl_status write_sums(wpa_writer *w, u32 kinds, etlheap_sink *sink, etl_error *err)
{
    static const etlheap_key keys[] = { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_TYPE,
                                        ETLHEAP_KEY_STACK, ETLHEAP_KEY_HEAP };
    etlheap_query query = *w->request->query;
    etlheap_export_request request = *w->request;
    const bool is_summary = etlheap_result_is_summary(request.result);
    query.kinds = kinds;
    request.query = &query;
    etlheap_table *rows;
    const etl_status status =
        export_table_open(&request, keys, (u32)ETL_COUNT_OF(keys) - is_summary, &rows, err);
    if (status != ETL_OK)
        return status;
    w->table = rows;
    begin_document(w, sink);
    for (u32 i = 0; i < WPA_TABLE_COUNT; i++) {
        const wpa_table *const table = wpa_table_at(i);
        if ((kinds >> table->kind & 1) == 0)
            continue;
        begin_table(w, table);
        for (u32 at = 0; at < w->table->row_count && etlheap_sink_ok(sink); at++) {
            if (w->table->rows[at].kind == (u8)table->kind)
                write_row(w, table, &w->table->rows[at], NULL);
        }
        end_table(w);
    }
    w->diagnostics = w->table->diagnostics;
    etlheap_table_free(rows);
    return ETL_OK;
}

/* Writes lifetimes, kind by kind, so that rows of a table are in order of time. */
static etl_status write_lifetimes(wpa_writer *w, u32 kinds, etlheap_sink *sink, etl_error *err)
{
    etl_status status = ETL_OK;
    for (u32 i = 0; status == ETL_OK && i < WPA_TABLE_COUNT; i++) {
        const wpa_table *const table = wpa_table_at(i);
        if ((kinds >> table->kind & 1) != 0)
            status = write_walk(w, table, sink, err);
    }
    return status;
}

static etl_status write_walk(wpa_writer *w, const wpa_table *table, etlheap_sink *sink,
                             etl_error *err)
{
    const etlheap_export_request *const request = w->request;
    const etlheap_lifetimes_options options = {
        .size = sizeof options,
        .sort = ETLHEAP_LIFETIME_ALLOC_TIME,
        .memory_bytes_max = request->memory_bytes_max,
        .progress = request->progress,
        .progress_user = request->progress_user,
    };
    etlheap_query query = *request->query;
    etlheap_lifetimes *walk = NULL;
    etlheap_lifetime lifetime;
    query.kinds = 1u << table->kind;
    etl_status status = etlheap_lifetimes_open(request->result, &query, &options, &walk, err);
    if (status != ETL_OK)
        return status;
    w->table = etlheap_lifetimes_table(walk);
    if (!w->has_begun)
        begin_document(w, sink);
    begin_table(w, table);
    while (etlheap_sink_ok(sink) && etlheap_lifetimes_next(walk, &lifetime)) {
        w->table = etlheap_lifetimes_table(walk);
        const etlheap_row row = row_of(walk, &lifetime);
        write_row(w, table, &row, &lifetime);
    }
    end_table(w);
    status = etlheap_lifetimes_status(walk, err);
    w->diagnostics = etlheap_lifetimes_table(walk)->diagnostics;
    etlheap_lifetimes_close(walk);
    return status;
}

/* The row of a lifetime. Its impacting size is what it adds to outstanding memory over the
 * window. */
static etlheap_row row_of(const etlheap_lifetimes *walk, const etlheap_lifetime *lifetime)
{
    const i64 size = lifetime->size_bytes > INT64_MAX ? INT64_MAX : (i64)lifetime->size_bytes;
    etlheap_row row = etlheap_allocation_row(walk, lifetime);
    row.measures[ETLHEAP_MEASURE_COUNT] = 1;
    row.measures[ETLHEAP_MEASURE_SIZE] = size;
    row.measures[ETLHEAP_MEASURE_IMPACTING_SIZE] =
        lifetime->type == ETLHEAP_TYPE_AIFO ? size
                                            : (lifetime->type == ETLHEAP_TYPE_AOFI ? -size : 0);
    return row;
}

/* --- the document -------------------------------------------------------------------- */

static void begin_document(wpa_writer *w, etlheap_sink *sink)
{
    const etlheap_trace_info *const trace = etlheap_result_trace(w->request->result);
    etlheap_xml *const xml = &w->xml;
    char start[ETLHEAP_UNITS_SIZE];
    etlheap_units_start(trace, start);
    *xml = etlheap_xml_begin(sink);
    w->has_begun = true;
    etlheap_xml_element(xml, "WpaTables");
    etlheap_xml_attribute(xml, "xmlns", "urn:etlheap:wpa-xml:1");
    etlheap_xml_attribute(xml, "xmlns:xsi", "http://www.w3.org/2001/XMLSchema-instance");
    etlheap_xml_attribute(xml, "xsi:schemaLocation", "urn:etlheap:wpa-xml:1 wpa_xml.xsd");
    etlheap_xml_attribute(xml, "Version", "1");
    etlheap_xml_attribute(xml, "Rows", w->request->rows ? "lifetimes" : "sums");
    etlheap_xml_element(xml, "Trace");
    etlheap_xml_attribute(xml, "Session", trace->session);
    etlheap_xml_attribute(xml, "Computer", trace->computer);
    etlheap_xml_attribute_u64(xml, "OsBuild", trace->os_build);
    etlheap_xml_attribute(xml, "StartTime", start);
    etlheap_xml_attribute_i64(xml, "Duration", trace->duration_ns);
    etlheap_xml_attribute_u64(xml, "EventsLost", trace->events_lost);
    etlheap_xml_attribute_u64(xml, "BuffersLost", trace->buffers_lost);
    for (u32 i = 0; i < trace->file_count; i++) {
        etlheap_xml_element(xml, "File");
        etlheap_xml_attribute(xml, "Name", trace->files[i]);
        etlheap_xml_close(xml);
    }
    etlheap_xml_close(xml);
    etlheap_xml_element(xml, "Window");
    etlheap_xml_attribute_i64(xml, "From", w->table->from_ns);
    etlheap_xml_attribute_i64(xml, "To", w->table->to_ns);
    etlheap_xml_close(xml);
}

static void begin_table(wpa_writer *w, const wpa_table *table)
{
    etlheap_xml *const xml = &w->xml;
    w->row_count = 0;
    w->count = w->impacting_size = w->size_bytes = 0;
    etlheap_xml_element(xml, "Table");
    etlheap_xml_attribute(xml, "Guid", table->guid);
    etlheap_xml_attribute(xml, "Title", table->title);
    etlheap_xml_attribute(xml, "Kind", etlheap_kind_name(table->kind));
    etlheap_xml_element(xml, "Columns");
    for (u32 i = 0; i < WPA_FIELD_COUNT; i++) {
        const wpa_field_info *const info = wpa_field_of((wpa_field)i);
        if (!has_field(w, table, (wpa_field)i))
            continue;
        etlheap_xml_element(xml, "Column");
        etlheap_xml_attribute(xml, "Attribute", info->attribute);
        etlheap_xml_attribute(xml, "Title", table->columns[i].title);
        etlheap_xml_attribute(xml, "Guid", table->columns[i].guid);
        etlheap_xml_attribute(xml, "Unit", info->unit);
        if (info->aggregation)
            etlheap_xml_attribute(xml, "Aggregation", info->aggregation);
        etlheap_xml_close(xml);
    }
    etlheap_xml_close(xml);
    etlheap_xml_element(xml, "Rows");
}

/* Has the table the field? Not every table has peaks, and a summary has no heaps. */
static bool has_field(const wpa_writer *w, const wpa_table *table, wpa_field field)
{
    const wpa_field_info *const info = wpa_field_of(field);
    if (table->columns[field].guid == NULL ||
        !(w->request->rows ? info->of_lifetimes : info->of_sums))
        return false;
    if (field == WPA_COUNT_PEAK)
        return w->table->measures >> ETLHEAP_MEASURE_PEAK_COUNT & 1;
    if (field == WPA_SIZE_PEAK)
        return w->table->measures >> ETLHEAP_MEASURE_PEAK_SIZE & 1;
    return field != WPA_HANDLE || !etlheap_result_is_summary(w->request->result);
}

static void write_row(wpa_writer *w, const wpa_table *table, const etlheap_row *row,
                      const etlheap_lifetime *lifetime)
{
    etlheap_xml_element(&w->xml, "Row");
    for (u32 i = 0; i < WPA_FIELD_COUNT; i++) {
        if (!has_field(w, table, (wpa_field)i))
            continue;
        if (lifetime && !wpa_field_of((wpa_field)i)->of_sums)
            write_lifetime_cell(w, (wpa_field)i, lifetime);
        else
            write_cell(w, (wpa_field)i, row);
    }
    etlheap_xml_close(&w->xml);
    w->row_count++;
    w->count = etl_sat_add_i64(w->count, row->measures[ETLHEAP_MEASURE_COUNT]);
    w->size_bytes = etl_sat_add_i64(w->size_bytes, row->measures[ETLHEAP_MEASURE_SIZE]);
    w->impacting_size =
        etl_sat_add_i64(w->impacting_size, row->measures[ETLHEAP_MEASURE_IMPACTING_SIZE]);
}

/* Writes a cell. An empty cell of WPA is an absent attribute. */
static void write_cell(wpa_writer *w, wpa_field field, const etlheap_row *row)
{
    static const etlheap_measure measures[WPA_FIELD_COUNT] = {
        [WPA_COUNT] = ETLHEAP_MEASURE_COUNT,
        [WPA_IMPACTING_SIZE] = ETLHEAP_MEASURE_IMPACTING_SIZE,
        [WPA_SIZE] = ETLHEAP_MEASURE_SIZE,
        [WPA_COUNT_PEAK] = ETLHEAP_MEASURE_PEAK_COUNT,
        [WPA_SIZE_PEAK] = ETLHEAP_MEASURE_PEAK_SIZE,
    };
    const char *const name = wpa_field_of(field)->attribute;
    switch (field) {
    case WPA_PROCESS_NAME:
        etlheap_xml_attribute(&w->xml, name, row->process);
        break;
    case WPA_PROCESS:
        etlheap_text_clear(&w->text);
        etlheap_text_add_key(&w->text, w->table, row, ETLHEAP_KEY_PROCESS);
        etlheap_xml_attribute(&w->xml, name, etlheap_text_of(&w->text));
        break;
    case WPA_TYPE:
        etlheap_xml_attribute(&w->xml, name, etlheap_type_name((etlheap_type)row->type));
        break;
    case WPA_IMPACTING_TYPE:
        etlheap_xml_attribute(&w->xml, name, etlheap_impacting_type_name((etlheap_type)row->type));
        break;
    case WPA_HANDLE:
        if (row->has_heap) {
            char heap[ETLHEAP_HEAP_NAME_SIZE];
            etlheap_heap_name(row->heap_handle, heap);
            etlheap_xml_attribute(&w->xml, name, row->heap_name ? row->heap_name : heap);
        }
        break;
    case WPA_STACK: {
        const u32 *const numbers = wpa_frames_of(&w->frames, w->table);
        const u32 node = w->frames.failed ? EXPORT_NO_NODE
                                          : export_tree_stack(&w->tree, EXPORT_NO_NODE, w->table,
                                                              row->stack, numbers);
        if (node != EXPORT_NO_NODE)
            etlheap_xml_attribute_u64(&w->xml, name, node);
        break;
    }
    default:
        if (row->measures[measures[field]] != ETLHEAP_NOT_KNOWN)
            etlheap_xml_attribute_i64(&w->xml, name, row->measures[measures[field]]);
    }
}

static void write_lifetime_cell(wpa_writer *w, wpa_field field, const etlheap_lifetime *lifetime)
{
    const char *const name = wpa_field_of(field)->attribute;
    switch (field) {
    case WPA_THREAD:
        if (lifetime->thread != ETL_NO_ID)
            etlheap_xml_attribute_u64(&w->xml, name, lifetime->thread);
        break;
    case WPA_ADDRESS:
        etlheap_xml_attribute_hex(&w->xml, name, lifetime->address);
        break;
    case WPA_PAGE_ADDRESS:
        etlheap_xml_attribute_hex(&w->xml, name, lifetime->address & PAGE_MASK);
        break;
    case WPA_ALLOC_TIME:
        if (lifetime->alloc_ns != INT64_MIN)
            etlheap_xml_attribute_i64(&w->xml, name, lifetime->alloc_ns);
        break;
    case WPA_FREE_TIME:
        if (lifetime->free_ns != INT64_MAX)
            etlheap_xml_attribute_i64(&w->xml, name, lifetime->free_ns);
        break;
    case WPA_LIFETIME:
        if (lifetime->lifetime_ns != INT64_MAX)
            etlheap_xml_attribute_i64(&w->xml, name, lifetime->lifetime_ns);
        break;
    case WPA_IS_REALLOC:
        etlheap_xml_attribute(&w->xml, name, lifetime->is_realloc ? "true" : "false");
        break;
    default:
        assert(field == WPA_FREE_TYPE);
        etlheap_xml_attribute(&w->xml, name,
                              etlheap_free_type_name((etlheap_free_type)lifetime->free_type));
    }
}

static void end_table(wpa_writer *w)
{
    etlheap_xml_close(&w->xml);
    etlheap_xml_element(&w->xml, "Total");
    etlheap_xml_attribute_u64(&w->xml, "Rows", w->row_count);
    etlheap_xml_attribute_i64(&w->xml, "Count", w->count);
    etlheap_xml_attribute_i64(&w->xml, "ImpactingSize", w->impacting_size);
    etlheap_xml_attribute_i64(&w->xml, "Size", w->size_bytes);
    etlheap_xml_close(&w->xml);
    etlheap_xml_close(&w->xml);
    wpa_frames_next_table(&w->frames);
    export_tree_next_table(&w->tree);
}

static void write_stacks(wpa_writer *w, const etlheap_sink *sink)
{
    etlheap_xml_element(&w->xml, "Stacks");
    for (u32 i = 0; i < wpa_frames_count(&w->frames) && etlheap_sink_ok(sink); i++)
        write_frame(w, i);
    for (u32 i = 0; i < export_tree_count(&w->tree) && etlheap_sink_ok(sink); i++) {
        const u32 parent = export_tree_parent(&w->tree, i);
        etlheap_xml_element(&w->xml, "Node");
        etlheap_xml_attribute_u64(&w->xml, "Id", i);
        if (parent != EXPORT_NO_NODE)
            etlheap_xml_attribute_u64(&w->xml, "Parent", parent);
        etlheap_xml_attribute_u64(&w->xml, "Frame", export_tree_frame(&w->tree, i));
        etlheap_xml_close(&w->xml);
    }
    etlheap_xml_close(&w->xml);
}

static void write_frame(wpa_writer *w, u32 number)
{
    const etlheap_frame *const frame = &w->frames.frames[number];
    etlheap_xml *const xml = &w->xml;
    etlheap_xml_element(xml, "Frame");
    etlheap_xml_attribute_u64(xml, "Id", number);
    if (frame->module) {
        etlheap_xml_attribute(xml, "Module", frame->module);
        if (frame->offset != ETLHEAP_NO_ADDRESS)
            etlheap_xml_attribute_hex(xml, "Offset", frame->offset);
    }
    if (frame->address != ETLHEAP_NO_ADDRESS)
        etlheap_xml_attribute_hex(xml, "Address", frame->address);
    if (frame->symbol)
        etlheap_xml_attribute(xml, "Symbol", frame->symbol);
    if (frame->is_nearest)
        etlheap_xml_attribute_hex(xml, "Displacement", frame->displacement);
    if (frame->file)
        etlheap_xml_attribute(xml, "File", frame->file);
    if (frame->line != 0)
        etlheap_xml_attribute_u64(xml, "Line", frame->line);
    if (frame->is_inlined)
        etlheap_xml_attribute(xml, "Inlined", "true");
    etlheap_xml_close(xml);
}

static void end_document(wpa_writer *w, const etlheap_sink *sink)
{
    if (!w->frames.failed && !w->tree.failed)
        write_stacks(w, sink);
    char sentence[ETLHEAP_SENTENCE_SIZE];
    etlheap_xml_element(&w->xml, "Diagnostics");
    for (int i = 0; i < ETL_DIAG_COUNT; i++) {
        const etl_diag_info *const info = etl_diag_describe((etl_diag)i);
        if (w->diagnostics.of[i] == 0)
            continue;
        etlheap_xml_element(&w->xml, "Diagnostic");
        etlheap_xml_attribute(&w->xml, "Name", info->name);
        etlheap_xml_attribute(&w->xml, "Severity", etl_severity_name(info->severity));
        etlheap_xml_attribute_u64(&w->xml, "Count", w->diagnostics.of[i]);
        etlheap_diag_sentence((etl_diag)i, w->request->hint, sentence);
        etlheap_xml_attribute(&w->xml, "Advice", sentence);
        etlheap_xml_close(&w->xml);
    }
    etlheap_xml_close(&w->xml);
    etlheap_xml_close(&w->xml);
}
