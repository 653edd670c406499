/*
 * etl_build.c - creates, finishes and frees a builder of ETL files. etl_build.h shows its use.
 *
 * In: options, then calls that write records (the other etl_build_*.c files). Out: the bytes of a
 * file. Invariants: errors stick: after the first one every call does nothing. Equal calls give
 * equal bytes.
 */
#include "etl_build_inside.h"

#include <stdarg.h>
#include <stdlib.h>

static bool write_file(etl_build *b, const char *path);

etl_build *etl_build_new(const etl_build_options *options)
{
    static const etl_build_options defaults;
    const etl_build_options *const chosen = options ? options : &defaults;
    etl_build *const b = build_realloc(NULL, sizeof *b);
    memset(b, 0, sizeof *b);
    if (chosen->path != NULL)
        build_output_open(b, chosen->path);
    build_session_begin(b, chosen);
    return b;
}

void etl_build_free(etl_build *b)
{
    if (b == NULL)
        return;
    if (b->file != NULL)
        fclose(b->file);
    build_order_free(b);
    build_stack_free(b);
    build_buffers_free(b);
    free(b->session.header);
    free(b->data);
    free(b);
}

void etl_build_append_session(etl_build *b, const etl_build_options *options)
{
    static const etl_build_options defaults;
    if (!build_ok(b))
        return;
    const etl_build_order order = b->session.options.order;
    const u32 index = b->session.index;
    build_session_end(b);
    free(b->session.header);
    b->session = (build_session){ .index = index + 1 };

    etl_build_options chosen = options ? *options : defaults;
    chosen.order = order;
    build_session_begin(b, &chosen);
}

bool etl_build_finish(etl_build *b)
{
    if (!build_ok(b))
        return b->finished && b->error[0] == '\0';
    build_session_end(b);
    if (build_ok(b))
        build_break_file(b);
    build_output_close(b);
    b->finished = true;
    return b->error[0] == '\0';
}

bool etl_build_finish_to(etl_build *b, const char *path)
{
    return etl_build_finish(b) && write_file(b, path);
}

static bool write_file(etl_build *b, const char *path)
{
    FILE *const file = fopen(path, "wb");
    if (file == NULL) {
        build_fail(b, "cannot create %.120s", path);
        return false;
    }
    const bool written = fwrite(b->data, 1, b->data_size, file) == b->data_size;
    const bool closed = fclose(file) == 0;
    if (!written || !closed)
        build_fail(b, "cannot write %.120s", path);
    return written && closed;
}

const u8 *etl_build_data(const etl_build *b, size_t *size)
{
    *size = b->data_size;
    return b->data;
}

const char *etl_build_error(const etl_build *b)
{
    return b->error[0] != '\0' ? b->error : NULL;
}

u64 etl_build_record_count(const etl_build *b)
{
    return b->record_count;
}

u32 etl_build_buffer_count(const etl_build *b)
{
    return b->buffer_count;
}

i64 etl_build_last_ticks(const etl_build *b)
{
    return b->last_ticks;
}

i64 etl_build_start_ticks(const etl_build *b)
{
    return b->session.options.start_ticks;
}

u64 etl_build_clock_hz(const etl_build *b)
{
    return b->session.options.clock_hz;
}

u32 etl_build_pointer_bytes(const etl_build *b)
{
    return b->session.options.pointer_bytes;
}

i64 etl_build_ticks_at(const etl_build *b, u64 ns)
{
    const u64 hz = b->session.options.clock_hz;
    const u64 seconds = ns / 1000000000u;
    const u64 rest = ns % 1000000000u;
    return b->session.options.start_ticks + (i64)(seconds * hz + rest * hz / 1000000000u);
}

void etl_build_lose_buffer(etl_build *b, i64 ticks, u32 cpu)
{
    if (build_ok(b))
        build_order_lose(b, ticks, cpu);
}

void build_fail(etl_build *b, const char *format, ...)
{
    if (b->error[0] != '\0')
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(b->error, sizeof b->error, format, arguments);
    va_end(arguments);
}

void *build_realloc(void *old, size_t size)
{
    void *const memory = realloc(old, size);
    if (memory == NULL)
        abort();
    return memory;
}
