/*
 * gzip.c - compresses bytes through zlib into a sink, as a gzip member or as a bare stream for zip
 * files. Errors of zlib can only be a lack of memory; those of the sink are sticky there.
 */
#define ZLIB_CONST /* its input is const */

#include "gzip.h"

#include <stdlib.h>
#include <zlib.h>

#define PACKED_BYTES (64 * 1024)
#define ASK_BYTES    (64 * 1024)
#define GZIP_WINDOW  (15 + 16) /* the largest window; 16 asks for a gzip header */
#define BARE_WINDOW  (-15)     /* the largest window, no header */
#define MEMORY_LEVEL 8         /* zlib's default */
#define SYSTEM_NONE  255       /* the same bytes whichever system wrote them; RFC 1952 */

struct etlheap_gzip {
    etlheap_sink *sink;
    z_stream stream;
    gz_header header;     /* zlib looks at it until it is written */
    u64 packed_bytes;     /* written so far */
    size_t unasked_bytes; /* of input since the sink's watcher was asked */
    u8 packed[PACKED_BYTES];
};

static etlheap_gzip *open_with(etlheap_sink *sink, int window);
static void pass_on(etlheap_gzip *gzip, int how);

etlheap_gzip *etlheap_gzip_open(etlheap_sink *sink)
{
    return open_with(sink, GZIP_WINDOW);
}

etlheap_gzip *etlheap_gzip_open_bare(etlheap_sink *sink)
{
    return open_with(sink, BARE_WINDOW);
}

static etlheap_gzip *open_with(etlheap_sink *sink, int window)
{
    etlheap_gzip *const gzip = malloc(sizeof *gzip);
    if (!gzip)
        return NULL;
    gzip->sink = sink;
    gzip->stream = (z_stream){ 0 };
    gzip->header = (gz_header){ .os = SYSTEM_NONE };
    gzip->packed_bytes = 0;
    gzip->unasked_bytes = 0;
    if (deflateInit2(&gzip->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window, MEMORY_LEVEL,
                     Z_DEFAULT_STRATEGY) == Z_OK) {
        if (window == GZIP_WINDOW)
            (void)deflateSetHeader(&gzip->stream, &gzip->header);
        return gzip;
    }
    free(gzip);
    return NULL;
}

/* Much input may become little output, so whoever watches the sink is asked by input. */
static bool may_go_on(etlheap_gzip *gzip, size_t size)
{
    gzip->unasked_bytes += size;
    if (gzip->unasked_bytes < ASK_BYTES)
        return etlheap_sink_ok(gzip->sink);
    gzip->unasked_bytes = 0;
    return etlheap_sink_goes_on(gzip->sink);
}

void etlheap_gzip_write(etlheap_gzip *gzip, const void *bytes, size_t size)
{
    const u8 *at = bytes;
    while (size > 0 && may_go_on(gzip, size)) {
        const uInt part = (uInt)etl_min_u64(size, UINT32_MAX);
        gzip->stream.next_in = at;
        gzip->stream.avail_in = part;
        pass_on(gzip, Z_NO_FLUSH);
        at += part;
        size -= part;
    }
}

u64 etlheap_gzip_close(etlheap_gzip *gzip)
{
    if (!gzip)
        return 0;
    gzip->stream.avail_in = 0;
    pass_on(gzip, Z_FINISH);
    (void)deflateEnd(&gzip->stream);
    const u64 packed_bytes = gzip->packed_bytes;
    free(gzip);
    return packed_bytes;
}

/* Once the stream is set up, deflate can only run out of room for its output. */
static void pass_on(etlheap_gzip *gzip, int how)
{
    do {
        gzip->stream.next_out = gzip->packed;
        gzip->stream.avail_out = PACKED_BYTES;
        (void)deflate(&gzip->stream, how);
        const size_t size = PACKED_BYTES - gzip->stream.avail_out;
        etlheap_sink_write(gzip->sink, gzip->packed, size);
        gzip->packed_bytes += size;
    } while (gzip->stream.avail_out == 0);
    assert(gzip->stream.avail_in == 0);
}
