/* http_library.c - see http_library.h. */
#include "http_library.h"

#include <stdio.h>

#if defined(VIEW_HTTP_LINKED)

bool view_http_load(view_http *out)
{
#define FUNCTION_MEMBER(function) .function = MHD_##function,
    *out = (view_http){ VIEW_HTTP_FUNCTIONS(FUNCTION_MEMBER) };
#undef FUNCTION_MEMBER
    return true;
}

#else

#include "parser/system/late_library.h"

static const char *const files[] = { "libmicrohttpd.so.12", NULL };

static const late_function functions[] = {
#define FUNCTION_ROW(function) LATE_FUNCTION(view_http, function, MHD_##function),
    VIEW_HTTP_FUNCTIONS(FUNCTION_ROW)
#undef FUNCTION_ROW
};

static const late_library library = { files, functions, ETL_COUNT_OF(functions) };

bool view_http_load(view_http *out)
{
    return etl_late_library(&library, out);
}

#endif

bool view_http_named(u32 index, etlheap_library *out)
{
    view_http http;
    if (index > 0)
        return false;
    out->name = "libmicrohttpd";
    snprintf(out->version, sizeof out->version, "%s",
             view_http_load(&http) ? http.get_version() : "not installed");
    return true;
}
