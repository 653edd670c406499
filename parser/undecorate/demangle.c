/*
 * demangle.c - readable names of compilers that do not mangle as Microsoft's does.
 *
 * In: a public name of Rust or D, or of C++ as GCC and clang mangle it elsewhere than on Windows
 * (MinGW).
 * Out: the name without parameters, or "another kind of name".
 */
#include "demangle_inside.h"

#include <inttypes.h>
#include <stdio.h>

void dem_put_number(dem_reader *r, u64 value)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%" PRIu64, value);
    dem_put(r, text);
}

size_t dem_number(dem_reader *r)
{
    size_t value = 0;
    bool any = false;
    while (dem_is_digit(dem_peek(r)) && value <= r->size) {
        value = value * 10 + (size_t)(r->in[r->at++] - '0');
        any = true;
    }
    if (!any || value > r->size)
        r->is_failed = true;
    return r->is_failed ? 0 : value;
}

bool etl_demangle(etl_bytes mangled, char *out, size_t capacity, size_t *length)
{
    if (capacity == 0 || mangled.size < 3 || mangled.size > ETL_MANGLED_SIZE_MAX)
        return false;
    dem_reader r = {
        .in = (const char *)mangled.at, .size = mangled.size, .out = out, .capacity = capacity
    };
    /* x86 puts an underscore before every name. */
    if (dem_begins(&r, "__Z") || dem_begins(&r, "__R") || dem_begins(&r, "__D")) {
        r.in++;
        r.size--;
    }
    if (dem_begins(&r, "_R")) {
        r.at = 2;
        dem_read_rust(&r);
    } else if (dem_begins(&r, "_D")) {
        r.at = 2;
        dem_read_d(&r);
    } else if (dem_begins(&r, "_Z")) {
        r.at = 2;
        if (!dem_read_rust_legacy(&r))
            dem_read_itanium(&r);
    } else {
        return false;
    }
    if (r.is_failed || r.length == 0)
        return false;
    out[r.length] = '\0';
    if (length != NULL)
        *length = r.length;
    return true;
}
