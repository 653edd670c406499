/* export_html_pack.c - see export_html_pack.h. The page unpacks with DecompressionStream. */
#include "export_html_pack.h"

#include "formats/io/gzip.h"

#define GROUP_BYTES 3u

static void add_base64(const u8 *at, size_t size, etlheap_text *out)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (; size > 0; at += etl_min_u64(size, GROUP_BYTES), size -= etl_min_u64(size, GROUP_BYTES)) {
        const u32 b = size > 1 ? at[1] : 0, c = size > 2 ? at[2] : 0;
        const u32 bits = (u32)at[0] << 16 | b << 8 | c;
        const char digits[] = { alphabet[bits >> 18], alphabet[bits >> 12 & 63],
                                (char)(size > 1 ? alphabet[bits >> 6 & 63] : '='),
                                (char)(size > 2 ? alphabet[bits & 63] : '=') };
        etlheap_text_add(out, digits, sizeof digits);
    }
}

/* True if all bytes are in `packed`. */
static bool deflate_all(const void *bytes, size_t size, etlheap_text *packed)
{
    etlheap_sink *sink = NULL;
    if (etlheap_sink_open_text(packed, &sink, NULL) != ETL_OK)
        return false;
    etlheap_gzip *const gzip = etlheap_gzip_open_bare(sink);
    if (gzip) {
        etlheap_gzip_write(gzip, bytes, size);
        etlheap_gzip_close(gzip);
    }
    return etlheap_sink_close(sink, NULL) == ETL_OK && gzip && !packed->failed;
}

void html_pack(const void *bytes, size_t size, etlheap_text *out)
{
    etlheap_text packed = { 0 };
    if (deflate_all(bytes, size, &packed))
        add_base64((const u8 *)etlheap_text_of(&packed), packed.size, out);
    else
        out->failed = true;
    etlheap_text_free(&packed);
}
