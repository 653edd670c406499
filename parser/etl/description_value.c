/*
 * description_value.c - reads one value of a payload, by the type that its property states.
 *
 * In: a property (in and out type, length) and a cursor over the payload. Out: an etl_value:
 * number, text, GUID, SID, bytes; or false, which ends the walk.
 *
 * Sizes are fixed by the type, stored in the value (a count before it, a NUL behind it), or given
 * by another field of the event. Invariant: a size from the payload is only ever taken through the
 * cursor, so a lie about it fails instead of reading beyond the record.
 */
#include "description_internal.h"

#include <string.h>

bool etl_bound_resolve(const etl_walk *walk, u8 by, u32 stated, u32 *out)
{
    *out = stated;
    if (by != ETL_BOUND_PROPERTY)
        return true;
    if (stated >= ETL_WALK_REFERENCES_MAX)
        return false;
    *out = walk->numbers[stated];
    return true;
}

static u16 swapped(u16 value)
{
    return (u16)(value << 8 | value >> 8);
}

/* Cuts a text at its first NUL, because fixed texts are padded with NULs. */
static etl_bytes cut_text(etl_bytes text, bool is_utf16)
{
    etl_cursor c = etl_cursor_of(text);
    return is_utf16 ? etl_string16(&c) : etl_string8(&c);
}

static etl_bytes read_text(const etl_walk *walk, const etl_property *p, etl_cursor *c,
                           bool is_utf16)
{
    u32 length;
    if (p->length_by == ETL_BOUND_NONE)
        return is_utf16 ? etl_string16(c) : etl_string8(c);
    if (!etl_bound_resolve(walk, p->length_by, p->length, &length)) {
        etl_fail(c);
        return (etl_bytes){ NULL, 0 };
    }
    return cut_text(etl_view(c, (size_t)length * (is_utf16 ? 2 : 1)), is_utf16);
}

static etl_bytes read_binary(const etl_walk *walk, const etl_property *p, etl_cursor *c)
{
    u32 length;
    if (p->length_by == ETL_BOUND_NONE && p->shown == ETL_SHOWN_IPV6)
        return etl_view(c, 16);
    if (!etl_bound_resolve(walk, p->length_by, p->length, &length))
        etl_fail(c);
    return etl_view(c, length);
}

static etl_bytes read_sid(etl_cursor *c)
{
    const etl_cursor start = *c;
    etl_skip(c, 1);
    const u8 parts = etl_u8(c);
    if (parts > ETL_SID_PARTS_MAX)
        etl_fail(c);
    if (!etl_ok(c))
        return (etl_bytes){ NULL, 0 };
    *c = start;
    return etl_view(c, ETL_SID_BYTES + (size_t)parts * 4);
}

static etl_bytes read_class_sid(etl_cursor *c, unsigned width)
{
    const etl_cursor start = *c;
    const u32 first = etl_u32(c);
    if (first == 0)
        return (etl_bytes){ NULL, 0 };
    *c = start;
    etl_skip(c, (size_t)2 * width);
    return read_sid(c);
}

static u64 read_number(etl_cursor *c, unsigned bytes)
{
    switch (bytes) {
    case 1:
        return etl_u8(c);
    case 2:
        return etl_u16(c);
    case 4:
        return etl_u32(c);
    default:
        return etl_u64(c);
    }
}

static u64 sign_extended(u64 number, unsigned bytes)
{
    const unsigned shift = 64 - 8 * bytes;
    return (u64)((i64)(number << shift) >> shift);
}

/* The bytes of a number in the payload; 0 if the type is not a number. */
static unsigned number_bytes(u16 in_type, unsigned width)
{
    switch (in_type) {
    case ETL_IN_I8:
    case ETL_IN_U8:
    case ETL_IN_CHAR8:
        return 1;
    case ETL_IN_I16:
    case ETL_IN_U16:
    case ETL_IN_CHAR16:
        return 2;
    case ETL_IN_I32:
    case ETL_IN_U32:
    case ETL_IN_HEX32:
    case ETL_IN_BOOL32:
        return 4;
    case ETL_IN_I64:
    case ETL_IN_U64:
    case ETL_IN_HEX64:
    case ETL_IN_FILETIME:
        return 8;
    case ETL_IN_POINTER:
    case ETL_IN_SIZE:
        return width;
    default:
        return 0;
    }
}

/* Is it a character, that is, a text of one? Those are two types, and bytes and words to be shown
 * so. */
static bool is_character(const etl_property *p, unsigned bytes)
{
    return p->in_type == ETL_IN_CHAR8 || p->in_type == ETL_IN_CHAR16 ||
           (p->shown == ETL_SHOWN_TEXT && bytes <= 2);
}

static u8 number_type(const etl_property *p)
{
    switch (p->shown) {
    case ETL_SHOWN_HEX:
        return ETL_VALUE_HEX;
    case ETL_SHOWN_BOOL:
        return ETL_VALUE_BOOL;
    case ETL_SHOWN_FILETIME:
        return ETL_VALUE_FILETIME;
    case ETL_SHOWN_SIGNED:
        return ETL_VALUE_SIGNED;
    case ETL_SHOWN_UNSIGNED:
        return ETL_VALUE_UNSIGNED;
    default:
        break;
    }
    switch (p->in_type) {
    case ETL_IN_I8:
    case ETL_IN_I16:
    case ETL_IN_I32:
    case ETL_IN_I64:
        return ETL_VALUE_SIGNED;
    case ETL_IN_BOOL32:
        return ETL_VALUE_BOOL;
    case ETL_IN_POINTER:
    case ETL_IN_HEX32:
    case ETL_IN_HEX64:
        return ETL_VALUE_HEX;
    case ETL_IN_FILETIME:
        return ETL_VALUE_FILETIME;
    default:
        return ETL_VALUE_UNSIGNED;
    }
}

static void read_number_value(etl_cursor *c, const etl_property *p, unsigned bytes, etl_value *out)
{
    const u8 *const at = c->at;
    const u64 number = read_number(c, bytes);
    out->type = number_type(p);
    out->number = out->type == ETL_VALUE_SIGNED ? sign_extended(number, bytes) : number;
    if (!etl_ok(c))
        return;
    if (is_character(p, bytes)) {
        out->type = bytes == 2 ? ETL_VALUE_TEXT16 : ETL_VALUE_TEXT8;
        out->bytes = (etl_bytes){ at, bytes };
    } else if (p->shown == ETL_SHOWN_IPV4 && bytes == 4) {
        out->type = ETL_VALUE_IPV4;
        out->bytes = (etl_bytes){ at, bytes };
    } else if (p->shown == ETL_SHOWN_PORT && bytes == 2) {
        out->number = swapped((u16)number);
    }
}

static double double_of(u64 bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double float_of(u32 bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static const struct {
    u16 in_type;
    u8 type;
    u8 size; /* in bytes */
} fixed_types[] = {
    { ETL_IN_GUID, ETL_VALUE_GUID, 16 },
    { ETL_IN_SYSTEMTIME, ETL_VALUE_SYSTEMTIME, 16 },
};

/* Reads a value whose size is in the value or in the description; false for an unknown type. */
static bool read_sized(const etl_walk *walk, const etl_property *p, etl_cursor *c, etl_value *out)
{
    u32 size;
    switch (p->in_type) {
    case ETL_IN_NULL:
        out->type = ETL_VALUE_BYTES;
        return true;
    case ETL_IN_TEXT16:
    case ETL_IN_TEXT8:
        out->type = p->in_type == ETL_IN_TEXT16 ? ETL_VALUE_TEXT16 : ETL_VALUE_TEXT8;
        out->bytes = read_text(walk, p, c, p->in_type == ETL_IN_TEXT16);
        return true;
    case ETL_IN_COUNTED_TEXT16:
    case ETL_IN_CLASS_COUNTED_TEXT16:
        out->type = ETL_VALUE_TEXT16;
        size = etl_u16(c);
        out->bytes = etl_view(c, size);
        return true;
    case ETL_IN_COUNTED_TEXT8:
    case ETL_IN_CLASS_COUNTED_TEXT8:
        out->type = ETL_VALUE_TEXT8;
        size = etl_u16(c);
        out->bytes = etl_view(c, size);
        return true;
    case ETL_IN_REVERSED_TEXT16:
    case ETL_IN_REVERSED_TEXT8:
        out->type = p->in_type == ETL_IN_REVERSED_TEXT16 ? ETL_VALUE_TEXT16 : ETL_VALUE_TEXT8;
        size = swapped(etl_u16(c));
        out->bytes = etl_view(c, size);
        return true;
    case ETL_IN_REST_TEXT16:
    case ETL_IN_REST_TEXT8:
        out->type = p->in_type == ETL_IN_REST_TEXT16 ? ETL_VALUE_TEXT16 : ETL_VALUE_TEXT8;
        out->bytes = etl_rest(c);
        return true;
    case ETL_IN_BINARY:
        out->bytes = read_binary(walk, p, c);
        break;
    case ETL_IN_COUNTED_BINARY:
        size = etl_u16(c);
        out->bytes = etl_view(c, size);
        break;
    case ETL_IN_HEX_DUMP:
        size = etl_u32(c);
        out->bytes = etl_view(c, size);
        break;
    case ETL_IN_SID:
    case ETL_IN_CLASS_SID:
        out->type = ETL_VALUE_SID;
        out->bytes =
            p->in_type == ETL_IN_SID ? read_sid(c) : read_class_sid(c, walk->pointer_bytes);
        return true;
    default:
        return false;
    }
    const bool is_ipv6 = p->shown == ETL_SHOWN_IPV6 && out->bytes.size == 16;
    out->type = is_ipv6 ? ETL_VALUE_IPV6 : ETL_VALUE_BYTES;
    return true;
}

bool etl_value_read(const etl_walk *walk, const etl_property *p, etl_cursor *c, etl_value *out)
{
    const unsigned bytes = number_bytes(p->in_type, walk->pointer_bytes);
    if (bytes > 0) {
        read_number_value(c, p, bytes, out);
        return true;
    }
    if (p->in_type == ETL_IN_FLOAT || p->in_type == ETL_IN_DOUBLE) {
        out->type = ETL_VALUE_REAL;
        out->real = p->in_type == ETL_IN_FLOAT ? float_of(etl_u32(c)) : double_of(etl_u64(c));
        return true;
    }
    for (size_t i = 0; i < ETL_COUNT_OF(fixed_types); i++) {
        if (fixed_types[i].in_type != p->in_type)
            continue;
        out->type = fixed_types[i].type;
        out->bytes = etl_view(c, fixed_types[i].size);
        return true;
    }
    return read_sized(walk, p, c, out);
}
