/* format_libraries.c - versions of the libraries that the formats are linked with. */
#include "formats.h"

#include "parser/base.h"

#include <libxml/parser.h>
#include <stdio.h>
#include <stdlib.h>
#include <zip.h>
#include <zlib.h>

static void put_libxml2(etlheap_library *out);

bool etlheap_formats_library(u32 index, etlheap_library *out)
{
    switch (index) {
    case 0:
        out->name = "libzip";
        snprintf(out->version, sizeof out->version, "%s", zip_libzip_version());
        return true;
    case 1:
        put_libxml2(out);
        return true;
    case 2:
        out->name = "zlib";
        snprintf(out->version, sizeof out->version, "%s", zlibVersion());
        return true;
    default:
        return false;
    }
}

/* "20914", sometimes with words behind it, is 2.9.14. */
static void put_libxml2(etlheap_library *out)
{
    const unsigned long version = strtoul(xmlParserVersion, NULL, 10);
    out->name = "libxml2";
    snprintf(out->version, sizeof out->version, "%lu.%lu.%lu", version / 10000, version / 100 % 100,
             version % 100);
}
