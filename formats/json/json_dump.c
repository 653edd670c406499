/*
 * json_dump.c - one JSON object a line for each record.
 */
#include "formats/io/text_buffer.h"
#include "formats/parts/record_view.h"
#include "formats/writers.h"
#include "json.h"

static void write_header(etlheap_json *json, const etlheap_stream_record *record);
static void write_id(etlheap_json *json, const char *key, u32 id);
static void write_provider(etlheap_json *json, const etl_record *record);
static void write_fields(etlheap_json *json, const etl_event *event, etlheap_text *scratch);
static void write_value(etlheap_json *json, const char *key, const etlheap_value *value,
                        const etlheap_text *scratch);
static void write_frames(etlheap_json *json, const etlheap_value *value);
static void write_ranges(etlheap_json *json, const etlheap_value *value);
static void write_working_sets(etlheap_json *json, const etlheap_value *value);
static void write_stack(etlheap_json *json, const etl_record *record);

etl_status etlheap_write_record_json(const etlheap_stream_record *record, const etl_event *event,
                                     etlheap_text *scratch, etlheap_sink *sink)
{
    etlheap_json json = etlheap_json_begin(sink, 0);
    const char *const name = etl_record_name(&record->record);
    etlheap_json_object(&json, NULL);
    write_header(&json, record);
    if (name)
        etlheap_json_string(&json, "name", name);
    if (event->kind != ETL_EVENT_NONE)
        write_fields(&json, event, scratch);
    write_stack(&json, &record->record);
    etlheap_json_object_close(&json);
    etlheap_json_end(&json);
    return scratch->failed ? ETL_ERR_MEMORY : ETL_OK;
}

/* `ts` is the record's own clock as it stands in the file, also when several
 * clocks were brought together for the order. */
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

/* The parser says which fields an event has: nothing here knows any event. */
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
        etlheap_json_u64(json, "process_id", row.process_id);
        etlheap_json_u64(json, "working_set_pages", row.working_set_pages);
        etlheap_json_u64(json, "commit_pages", row.commit_pages);
        etlheap_json_u64(json, "virtual_size_pages", row.virtual_size_pages);
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
