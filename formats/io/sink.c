/*
 * sink.c - buffered output that is either complete or absent.
 *
 * In: bytes and text of writers. Out: a file, a descriptor, a text in memory or a function,
 * compressed with zstd on request.
 *
 *     open_file    app.html ──▶ app.html.1234-0.tmp, in the same folder
 *     close        everything written ──rename──▶ app.html
 *     discard      the temporary file is removed
 *
 * A file gets a temporary name in the folder of its final one, because a rename is atomic only
 * within a file system: readers see the old file or the complete new one. Invariants: errors are
 * sticky, so writers check once, when they close. Only close may rename; whatever still has a
 * temporary name is incomplete. A watcher is asked before every part that leaves the buffer, so no
 * writer needs to know who may stop it.
 */
#include "formats/formats.h"
#include "build_log.h"
#include "sink_take.h"
#include "text_buffer.h"
#include "units.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>

#include "parser/system/files.h"

#define SINK_BUFFER_BYTES (64 * 1024)
#define ZSTD_LEVEL        6 /* a third smaller than 1, and faster than text is written */
#define TEMPORARY_TRIES   100
#define DIGITS_MAX        20 /* of UINT64_MAX */

struct etlheap_sink {
    int descriptor;
    bool owned;                 /* close the descriptor */
    char *name;                 /* for messages; the final path of a file */
    char *temporary;            /* NULL: written directly */
    int lock;                   /* of the temporary file, until it has its name; -1: none */
    etlheap_text *text;         /* in place of the descriptor; NULL: none */
    etlheap_sink_take_fn *take; /* the same */
    void *taker;
    int error;       /* errno of the first failure */
    ZSTD_CCtx *zstd; /* NULL: not compressed */
    char *packed;    /* ZSTD_CStreamOutSize() bytes */
    bool ascii;      /* other characters are replaced */
    bool log_safe;   /* what a build server would take for a command is replaced */
    bool csv_safe;   /* what a spreadsheet would take for a formula is marked as text */
    etlheap_log_line line;
    etlheap_sink_watch_fn *goes_on; /* NULL: nobody may stop the writing */
    void *watcher;
    size_t used;
    char buffer[SINK_BUFFER_BYTES];
};

static etl_status sink_new(int descriptor, const char *name, etlheap_sink **out, etl_error *err);
static etl_status open_direct(const char *path, etlheap_sink **out, etl_error *err);
static etl_status open_temporary(const char *path, bool exists, etlheap_sink **out, etl_error *err);
static int create_beside(const char *path, char **temporary);
static void write_long(etlheap_sink *sink, size_t length, const char *format, va_list arguments)
    ETL_PRINTF(3, 0);
static void write_log_safe(etlheap_sink *sink, const char *text, size_t size);
static void write_ascii(etlheap_sink *sink, const char *text, size_t size);
static void write_encoded(etlheap_sink *sink, const void *bytes, size_t size);
static void write_bytes(etlheap_sink *sink, const void *bytes, size_t size);
static void pass_on(etlheap_sink *sink, const char *bytes, size_t size, ZSTD_EndDirective how);
static void send_all(etlheap_sink *sink, const char *bytes, size_t size);
static void sink_free(etlheap_sink *sink);

etl_status etlheap_sink_open_descriptor(int descriptor, const char *name, etlheap_sink **out,
                                        etl_error *err)
{
    return sink_new(descriptor, name, out, err);
}

etl_status etlheap_sink_open_text(etlheap_text *text, etlheap_sink **out, etl_error *err)
{
    const etl_status status = sink_new(-1, "text", out, err);
    if (status == ETL_OK)
        (*out)->text = text;
    return status;
}

etl_status etlheap_sink_open_take(etlheap_sink_take_fn *take, void *user, etlheap_sink **out,
                                  etl_error *err)
{
    const etl_status status = sink_new(-1, "function", out, err);
    if (status == ETL_OK) {
        (*out)->take = take;
        (*out)->taker = user;
    }
    return status;
}

etl_status etlheap_sink_open_file(const char *path, etlheap_sink **out, etl_error *err)
{
    const etl_path_kind existing = etl_path_kind_of(path);
    *out = NULL;
    if (existing == ETL_PATH_ABSENT)
        return open_temporary(path, false, out, err);
    if (existing == ETL_PATH_FOLDER)
        return etl_fail_with(err, ETL_ERR_IO, 0, "cannot write: it is a directory");
    if (existing != ETL_PATH_FILE)
        return open_direct(path, out, err);
    /* A link stays a link: the file it points to is replaced. */
    char *const target = etl_path_resolve(path);
    if (!target)
        return etl_fail_with(err, ETL_ERR_IO, 0, "cannot write: %s", strerror(errno));
    const etl_status status = open_temporary(target, true, out, err);
    free(target);
    return status;
}

etl_status etlheap_sink_compress(etlheap_sink *sink, etl_error *err)
{
    assert(sink->used == 0 && sink->zstd == NULL);
    sink->zstd = ZSTD_createCCtx();
    sink->packed = malloc(ZSTD_CStreamOutSize());
    if (!sink->zstd || !sink->packed)
        return etl_fail_with(err, ETL_ERR_MEMORY, 0, "out of memory for output");
    (void)ZSTD_CCtx_setParameter(sink->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
    (void)ZSTD_CCtx_setParameter(sink->zstd, ZSTD_c_checksumFlag, 1);
    return ETL_OK;
}

void etlheap_sink_ascii(etlheap_sink *sink)
{
    sink->ascii = true;
}

void etlheap_sink_log_safe(etlheap_sink *sink)
{
    sink->log_safe = true;
}

void etlheap_sink_csv_safe(etlheap_sink *sink)
{
    sink->csv_safe = true;
}

bool etlheap_sink_is_csv_safe(const etlheap_sink *sink)
{
    return sink->csv_safe;
}

void etlheap_sink_write(etlheap_sink *sink, const void *bytes, size_t size)
{
    if (sink->log_safe)
        write_log_safe(sink, bytes, size);
    else
        write_encoded(sink, bytes, size);
}

static void write_log_safe(etlheap_sink *sink, const char *text, size_t size)
{
    size_t count = etlheap_log_line_take(&sink->line, text, size);
    while (count < size) {
        write_encoded(sink, text, count);
        write_encoded(sink, "\xEF\xBF\xBD", 3); /* U+FFFD */
        text += count + 1;
        size -= count + 1;
        count = etlheap_log_line_take(&sink->line, text, size);
    }
    write_encoded(sink, text, size);
}

static void write_encoded(etlheap_sink *sink, const void *bytes, size_t size)
{
    if (sink->ascii)
        write_ascii(sink, bytes, size);
    else
        write_bytes(sink, bytes, size);
}

/* Writes ASCII; writers always pass whole characters. */
static void write_ascii(etlheap_sink *sink, const char *text, size_t size)
{
    static const char dash[] = "\xE2\x80\x93"; /* U+2013 */
    size_t run = 0;
    size_t at = 0;
    while (at < size) {
        if ((u8)text[at] < 0x80) {
            at++;
            continue;
        }
        const size_t length = etl_max_u64(etlheap_units_utf8_length(text + at, size - at), 1);
        const bool is_dash = length == sizeof dash - 1 && memcmp(text + at, dash, length) == 0;
        write_bytes(sink, text + run, at - run);
        write_bytes(sink, is_dash ? "-" : "?", 1);
        at += length;
        run = at;
    }
    write_bytes(sink, text + run, size - run);
}

static void write_bytes(etlheap_sink *sink, const void *bytes, size_t size)
{
    if (size > sizeof sink->buffer - sink->used) {
        pass_on(sink, sink->buffer, sink->used, ZSTD_e_continue);
        sink->used = 0;
    }
    if (size > sizeof sink->buffer) {
        pass_on(sink, bytes, size, ZSTD_e_continue);
        return;
    }
    if (size > 0)
        memcpy(sink->buffer + sink->used, bytes, size);
    sink->used += size;
}

void etlheap_sink_text(etlheap_sink *sink, const char *text)
{
    etlheap_sink_write(sink, text, strlen(text));
}

void etlheap_sink_format(etlheap_sink *sink, const char *format, ...)
{
    char text[512];
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    const int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    assert(length >= 0);
    if (length > 0 && (size_t)length < sizeof text)
        etlheap_sink_write(sink, text, (size_t)length);
    else if (length > 0)
        write_long(sink, (size_t)length, format, again);
    va_end(again);
}

/* Writes a long text. Rare, but names from a trace may have any length. */
static void write_long(etlheap_sink *sink, size_t length, const char *format, va_list arguments)
{
    char *const text = malloc(length + 1);
    if (!text) {
        sink->error = sink->error == 0 ? ENOMEM : sink->error;
        return;
    }
    (void)vsnprintf(text, length + 1, format, arguments);
    etlheap_sink_write(sink, text, length);
    free(text);
}

void etlheap_sink_unsigned(etlheap_sink *sink, u64 value)
{
    char digits[DIGITS_MAX];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    etlheap_sink_write(sink, digits + at, sizeof digits - at);
}

void etlheap_sink_signed(etlheap_sink *sink, i64 value)
{
    if (value < 0)
        etlheap_sink_write(sink, "-", 1);
    etlheap_sink_unsigned(sink, value < 0 ? 0 - (u64)value : (u64)value);
}

void etlheap_sink_hex(etlheap_sink *sink, u64 value, int digits)
{
    static const char names[] = "0123456789abcdef";
    char text[DIGITS_MAX];
    size_t at = sizeof text;
    do {
        text[--at] = names[value & 15];
        value >>= 4;
        digits--;
    } while ((value != 0 || digits > 0) && at > 0);
    etlheap_sink_write(sink, text + at, sizeof text - at);
}

void etlheap_sink_fill(etlheap_sink *sink, char c, size_t count)
{
    for (size_t i = 0; i < count; i++)
        etlheap_sink_write(sink, &c, 1);
}

void etlheap_sink_watch(etlheap_sink *sink, etlheap_sink_watch_fn *goes_on, void *user)
{
    sink->goes_on = goes_on;
    sink->watcher = user;
}

bool etlheap_sink_goes_on(etlheap_sink *sink)
{
    if (sink->error == 0 && sink->goes_on && !sink->goes_on(sink->watcher))
        sink->error = ECANCELED;
    return sink->error == 0;
}

bool etlheap_sink_ok(const etlheap_sink *sink)
{
    return sink->error == 0;
}

bool etlheap_sink_reader_left(const etlheap_sink *sink)
{
    return sink->error == EPIPE;
}

void etlheap_sink_flush(etlheap_sink *sink)
{
    pass_on(sink, sink->buffer, sink->used, ZSTD_e_flush);
    sink->used = 0;
}

void etlheap_sink_settle(etlheap_sink *sink)
{
    etlheap_sink_flush(sink);
    if (sink->error == 0 && !etl_file_sync(sink->descriptor))
        sink->error = errno;
}

etl_status etlheap_sink_close(etlheap_sink *sink, etl_error *err)
{
    pass_on(sink, sink->buffer, sink->used, ZSTD_e_end);
    sink->used = 0;
    /* Some file systems report a full disk only on close. */
    if (sink->owned && !etl_file_close(sink->descriptor) && sink->error == 0)
        sink->error = errno;
    sink->owned = false;
    if (sink->temporary && sink->error == 0) {
        if (etl_file_replace(sink->temporary, sink->name)) {
            free(sink->temporary);
            sink->temporary = NULL;
        } else {
            sink->error = errno;
        }
    }
    const int error = sink->error;
    etl_status status = ETL_OK;
    if (error == ECANCELED)
        status = etl_fail_with(err, ETL_ERR_CANCELLED, 0, "cancelled");
    else if (error != 0)
        status = etl_fail_with(err, ETL_ERR_IO, 0, "cannot write: %s", strerror(error));
    sink_free(sink);
    return status;
}

void etlheap_sink_discard(etlheap_sink *sink)
{
    if (sink)
        sink_free(sink);
}

/* Makes a sink. On failure, the caller still owns the descriptor. */
static etl_status sink_new(int descriptor, const char *name, etlheap_sink **out, etl_error *err)
{
    etlheap_sink *const sink = malloc(sizeof *sink);
    char *const copy = strdup(name);
    *out = NULL;
    if (!sink || !copy) {
        free(sink);
        free(copy);
        return etl_fail_with(err, ETL_ERR_MEMORY, 0, "out of memory for output");
    }
    sink->descriptor = descriptor;
    sink->owned = false;
    sink->name = copy;
    sink->temporary = NULL;
    sink->lock = -1;
    sink->text = NULL;
    sink->take = NULL;
    sink->taker = NULL;
    sink->error = 0;
    sink->zstd = NULL;
    sink->packed = NULL;
    sink->ascii = sink->log_safe = sink->csv_safe = false;
    sink->line = (etlheap_log_line){ 0 };
    sink->goes_on = NULL;
    sink->watcher = NULL;
    sink->used = 0;
    *out = sink;
    return ETL_OK;
}

/* No temporary name for devices and pipes: a rename would replace /dev/null. */
static etl_status open_direct(const char *path, etlheap_sink **out, etl_error *err)
{
    const int descriptor = etl_file_open_device(path);
    if (descriptor < 0)
        return etl_fail_with(err, ETL_ERR_IO, 0, "cannot write: %s", strerror(errno));
    const etl_status status = sink_new(descriptor, path, out, err);
    if (status == ETL_OK)
        (*out)->owned = true;
    else
        (void)etl_file_close(descriptor);
    return status;
}

static etl_status open_temporary(const char *path, bool exists, etlheap_sink **out, etl_error *err)
{
    char *temporary = NULL;
    const int descriptor = create_beside(path, &temporary);
    if (descriptor < 0)
        return etl_fail_with(err, ETL_ERR_IO, 0, "cannot write: %s", strerror(errno));
    /* Best effort: a file of another owner keeps its mode, not its owner. */
    if (exists)
        (void)etl_file_chmod_as(descriptor, path);
    const etl_status status = sink_new(descriptor, path, out, err);
    if (status != ETL_OK) {
        (void)etl_file_close(descriptor);
        (void)etl_file_remove(temporary);
        free(temporary);
        return status;
    }
    (*out)->owned = true;
    (*out)->temporary = temporary;
    (*out)->lock = etl_file_lock(descriptor);
    return ETL_OK;
}

/* Creates a file of a name that does not exist; -1 with errno when it cannot. */
static int create_beside(const char *path, char **temporary)
{
    const size_t capacity = strlen(path) + 48;
    char *const name = malloc(capacity);
    if (!name)
        return -1;
    int descriptor = -1;
    for (int i = 0; i < TEMPORARY_TRIES && descriptor < 0; i++) {
        snprintf(name, capacity, "%s.%u-%d.tmp", path, (unsigned)etl_process_id(), i);
        descriptor = etl_file_create_new(name);
        if (descriptor < 0 && errno != EEXIST)
            break;
    }
    if (descriptor < 0)
        free(name);
    else
        *temporary = name;
    return descriptor;
}

/* Through the compressor, if there is one. */
static void pass_on(etlheap_sink *sink, const char *bytes, size_t size, ZSTD_EndDirective how)
{
    if (!etlheap_sink_goes_on(sink))
        return;
    if (!sink->zstd) {
        send_all(sink, bytes, size);
        return;
    }
    ZSTD_inBuffer in = { bytes, size, 0 };
    bool done = false;
    while (!done && sink->error == 0) {
        ZSTD_outBuffer out = { sink->packed, ZSTD_CStreamOutSize(), 0 };
        const size_t left = ZSTD_compressStream2(sink->zstd, &out, &in, how);
        if (ZSTD_isError(left))
            sink->error = ENOMEM; /* nothing else can fail */
        else
            send_all(sink, sink->packed, out.pos);
        done = how == ZSTD_e_continue ? in.pos == in.size : left == 0;
    }
}

/* The first error stays. */
static void send_all(etlheap_sink *sink, const char *bytes, size_t size)
{
    if (sink->text) {
        etlheap_text_add(sink->text, bytes, size);
        if (sink->text->failed && sink->error == 0)
            sink->error = ENOMEM;
        return;
    }
    if (sink->take) {
        sink->take(sink->taker, bytes, size);
        return;
    }
    if (sink->error == 0 && !etl_file_write(sink->descriptor, bytes, size))
        sink->error = errno;
}

/* Removes a file that still has a temporary name: it is incomplete. */
static void sink_free(etlheap_sink *sink)
{
    if (sink->owned)
        (void)etl_file_close(sink->descriptor);
    if (sink->temporary)
        (void)etl_file_remove(sink->temporary);
    if (sink->lock >= 0)
        (void)etl_file_close(sink->lock);
    ZSTD_freeCCtx(sink->zstd);
    free(sink->packed);
    free(sink->temporary);
    free(sink->name);
    free(sink);
}
