/*
 * description_property.c - the properties of a description, of either sort.
 *
 * TraceLogging's metadata are read one field after the other; the properties of an EventInfo
 * stand in a table. Both become an etl_property: a type as TDH counts them, how it is shown,
 * and where count and length are.
 */
#include "description_internal.h"

static u8 shown_of_tracelogging(u8 out_type)
{
    static const u8 rows[] = {
        [ETL_TL_OUT_STRING] = ETL_SHOWN_TEXT,       [ETL_TL_OUT_BOOLEAN] = ETL_SHOWN_BOOL,
        [ETL_TL_OUT_HEX] = ETL_SHOWN_HEX,           [ETL_TL_OUT_PORT] = ETL_SHOWN_PORT,
        [ETL_TL_OUT_IPV4] = ETL_SHOWN_IPV4,         [ETL_TL_OUT_IPV6] = ETL_SHOWN_IPV6,
        [ETL_TL_OUT_NTSTATUS] = ETL_SHOWN_HEX,      [ETL_TL_OUT_HRESULT] = ETL_SHOWN_HEX,
        [ETL_TL_OUT_FILETIME] = ETL_SHOWN_FILETIME, [ETL_TL_OUT_SIGNED] = ETL_SHOWN_SIGNED,
        [ETL_TL_OUT_UNSIGNED] = ETL_SHOWN_UNSIGNED, [ETL_OUT_UTF8] = ETL_SHOWN_TEXT,
        [ETL_OUT_POINTER] = ETL_SHOWN_HEX,
    };
    return out_type < sizeof rows ? rows[out_type] : ETL_SHOWN_PLAIN;
}

static u8 shown_of_info(u16 out_type)
{
    if (out_type >= ETL_OUT_HEX_FIRST && out_type <= ETL_OUT_HEX_LAST)
        return ETL_SHOWN_HEX;
    switch (out_type) {
    case ETL_OUT_BOOLEAN:
        return ETL_SHOWN_BOOL;
    case ETL_OUT_PORT:
        return ETL_SHOWN_PORT;
    case ETL_OUT_IPV4:
        return ETL_SHOWN_IPV4;
    case ETL_OUT_IPV6:
        return ETL_SHOWN_IPV6;
    case ETL_OUT_NTSTATUS:
    case ETL_OUT_HRESULT:
    case ETL_OUT_POINTER:
        return ETL_SHOWN_HEX;
    default:
        return ETL_SHOWN_PLAIN;
    }
}

/* Behind the name: types, tags, and how many elements. */
static void read_tracelogging_type(etl_cursor *c, etl_property *out)
{
    const u8 type = etl_u8(c);
    u8 out_type = 0;
    if ((type & ETL_TL_CHAIN) != 0) {
        out_type = etl_u8(c);
        if ((out_type & ETL_TL_CHAIN) != 0)
            etl_skip_tags(c);
        out_type &= (u8)~ETL_TL_CHAIN;
    }
    out->in_type = type & ETL_TL_TYPE_MASK;
    out->shown = shown_of_tracelogging(out_type);
    out->is_struct = out->in_type == ETL_TL_STRUCT;
    out->members = out->is_struct ? out_type : 0;
    if ((type & ETL_TL_PRIVATE) == ETL_TL_PRIVATE) {
        const u16 size = etl_u16(c);
        etl_skip(c, size);
        out->in_type = ETL_IN_COUNTED_BINARY;
        out->is_struct = false;
    } else if ((type & ETL_TL_ARRAY_FIXED) != 0) {
        out->count_by = ETL_BOUND_FIXED;
        out->count = etl_u16(c);
    } else if ((type & ETL_TL_ARRAY) != 0) {
        out->count_by = ETL_BOUND_PREFIX;
    }
    if (out->in_type == ETL_IN_BINARY)
        out->in_type = ETL_IN_COUNTED_BINARY;
}

static bool read_tracelogging(etl_walk *walk, u32 *at, etl_property *out)
{
    const etl_bytes fields = walk->description.fields;
    etl_cursor c = etl_cursor_of(fields);
    etl_skip(&c, *at);
    *out = (etl_property){ .index = ETL_WALK_REFERENCES_MAX };
    out->name.bytes = etl_string8(&c);
    read_tracelogging_type(&c, out);
    *at = (u32)(fields.size - c.left);
    out->first = *at;
    return etl_ok(&c);
}

/* Lengths matter to texts and binaries alone; 0: the text has a NUL. */
static void bound_length(u32 flags, etl_property *out)
{
    if ((flags & ETL_PROPERTY_LENGTH_BY) != 0)
        out->length_by = ETL_BOUND_PROPERTY;
    else if (out->length != 0)
        out->length_by = ETL_BOUND_FIXED;
}

static bool read_info_property(etl_walk *walk, u32 *at, etl_property *out)
{
    const etl_bytes info = walk->description.fields;
    *out = (etl_property){ .index = *at };
    if (*at >= walk->description.property_count)
        return false;
    const u8 *const p = info.at + ETL_INFO_BYTES + (size_t)(*at)++ * ETL_PROPERTY_BYTES;
    const u32 flags = etl_load_u32(p);
    out->is_struct = (flags & ETL_PROPERTY_STRUCT) != 0;
    out->count = etl_load_u16(p + 0x10);
    out->length = etl_load_u16(p + 0x12);
    if ((flags & ETL_PROPERTY_COUNT_BY) != 0)
        out->count_by = ETL_BOUND_PROPERTY;
    else if ((flags & ETL_PROPERTY_ARRAY) != 0 || out->count > 1)
        out->count_by = ETL_BOUND_FIXED;
    if (!etl_info_text(info, etl_load_u32(p + 4), &out->name))
        return false;
    if (out->is_struct) {
        out->first = etl_load_u16(p + 8);
        out->members = etl_load_u16(p + 10);
        return true;
    }
    out->in_type = etl_load_u16(p + 8);
    out->shown = shown_of_info(etl_load_u16(p + 10));
    bound_length(flags, out);
    return etl_info_text(info, etl_load_u32(p + 12), &out->map);
}

bool etl_property_read(etl_walk *walk, u32 *at, etl_property *out)
{
    walk->work++;
    if (walk->work > ETL_WALK_WORK_MAX)
        return false;
    return walk->description.source == ETL_DESCRIPTION_TRACELOGGING
               ? read_tracelogging(walk, at, out)
               : read_info_property(walk, at, out);
}

bool etl_property_skip_members(etl_walk *walk, u32 *at, u32 members)
{
    etl_property property;
    u64 left = members;
    if (walk->description.source != ETL_DESCRIPTION_TRACELOGGING)
        return true;
    for (; left > 0; left--) {
        if (!etl_property_read(walk, at, &property))
            return false;
        left += property.members;
    }
    return true;
}
