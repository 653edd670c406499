/*
 * zip_output.c - see zip_output.h.
 *
 *     local header, name      sizes are 0: they follow
 *     the member, deflated
 *     data descriptor         checksum and sizes
 *     central directory       the same again, and where the member begins
 *     end record
 *
 * Source: PKWARE's APPNOTE.TXT, 4.3.7 to 4.3.16. All numbers are little endian.
 */
#include "zip_output.h"

#include <zlib.h>

#define VERSION_NEEDED  20u     /* 2.0: deflate */
#define FLAGS           0x0808u /* sizes follow the member; the name is UTF-8 */
#define METHOD_DEFLATE  8u
#define TIME_MIDNIGHT   0u
#define DATE_1980_01_01 0x21u

static void put_member_head(const etlheap_zip_output *zip, u32 packed_bytes, u32 size_bytes);
static void put_sizes(const etlheap_zip_output *zip, u32 packed_bytes, u32 size_bytes);
static void put16(etlheap_sink *sink, u32 value);
static void put32(etlheap_sink *sink, u32 value);

etl_status etlheap_zip_begin(etlheap_sink *sink, const char *name, etlheap_zip_output *out)
{
    *out = (etlheap_zip_output){ .sink = sink,
                                 .gzip = etlheap_gzip_open_bare(sink),
                                 .name = name,
                                 .checksum = (u32)crc32(0, NULL, 0) };
    if (!out->gzip)
        return ETL_ERR_MEMORY;
    put32(sink, 0x04034B50);
    put_member_head(out, 0, 0); /* the checksum of nothing is 0, too */
    etlheap_sink_text(sink, name);
    return ETL_OK;
}

bool etlheap_zip_put(void *user, const void *bytes, size_t size)
{
    etlheap_zip_output *const zip = user;
    zip->checksum = (u32)crc32_z(zip->checksum, bytes, size);
    zip->size_bytes += size;
    etlheap_gzip_write(zip->gzip, bytes, size);
    return etlheap_sink_ok(zip->sink);
}

etl_status etlheap_zip_end(etlheap_zip_output *zip)
{
    const u32 name_size = (u32)strlen(zip->name);
    const u64 packed = etlheap_gzip_close(zip->gzip);
    const u32 head_size = 30 + name_size, descriptor_size = 16, entry_size = 46 + name_size;
    zip->gzip = NULL;
    if (zip->size_bytes >= UINT32_MAX || packed >= UINT32_MAX - head_size - descriptor_size)
        return ETL_ERR_LIMIT;
    const u32 packed_bytes = (u32)packed;
    put32(zip->sink, 0x08074B50);
    put_sizes(zip, packed_bytes, (u32)zip->size_bytes);
    put32(zip->sink, 0x02014B50);
    put16(zip->sink, VERSION_NEEDED); /* made by; attributes are those of MS-DOS */
    put_member_head(zip, packed_bytes, (u32)zip->size_bytes);
    put16(zip->sink, 0); /* comment */
    put16(zip->sink, 0); /* disk */
    put16(zip->sink, 0); /* attributes within */
    put32(zip->sink, 0); /* attributes of the file */
    put32(zip->sink, 0); /* where its local header is */
    etlheap_sink_text(zip->sink, zip->name);
    put32(zip->sink, 0x06054B50);
    put16(zip->sink, 0); /* this disk */
    put16(zip->sink, 0); /* disk of the directory */
    put16(zip->sink, 1); /* entries on it */
    put16(zip->sink, 1); /* entries */
    put32(zip->sink, entry_size);
    put32(zip->sink, head_size + packed_bytes + descriptor_size);
    put16(zip->sink, 0); /* comment */
    return ETL_OK;
}

/* What the local header and the directory have in common. */
static void put_member_head(const etlheap_zip_output *zip, u32 packed_bytes, u32 size_bytes)
{
    put16(zip->sink, VERSION_NEEDED);
    put16(zip->sink, FLAGS);
    put16(zip->sink, METHOD_DEFLATE);
    put16(zip->sink, TIME_MIDNIGHT);
    put16(zip->sink, DATE_1980_01_01);
    put_sizes(zip, packed_bytes, size_bytes);
    put16(zip->sink, (u32)strlen(zip->name));
    put16(zip->sink, 0); /* extra field */
}

static void put_sizes(const etlheap_zip_output *zip, u32 packed_bytes, u32 size_bytes)
{
    put32(zip->sink, zip->checksum);
    put32(zip->sink, packed_bytes);
    put32(zip->sink, size_bytes);
}

static void put16(etlheap_sink *sink, u32 value)
{
    const u8 bytes[] = { (u8)value, (u8)(value >> 8) };
    etlheap_sink_write(sink, bytes, sizeof bytes);
}

static void put32(etlheap_sink *sink, u32 value)
{
    put16(sink, value & 0xFFFF);
    put16(sink, value >> 16);
}
