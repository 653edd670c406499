/*
 * etl_build_buffers.c - the buffers of each CPU: filled in order of time, written when full.
 *
 * In: records with CPU and time. Out: buffers in the file.
 *
 *     place ──▶ buffer of the CPU ──full──▶ header, [compress], breaks ──▶ file
 *                     │ lost: only its sequence number and a count remain
 *
 * Sequence numbers are given when a buffer is begun, places in the file when it is written.
 * Invariant: so the two orders differ as they do in real files, which readers must not confuse. In
 * session files a buffer takes its full size and the unused tail is 0xFF; a compressed one takes
 * what it needs, which may be odd.
 * Source: the buffer layout of Windows 7 and later as published in phnt ntwmi.h
 * (WMI_BUFFER_HEADER), checked on the recordings the tests read.
 */
#include "etl_build_inside.h"

#include <stdlib.h>

/* Bits of the flags at +0x34. */
#define FLAG_FLUSH_MARKER 0x0001u
#define FLAG_PROC_INDEX   0x0020u
#define FLAG_COMPRESSED   0x0040u

#define STATE_FLUSH       3u
#define LOGGER_ID         0x1Cu
#define PADDING_BYTE      0xCD /* what lies between records is not zero in real files */
#define MERGE_AFTER_100NS ((i64)3600 * 10000000) /* merges are stamped later, in wall time */

static u8 *room_for(etl_build *b, u32 cpu, u32 size);
static void begin(etl_build *b, build_buffer *buffer);
static void flush(etl_build *b, u32 cpu, u32 current_offset, bool marker);
static void write_plain(etl_build *b, const build_buffer *buffer, build_header_fields *fields);
static void write_compressed(etl_build *b, const build_buffer *buffer, build_header_fields *fields);
static void write_ring(etl_build *b, const build_buffer *buffer, const u8 *bytes, u32 size);
static void count_written(etl_build *b, const build_buffer *buffer);
static void put_u16(u8 *at, u16 value);
static void put_u32(u8 *at, u32 value);
static void put_u64(u8 *at, u64 value);

void build_place(etl_build *b, i64 ticks, u32 cpu, const u8 *record, u32 size)
{
    build_session *const s = &b->session;
    if (cpu >= s->options.cpus)
        build_fail(b, "a record names CPU %u of %u", cpu, s->options.cpus);
    if (!build_ok(b))
        return;
    if (s->options.flush_interval_ticks > 0 && ticks >= s->flush_next) {
        build_flush_all(b);
        s->flush_next = ticks + s->options.flush_interval_ticks;
    }
    const u32 stream = s->options.one_stream ? 0 : cpu;
    u8 *const at = room_for(b, stream, size);
    if (at == NULL)
        return;
    memcpy(at, record, size);
    if (b->break_count > 0)
        build_break_record(b, b->record_index, at, &size);
    const u32 padding = (8 - size % 8) % 8;
    memset(at + size, PADDING_BYTE, padding);

    build_buffer *const buffer = &b->buffers[stream];
    buffer->used += size + padding;
    buffer->records++;
    if (buffer->records == 1 || ticks > buffer->last_ticks)
        buffer->last_ticks = ticks;
    if (ticks > b->now_ticks)
        b->now_ticks = ticks;
    b->record_index++;
}

/* Makes room for a record in the CPU's buffer, a new one if this one is full. */
static u8 *room_for(etl_build *b, u32 cpu, u32 size)
{
    const u32 limit = b->session.options.buffer_bytes;
    build_buffer *const buffer = &b->buffers[cpu];
    const u32 padded = (size + 7) & ~7u;
    if (padded > limit - BUILD_BUFFER_HEADER_BYTES) {
        build_fail(b, "a record of %u bytes does not fit buffers of %u bytes", size, limit);
        return NULL;
    }
    if (buffer->used > 0 && buffer->used + padded > limit)
        flush(b, cpu, buffer->used + padded, false);
    if (buffer->used == 0)
        begin(b, buffer);
    return buffer->bytes + buffer->used;
}

static void begin(etl_build *b, build_buffer *buffer)
{
    if (buffer->bytes == NULL)
        buffer->bytes = build_realloc(NULL, b->session.options.buffer_bytes);
    buffer->used = BUILD_BUFFER_HEADER_BYTES;
    buffer->records = 0;
    buffer->sequence = b->session.sequence_next++;
}

void build_lose(etl_build *b, u32 cpu)
{
    if (cpu >= b->session.options.cpus || b->buffers[cpu].used == 0) {
        build_fail(b, "CPU %u has no buffer to lose", cpu);
        return;
    }
    b->session.events_lost += b->buffers[cpu].records;
    b->session.buffers_lost++;
    b->buffers[cpu].used = 0;
}

void build_flush_all(etl_build *b)
{
    u32 last = BUILD_CPU_MAX;
    for (u32 cpu = 0; cpu < b->session.options.cpus; cpu++) {
        if (b->buffers[cpu].used > 0)
            last = cpu;
    }
    for (u32 cpu = 0; cpu < b->session.options.cpus; cpu++) {
        const u32 used = b->buffers[cpu].used;
        if (used > 0)
            flush(b, cpu, used + b->session.options.buffer_bytes, cpu == last);
    }
}

/* Gives the buffer its place in the file and makes it empty. */
static void flush(etl_build *b, u32 cpu, u32 current_offset, bool marker)
{
    build_buffer *const buffer = &b->buffers[cpu];
    const etl_build_options *const o = &b->session.options;
    build_header_fields fields = {
        .saved_offset = buffer->used,
        .current_offset = current_offset,
        .offset = buffer->used,
        .timestamp = o->compress ? o->start_filetime + MERGE_AFTER_100NS : b->now_ticks,
        .sequence = buffer->sequence,
        .cpu = cpu,
        .logger_id = o->compress ? 0 : LOGGER_ID,
        .flags = (u16)(FLAG_PROC_INDEX | (marker ? FLAG_FLUSH_MARKER : 0)),
    };
    if (o->compress)
        write_compressed(b, buffer, &fields);
    else
        write_plain(b, buffer, &fields);
    buffer->used = 0;
}

static void write_plain(etl_build *b, const build_buffer *buffer, build_header_fields *fields)
{
    const u32 nominal = b->session.options.buffer_bytes;
    fields->size = nominal;
    build_buffer_header(buffer->bytes, fields);
    memset(buffer->bytes + buffer->used, 0xFF, nominal - buffer->used);
    u32 size = nominal;
    if (build_break_buffer(b, b->buffer_index++, buffer->bytes, &size))
        return;
    if (b->session.options.ring_buffers > 0) {
        write_ring(b, buffer, buffer->bytes, size);
        return;
    }
    build_output_append(b, buffer->bytes, size);
    count_written(b, buffer);
}

/* Compresses a buffer. One that does not get smaller is stored uncompressed, without the flag. */
static void write_compressed(etl_build *b, const build_buffer *buffer, build_header_fields *fields)
{
    const u32 raw = buffer->used - BUILD_BUFFER_HEADER_BYTES;
    u8 *const stream = b->packed + BUILD_BUFFER_HEADER_BYTES;
    const u8 *const records = buffer->bytes + BUILD_BUFFER_HEADER_BYTES;
    u32 stored = (u32)lz77_encode(b->encoder, records, raw, stream);
    if (stored < raw) {
        fields->flags |= FLAG_COMPRESSED;
    } else {
        memcpy(stream, records, raw);
        stored = raw;
    }
    u32 size = BUILD_BUFFER_HEADER_BYTES + stored;
    fields->size = size;
    build_buffer_header(b->packed, fields);
    if (build_break_buffer(b, b->buffer_index++, b->packed, &size))
        return;
    build_output_append(b, b->packed, size);
    count_written(b, buffer);
}

/* Writes to a circular file: after the last place comes the first again. */
static void write_ring(etl_build *b, const build_buffer *buffer, const u8 *bytes, u32 size)
{
    build_session *const s = &b->session;
    const u32 place = s->ring_next % s->options.ring_buffers;
    if (s->ring_next++ < s->options.ring_buffers) {
        build_output_append(b, bytes, size);
        count_written(b, buffer);
    } else {
        const u64 offset =
            s->header_offset + s->header_capacity + (u64)place * s->options.buffer_bytes;
        build_output_rewrite(b, offset, bytes, size);
        b->record_count -= s->ring_records[place];
        b->record_count += buffer->records;
        if (buffer->last_ticks > b->last_ticks)
            b->last_ticks = buffer->last_ticks;
    }
    s->ring_records[place] = buffer->records;
}

static void count_written(etl_build *b, const build_buffer *buffer)
{
    b->session.buffers_written++;
    b->buffer_count++;
    b->record_count += buffer->records;
    if (buffer->last_ticks > b->last_ticks)
        b->last_ticks = buffer->last_ticks;
}

void build_buffer_header(u8 *at, const build_header_fields *fields)
{
    /* Real files have kernel pointers at +0x20 and +0x38. */
    const u64 pointer = 0xFFFFAC8512340000u + (u64)fields->cpu * 0x4000 + 0x20;
    put_u32(at + 0x00, fields->size);
    put_u32(at + 0x04, fields->saved_offset);
    put_u32(at + 0x08, fields->current_offset);
    put_u32(at + 0x0C, 0);
    put_u64(at + 0x10, (u64)fields->timestamp);
    put_u64(at + 0x18, (u64)fields->sequence);
    put_u64(at + 0x20, pointer);
    put_u16(at + 0x28, (u16)fields->cpu);
    put_u16(at + 0x2A, fields->logger_id);
    put_u32(at + 0x2C, STATE_FLUSH);
    put_u32(at + 0x30, fields->offset);
    put_u16(at + 0x34, fields->flags);
    put_u16(at + 0x36, fields->type);
    put_u64(at + 0x38, pointer + 0x18);
    put_u64(at + 0x40, pointer + 0x18);
}

static void put_u16(u8 *at, u16 value)
{
    memcpy(at, &value, sizeof value);
}

static void put_u32(u8 *at, u32 value)
{
    memcpy(at, &value, sizeof value);
}

static void put_u64(u8 *at, u64 value)
{
    memcpy(at, &value, sizeof value);
}

void build_buffers_free(etl_build *b)
{
    for (u32 cpu = 0; cpu < BUILD_CPU_MAX; cpu++) {
        free(b->buffers[cpu].bytes);
        b->buffers[cpu] = (build_buffer){ 0 };
    }
    free(b->encoder);
    free(b->packed);
    free(b->session.ring_records);
    b->encoder = NULL;
    b->packed = NULL;
    b->session.ring_records = NULL;
}
