/*
 * json_dump.c - writes one JSON object for each record, one in a line.
 *
 * In: a record with its header, decoded event and description. Out: a line of JSON.
 *
 * The fields of decoded events come from the parser's lists (describe.c); those of other events
 * from the descriptions in the trace. So nothing here knows a particular event. Invariant: values
 * keep their type: a number with a name stays a number, and its name stands beside it.
 */
#include "formats/io/text_buffer.h"
#include "formats/parts/described_view.h"
#include "formats/parts/record_view.h"
#include "formats/writers.h"
#include "json.h"

static void write_header(etlheap_json *json, const etlheap_stream_record *record);
static void write_id(etlheap_json *json, const char *key, u32 id);
static void write_provider(etlheap_json *json, const etl_record *record);
static void write_fields(etlheap_json *json, const etl_event *event, etlheap_text *scratch);
static void write_value(etlheap_json *json, const char *key, const etlheap_value *value,
                        const etlheap_text *scratch);
static void write_name(etlheap_json *json, const etlheap_stream_record *stream, bool is_described,
                       etlheap_text *scratch);
static void write_described(etlheap_json *json, const etlheap_stream_record *stream,
                            etlheap_text *scratch);
static void write_frames(etlheap_json *json, const etlheap_value *value);
static void write_ranges(etlheap_json *json, const etlheap_value *value);
static void write_working_sets(etlheap_json *json, const etlheap_value *value);
static void write_stack(etlheap_json *json, const etl_record *record);

etl_status etlheap_write_record_json(const etlheap_stream_record *record, const etl_event *event,
                                     etlheap_text *scratch, etlheap_sink *sink)
{
    etlheap_json json = etlheap_json_begin(sink, 0);
    const bool is_ours = event->kind != ETL_EVENT_NONE;
    const bool is_described = !is_ours && record->description.source != ETL_DESCRIPTION_NONE;
    etlheap_json_object(&json, NULL);
    write_header(&json, record);
    write_name(&json, record, is_described, scratch);
    if (is_ours)
        write_fields(&json, event, scratch);
    else if (is_described)
        write_described(&json, record, scratch);
    write_stack(&json, &record->record);
    etlheap_json_object_close(&json);
    etlheap_json_end(&json);
    return scratch->failed ? ETL_ERR_MEMORY : ETL_OK;
}

/* Writes the header. `ts` is the record's own clock as it is in the file, even if several clocks
 * were aligned to sort records. */
static void write_header(etlheap_json *json, const etlheap_stream_record *stream)
{
    const etl_record *const record = &stream->record;
    etlheap_json_i64(json, "ts", record->ticks);
    etlheap_json_i64(json, "time_ns", stream->time_ns);
    etlheap_json_i64(json, "cpu", record->cpu);
    write_id(json, "pid", record->pid);
    write_id(json, "tid", record->tid);
    etlheap_json_string(json, "header", etl_header_kind_name((etl_header_kind)record->header));
    if (record->has_hook)
        etlheap_json_hex(json, "hook", record->hook, 4);
    else
        write_provider(json, record);
    etlheap_json_u64(json, "version", record->version);
    etlheap_json_u64(json, "payload_bytes", record->payload.size);
}

/* Ids that a header does not carry are null rather than a number. */
static void write_id(etlheap_json *json, const char *key, u32 id)
{
    if (id == ETL_NO_ID)
        etlheap_json_null(json, key);
    else
        etlheap_json_u64(json, key, id);
}

/* For all headers without a hook id; some messages have no GUID either. */
static void write_provider(etlheap_json *json, const etl_record *record)
{
    if (record->provider) {
        char guid[ETL_GUID_TEXT_SIZE];
        etl_guid_format(record->provider, guid);
        etlheap_json_string(json, "provider", guid);
    } else {
        etlheap_json_null(json, "provider");
    }
    etlheap_json_u64(json, "id", record->id);
    etlheap_json_u64(json, "opcode", record->opcode);
}

/* Writes the fields that the parser lists for the event. */
static void write_fields(etlheap_json *json, const etl_event *event, etlheap_text *scratch)
{
    const etl_event_info *const info = etl_event_describe(event->kind);
    etlheap_json_object(json, "fields");
    for (size_t i = 0; i < info->field_count; i++) {
        const etlheap_value value = etlheap_value_of(event, &info->fields[i], scratch);
        write_value(json, info->fields[i].name, &value, scratch);
    }
    etlheap_json_object_close(json);
}

static void write_value(etlheap_json *json, const char *key, const etlheap_value *value,
                        const etlheap_text *scratch)
{
    switch (value->kind) {
    case ETLHEAP_VALUE_UNSIGNED:
        etlheap_json_u64(json, key, value->number);
        break;
    case ETLHEAP_VALUE_SIGNED:
        etlheap_json_i64(json, key, value->signed_number);
        break;
    case ETLHEAP_VALUE_HEX:
        etlheap_json_hex(json, key, value->number, 1);
        break;
    case ETLHEAP_VALUE_TEXT:
        etlheap_json_string_bytes(json, key, etlheap_text_of(scratch), scratch->size);
        break;
    case ETLHEAP_VALUE_FRAMES:
        etlheap_json_array(json, key);
        write_frames(json, value);
        etlheap_json_array_close(json);
        break;
    case ETLHEAP_VALUE_RANGES:
        etlheap_json_array(json, key);
        write_ranges(json, value);
        etlheap_json_array_close(json);
        break;
    case ETLHEAP_VALUE_WORKING_SETS:
        etlheap_json_array(json, key);
        write_working_sets(json, value);
        etlheap_json_array_close(json);
        break;
    }
}

static void write_name(etlheap_json *json, const etlheap_stream_record *stream, bool is_described,
                       etlheap_text *scratch)
{
    const char *const name = etl_record_name(&stream->record);
    if (!is_described) {
        if (name)
            etlheap_json_string(json, "name", name);
        return;
    }
    etlheap_text_clear(scratch);
    etlheap_text_add_event(scratch, &stream->record, &stream->description);
    etlheap_json_string_bytes(json, "name", etlheap_text_of(scratch), scratch->size);
}

/* Text is converted into the scratch. */
static void write_described_value(etlheap_json *json, const etl_value *value, etlheap_text *scratch)
{
    switch ((etl_value_type)value->type) {
    case ETL_VALUE_UNSIGNED:
        etlheap_json_u64(json, NULL, value->number);
        break;
    case ETL_VALUE_SIGNED:
        etlheap_json_i64(json, NULL, (i64)value->number);
        break;
    case ETL_VALUE_HEX:
        etlheap_json_hex(json, NULL, value->number, 1);
        break;
    case ETL_VALUE_BOOL:
        etlheap_json_bool(json, NULL, value->number != 0);
        break;
    case ETL_VALUE_REAL:
        etlheap_json_real(json, NULL, value->real);
        break;
    default:
        etlheap_text_clear(scratch);
        etlheap_text_add_value(scratch, value);
        etlheap_json_string_bytes(json, NULL, etlheap_text_of(scratch), scratch->size);
        break;
    }
}

/* Writes the names of a number beside it, so that it stays a number. */
static void write_map_names(etlheap_json *json, const etl_step *step, etlheap_text *scratch)
{
    etlheap_text_clear(scratch);
    etlheap_text_add_label(scratch, step->name);
    etlheap_text_add_string(scratch, "_name");
    const size_t name_size = scratch->size;
    if (!etlheap_text_add_map_names(scratch, &step->value))
        return;
    const char *const text = etlheap_text_of(scratch);
    etlheap_json_name(json, text, etl_min_u64(name_size, scratch->size));
    etlheap_json_string_bytes(json, NULL, text + name_size, scratch->size - name_size);
}

/* Writes described fields. Names are the file's, so two fields may have the same one. */
static void write_described(etlheap_json *json, const etlheap_stream_record *stream,
                            etlheap_text *scratch)
{
    etl_walk walk;
    etl_step step;
    bool is_array[ETL_WALK_DEPTH_MAX + 1] = { false }; /* by depth: what is open */
    u32 depth = 0;
    etlheap_json_object(json, "fields");
    etl_walk_begin(&walk, &stream->record, &stream->description, stream->diag);
    while (!scratch->failed && etl_walk_next(&walk, &step)) {
        if (step.kind == ETL_STEP_CLOSE) {
            if (is_array[depth])
                etlheap_json_array_close(json);
            else
                etlheap_json_object_close(json);
            depth--;
            continue;
        }
        if (!is_array[depth]) {
            etlheap_text_clear(scratch);
            etlheap_text_add_label(scratch, step.name);
            etlheap_json_name(json, etlheap_text_of(scratch), scratch->size);
        }
        if (step.kind == ETL_STEP_VALUE) {
            write_described_value(json, &step.value, scratch);
            if (!is_array[depth] && step.value.map != NULL)
                write_map_names(json, &step, scratch);
            continue;
        }
        is_array[++depth] = step.kind == ETL_STEP_ARRAY;
        if (is_array[depth])
            etlheap_json_array(json, NULL);
        else
            etlheap_json_object(json, NULL);
    }
    for (; depth > 0; depth--) {
        if (is_array[depth])
            etlheap_json_array_close(json);
        else
            etlheap_json_object_close(json);
    }
    etlheap_json_object_close(json);
}

static void write_frames(etlheap_json *json, const etlheap_value *value)
{
    for (u32 i = 0; i < value->count; i++)
        etlheap_json_hex(json, NULL, etlheap_value_frame(value, i), 1);
}

static void write_ranges(etlheap_json *json, const etlheap_value *value)
{
    for (u32 i = 0; i < value->count; i++) {
        u64 address;
        u64 size_bytes;
        etlheap_value_range(value, i, &address, &size_bytes);
        etlheap_json_object(json, NULL);
        etlheap_json_hex(json, "address", address, 1);
        etlheap_json_u64(json, "size", size_bytes);
        etlheap_json_object_close(json);
    }
}

/* The layout of the rows differs by version, so the parser reads them. */
static void write_working_sets(etlheap_json *json, const etlheap_value *value)
{
    for (u32 i = 0; i < value->count; i++) {
        etl_meminfo_ws_row row;
        if (!etl_meminfo_ws_entry(value->working_sets, (u8)value->width, i, &row))
            break;
        etlheap_json_object(json, NULL);
        etlheap_json_u64(json, value->of_sessions ? "session_id" : "process_id", row.process_id);
        etlheap_json_u64(json, "working_set_pages", row.working_set_pages);
        etlheap_json_u64(json, "commit_pages", row.commit_pages);
        etlheap_json_u64(json, value->of_sessions ? "paged_pool_pages" : "virtual_size_pages",
                         row.virtual_size_pages);
        etlheap_json_u64(json, "private_working_set_pages", row.private_working_set_pages);
        etlheap_json_object_close(json);
    }
}

/* A kernel and a user piece of one stack are one array. */
static void write_stack(etlheap_json *json, const etl_record *record)
{
    etl_bytes items = record->items;
    etlheap_value piece;
    if (!etlheap_value_stack(&items, &piece))
        return;
    etlheap_json_array(json, "stack");
    do {
        write_frames(json, &piece);
    } while (etlheap_value_stack(&items, &piece));
    etlheap_json_array_close(json);
}
