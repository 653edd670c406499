/* export_html_pack.c - see export_html_pack.h. The page unpacks with DecompressionStream. */
#include "export_html_pack.h"

#include "formats/io/sink_take.h"

#define GROUP_BYTES  3u
#define GROUP_DIGITS 4u

static void add_base64(const u8 *at, size_t size, etlheap_text *out)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (; size > 0; at += etl_min_u64(size, GROUP_BYTES), size -= etl_min_u64(size, GROUP_BYTES)) {
        const u32 b = size > 1 ? at[1] : 0, c = size > 2 ? at[2] : 0;
        const u32 bits = (u32)at[0] << 16 | b << 8 | c;
        const char digits[GROUP_DIGITS] = { alphabet[bits >> 18], alphabet[bits >> 12 & 63],
                                            (char)(size > 1 ? alphabet[bits >> 6 & 63] : '='),
                                            (char)(size > 2 ? alphabet[bits & 63] : '=') };
        etlheap_text_add(out, digits, sizeof digits);
    }
}

static void deflate_more(void *user, const void *bytes, size_t size)
{
    html_packer *const packer = user;
    etlheap_gzip_write(packer->gzip, bytes, size);
}

bool html_packer_is_full(const html_packer *packer)
{
    return packer->deflated.size > packer->most;
}

static bool has_room(void *user)
{
    const html_packer *const packer = user;
    return !html_packer_is_full(packer) && !packer->deflated.failed;
}

etl_status html_packer_open(html_packer *packer, u64 most, etl_error *err)
{
    *packer = (html_packer){ .most = (size_t)(most / GROUP_DIGITS * GROUP_BYTES) };
    etl_status status = etlheap_sink_open_text(&packer->deflated, &packer->inner, err);
    if (status == ETL_OK)
        status = etlheap_sink_open_take(deflate_more, packer, &packer->sink, err);
    if (status == ETL_OK) {
        packer->gzip = etlheap_gzip_open_bare(packer->inner);
        status = packer->gzip ? ETL_OK : etl_no_memory(err);
    }
    if (status == ETL_OK)
        etlheap_sink_watch(packer->sink, has_room, packer);
    else
        html_packer_discard(packer);
    return status;
}

etl_status html_packer_close(html_packer *packer, etlheap_text *out, etl_error *err)
{
    etl_status status = etlheap_sink_close(packer->sink, err);
    packer->sink = NULL;
    (void)etlheap_gzip_close(packer->gzip);
    packer->gzip = NULL;
    const etl_status packed = etlheap_sink_close(packer->inner, status == ETL_OK ? err : NULL);
    packer->inner = NULL;
    if (status == ETL_OK)
        status = packed;
    if (status == ETL_OK && html_packer_is_full(packer))
        status = ETL_ERR_CANCELLED;
    if (packer->deflated.failed)
        status = etl_no_memory(err);
    else if (status == ETL_OK)
        add_base64((const u8 *)etlheap_text_of(&packer->deflated), packer->deflated.size, out);
    html_packer_discard(packer);
    return status;
}

void html_packer_discard(html_packer *packer)
{
    etlheap_sink_discard(packer->sink);
    (void)etlheap_gzip_close(packer->gzip);
    etlheap_sink_discard(packer->inner);
    etlheap_text_free(&packer->deflated);
}
