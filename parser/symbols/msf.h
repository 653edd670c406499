/*
 * msf.h - reads the MSF 7 container of a PDB: numbered streams, each a list of blocks (private to
 * the parser).
 *
 * Streams are not loaded. msf_view returns any range of one: directly from the file if its blocks
 * are adjacent there, as they usually are, else copied to the caller's scratch.
 */
#ifndef ETL_MSF_H
#define ETL_MSF_H

#include "parser/base.h"
#include "parser/parser.h"

/* Does not change after msf_open; any thread. */
typedef struct msf_file {
    etl_bytes bytes;
    u32 block_shift; /* blocks are 1 << block_shift bytes */
    u32 block_count;
    u32 stream_count;
    etl_bytes directory; /* in the file, or in `gathered` */
    u8 *gathered;        /* owned */
    u32 *lists;          /* owned: by stream: position of its block list in the directory */
} msf_file;

/* A reader of one stream; each thread needs its own. It remembers the current run of adjacent
 * blocks, so that sequential reading rarely looks at the block list. */
typedef struct msf_stream {
    const msf_file *file;
    u32 index;
    u32 size; /* bytes; 0 if the stream does not exist */
    u32 run_begin, run_end;
    const u8 *run; /* byte run_begin of the stream; NULL before the first view */
} msf_stream;

/*
 * Checks the superblock and the directory of `bytes`, which must outlive *out. On success the
 * caller owns *out (msf_close). ETL_ERR_UNSUPPORTED (not an MSF 7 file), ETL_ERR_CORRUPT,
 * ETL_ERR_MEMORY.
 */
etl_status msf_open(etl_bytes bytes, msf_file *out, etl_error *err);
void msf_close(msf_file *file); /* {0} is allowed */

/* Makes a reader of stream `index`; its size is 0 if the stream does not exist. */
msf_stream msf_stream_of(const msf_file *file, u32 index);

/*
 * Returns `size` bytes at `offset`: in the file, valid as long as it, or copied to `scratch`, valid
 * until that is reused; scratch must have room for them. {NULL, 0} if they reach past the stream,
 * or its block list is damaged there.
 */
etl_bytes msf_view_slow(msf_stream *stream, u32 offset, u32 size, u8 *scratch);

static inline etl_bytes msf_view(msf_stream *stream, u32 offset, u32 size, u8 *scratch)
{
    if (offset >= stream->run_begin && offset < stream->run_end && size <= stream->run_end - offset)
        return (etl_bytes){ stream->run + (offset - stream->run_begin), size };
    return msf_view_slow(stream, offset, size, scratch);
}

/* Returns the text from `offset` to its NUL, to `limit` bytes, or to the end of the stream,
 * whichever comes first. Views and scratch (`limit` bytes) as above. */
etl_bytes msf_text(msf_stream *stream, u32 offset, u32 limit, u8 *scratch);

#endif
