/*
 * description.c - finds the names that a trace gives its events.
 *
 * In: a record, or a description in the trace: EventInfo of a manifest or of a class, or the
 * metadata in a TraceLogging event. Out: an etl_description: which event it is for, its names, and
 * where its fields are described.
 *
 * This file reads what stands once in each of the three sorts; fields are read by
 * description_walk.c. Invariant: everything that a search needs is checked here, against the bytes
 * of the description. Offsets of names inside properties are checked when a property is read.
 */
#include "description_internal.h"
#include "event_class.h"

#include <string.h>

etl_info_kind etl_record_info_kind(const etl_record *record)
{
    if (record->has_hook || record->provider == NULL)
        return ETL_INFO_NONE;
    const u16 key = etl_record_key(record);
    if (key == ETL_KEY_EVENT_INFO)
        return ETL_INFO_EVENT;
    return key == ETL_KEY_EVENT_MAP ? ETL_INFO_MAP : ETL_INFO_NONE;
}

/* Removes the spaces with which a message compiler ends every name. */
static etl_bytes without_spaces(etl_bytes text)
{
    while (text.size >= 2 && etl_load_u16(text.at + text.size - 2) == ' ')
        text.size -= 2;
    return text;
}

bool etl_info_text(etl_bytes info, u32 offset, etl_text *out)
{
    *out = (etl_text){ .is_utf16 = true };
    if (offset == 0)
        return true;
    etl_cursor c = etl_cursor_of(info);
    etl_skip(&c, offset);
    out->bytes = without_spaces(etl_string16(&c));
    return etl_ok(&c);
}

static bool starts_with_win(etl_bytes text)
{
    static const char prefix[] = "win:";
    const size_t size = (sizeof prefix - 1) * 2;
    for (size_t i = 0; i < size && text.size >= size; i++) {
        const u8 wanted = i % 2 == 0 ? (u8)prefix[i / 2] : 0;
        if (text.at[i] != wanted)
            return false;
    }
    return text.size >= size;
}

static bool equals_ascii(etl_bytes text, const char *ascii)
{
    size_t i = 0;
    for (; ascii[i] != '\0' && i * 2 + 2 <= text.size; i++) {
        if (etl_load_u16(text.at + i * 2) != (u8)ascii[i])
            return false;
    }
    return ascii[i] == '\0' && i * 2 == text.size;
}

/* Shortens an opcode's name: "win:Start" is Start; Info means that the event has none. */
static void shorten_opcode(etl_text *opcode)
{
    if (starts_with_win(opcode->bytes)) {
        opcode->bytes.at += 8;
        opcode->bytes.size -= 8;
    }
    if (equals_ascii(opcode->bytes, "Info"))
        opcode->bytes = (etl_bytes){ NULL, 0 };
}

/* Reads the names of the event; false if one lies outside the description. */
static bool read_info_names(etl_bytes info, etl_description *out)
{
    etl_text task;
    const u8 *const at = info.at;
    if (!etl_info_text(info, etl_load_u32(at + 0x34), &out->provider) ||
        !etl_info_text(info, etl_load_u32(at + 0x44), &task) ||
        !etl_info_text(info, etl_load_u32(at + 0x48), &out->opcode))
        return false;
    /* Older builds have other numbers in this place, so a value that is not a name is ignored. */
    if (out->source == ETL_DESCRIPTION_CLASS ||
        !etl_info_text(info, etl_load_u32(at + 0x5c), &out->event) || out->event.bytes.size == 0)
        out->event = task;
    shorten_opcode(&out->opcode);
    return true;
}

bool etl_description_of_info(etl_bytes payload, etl_event_id *id, etl_description *out)
{
    *out = (etl_description){ .source = ETL_DESCRIPTION_NONE };
    memset(id, 0, sizeof *id);
    if (payload.size < ETL_INFO_BYTES)
        return false;
    const u8 *const at = payload.at;
    etl_description found = { .fields = payload };
    found.property_count = etl_load_u32(at + 0x64);
    found.top_property_count = etl_load_u32(at + 0x68);
    if (found.property_count > (payload.size - ETL_INFO_BYTES) / ETL_PROPERTY_BYTES ||
        found.top_property_count > found.property_count)
        return false;
    const bool is_class = etl_load_u32(at + 0x30) == ETL_INFO_SOURCE_MOF;
    found.source = is_class ? ETL_DESCRIPTION_CLASS : ETL_DESCRIPTION_MANIFEST;
    if (!read_info_names(payload, &found))
        return false;
    memcpy(id->provider.bytes, is_class ? at + 0x10 : at, sizeof id->provider.bytes);
    id->is_class = is_class;
    id->id = is_class ? 0 : etl_load_u16(at + 0x20);
    id->opcode = is_class ? at[0x25] : 0;
    id->version = at[0x22];
    *out = found;
    return true;
}

bool etl_event_id_of_record(const etl_record *record, etl_event_id *out)
{
    memset(out, 0, sizeof *out);
    if (record->provider == NULL || record->has_hook || record->header == ETL_HEADER_MESSAGE)
        return false;
    const bool is_class = record->header != ETL_HEADER_EVENT32 &&
                          record->header != ETL_HEADER_EVENT64 &&
                          record->header != ETL_HEADER_ERROR;
    memcpy(out->provider.bytes, record->provider, sizeof out->provider.bytes);
    out->is_class = is_class;
    out->id = is_class ? 0 : record->id;
    out->opcode = is_class ? record->opcode : 0;
    out->version = (u8)record->version;
    return true;
}

/* --- TraceLogging ------------------------------------------------------------------ */

void etl_skip_tags(etl_cursor *c)
{
    while (etl_ok(c) && (etl_u8(c) & ETL_TL_CHAIN) != 0)
        continue;
}

/* The part of an item that its own size covers; a cursor that failed if it is too short. */
static etl_cursor sized_part(etl_bytes item)
{
    etl_cursor c = etl_cursor_of(item);
    const u16 size = etl_u16(&c);
    if (size < 2 || (size_t)size - 2 > c.left)
        etl_fail(&c);
    else
        c.left = (size_t)size - 2;
    return c;
}

static bool read_schema(etl_bytes item, etl_description *out)
{
    etl_cursor c = sized_part(item);
    etl_skip_tags(&c);
    out->event.bytes = etl_string8(&c);
    out->fields = etl_ok(&c) ? (etl_bytes){ c.at, c.left } : (etl_bytes){ NULL, 0 };
    return etl_ok(&c);
}

bool etl_description_of_record(const etl_record *record, etl_description *out,
                               etl_diag_counts *diag)
{
    *out = (etl_description){ .source = ETL_DESCRIPTION_NONE };
    if (record->items.size == 0)
        return false;
    etl_description found = { .source = ETL_DESCRIPTION_NONE };
    etl_bytes items = record->items;
    etl_item item;
    bool is_sound = true;
    while (etl_item_next(&items, &item)) {
        if (item.type == ETL_ITEM_PROVIDER_TRAITS) {
            etl_cursor c = sized_part(item.data);
            found.provider.bytes = etl_string8(&c);
            is_sound &= etl_ok(&c);
        } else if (item.type == ETL_ITEM_SCHEMA_TL) {
            found.source = ETL_DESCRIPTION_TRACELOGGING;
            is_sound &= read_schema(item.data, &found);
        }
    }
    if (!is_sound)
        etl_diag_add(diag, ETL_DIAG_description_invalid, 1);
    if (!is_sound || found.source == ETL_DESCRIPTION_NONE)
        return false;
    *out = found;
    return true;
}

/* --- maps ------------------------------------------------------------------------------ */

bool etl_value_map_of_info(etl_bytes payload, etl_value_map *out)
{
    etl_cursor c = etl_cursor_of(payload);
    *out = (etl_value_map){ .provider = etl_take(&c, ETL_GUID_BYTES) };
    const etl_bytes info = etl_ok(&c) ? (etl_bytes){ c.at, c.left } : (etl_bytes){ NULL, 0 };
    if (!etl_need(&c, ETL_MAP_BYTES))
        return false;
    const u32 name_at = etl_u32(&c);
    const u32 flags = etl_u32(&c);
    const u32 count = etl_u32(&c);
    etl_skip(&c, 4); /* type of the values */
    if (count > c.left / ETL_MAP_ENTRY_BYTES || !etl_info_text(info, name_at, &out->name) ||
        (flags & ETL_MAP_PATTERN) != 0)
        return false;
    out->is_bits = (flags & ETL_MAP_BITS) != 0;
    out->count = count;
    out->info = info;
    return true;
}

int etl_value_map_compare(const etl_value_map *a, const etl_value_map *b)
{
    const int by_provider = memcmp(a->provider, b->provider, ETL_GUID_BYTES);
    if (by_provider != 0)
        return by_provider;
    const etl_bytes x = a->name.bytes, y = b->name.bytes;
    const size_t size = x.size < y.size ? x.size : y.size;
    const int by_name = size == 0 ? 0 : memcmp(x.at, y.at, size);
    return by_name != 0 ? by_name : (x.size > y.size) - (x.size < y.size);
}

bool etl_value_map_name(const etl_value_map *map, u64 number, u32 *position, etl_text *out)
{
    while (*position < map->count) {
        const u8 *const entry =
            map->info.at + ETL_MAP_BYTES + (size_t)(*position)++ * ETL_MAP_ENTRY_BYTES;
        const u32 value = etl_load_u32(entry + 4);
        const bool is_meant = map->is_bits ? (number & value) != 0 : number == value;
        if (!is_meant || !etl_info_text(map->info, etl_load_u32(entry), out))
            continue;
        if (!map->is_bits)
            *position = map->count;
        return true;
    }
    return false;
}
