/*
 * msf.h - the MSF 7 container of a PDB: numbered streams, each a list of blocks
 * (private to the parser).
 *
 * Streams are not loaded. msf_view gives any range of one: straight out of the
 * file when its blocks are neighbours there, which they mostly are, else
 * gathered in the caller's scratch.
 */
#ifndef ETL_MSF_H
#define ETL_MSF_H

#include "parser/parser.h"

/* Immutable after msf_open; any thread. */
typedef struct msf_file {
    etl_bytes bytes;
    u32 block_shift; /* blocks are 1 << block_shift bytes */
    u32 block_count;
    u32 stream_count;
    etl_bytes directory; /* in the file, or in `gathered` */
    u8 *gathered;        /* owned */
    u32 *lists;          /* owned: per stream, where its blocks are listed in the directory */
} msf_file;

/* A reader of one stream; each thread has its own. It remembers the run of
 * neighbouring blocks it stands in, so that sequential reading rarely looks at
 * the block list. */
typedef struct msf_stream {
    const msf_file *file;
    u32 index;
    u32 size; /* bytes; 0 when the stream is not there */
    u32 run_begin, run_end;
    const u8 *run; /* byte run_begin of the stream; NULL before the first view */
} msf_stream;

/*
 * Checks the superblock and the directory of `bytes`, which must outlive *out.
 * On success the caller owns *out (msf_close). ETL_ERR_UNSUPPORTED: no MSF 7
 * file; ETL_ERR_CORRUPT; ETL_ERR_MEMORY.
 */
etl_status msf_open(etl_bytes bytes, msf_file *out, etl_error *err);
void msf_close(msf_file *file); /* {0} is allowed */

/* A reader of stream `index`; of size 0 when there is no such stream. */
msf_stream msf_stream_of(const msf_file *file, u32 index);

/*
 * `size` bytes at `offset`: out of the file, or copied to `scratch`, which has
 * room for them; valid as long as the file, or until the scratch is used again.
 * {NULL, 0} when they reach past the stream or its block list is damaged there.
 */
etl_bytes msf_view_slow(msf_stream *stream, u32 offset, u32 size, u8 *scratch);

static inline etl_bytes msf_view(msf_stream *stream, u32 offset, u32 size, u8 *scratch)
{
    if (offset >= stream->run_begin && offset < stream->run_end && size <= stream->run_end - offset)
        return (etl_bytes){ stream->run + (offset - stream->run_begin), size };
    return msf_view_slow(stream, offset, size, scratch);
}

/*
 * Text from `offset` to its NUL, or to `limit` bytes or the stream's end where
 * there is none; the same views and the same scratch of `limit` bytes.
 */
etl_bytes msf_text(msf_stream *stream, u32 offset, u32 limit, u8 *scratch);

#endif
