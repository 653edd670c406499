/*
 * etl_build_break.c - replaces one named field of a file that the builder writes, so that tests can
 * damage it.
 *
 * In: a field, the index of the buffer, record or session, and a value. Out: changed bytes, just
 * before they are written.
 *
 * Every field is a row of `places`: offset and width. The few that are not plain fields (cut bytes,
 * one byte anywhere) are treated by name. Invariant: the rest of the file stays as a sound one has
 * it, so a test sees the effect of one wrong field.
 */
#include "etl_build_inside.h"

typedef enum break_scope { SCOPE_BUFFER, SCOPE_RECORD, SCOPE_SESSION, SCOPE_FILE } break_scope;

typedef struct break_row {
    const char *name;
    break_scope scope;
} break_row;

static const break_row rows[ETL_BREAK_COUNT] = {
#define ROW(name, scope) [ETL_BREAK_##name] = { #name, SCOPE_##scope },
    ETL_BUILD_BREAKS(ROW)
#undef ROW
};

typedef struct break_place {
    u16 offset;    /* with 8-byte pointers where it matters */
    u16 offset_32; /* with 4-byte pointers */
    u8 width;      /* 0: no plain field */
} break_place;

static const break_place places[ETL_BREAK_COUNT] = {
    [ETL_BREAK_BUFFER_SIZE] = { 0x00, 0x00, 4 },
    [ETL_BREAK_BUFFER_SAVED_OFFSET] = { 0x04, 0x04, 4 },
    [ETL_BREAK_BUFFER_CURRENT_OFFSET] = { 0x08, 0x08, 4 },
    [ETL_BREAK_BUFFER_REFERENCE_COUNT] = { 0x0C, 0x0C, 4 },
    [ETL_BREAK_BUFFER_TIMESTAMP] = { 0x10, 0x10, 8 },
    [ETL_BREAK_BUFFER_SEQUENCE] = { 0x18, 0x18, 8 },
    [ETL_BREAK_BUFFER_CPU] = { 0x28, 0x28, 2 },
    [ETL_BREAK_BUFFER_LOGGER_ID] = { 0x2A, 0x2A, 2 },
    [ETL_BREAK_BUFFER_STATE] = { 0x2C, 0x2C, 4 },
    [ETL_BREAK_BUFFER_OFFSET] = { 0x30, 0x30, 4 },
    [ETL_BREAK_BUFFER_FLAGS] = { 0x34, 0x34, 2 },
    [ETL_BREAK_BUFFER_TYPE] = { 0x36, 0x36, 2 },
    [ETL_BREAK_RECORD_TYPE] = { 2, 2, 1 },
    [ETL_BREAK_RECORD_MARKER] = { 3, 3, 1 },
    [ETL_BREAK_RECORD_HOOK] = { 6, 6, 2 },
    [ETL_BREAK_RECORD_VERSION] = { 0, 0, 2 },
    [ETL_BREAK_SESSION_BUFFER_SIZE] = { 0x00, 0x00, 4 },
    [ETL_BREAK_SESSION_CPU_COUNT] = { 0x0C, 0x0C, 4 },
    [ETL_BREAK_SESSION_END_TIME] = { 0x10, 0x10, 8 },
    [ETL_BREAK_SESSION_LOG_FILE_MODE] = { 0x20, 0x20, 4 },
    [ETL_BREAK_SESSION_BUFFERS_WRITTEN] = { 0x24, 0x24, 4 },
    [ETL_BREAK_SESSION_POINTER_SIZE] = { 0x2C, 0x2C, 4 },
    [ETL_BREAK_SESSION_EVENTS_LOST] = { 0x30, 0x30, 4 },
    [ETL_BREAK_SESSION_CPU_MHZ] = { 0x34, 0x34, 4 },
    [ETL_BREAK_SESSION_FREQUENCY] = { 0x100, 0xF8, 8 },
    [ETL_BREAK_SESSION_START_TIME] = { 0x108, 0x100, 8 },
    [ETL_BREAK_SESSION_CLOCK] = { 0x110, 0x108, 4 },
    [ETL_BREAK_SESSION_BUFFERS_LOST] = { 0x114, 0x10C, 4 },
};

static build_break *next_match(etl_build *b, build_break *after, break_scope scope, u64 index);
static void set_field(u8 *bytes, u32 size, u32 offset, u32 width, u64 value);
static void set_byte(u8 *bytes, u32 size, u32 base, u64 value);
static void break_record_field(const build_break *one, u8 *bytes, u32 *size);
static bool size_leads(const u8 *record);

void etl_build_break(etl_build *b, etl_build_field field, u64 index, u64 value)
{
    if (!build_ok(b))
        return;
    if (b->break_count == BUILD_BREAK_MAX || field >= ETL_BREAK_COUNT) {
        build_fail(b, "too many breaks, or none of field %d", (int)field);
        return;
    }
    b->breaks[b->break_count++] = (build_break){ .field = field, .index = index, .value = value };
}

const char *etl_build_field_name(etl_build_field field)
{
    return field < ETL_BREAK_COUNT ? rows[field].name : "?";
}

/* The next break of that scope and index after one of them (NULL: the first). It then counts as
 * done. */
static build_break *next_match(etl_build *b, build_break *after, break_scope scope, u64 index)
{
    build_break *const end = b->breaks + b->break_count;
    for (build_break *one = after ? after + 1 : b->breaks; one < end; one++) {
        const bool counted = scope == SCOPE_FILE || one->index == index;
        if (rows[one->field].scope == scope && counted) {
            one->done = true;
            return one;
        }
    }
    return NULL;
}

bool build_break_buffer(etl_build *b, u64 index, u8 *bytes, u32 *size)
{
    bool drop = false;
    build_break *one = NULL;
    while ((one = next_match(b, one, SCOPE_BUFFER, index)) != NULL) {
        const break_place place = places[one->field];
        if (one->field == ETL_BREAK_BUFFER_DROP) {
            drop = true;
        } else if (one->field == ETL_BREAK_COMPRESSED_CUT) {
            const u32 room = *size - BUILD_BUFFER_HEADER_BYTES;
            *size -= (u32)(one->value < room ? one->value : room);
            set_field(bytes, *size, 0, 4, *size);
        } else if (one->field == ETL_BREAK_COMPRESSED_BYTE) {
            set_byte(bytes, *size, BUILD_BUFFER_HEADER_BYTES, one->value);
        } else if (one->field == ETL_BREAK_BUFFER_BYTE) {
            set_byte(bytes, *size, 0, one->value);
        } else {
            set_field(bytes, *size, place.offset, place.width, one->value);
        }
    }
    return drop;
}

static void set_field(u8 *bytes, u32 size, u32 offset, u32 width, u64 value)
{
    if (offset + width <= size)
        memcpy(bytes + offset, &value, width);
}

static void set_byte(u8 *bytes, u32 size, u32 base, u64 value)
{
    const u64 offset = value >> 8;
    if (offset < size - base)
        bytes[base + offset] = (u8)value;
}

void build_break_record(etl_build *b, u64 index, u8 *bytes, u32 *size)
{
    build_break *one = NULL;
    while ((one = next_match(b, one, SCOPE_RECORD, index)) != NULL)
        break_record_field(one, bytes, size);
}

static void break_record_field(const build_break *one, u8 *bytes, u32 *size)
{
    const u32 size_at = size_leads(bytes) ? 0 : 4;
    const bool is_perfinfo = bytes[2] == 0x10 || bytes[2] == 0x11;
    switch (one->field) {
    case ETL_BREAK_RECORD_SIZE:
        set_field(bytes, *size, size_at, 2, one->value);
        break;
    case ETL_BREAK_RECORD_CUT:
        *size -= (u32)(one->value < *size ? one->value : *size);
        set_field(bytes, *size, size_at, 2, *size);
        break;
    case ETL_BREAK_RECORD_TICKS:
        set_field(bytes, *size, is_perfinfo ? 0x08 : 0x10, 8, one->value);
        break;
    case ETL_BREAK_RECORD_BYTE:
        set_byte(bytes, *size, 0, one->value);
        break;
    default:
        set_field(bytes, *size, places[one->field].offset, places[one->field].width, one->value);
        break;
    }
}

/* Records with a hook id keep their size at +4, all others at +0. */
static bool size_leads(const u8 *record)
{
    const u8 type = record[2];
    const bool has_hook = (type >= 1 && type <= 4) || type == 0x10 || type == 0x11;
    return record[3] != 0xC0 || !has_hook;
}

void build_break_session(etl_build *b, u8 *payload)
{
    const bool narrow = b->session.options.pointer_bytes == 4;
    build_break *one = NULL;
    while ((one = next_match(b, one, SCOPE_SESSION, b->session.index)) != NULL) {
        const break_place place = places[one->field];
        set_field(payload, UINT32_MAX, narrow ? place.offset_32 : place.offset, place.width,
                  one->value);
    }
}

void build_break_file(etl_build *b)
{
    build_break *one = NULL;
    while ((one = next_match(b, one, SCOPE_FILE, 0)) != NULL) {
        const u64 size = b->file_size;
        if (one->field == ETL_BREAK_FILE_CUT)
            build_output_resize(b, one->value < size ? size - one->value : 0);
        else
            build_output_fill(b, one->field == ETL_BREAK_FILE_ZEROS ? 0 : 0xA5, one->value);
    }
    for (u32 i = 0; i < b->break_count; i++) {
        if (!b->breaks[i].done)
            build_fail(b, "nothing to break: %s of %llu", rows[b->breaks[i].field].name,
                       (unsigned long long)b->breaks[i].index);
    }
}
