/*
 * etl_build_session.c - the log-file header and the buffer it lies in.
 *
 * In: the options of a session. Out: the first buffer of a session in the file.
 *
 * The header buffer goes to the file when the session begins, with an end time and a buffer count
 * of zero, as the system writes it; when the session ends, its valid part is completed and written
 * again. Invariant: a session that is never closed therefore looks as after a crash, and needs
 * nothing special.
 * Source: SDK evntrace.h TRACE_LOGFILE_HEADER, 32- and 64-bit; the clock type in ReservedFlags, and
 * the strings behind the structure, as real files have them.
 */
#include "etl_build_inside.h"

#define FILETIME_DEFAULT   ((i64)132404548206236150) /* 2020-07-29 00:07:00.6236150 UTC */
#define TICKS_DEFAULT      ((i64)1000000)
#define KEY_BASE_DEFAULT   0xFFFFA80003200010u
#define HZ_DEFAULT         10000000u
#define MODE_SEQUENTIAL    0x00000001u
#define MODE_CIRCULAR      0x00000002u
#define MODE_MERGED        0x04010001u
#define MODE_ONE_STREAM    0x10000000u
#define HEADER_PID         4u
#define HEADER_TID         8u
#define BUFFER_TYPE_HEADER 4u
#define FLAG_FLUSH_MARKER  0x0001u
#define FLAG_PROC_INDEX    0x0020u

/* Room for the records appended to the header buffer when a session closes. */
#define CLOSING_BYTES 256u

/* Offsets in the payload of the header record that differ by pointer width are
 * listed for 4 and 8 bytes. The payload begins 32 bytes into the record. */
#define PAYLOAD_AT         (BUILD_BUFFER_HEADER_BYTES + 32u)
#define AT_END_TIME        0x10u
#define AT_BUFFERS_WRITTEN 0x24u
#define AT_EVENTS_LOST     0x30u
#define AT_BUFFERS_LOST_32 0x10Cu
#define AT_BUFFERS_LOST_64 0x114u

static void choose_options(etl_build *b, const etl_build_options *options);
static void choose_clock(etl_build_options *o);
static void check_options(etl_build *b);
static void compose_log_header(etl_build *b);
static void put_time_zone(etl_build *b);
static void compose_group_masks(etl_build *b, i64 ticks);
static void compose_partition(etl_build *b);
static void append_build_lab(etl_build *b);
static void append_to_header(etl_build *b);
static void size_header_buffer(build_session *s);
static void write_header_buffer(etl_build *b);
static void complete_header(etl_build *b);
static void break_header_records(etl_build *b);
static i64 end_time(const etl_build *b);

void build_session_begin(etl_build *b, const etl_build_options *options)
{
    build_session *const s = &b->session;
    choose_options(b, options);
    check_options(b);
    if (!build_ok(b))
        return;
    const etl_build_options *const o = &s->options;
    s->header_buffer = b->buffer_index++;
    s->header_record = b->record_index;
    s->sequence_next = o->first_sequence;
    s->flush_next = o->start_ticks + o->flush_interval_ticks;
    s->events_lost = o->events_lost;
    s->buffers_lost = o->buffers_lost;
    if (o->compress) {
        b->encoder = build_realloc(b->encoder, sizeof *b->encoder);
        b->packed =
            build_realloc(b->packed, BUILD_BUFFER_HEADER_BYTES + lz77_bound(o->buffer_bytes));
    }
    if (o->ring_buffers > 0)
        s->ring_records = build_realloc(NULL, o->ring_buffers * sizeof *s->ring_records);

    s->header = build_realloc(NULL, o->buffer_bytes);
    s->header_used = BUILD_BUFFER_HEADER_BYTES;
    compose_log_header(b);
    append_to_header(b);
    if (o->header_records) {
        compose_group_masks(b, o->start_ticks);
        append_to_header(b);
        compose_partition(b);
        append_to_header(b);
    }
    size_header_buffer(s);
    write_header_buffer(b);
}

static void choose_options(etl_build *b, const etl_build_options *options)
{
    etl_build_options *const o = &b->session.options;
    *o = *options;
    o->cpus = o->cpus ? o->cpus : 4;
    o->buffer_bytes = o->buffer_bytes ? o->buffer_bytes : 65536;
    o->pointer_bytes = o->pointer_bytes ? o->pointer_bytes : 8;
    o->os_build = o->os_build ? o->os_build : 26100;
    o->session_name = o->session_name ? o->session_name : "etl_build";
    o->log_file_name = o->log_file_name ? o->log_file_name : "etl_build.etl";
    o->stack_key_slots = o->stack_key_slots ? o->stack_key_slots : 256;
    o->stack_key_base = o->stack_key_base ? o->stack_key_base : KEY_BASE_DEFAULT;
    o->first_sequence = o->first_sequence ? o->first_sequence : 1;
    if (o->log_file_mode == 0 && o->compress)
        o->log_file_mode = MODE_MERGED;
    else if (o->log_file_mode == 0)
        o->log_file_mode = o->ring_buffers > 0 ? MODE_CIRCULAR : MODE_SEQUENTIAL;
    o->log_file_mode |= o->one_stream ? MODE_ONE_STREAM : 0;
    choose_clock(o);
}

static void choose_clock(etl_build_options *o)
{
    o->clock = o->clock ? o->clock : 1;
    o->start_filetime = o->start_filetime ? o->start_filetime : FILETIME_DEFAULT;
    o->clock_hz = o->clock_hz ? o->clock_hz : HZ_DEFAULT;
    if (o->clock == 2) {
        /* Ticks are wall time, so the header's tick is its own wall time. */
        o->clock_hz = 10000000;
        if (o->start_ticks == 0)
            o->start_ticks = o->start_filetime;
    }
    if (o->start_ticks == 0)
        o->start_ticks = TICKS_DEFAULT;
}

static void check_options(etl_build *b)
{
    const etl_build_options *const o = &b->session.options;
    if (o->cpus > BUILD_CPU_MAX)
        build_fail(b, "%u CPUs are more than %u", o->cpus, BUILD_CPU_MAX);
    if (o->pointer_bytes != 4 && o->pointer_bytes != 8)
        build_fail(b, "pointers of %u bytes", o->pointer_bytes);
    if (o->buffer_bytes % 8 != 0 || o->buffer_bytes > (16u << 20))
        build_fail(b, "buffers of %u bytes", o->buffer_bytes);
    if (o->buffer_bytes < 1024)
        build_fail(b, "buffers of %u bytes do not hold the log-file header", o->buffer_bytes);
    if (o->clock > 3 || (o->clock == 3 && o->clock_hz % 1000000 != 0))
        build_fail(b, "clock type %u", o->clock);
    if (o->ring_buffers > 0 && o->compress)
        build_fail(b, "circular files are not compressed");
}

static void compose_log_header(etl_build *b)
{
    const etl_build_options *const o = &b->session.options;
    const bool new_layout = o->compress || o->buffer_bytes > (1u << 20) || o->cpus > 256;
    const u32 mhz = o->clock == 3 ? (u32)(o->clock_hz / 1000000) : 3000;
    const i64 since_boot = o->clock == 2 ? 0 : (i64)((u64)o->start_ticks / o->clock_hz) * 10000000;
    const etl_build_at at = { .ticks = o->start_ticks, .pid = HEADER_PID, .tid = HEADER_TID };
    build_begin(b, &at, 0x0000, ETL_BUILD_HEADER_SYSTEM, 2);
    build_put_u32(b, o->buffer_bytes);
    build_put_u8(b, 10);
    build_put_u8(b, 0);
    build_put_u8(b, new_layout ? 2 : 1);
    build_put_u8(b, new_layout ? 0 : 5);
    build_put_u32(b, o->os_build);
    build_put_u32(b, o->one_stream ? 1 : o->cpus);
    build_put_u64(b, 0);      /* EndTime, at the end of the session */
    build_put_u32(b, 156250); /* TimerResolution */
    build_put_u32(b, 0);      /* MaximumFileSize */
    build_put_u32(b, o->log_file_mode);
    build_put_u32(b, 0); /* BuffersWritten, at the end */
    build_put_u32(b, 1); /* StartBuffers */
    build_put_u32(b, o->pointer_bytes);
    build_put_u32(b, 0); /* EventsLost, at the end */
    build_put_u32(b, mhz);
    build_put_pointer(b, o->compress ? 0 : 9); /* in place of LoggerName and */
    build_put_pointer(b, o->compress ? 0 : 6); /* LogFileName: timer sources */
    put_time_zone(b);
    build_put_u64(b, (u64)(o->start_filetime - since_boot - 2400000)); /* BootTime, never exact */
    build_put_u64(b, o->clock == 3 ? HZ_DEFAULT : o->clock_hz);
    build_put_u64(b, (u64)o->start_filetime);
    build_put_u32(b, o->clock);
    build_put_u32(b, 0); /* BuffersLost, at the end */
    build_put_text16(b, o->session_name);
    build_put_text16(b, o->log_file_name);
}

/* TIME_ZONE_INFORMATION, 172 bytes, and the padding behind it. */
static void put_time_zone(etl_build *b)
{
    build_put_u32(b, (u32)-60); /* Bias: UTC = local time - 60 minutes */
    build_put_name16(b, "@tzres.dll,-322", 32);
    build_put_zeros(b, 16);
    build_put_u32(b, 0);
    build_put_name16(b, "@tzres.dll,-321", 32);
    build_put_zeros(b, 16);
    build_put_u32(b, (u32)-60);
    build_put_zeros(b, 4);
}

/* Hook 0x0005: which kernel event groups are on, and the kernel event version. */
static void compose_group_masks(etl_build *b, i64 ticks)
{
    const etl_build_at at = { .ticks = ticks, .pid = HEADER_PID, .tid = HEADER_TID };
    build_begin(b, &at, 0x0005, ETL_BUILD_HEADER_SYSTEM, 2);
    build_put_u32(b, 0x00000007);
    build_put_zeros(b, 28);
    build_put_u32(b, 0x0000003D);
}

/* Hook 0x0050: 48 bytes that Windows 10 and later add; mostly zero. */
static void compose_partition(etl_build *b)
{
    const etl_build_at at = { .ticks = b->session.options.start_ticks,
                              .pid = HEADER_PID,
                              .tid = HEADER_TID };
    build_begin(b, &at, 0x0050, ETL_BUILD_HEADER_SYSTEM, 2);
    build_put_zeros(b, 48);
}

/* Hook 0x0042: the build lab, appended to the header buffer at close. */
static void append_build_lab(etl_build *b)
{
    const etl_build_at at = { .ticks = b->now_ticks };
    build_begin(b, &at, 0x0042, ETL_BUILD_HEADER_PERFINFO, 2);
    build_put_text8(b, "26100.1.amd64fre.ge_release.240331-1435");
    append_to_header(b);
}

/* Completes the record in b->record and appends it to the header buffer. */
static void append_to_header(etl_build *b)
{
    build_session *const s = &b->session;
    const u32 size = b->put.at;
    const u32 padded = (size + 7) & ~7u;
    if (b->put.overflow || padded > s->options.buffer_bytes - s->header_used) {
        build_fail(b, "buffers of %u bytes do not hold the log-file header",
                   s->options.buffer_bytes);
        return;
    }
    const u16 stated = (u16)size;
    memcpy(b->record + 4, &stated, sizeof stated);
    memcpy(s->header + s->header_used, b->record, size);
    memset(s->header + s->header_used + size, 0, padded - size);
    s->header_used += padded;
    s->header_records++;
    b->record_index++;
    b->record_count++;
}

/* Session files give the header buffer the nominal size, merges a multiple of 512. */
static void size_header_buffer(build_session *s)
{
    const u32 closing = s->options.header_records ? CLOSING_BYTES : 0;
    s->header_saved = s->header_used;
    s->header_capacity = s->options.buffer_bytes;
    if (s->options.compress)
        s->header_capacity = (s->header_used + closing + 511) / 512 * 512;
}

static void write_header_buffer(etl_build *b)
{
    build_session *const s = &b->session;
    if (!build_ok(b))
        return;
    build_buffer_header(s->header, &(build_header_fields){
                                       .size = s->header_capacity,
                                       .saved_offset = s->header_saved,
                                       .current_offset = s->options.compress ? 0 : s->header_saved,
                                       .offset = s->header_used,
                                       .flags = (u16)(FLAG_FLUSH_MARKER |
                                                      (s->options.compress ? 0 : FLAG_PROC_INDEX)),
                                       .type = BUFFER_TYPE_HEADER,
                                   });
    s->header_offset = b->file_size;
    build_output_append(b, s->header, s->header_used);
    build_output_fill(b, 0xFF, s->header_capacity - s->header_used);
    s->buffers_written++;
    b->buffer_count++;
    if (s->index == 0 || s->options.start_ticks > b->last_ticks)
        b->last_ticks = s->options.start_ticks;
    b->now_ticks = b->last_ticks;
}

void build_session_end(etl_build *b)
{
    const etl_build_options *const o = &b->session.options;
    if (!build_ok(b))
        return;
    build_order_drain(b, INT64_MAX);
    if (!o->unclosed) {
        build_stack_rundown(b);
        build_flush_all(b);
    }
    if (build_ok(b))
        complete_header(b);
    build_stack_free(b);
    build_buffers_free(b);
}

static void complete_header(etl_build *b)
{
    build_session *const s = &b->session;
    u8 *const payload = s->header + PAYLOAD_AT;
    const u32 offset_at = 0x30;
    if (!s->options.unclosed) {
        if (s->options.header_records)
            append_build_lab(b);
        const i64 end = end_time(b);
        const u32 lost_at = s->options.pointer_bytes == 4 ? AT_BUFFERS_LOST_32 : AT_BUFFERS_LOST_64;
        memcpy(payload + AT_END_TIME, &end, sizeof end);
        memcpy(payload + AT_BUFFERS_WRITTEN, &s->buffers_written, sizeof s->buffers_written);
        memcpy(payload + AT_EVENTS_LOST, &s->events_lost, sizeof s->events_lost);
        memcpy(payload + lost_at, &s->buffers_lost, sizeof s->buffers_lost);
        memcpy(s->header + offset_at, &s->header_used, sizeof s->header_used);
    }
    u32 size = s->header_used;
    build_break_session(b, payload);
    break_header_records(b);
    if (build_break_buffer(b, s->header_buffer, s->header, &size))
        build_fail(b, "a header buffer cannot be left out");
    build_output_rewrite(b, s->header_offset, s->header, s->header_used);
}

/* The records of the header buffer come before all others of their session but
 * the one appended at close, so breaks by index reach the early ones only. */
static void break_header_records(etl_build *b)
{
    build_session *const s = &b->session;
    const u32 early = s->options.header_records ? 3 : 1;
    u32 at = BUILD_BUFFER_HEADER_BYTES;
    for (u32 i = 0; i < early; i++) {
        u16 stated;
        memcpy(&stated, s->header + at + 4, sizeof stated);
        u32 size = stated;
        build_break_record(b, s->header_record + i, s->header + at, &size);
        at += (stated + 7u) & ~7u;
    }
}

static i64 end_time(const etl_build *b)
{
    const etl_build_options *const o = &b->session.options;
    const i64 ticks = b->now_ticks > o->start_ticks ? b->now_ticks - o->start_ticks : 0;
    const i64 hz = (i64)o->clock_hz;
    const i64 length = ticks / hz * 10000000 + ticks % hz * 10000000 / hz + 1;
    return length > INT64_MAX - o->start_filetime ? INT64_MAX : o->start_filetime + length;
}
