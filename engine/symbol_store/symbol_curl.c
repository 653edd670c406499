/*
 * symbol_curl.c - loads libcurl when something is to be fetched, and looks up its functions.
 */
#include "symbol_curl.h"

#include "parser/system/late_library.h"

/* The first with all of the functions (curl_multi_poll). What is newer is asked for where it is
 * used. */
#define VERSION_MIN 0x074200u

/* Debian also builds it with another library for TLS, under another name. */
static const char *const files[] = { "libcurl.so.4", "libcurl-gnutls.so.4", NULL };

static const late_function functions[] = {
#define FUNCTION_ROW(function) LATE_FUNCTION(symbol_curl, function, curl_##function),
    SYMBOL_CURL_FUNCTIONS(FUNCTION_ROW)
#undef FUNCTION_ROW
};

static const late_library library = { files, functions, ETL_COUNT_OF(functions) };

bool symbol_curl_load(symbol_curl *out)
{
    return etl_late_library(&library, out) && symbol_curl_is(out, VERSION_MIN);
}

bool symbol_curl_is(const symbol_curl *curl, u32 version)
{
    return curl->version_info(CURLVERSION_NOW)->version_num >= version;
}
