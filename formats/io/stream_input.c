/*
 * stream_input.c - unpacks one trace, store or UMDH log from a gzip or zstd file, or copies it from
 * a pipe.
 *
 * In: compressed or plain bytes. Out: one temporary file.
 *
 *     read ──▶ step of the codec (gzip, zstd, none) ──▶ buffer full? ──▶ check_start ──▶ file
 *
 * All three are bytes in, bytes out, so there is one loop and a table row for each. gzip and zstd
 * files may consist of several frames (pigz, zstd -B); gzip files may end in zeros, which tapes and
 * block devices add. A file that ends inside a frame is cut off; anything else behind a frame is
 * damage. Invariant: nothing says how long the whole will be, so the first full buffer is checked,
 * and what does not begin like one of the three is refused before a file is made.
 */
#include "unpack.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "parser/system/files.h"

#define GZIP_WINDOW (15 + 16) /* the largest, and gzip's header: zlib.h, inflateInit2 */
#define WAIT_MS     100u

typedef enum step_end {
    STEP_ON,      /* within a frame */
    STEP_BETWEEN, /* of two frames, or behind the last */
    STEP_DAMAGED,
    STEP_UNSUPPORTED,
    STEP_NO_MEMORY
} step_end;

/* The input and output of a step, and what it left of both. */
typedef struct flow {
    const u8 *in;
    size_t in_bytes;
    u8 *out;
    size_t out_bytes;
    const char *why; /* damaged, or unsupported */
} flow;

typedef struct codec {
    const char *name;
    bool is_padded;      /* zeros may follow a frame */
    void *(*open)(void); /* NULL: no memory */
    step_end (*step)(void *state, flow *at);
    void (*close)(void *state);
} codec;

/* A file that is unpacked. */
typedef struct stream {
    const codec *codec;
    void *state;
    int file;
    u8 *in; /* UNPACK_BYTES */
    flow at;
    step_end last; /* how the last step ended */
    bool is_all_read;
} stream;

static etl_status unpack_file(unpacking *job, const char *path, const codec *how, etl_error *err);
static etl_status unpack_stream(unpacking *job, stream *s, etl_error *err);
static etl_status copy(unpacking *job, stream *s, unpacked_member *member, etl_error *err);
static etl_status fill(unpacking *job, stream *s, size_t *size, etl_error *err);
static etl_status step(stream *s, bool *is_done, etl_error *err);
static void skip_zeros(flow *at);
static etl_status read_more(unpacking *job, stream *s, etl_error *err);
static etl_status check_start(const unpacking *job, const stream *s, size_t size, etl_error *err);

/* --- codecs ------------------------------------------------------------------------ */

static void *gzip_open(void)
{
    z_stream *const z = calloc(1, sizeof *z);
    if (z && inflateInit2(z, GZIP_WINDOW) == Z_OK)
        return z;
    free(z);
    return NULL;
}

static void gzip_close(void *state)
{
    (void)inflateEnd(state);
    free(state);
}

static step_end gzip_step(void *state, flow *at)
{
    z_stream *const z = state;
    z->next_in = (Bytef *)(uintptr_t)at->in; /* zlib does not write there */
    z->avail_in = (uInt)at->in_bytes;
    z->next_out = at->out;
    z->avail_out = (uInt)at->out_bytes;
    const int ended = inflate(z, Z_NO_FLUSH);
    *at = (flow){ z->next_in, z->avail_in, z->next_out, z->avail_out, z->msg };
    if (ended == Z_STREAM_END)
        return inflateReset(z) == Z_OK ? STEP_BETWEEN : STEP_DAMAGED;
    if (ended == Z_OK || ended == Z_BUF_ERROR) /* the second: nothing to do */
        return STEP_ON;
    return ended == Z_MEM_ERROR ? STEP_NO_MEMORY : STEP_DAMAGED;
}

static void *zstd_open(void)
{
    return ZSTD_createDStream();
}

static void zstd_close(void *state)
{
    ZSTD_freeDStream(state);
}

/* A failure of zstd. A file that zstd(1) can unpack with an option is not damaged. */
static step_end zstd_fail(size_t code, flow *at)
{
    at->why = ZSTD_getErrorName(code);
    switch (ZSTD_getErrorCode(code)) {
    case ZSTD_error_frameParameter_windowTooLarge:
        at->why = "its window is larger than 128 MiB; unpack it with zstd first";
        return STEP_UNSUPPORTED;
    case ZSTD_error_dictionary_wrong:
        at->why = "it was packed with a dictionary; unpack it with zstd first";
        return STEP_UNSUPPORTED;
    case ZSTD_error_memory_allocation:
        return STEP_NO_MEMORY;
    default:
        return STEP_DAMAGED;
    }
}

static step_end zstd_step(void *state, flow *at)
{
    ZSTD_inBuffer in = { at->in, at->in_bytes, 0 };
    ZSTD_outBuffer out = { at->out, at->out_bytes, 0 };
    const size_t left = ZSTD_decompressStream(state, &out, &in);
    *at = (flow){ at->in + in.pos, at->in_bytes - in.pos, at->out + out.pos,
                  at->out_bytes - out.pos, NULL };
    if (!ZSTD_isError(left))
        return left == 0 ? STEP_BETWEEN : STEP_ON;
    return zstd_fail(left, at);
}

/* Copies. It has no state and so no end of its own. */
static step_end plain_step(void *state, flow *at)
{
    (void)state;
    const size_t size = at->in_bytes < at->out_bytes ? at->in_bytes : at->out_bytes;
    memcpy(at->out, at->in, size);
    *at = (flow){ at->in + size, at->in_bytes - size, at->out + size, at->out_bytes - size, NULL };
    return STEP_BETWEEN;
}

static const codec gzip = { "gzip", true, gzip_open, gzip_step, gzip_close };
static const codec zstd = { "zstd", false, zstd_open, zstd_step, zstd_close };
static const codec plain = { .step = plain_step };

/* --- the loop ----------------------------------------------------------------------- */

etl_status unpack_gzip(unpacking *job, const char *path, etl_error *err)
{
    return unpack_file(job, path, &gzip, err);
}

etl_status unpack_zstd(unpacking *job, const char *path, etl_error *err)
{
    return unpack_file(job, path, &zstd, err);
}

etl_status unpack_descriptor(unpacking *job, int descriptor, etl_error *err)
{
    stream s = { .codec = &plain, .file = descriptor };
    return unpack_stream(job, &s, err);
}

static etl_status unpack_file(unpacking *job, const char *path, const codec *how, etl_error *err)
{
    stream s = { .codec = how, .file = etl_file_open(path) };
    etl_path_kind kind;
    if (s.file < 0 || !etl_file_examine(s.file, &kind, &job->total_bytes)) {
        const int why = errno;
        if (s.file >= 0)
            (void)etl_file_close(s.file);
        return etl_fail_with(err, ETL_ERR_IO, 0, "cannot be read: %s", strerror(why));
    }
    const etl_status status = unpack_stream(job, &s, err);
    (void)etl_file_close(s.file);
    return status;
}

static etl_status unpack_stream(unpacking *job, stream *s, etl_error *err)
{
    unpacked_member *const member = &job->out->members[0];
    s->in = malloc(UNPACK_BYTES);
    s->state = s->codec->open ? s->codec->open() : NULL;
    s->last = STEP_BETWEEN;
    const bool is_open = s->in && (s->state || !s->codec->open);
    etl_status status = is_open ? ETL_OK : unpack_no_memory(err);
    if (status == ETL_OK)
        status = copy(job, s, member, err);
    if (s->state)
        s->codec->close(s->state);
    free(s->in);
    return status;
}

/* The file is made only when its first bytes have been looked at. */
static etl_status copy(unpacking *job, stream *s, unpacked_member *member, etl_error *err)
{
    for (;;) {
        size_t size = 0;
        etl_status status = fill(job, s, &size, err);
        if (status == ETL_OK && job->out->count == 0) {
            status = check_start(job, s, size, err);
            member->file = -1;
            job->out->count = 1;
            if (status == ETL_OK)
                status = unpack_begin_file(job, member, err);
        }
        if (status == ETL_OK)
            status = unpack_write(job, member, size, err);
        if (status == ETL_OK)
            status = unpack_tell(job, err);
        member->size_bytes += size;
        if (status == ETL_OK && job->options->member_bytes_max > 0 &&
            member->size_bytes > job->options->member_bytes_max)
            return etl_fail_with(err, ETL_ERR_LIMIT, 0,
                                 "its unpacked size exceeds the limit of %" PRIu64 " bytes",
                                 job->options->member_bytes_max);
        if (status != ETL_OK)
            return status;
        if (size < UNPACK_BYTES)
            return unpack_end_file(job, member, err);
    }
}

/* Fills the job's buffer, unless all ends before. */
static etl_status fill(unpacking *job, stream *s, size_t *size, etl_error *err)
{
    s->at.out = job->buffer;
    s->at.out_bytes = UNPACK_BYTES;
    etl_status status = ETL_OK;
    bool is_done = false;
    while (status == ETL_OK && !is_done) {
        if (s->at.in_bytes == 0 && !s->is_all_read)
            status = read_more(job, s, err);
        if (status == ETL_OK)
            status = step(s, &is_done, err);
    }
    *size = UNPACK_BYTES - s->at.out_bytes;
    return status;
}

/* Takes a step. It is done if the buffer is full, or if the file ends where a file may end. */
static etl_status step(stream *s, bool *is_done, etl_error *err)
{
    const char *const name = s->codec->name;
    if (s->codec->is_padded && s->last == STEP_BETWEEN)
        skip_zeros(&s->at);
    const size_t before = s->at.in_bytes + s->at.out_bytes;
    if (s->last == STEP_ON || s->at.in_bytes > 0)
        s->last = s->codec->step(s->state, &s->at);
    if (s->last == STEP_NO_MEMORY)
        return unpack_no_memory(err);
    if (s->last == STEP_UNSUPPORTED)
        return etl_fail_with(err, ETL_ERR_UNSUPPORTED, 0, "cannot unpack the %s file: %.100s", name,
                             s->at.why);
    if (s->last == STEP_DAMAGED)
        return etl_fail_with(err, ETL_ERR_CORRUPT, 0, "the %s file is damaged: %.80s", name,
                             s->at.why ? s->at.why : "its header contradicts its contents");
    const bool is_at_end = s->is_all_read && s->at.in_bytes == 0;
    *is_done = s->at.out_bytes == 0 || (is_at_end && s->last == STEP_BETWEEN);
    if (!*is_done && is_at_end && s->at.in_bytes + s->at.out_bytes == before)
        return etl_fail_with(err, ETL_ERR_CORRUPT, 0,
                             "the %s file is cut off; copy or download it again", name);
    return ETL_OK;
}

static void skip_zeros(flow *at)
{
    while (at->in_bytes > 0 && *at->in == 0) {
        at->in++;
        at->in_bytes--;
    }
}

/* Reads more. A pipe may bring nothing for long, so the user may stop it meanwhile. */
static etl_status read_more(unpacking *job, stream *s, etl_error *err)
{
    while (!etl_file_wait(s->file, WAIT_MS)) {
        const etl_status status = unpack_tell(job, err);
        if (status != ETL_OK)
            return status;
    }
    const i64 got = etl_file_read_some(s->file, s->in, UNPACK_BYTES);
    if (got < 0)
        return etl_fail_with(err, ETL_ERR_IO, 0, "cannot be read: %s", strerror(errno));
    s->at.in = s->in;
    s->at.in_bytes = (size_t)got;
    s->is_all_read = got == 0;
    job->done_bytes += (u64)got;
    return unpack_tell(job, err);
}

/* Checks the start: a trace, a store or a UMDH log; from a pipe also packed ones. */
static etl_status check_start(const unpacking *job, const stream *s, size_t size, etl_error *err)
{
    static_assert(ETL_START_BYTES <= UNPACK_BYTES, "the buffer holds what is looked at");
    const etl_bytes start = { job->buffer, size };
    if (etlheap_is_store(start) || etlheap_umdh_begins(start) ||
        (s->codec == &plain && unpack_packing_of(start) != UNPACK_NONE))
        return ETL_OK;
    return etl_check_start(start, err);
}
