/*
 * record_view.c - reads the fields of a record's event as values to write.
 *
 * In: an etl_event and the description of a field (offset, type). Out: an etlheap_value: number,
 * text, frames, ranges, bytes. Both dumps use it.
 *
 * Invariant: members are copied by offset, so a field's stated type must be that of its member in
 * etl_event; describe.c lists them, and nothing checks that. Stacks of EVENT records come from
 * hostile bytes, so they are read through a cursor.
 */
#include "record_view.h"

#include "formats/io/text_buffer.h"
#include "parser/cursor.h"

/*
 * Extended items with frames: u64 match id, then addresses of 4 or 8 bytes. The
 * width is the item's own, not that of the record.
 * Source: Windows SDK evntcons.h, EVENT_HEADER_EXT_TYPE_STACK_TRACE32 and 64.
 */
#define ITEM_STACK_TRACE32 5
#define ITEM_STACK_TRACE64 6

static u32 load_u32(const etl_event *event, const etl_field *field);
static u64 load_u64(const etl_event *event, const etl_field *field);
static etl_bytes load_bytes(const etl_event *event, const etl_field *field);
static etlheap_value load_frames(const etl_event *event, const etl_field *field);
static etlheap_value load_ranges(const etl_event *event, const etl_field *field);
static void load_guid(const etl_event *event, const etl_field *field, etlheap_text *scratch);

etlheap_value etlheap_value_of(const etl_event *event, const etl_field *field,
                               etlheap_text *scratch)
{
    const char *const at = (const char *)event + field->offset;
    etlheap_value value = { .kind = ETLHEAP_VALUE_UNSIGNED };
    etlheap_text_clear(scratch);
    switch ((etl_field_type)field->type) {
    case ETL_FIELD_U16: {
        u16 number;
        memcpy(&number, at, sizeof number);
        value.number = number;
        break;
    }
    case ETL_FIELD_U32:
        value.number = load_u32(event, field);
        break;
    case ETL_FIELD_U64:
        value.number = load_u64(event, field);
        break;
    case ETL_FIELD_I32:
        value.kind = ETLHEAP_VALUE_SIGNED;
        value.signed_number = (i32)load_u32(event, field);
        break;
    case ETL_FIELD_I64:
        value.kind = ETLHEAP_VALUE_SIGNED;
        value.signed_number = (i64)load_u64(event, field);
        break;
    case ETL_FIELD_HEX32:
        value.kind = ETLHEAP_VALUE_HEX;
        value.number = load_u32(event, field);
        break;
    case ETL_FIELD_HEX64:
        value.kind = ETLHEAP_VALUE_HEX;
        value.number = load_u64(event, field);
        break;
    case ETL_FIELD_GUID:
        value.kind = ETLHEAP_VALUE_TEXT;
        load_guid(event, field, scratch);
        break;
    case ETL_FIELD_TEXT8:
        value.kind = ETLHEAP_VALUE_TEXT;
        etlheap_text_add_text8(scratch, load_bytes(event, field));
        break;
    case ETL_FIELD_TEXT16:
        value.kind = ETLHEAP_VALUE_TEXT;
        etlheap_text_add_utf16(scratch, load_bytes(event, field));
        break;
    case ETL_FIELD_FRAMES:
        return load_frames(event, field);
    case ETL_FIELD_RANGES:
        return load_ranges(event, field);
    case ETL_FIELD_WS_ROWS:
        value.kind = ETLHEAP_VALUE_WORKING_SETS;
        value.working_sets = &event->as.meminfo_ws;
        value.of_sessions = event->kind == ETL_EVENT_MEMINFO_SESSION_WS;
        value.count = event->as.meminfo_ws.count;
        value.width = event->pointer_bytes;
        break;
    }
    return value;
}

u64 etlheap_value_frame(const etlheap_value *value, u32 index)
{
    assert(index < value->count);
    return etl_frame_at(value->at, value->width, index);
}

void etlheap_value_range(const etlheap_value *value, u32 index, u64 *address, u64 *size_bytes)
{
    assert(index < value->count);
    *address = etl_frame_at(value->at, value->width, index * 2);
    *size_bytes = etl_frame_at(value->at, value->width, index * 2 + 1);
}

bool etlheap_value_stack(etl_bytes *items, etlheap_value *out)
{
    etl_item item;
    while (etl_item_next(items, &item)) {
        if (item.type != ITEM_STACK_TRACE32 && item.type != ITEM_STACK_TRACE64)
            continue;
        etl_cursor cursor = etl_cursor_of(item.data);
        etl_skip(&cursor, 8); /* the match id */
        const etl_bytes frames = etl_rest(&cursor);
        const u32 width = item.type == ITEM_STACK_TRACE32 ? 4 : 8;
        *out = (etlheap_value){
            .kind = ETLHEAP_VALUE_FRAMES,
            .count = (u32)(frames.size / width),
            .width = width,
            .at = frames.at,
        };
        return true;
    }
    return false;
}

/* Loads a member by its offset: the compiler does not know the types of described fields. */
static u32 load_u32(const etl_event *event, const etl_field *field)
{
    u32 value;
    memcpy(&value, (const char *)event + field->offset, sizeof value);
    return value;
}

static u64 load_u64(const etl_event *event, const etl_field *field)
{
    u64 value;
    memcpy(&value, (const char *)event + field->offset, sizeof value);
    return value;
}

static etl_bytes load_bytes(const etl_event *event, const etl_field *field)
{
    etl_bytes value;
    memcpy(&value, (const char *)event + field->offset, sizeof value);
    return value;
}

/* Stack structs end with these three members, one after the other. */
static etlheap_value load_frames(const etl_event *event, const etl_field *field)
{
    struct {
        u32 frame_count;
        u32 frame_bytes;
        const u8 *frames;
    } stack;
    static_assert(offsetof(etl_stack_event, frames) - offsetof(etl_stack_event, frame_count) == 8,
                  "count, width and frames are neighbours");
    static_assert(
        offsetof(etl_stack_definition, frames) - offsetof(etl_stack_definition, frame_count) == 8,
        "count, width and frames are neighbours");
    memcpy(&stack, (const char *)event + field->offset, sizeof stack);
    return (etlheap_value){
        .kind = ETLHEAP_VALUE_FRAMES,
        .count = stack.frame_count,
        .width = stack.frame_bytes,
        .at = stack.frames,
    };
}

/* Loads pairs. An odd rest of a cut array is not a pair and is not shown. */
static etlheap_value load_ranges(const etl_event *event, const etl_field *field)
{
    const etl_bytes bytes = load_bytes(event, field);
    const u32 width = event->pointer_bytes == 4 ? 4 : 8;
    return (etlheap_value){
        .kind = ETLHEAP_VALUE_RANGES,
        .count = (u32)(bytes.size / (width * (size_t)2)),
        .width = width,
        .at = bytes.at,
    };
}

static void load_guid(const etl_event *event, const etl_field *field, etlheap_text *scratch)
{
    char text[ETL_GUID_TEXT_SIZE];
    etl_guid_format((const u8 *)event + field->offset, text);
    etlheap_text_add_string(scratch, text);
}
