/*
 * field_units.c - the unit of each field, and titles with it: "Size (B)", "Alloc Time (ns)".
 */
#include "field_units.h"

#include "columns.h"

#include <stdio.h>

static bool ends_in(const char *text, const char *end);

/* Keys say it: what they end in is part of the contract with programs. */
const char *etlheap_field_unit(etlheap_field field)
{
    const char *const key = etlheap_field_key(field);
    if (field == ETLHEAP_FIELD_SIZE || ends_in(key, "_size"))
        return "B";
    if (field == ETLHEAP_FIELD_GROWTH_RATE || field == ETLHEAP_FIELD_ALLOC_BYTES_RATE)
        return "B/s";
    if (field == ETLHEAP_FIELD_STEADINESS)
        return "%";
    if (field == ETLHEAP_FIELD_FRAGMENTATION)
        return "millionths";
    return ends_in(key, "_ns") ? "ns" : "";
}

bool etlheap_field_is_hidden(u32 kind, etlheap_field field)
{
    return etlheap_kind_has(kind, ETLHEAP_KIND_NO_SIZES) && field != ETLHEAP_FIELD_GROWTH_RATE &&
           etlheap_field_unit(field)[0] == 'B';
}

i64 etlheap_shown_measure(u32 kind, etlheap_measure measure, i64 value)
{
    return etlheap_field_is_hidden(kind, etlheap_measure_field(measure)) ? ETLHEAP_NOT_KNOWN
                                                                         : value;
}

void etlheap_values_hide(u32 kind, const etlheap_field *fields, etlheap_value *values, u32 count)
{
    for (u32 i = 0; i < count; i++) {
        if (etlheap_field_is_hidden(kind, fields[i]))
            values[i] = (etlheap_value){ .form = ETLHEAP_VALUE_UNKNOWN };
    }
}

/* Some have theirs already. */
void etlheap_title_with_unit(const char *title, const char *unit, char out[ETLHEAP_TITLE_SIZE])
{
    const int size = (int)(ends_in(title, "/s") ? strlen(title) - 2 : strlen(title));
    if (unit[0] == '\0' || ends_in(title, ")"))
        snprintf(out, ETLHEAP_TITLE_SIZE, "%s", title);
    else
        snprintf(out, ETLHEAP_TITLE_SIZE, "%.*s (%s)", size, title, unit);
}

static bool ends_in(const char *text, const char *end)
{
    const size_t size = strlen(text);
    const size_t length = strlen(end);
    return size >= length && strcmp(text + size - length, end) == 0;
}
