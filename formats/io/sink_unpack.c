/* sink_unpack.c - writes what a zstd frame in memory contains. */
#include "formats/formats.h"

#include <stdlib.h>
#include <zstd.h>

/* Piece by piece, so that memory does not depend on what the frame says about its size. */
static etl_status unpack(etlheap_sink *sink, ZSTD_DCtx *context, ZSTD_inBuffer in, void *room,
                         etl_error *err)
{
    const size_t room_bytes = ZSTD_DStreamOutSize();
    size_t left = 1;
    while (left != 0) {
        ZSTD_outBuffer out = { room, room_bytes, 0 };
        const size_t in_before = in.pos;
        left = ZSTD_decompressStream(context, &out, &in);
        if (ZSTD_isError(left))
            return etl_fail_with(err, ETL_ERR_CORRUPT, in.pos, "damaged zstd frame: %s",
                                 ZSTD_getErrorName(left));
        if (out.pos == 0 && in.pos == in_before && left != 0)
            return etl_fail_with(err, ETL_ERR_CORRUPT, in.pos, "the zstd frame is cut off");
        etlheap_sink_write(sink, room, out.pos);
    }
    return ETL_OK;
}

etl_status etlheap_sink_unpack(etlheap_sink *sink, const void *frame, size_t size, etl_error *err)
{
    ZSTD_DCtx *const context = ZSTD_createDCtx();
    void *const room = malloc(ZSTD_DStreamOutSize());
    const ZSTD_inBuffer in = { frame, size, 0 };
    const etl_status status =
        context && room ? unpack(sink, context, in, room, err) : etl_no_memory(err);
    free(room);
    ZSTD_freeDCtx(context);
    return status;
}
