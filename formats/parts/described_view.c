/*
 * described_view.c - writes names and values of events that describe themselves, as text.
 *
 * In: a record, its description, and values that the parser's walk found (description_walk.c). Out:
 * text appended for `dump` and JSON: titles, GUIDs, SIDs, addresses, times, bytes.
 *
 * Invariant: a value is written in one form only, so that what a user searches for is always the
 * same.
 */
#include "described_view.h"

#include "formats/io/text_buffer.h"
#include "formats/io/units.h"

#include <inttypes.h>
#include <stdio.h>

void etlheap_text_add_label(etlheap_text *text, etl_text name)
{
    if (name.is_utf16)
        etlheap_text_add_utf16(text, name.bytes);
    else
        etlheap_text_add_text8(text, name.bytes);
}

static void add_provider(etlheap_text *text, const etl_record *record, etl_text name)
{
    char guid[ETL_GUID_TEXT_SIZE];
    const char *const known = etl_provider_name(record->provider);
    etl_guid_format(record->provider, guid);
    if (name.bytes.size > 0)
        etlheap_text_add_label(text, name);
    else
        etlheap_text_add_string(text, known ? known : guid);
}

void etlheap_text_add_event(etlheap_text *text, const etl_record *record,
                            const etl_description *description)
{
    const bool is_class = description->source == ETL_DESCRIPTION_CLASS;
    add_provider(text, record, description->provider);
    etlheap_text_add_string(text, "/");
    if (description->event.bytes.size > 0)
        etlheap_text_add_label(text, description->event);
    else
        etlheap_text_add_format(text, "%u", is_class ? record->opcode : (unsigned)record->id);
    if (description->opcode.bytes.size > 0) {
        etlheap_text_add_string(text, "/");
        etlheap_text_add_label(text, description->opcode);
    }
}

bool etlheap_record_title(const etlheap_stream_record *record, etlheap_text *text)
{
    if (record->description.source == ETL_DESCRIPTION_NONE)
        return false;
    etlheap_text_clear(text);
    etlheap_text_add_event(text, &record->record, &record->description);
    return true;
}

static void add_guid(etlheap_text *text, etl_bytes bytes)
{
    char guid[ETL_GUID_TEXT_SIZE];
    etl_guid_format(bytes.at, guid);
    etlheap_text_add_string(text, guid);
}

/* S-1-5-21-...: revision, authority (6 bytes, highest first), sub-authorities. */
static void add_sid(etlheap_text *text, etl_bytes sid)
{
    u64 authority = 0;
    if (sid.size < 8)
        return;
    for (u32 i = 2; i < 8; i++)
        authority = authority << 8 | sid.at[i];
    etlheap_text_add_format(text, "S-%u-%" PRIu64, sid.at[0], authority);
    for (size_t at = 8; at + 4 <= sid.size; at += 4)
        etlheap_text_add_format(text, "-%" PRIu32, etl_load_u32(sid.at + at));
}

/* Adds a SYSTEMTIME as it is in the file, which states no zone: year, month, day of the week, day,
 * hour, minute, second, millisecond. */
static void add_systemtime(etlheap_text *text, etl_bytes bytes)
{
    u16 parts[8];
    for (u32 i = 0; i < 8; i++)
        parts[i] = etl_load_u16(bytes.at + (size_t)i * 2);
    etlheap_text_add_format(text, "%04u-%02u-%02uT%02u:%02u:%02u.%03u", parts[0], parts[1],
                            parts[3], parts[4], parts[5], parts[6], parts[7]);
}

/* Adds all groups, so that what a user searches for is always the same. */
static void add_ipv6(etlheap_text *text, etl_bytes bytes)
{
    for (u32 i = 0; i < 16; i += 2)
        etlheap_text_add_format(text, "%s%x", i > 0 ? ":" : "",
                                (unsigned)(bytes.at[i] << 8 | bytes.at[i + 1]));
}

static void add_bytes(etlheap_text *text, etl_bytes bytes)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < bytes.size; i++) {
        const char pair[2] = { digits[bytes.at[i] >> 4], digits[bytes.at[i] & 15] };
        etlheap_text_add(text, pair, sizeof pair);
    }
}

void etlheap_text_add_value(etlheap_text *text, const etl_value *value)
{
    char time[ETLHEAP_UNITS_SIZE];
    const etl_bytes bytes = value->bytes;
    switch ((etl_value_type)value->type) {
    case ETL_VALUE_TEXT8:
        etlheap_text_add_text8(text, bytes);
        break;
    case ETL_VALUE_TEXT16:
        etlheap_text_add_utf16(text, bytes);
        break;
    case ETL_VALUE_GUID:
        add_guid(text, bytes);
        break;
    case ETL_VALUE_SID:
        add_sid(text, bytes);
        break;
    case ETL_VALUE_FILETIME:
        etlheap_units_filetime((i64)etl_min_u64(value->number, INT64_MAX), time);
        etlheap_text_add_string(text, time);
        break;
    case ETL_VALUE_SYSTEMTIME:
        add_systemtime(text, bytes);
        break;
    case ETL_VALUE_IPV4:
        etlheap_text_add_format(text, "%u.%u.%u.%u", bytes.at[0], bytes.at[1], bytes.at[2],
                                bytes.at[3]);
        break;
    case ETL_VALUE_IPV6:
        add_ipv6(text, bytes);
        break;
    case ETL_VALUE_BYTES:
        add_bytes(text, bytes);
        break;
    case ETL_VALUE_UNSIGNED:
    case ETL_VALUE_SIGNED:
    case ETL_VALUE_HEX:
    case ETL_VALUE_BOOL:
    case ETL_VALUE_REAL:
        break;
    }
}

bool etlheap_text_add_map_names(etlheap_text *text, const etl_value *value)
{
    u32 position = 0;
    etl_text name;
    bool has_name = false;
    while (value->map != NULL && etl_value_map_name(value->map, value->number, &position, &name)) {
        if (has_name)
            etlheap_text_add_string(text, "|");
        etlheap_text_add_label(text, name);
        has_name = true;
    }
    return has_name;
}
