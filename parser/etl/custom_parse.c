/*
 * custom_parse.c - reads the text form of a custom allocator's events. custom_events.h defines it.
 *
 * In: text that people type or copy from a manifest:
 *
 *     PROVIDER:alloc=100(address@0:u64,size@8:u64),free=101(address@0:u64),name=pool
 *
 * Out: an etl_custom_allocator with a layout for each event, or an error that points to the place.
 *
 * The text is read once, from left to right. Invariant: the first thing that does not fit is the
 * error, and its message shows where it is; nothing is skipped silently.
 */
#include "parser/custom_events.h"

#include "event_class.h"
#include "parser/system/name_fold.h"

typedef struct text_reader {
    const char *start, *at;
    etl_error *err;
} text_reader;

static etl_status read_clause(text_reader *r, etl_custom_allocator *out);

/* The error that `expected` should be where `from` points. */
static etl_status refuse(const text_reader *r, const char *from, const char *expected)
{
    const size_t offset = (size_t)(from - r->start);
    if (*from == '\0')
        return etl_fail_with(r->err, ETL_ERR_ARGUMENT, offset,
                             "the text ends at character %zu: expected %s", offset + 1, expected);
    return etl_fail_with(r->err, ETL_ERR_ARGUMENT, offset, "'%.24s' at character %zu: expected %s",
                         from, offset + 1, expected);
}

static bool take(text_reader *r, const char *word)
{
    const size_t size = strlen(word);
    const bool found = strncmp(r->at, word, size) == 0;
    r->at += found ? size : 0;
    return found;
}

static bool take_number(text_reader *r, u32 max, u32 *out)
{
    const char *at = r->at;
    u32 number = 0;
    while (*at >= '0' && *at <= '9' && number <= max)
        number = number * 10 + (u32)(*at++ - '0');
    if (at == r->at || number > max)
        return false;
    r->at = at;
    *out = number;
    return true;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads a GUID such as 138f4dbb-ee04-4899-aa0a-572ad4475779; the table has each byte's place in the
 * text. */
static bool guid_of_text(const char *text, size_t size, etl_guid *out)
{
    static const u8 places[16] = { 6, 4, 2, 0, 11, 9, 16, 14, 19, 21, 24, 26, 28, 30, 32, 34 };
    if (size != 36 || text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-')
        return false;
    for (size_t i = 0; i < sizeof places; i++) {
        const int high = hex_digit(text[places[i]]), low = hex_digit(text[places[i] + 1]);
        if (high < 0 || low < 0)
            return false;
        out->bytes[i] = (u8)(high << 4 | low);
    }
    return true;
}

static bool guid_of_name(const char *text, size_t size, etl_guid *out)
{
    char name[96];
    if (size >= sizeof name)
        return false;
    memcpy(name, text, size);
    name[size] = '\0';
    for (size_t i = 0; i < etl_class_row_count(); i++) {
        const etl_class_row *const row = etl_class_row_at(i);
        if (etl_name_compare(row->name, name) == 0) {
            *out = row->guid;
            return true;
        }
    }
    return false;
}

/* Reads a provider; a GUID may be in braces. */
static etl_status read_provider(text_reader *r, etl_custom_allocator *out)
{
    const char *const from = r->at;
    const size_t size = strcspn(from, ":");
    const bool has_braces = size == 38 && from[0] == '{' && from[37] == '}';
    if (!guid_of_text(from + has_braces, size - 2 * (size_t)has_braces, &out->provider) &&
        !guid_of_name(from, size, &out->provider))
        return refuse(r, from, "the GUID of a provider, or the name of a known one");
    r->at += size;
    return take(r, ":") ? ETL_OK : refuse(r, r->at, "':' after the provider");
}

static bool take_type(text_reader *r, u8 *out)
{
    static const char *const words[] = { "u16", "u32", "u64", "ptr" };
    for (u8 i = 0; i < ETL_COUNT_OF(words); i++) {
        if (take(r, words[i])) {
            *out = (u8)(ETL_CUSTOM_U16 + i);
            return true;
        }
    }
    return false;
}

/* address@2+P:u64 */
static etl_status read_value(text_reader *r, etl_custom_layout *layout)
{
    const char *const from = r->at;
    etl_custom_value *const value = take(r, "address") ? &layout->address
                                    : take(r, "size")  ? &layout->size
                                    : take(r, "heap")  ? &layout->heap
                                                       : NULL;
    u32 offset;
    if (value == NULL)
        return refuse(r, from, "address, size or heap");
    if (value->type != ETL_CUSTOM_NONE)
        return refuse(r, from, "each value once");
    if (!take(r, "@"))
        return refuse(r, r->at, "'@' and the value's offset");
    if (!take_number(r, UINT16_MAX, &offset))
        return refuse(r, r->at, "an offset of 0 to 65535 bytes");
    value->offset_bytes = (u16)offset;
    value->pointers = take(r, "+P");
    if (!take(r, ":"))
        return refuse(r, r->at, "':' and the value's type");
    return take_type(r, &value->type) ? ETL_OK : refuse(r, r->at, "u16, u32, u64 or ptr");
}

/* 100(address@0:u64,size@8:u64) */
static etl_status read_layout(text_reader *r, etl_custom_layout *layout)
{
    u32 id;
    *layout = (etl_custom_layout){ 0 };
    if (!take_number(r, UINT16_MAX, &id))
        return refuse(r, r->at, "the number of an event, 0 to 65535");
    layout->id = (u16)id;
    if (!take(r, "("))
        return refuse(r, r->at, "'(' and the event's values");
    do {
        const etl_status status = read_value(r, layout);
        if (status != ETL_OK)
            return status;
    } while (take(r, ","));
    return take(r, ")") ? ETL_OK : refuse(r, r->at, "',' or ')' after a value");
}

static bool is_name_letter(char c)
{
    const char lower = (char)(c | 0x20);
    return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

static etl_status read_name(text_reader *r, etl_custom_allocator *out)
{
    size_t size = 0;
    while (is_name_letter(r->at[size]))
        size++;
    if (size == 0 || size > ETL_CUSTOM_NAME_MAX)
        return refuse(r, r->at, "a name of 1 to 9 letters, digits, '-' and '_'");
    memset(out->name, 0, sizeof out->name);
    memcpy(out->name, r->at, size);
    r->at += size;
    return ETL_OK;
}

static etl_status read_clause(text_reader *r, etl_custom_allocator *out)
{
    if (take(r, "alloc="))
        return read_layout(r, &out->alloc);
    if (take(r, "free="))
        return read_layout(r, &out->free);
    if (take(r, "name="))
        return read_name(r, out);
    return refuse(r, r->at, "alloc=, free= or name=");
}

/* Checks a well-formed description that says too little, or two things at once. */
static etl_status check(const text_reader *r, const etl_custom_allocator *row)
{
    const bool has_heap = row->alloc.heap.type != ETL_CUSTOM_NONE;
    const char *missing = NULL;
    if (row->alloc.address.type == ETL_CUSTOM_NONE || row->alloc.size.type == ETL_CUSTOM_NONE)
        missing = "alloc=ID(...) with an address and a size";
    else if (row->free.address.type == ETL_CUSTOM_NONE)
        missing = "free=ID(...) with an address";
    else if (row->alloc.id == row->free.id)
        missing = "two events with different numbers";
    else if (has_heap != (row->free.heap.type != ETL_CUSTOM_NONE))
        missing = "the heap in both events, or in none";
    else if (has_heap && strlen(row->name) > ETL_CUSTOM_HEAP_NAME_MAX)
        missing = "a name of no more than 6 characters for an allocator with heaps";
    return missing == NULL ? ETL_OK : refuse(r, r->at, missing);
}

etl_status etl_custom_parse(const char *text, etl_custom_allocator *out, etl_error *err)
{
    text_reader r = { text, text, err };
    *out = (etl_custom_allocator){ .name = "custom" };
    etl_status status = read_provider(&r, out);
    do {
        status = status == ETL_OK ? read_clause(&r, out) : status;
    } while (status == ETL_OK && take(&r, ","));
    if (status == ETL_OK && *r.at != '\0')
        status = refuse(&r, r.at, "',' or the end");
    return status == ETL_OK ? check(&r, out) : status;
}
