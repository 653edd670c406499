/*
 * text_dump.c - writes one line for each record.
 *
 * In: a record with its header, decoded event and description. Out: a line:
 *
 *     1.234567800   3    4321    8888  Heap/Alloc  heap_handle=0x1f0000 alloc_size=24
 *     time        CPU    pid     tid   name        fields
 *
 * Columns are as wide as usual values need. Invariant: a line is never cut, and fields are
 * name=value with single spaces, so that lines can be searched and split.
 */
#include "formats/io/text_buffer.h"
#include "formats/io/units.h"
#include "formats/parts/described_view.h"
#include "formats/parts/display.h"
#include "formats/parts/record_view.h"
#include "formats/writers.h"

#include <inttypes.h>

#define NAME_COLUMNS 24

static void write_id(etlheap_sink *sink, u32 id);
static size_t write_name(const etl_record *record, etlheap_sink *sink);
static void write_fields(const etl_event *event, etlheap_text *scratch, etlheap_sink *sink);
static size_t write_described_name(const etlheap_stream_record *stream, etlheap_text *scratch,
                                   etlheap_sink *sink);
static void write_described(const etlheap_stream_record *stream, etlheap_text *scratch,
                            etlheap_sink *sink);
static void write_value(const etlheap_value *value, const etlheap_text *scratch,
                        etlheap_sink *sink);
static void write_frames(const etlheap_value *value, const char *separator, etlheap_sink *sink);
static void write_ranges(const etlheap_value *value, etlheap_sink *sink);
static void write_working_sets(const etlheap_value *value, etlheap_sink *sink);
static void write_stack(const etl_record *record, etlheap_sink *sink);

void etlheap_write_dump_head_text(etlheap_sink *sink)
{
    etlheap_sink_text(sink, "    Time (s)  CPU     PID     TID  Event, payload bytes, fields\n");
}

etl_status etlheap_write_record_text(const etlheap_stream_record *record, const etl_event *event,
                                     etlheap_text *scratch, etlheap_sink *sink)
{
    char time[ETLHEAP_UNITS_SIZE];
    etlheap_units_seconds(record->time_ns, time);
    etlheap_sink_format(sink, "%12s %4" PRId32, time, record->record.cpu);
    write_id(sink, record->record.pid);
    write_id(sink, record->record.tid);
    etlheap_sink_text(sink, "  ");
    const bool is_ours = event->kind != ETL_EVENT_NONE;
    const bool is_described = !is_ours && record->description.source != ETL_DESCRIPTION_NONE;
    const size_t size = is_described ? write_described_name(record, scratch, sink)
                                     : write_name(&record->record, sink);
    etlheap_sink_fill(sink, ' ', size < NAME_COLUMNS ? NAME_COLUMNS - size : 0);
    etlheap_sink_format(sink, " %6zu", record->record.payload.size);
    if (is_ours)
        write_fields(event, scratch, sink);
    else if (is_described)
        write_described(record, scratch, sink);
    write_stack(&record->record, sink);
    etlheap_sink_text(sink, "\n");
    return scratch->failed ? ETL_ERR_MEMORY : ETL_OK;
}

static void write_id(etlheap_sink *sink, u32 id)
{
    if (id == ETL_NO_ID)
        etlheap_sink_text(sink, "       -");
    else
        etlheap_sink_format(sink, " %7" PRIu32, id);
}

/* Writes the record's name, else its hook, else its provider (name or GUID) and event id. Returns
 * the columns. */
static size_t write_name(const etl_record *record, etlheap_sink *sink)
{
    const char *const name = etl_record_name(record);
    const char *const provider = record->provider ? etl_provider_name(record->provider) : NULL;
    char guid[ETL_GUID_TEXT_SIZE] = "message";
    if (name && name != provider) {
        etlheap_sink_text(sink, name);
        return strlen(name);
    }
    if (record->has_hook) {
        etlheap_sink_format(sink, "0x%04" PRIx16, record->hook);
        return 6;
    }
    if (record->provider)
        etl_guid_format(record->provider, guid);
    etlheap_sink_format(sink, "%s/%" PRIu16 "/%u", name ? name : guid, record->id, record->opcode);
    return NAME_COLUMNS;
}

/* name=value with single spaces: easy to search, and to cut with awk. */
static void write_fields(const etl_event *event, etlheap_text *scratch, etlheap_sink *sink)
{
    const etl_event_info *const info = etl_event_describe(event->kind);
    for (size_t i = 0; i < info->field_count; i++) {
        const etlheap_value value = etlheap_value_of(event, &info->fields[i], scratch);
        etlheap_sink_text(sink, i == 0 ? "  " : " ");
        etlheap_sink_text(sink, info->fields[i].name);
        etlheap_sink_text(sink, "=");
        write_value(&value, scratch, sink);
    }
}

static void write_value(const etlheap_value *value, const etlheap_text *scratch, etlheap_sink *sink)
{
    switch (value->kind) {
    case ETLHEAP_VALUE_UNSIGNED:
        etlheap_sink_unsigned(sink, value->number);
        break;
    case ETLHEAP_VALUE_SIGNED:
        etlheap_sink_signed(sink, value->signed_number);
        break;
    case ETLHEAP_VALUE_HEX:
        etlheap_sink_text(sink, "0x");
        etlheap_sink_hex(sink, value->number, 1);
        break;
    case ETLHEAP_VALUE_TEXT:
        etlheap_sink_text(sink, "\"");
        etlheap_sink_printable(sink, etlheap_text_of(scratch), scratch->size);
        etlheap_sink_text(sink, "\"");
        break;
    case ETLHEAP_VALUE_FRAMES:
        etlheap_sink_text(sink, "[");
        write_frames(value, "", sink);
        etlheap_sink_text(sink, "]");
        break;
    case ETLHEAP_VALUE_RANGES:
        write_ranges(value, sink);
        break;
    case ETLHEAP_VALUE_WORKING_SETS:
        write_working_sets(value, sink);
        break;
    }
}

/* Returns the columns, as write_name does. */
static size_t write_described_name(const etlheap_stream_record *stream, etlheap_text *scratch,
                                   etlheap_sink *sink)
{
    etlheap_text_clear(scratch);
    etlheap_text_add_event(scratch, &stream->record, &stream->description);
    etlheap_sink_printable(sink, etlheap_text_of(scratch), scratch->size);
    return etlheap_display_width(etlheap_text_of(scratch), scratch->size);
}

static void write_described_value(const etl_value *value, etlheap_text *scratch, etlheap_sink *sink)
{
    char number[ETLHEAP_UNITS_SIZE];
    const bool is_text = value->type == ETL_VALUE_TEXT8 || value->type == ETL_VALUE_TEXT16;
    switch ((etl_value_type)value->type) {
    case ETL_VALUE_UNSIGNED:
        etlheap_sink_unsigned(sink, value->number);
        return;
    case ETL_VALUE_SIGNED:
        etlheap_sink_signed(sink, (i64)value->number);
        return;
    case ETL_VALUE_HEX:
        etlheap_sink_text(sink, "0x");
        etlheap_sink_hex(sink, value->number, 1);
        return;
    case ETL_VALUE_BOOL:
        etlheap_sink_text(sink, value->number != 0 ? "true" : "false");
        return;
    case ETL_VALUE_REAL:
        etlheap_units_real(value->real, number);
        etlheap_sink_text(sink, number);
        return;
    default:
        break;
    }
    etlheap_text_clear(scratch);
    etlheap_text_add_value(scratch, value);
    etlheap_sink_text(sink, is_text ? "\"" : "");
    etlheap_sink_printable(sink, etlheap_text_of(scratch), scratch->size);
    etlheap_sink_text(sink, is_text ? "\"" : "");
}

/* "2 (Foreground)" */
static void write_map_names(const etl_value *value, etlheap_text *scratch, etlheap_sink *sink)
{
    etlheap_text_clear(scratch);
    if (!etlheap_text_add_map_names(scratch, value))
        return;
    etlheap_sink_text(sink, " (");
    etlheap_sink_printable(sink, etlheap_text_of(scratch), scratch->size);
    etlheap_sink_text(sink, ")");
}

/* name=value as for other events; arrays in [], structures in {}. */
static void write_described(const etlheap_stream_record *stream, etlheap_text *scratch,
                            etlheap_sink *sink)
{
    etl_walk walk;
    etl_step step;
    char closing[ETL_WALK_DEPTH_MAX + 1] = ""; /* by depth */
    u32 depth = 0;
    const char *separator = "  ";
    etl_walk_begin(&walk, &stream->record, &stream->description, stream->diag);
    while (!scratch->failed && etl_walk_next(&walk, &step)) {
        if (step.kind == ETL_STEP_CLOSE) {
            etlheap_sink_write(sink, &closing[depth--], 1);
            separator = " ";
            continue;
        }
        etlheap_sink_text(sink, separator);
        separator = " ";
        if (step.name.bytes.size > 0) {
            etlheap_text_clear(scratch);
            etlheap_text_add_label(scratch, step.name);
            etlheap_sink_printable(sink, etlheap_text_of(scratch), scratch->size);
            etlheap_sink_text(sink, "=");
        }
        if (step.kind == ETL_STEP_VALUE) {
            write_described_value(&step.value, scratch, sink);
            write_map_names(&step.value, scratch, sink);
            continue;
        }
        const bool is_array = step.kind == ETL_STEP_ARRAY;
        closing[++depth] = is_array ? ']' : '}';
        etlheap_sink_text(sink, is_array ? "[" : "{");
        separator = "";
    }
}

static void write_frames(const etlheap_value *value, const char *separator, etlheap_sink *sink)
{
    for (u32 i = 0; i < value->count; i++) {
        etlheap_sink_text(sink, i > 0 ? " " : separator);
        etlheap_sink_text(sink, "0x");
        etlheap_sink_hex(sink, etlheap_value_frame(value, i), 1);
    }
}

/* address+size */
static void write_ranges(const etlheap_value *value, etlheap_sink *sink)
{
    etlheap_sink_text(sink, "[");
    for (u32 i = 0; i < value->count; i++) {
        u64 address;
        u64 size_bytes;
        etlheap_value_range(value, i, &address, &size_bytes);
        etlheap_sink_format(sink, "%s0x%" PRIx64 "+%" PRIu64, i > 0 ? " " : "", address,
                            size_bytes);
    }
    etlheap_sink_text(sink, "]");
}

/* Commit and working set of each process, in pages. */
static void write_working_sets(const etlheap_value *value, etlheap_sink *sink)
{
    etlheap_sink_text(sink, "[");
    for (u32 i = 0; i < value->count; i++) {
        etl_meminfo_ws_row row;
        if (!etl_meminfo_ws_entry(value->working_sets, (u8)value->width, i, &row))
            break;
        etlheap_sink_format(sink, "%s%" PRIu32 ":%" PRIu64 "/%" PRIu64, i > 0 ? " " : "",
                            row.process_id, row.commit_pages, row.working_set_pages);
    }
    etlheap_sink_text(sink, "]");
}

/* Kernel and user pieces of an EVENT record, as one list. */
static void write_stack(const etl_record *record, etlheap_sink *sink)
{
    etl_bytes items = record->items;
    etlheap_value piece;
    if (!etlheap_value_stack(&items, &piece))
        return;
    etlheap_sink_text(sink, "  stack=[");
    write_frames(&piece, "", sink);
    while (etlheap_value_stack(&items, &piece))
        write_frames(&piece, " ", sink);
    etlheap_sink_text(sink, "]");
}
