/*
 * session.c - reads the log-file header, and converts ticks of its clock to time.
 *
 * In: the header record of a session. Out: an etl_session; later ns for ticks and ticks for ns.
 *
 * Event times are ticks of one of three clocks. They stay ticks all the way through; only output
 * converts them, relative to the header record, whose wall time the header states. Boot time plus
 * ticks would be simpler and is wrong by up to seconds. Invariant: conversions must be exact and
 * monotonous in both directions for all 64-bit values, so they saturate instead of wrapping.
 */
#include "parser/cursor.h"
#include "layout.h"
#include "session.h"

#define NS_PER_SECOND 1000000000

/* Keeps remainder * NS_PER_SECOND below 2^63; no clock is this fast. */
#define CLOCK_HZ_MAX 9000000000u

#define CLOCK_HZ_FILETIME 10000000u
#define CLOCK_HZ_PER_MHZ  1000000u

/* The parts of the header record that are needed before its payload. */
typedef struct header_record {
    u16 version;
    u16 size;
    u32 header_bytes; /* fixed part of the payload, by the width of its pointers */
    u32 pointer_bytes;
    i64 ticks;
} header_record;

static etl_status read_record(etl_cursor *c, header_record *out, etl_error *err, u64 offset);
static void read_fixed(etl_cursor *c, etl_session *out);
static void set_clock(etl_session *session, u32 clock_type);
static bool is_usable_hz(u64 hz);
static i64 sat_sub_i64(i64 a, i64 b);
static i64 sat_mul_add_i64(i64 a, i64 b, i64 c);
static i64 floor_div(i64 a, i64 b, i64 *remainder);

etl_status etl_session_read(etl_bytes file, u64 offset, etl_session *out, etl_error *err)
{
    etl_cursor c = etl_cursor_of(file);
    etl_skip(&c, offset);
    etl_skip(&c, ETL_BUFFER_HEADER_BYTES);
    const u64 at = offset + ETL_BUFFER_HEADER_BYTES;
    header_record record = { 0 };
    const etl_status status = read_record(&c, &record, err, at);
    if (status != ETL_OK)
        return status;
    etl_bytes payload = etl_view(&c, record.size - ETL_SYSTEM_BYTES);
    if (payload.size < record.header_bytes)
        return etl_fail_with(
            err, ETL_ERR_CORRUPT, at,
            "the log-file header is cut off: the file has %zu of at least %u bytes", payload.size,
            record.header_bytes);
    *out = (etl_session){ .header_offset = at,
                          .header_ticks = record.ticks,
                          .pointer_bytes = record.pointer_bytes };
    etl_cursor fields = etl_cursor_of(payload);
    read_fixed(&fields, out);
    if (out->os_major < ETL_OS_MAJOR_MIN)
        return etl_fail_with(
            err, ETL_ERR_UNSUPPORTED, at,
            "recorded on Windows %u.%u: only traces of Windows Vista (6.0) and later can be read",
            out->os_major, out->os_minor);
    out->name_utf16 = etl_string16(&fields);
    out->log_file_name_utf16 = etl_string16(&fields);
    return ETL_OK;
}

/* Reads the record's header and leaves the cursor behind it. */
static etl_status read_record(etl_cursor *c, header_record *out, etl_error *err, u64 offset)
{
    etl_need(c, ETL_SYSTEM_BYTES);
    out->version = etl_u16(c);
    const u8 type = etl_u8(c);
    const u8 marker = etl_u8(c);
    out->size = etl_u16(c);
    const u16 hook = etl_u16(c);
    etl_skip(c, 8); /* thread and process of the session's controller */
    out->ticks = (i64)etl_u64(c);
    etl_skip(c, 8); /* processor times */
    if (!etl_ok(c))
        return etl_fail_with(err, ETL_ERR_NOT_ETL, offset,
                             "not an ETL trace: it ends before the log-file header");
    const bool is_64 = type == ETL_TYPE_SYSTEM64;
    if (marker != ETL_MARKER_EVENT || (!is_64 && type != ETL_TYPE_SYSTEM32) ||
        hook != ETL_HOOK_LOG_FILE_HEADER || out->size < ETL_SYSTEM_BYTES)
        return etl_fail_with(err, ETL_ERR_NOT_ETL, offset,
                             "not an ETL trace: no log-file header at 0x%llx",
                             (unsigned long long)offset);
    if ((out->version & ETL_VERSION_MASK) < ETL_LOG_HEADER_VERSION)
        return etl_fail_with(err, ETL_ERR_UNSUPPORTED, offset,
                             "log-file header version %u: only traces of Windows Vista (version 2) "
                             "and later can be read",
                             out->version & ETL_VERSION_MASK);
    out->header_bytes = is_64 ? ETL_LOG_HEADER64_BYTES : ETL_LOG_HEADER32_BYTES;
    out->pointer_bytes = is_64 ? 8 : 4;
    return ETL_OK;
}

/* Reads the fixed part; the caller has checked that all of it is there. */
static void read_fixed(etl_cursor *c, etl_session *out)
{
    const u32 width = out->pointer_bytes;
    out->buffer_size_bytes = etl_u32(c);
    out->os_major = etl_u8(c);
    out->os_minor = etl_u8(c);
    out->layout_major = etl_u8(c);
    out->layout_minor = etl_u8(c);
    out->os_build = etl_u32(c);
    const u32 cpus = etl_u32(c);
    out->end_time_filetime = (i64)etl_u64(c);
    out->timer_resolution = etl_u32(c);
    out->maximum_file_size = etl_u32(c);
    out->log_file_mode = etl_u32(c);
    out->buffers_written = etl_u32(c);
    etl_skip(c, 4); /* StartBuffers */
    const u32 pointer_bytes = etl_u32(c);
    out->events_lost = etl_u32(c);
    out->cpu_mhz = etl_u32(c);
    etl_skip(c, (size_t)2 * width); /* what once were pointers to the names */
    etl_skip(c, ETL_TIME_ZONE_BYTES + 4);
    out->boot_time_filetime = (i64)etl_u64(c);
    out->perf_frequency_hz = etl_u64(c);
    out->start_time_filetime = (i64)etl_u64(c);
    const u32 clock_type = etl_u32(c);
    out->buffers_lost = etl_u32(c);
    assert(etl_ok(c));
    if (pointer_bytes == 4 || pointer_bytes == 8)
        out->pointer_bytes = pointer_bytes;
    out->cpu_known = (out->log_file_mode & ETL_MODE_NO_PER_PROCESSOR_BUFFERING) == 0;
    out->cpu_count = cpus > ETL_CPU_COUNT_MAX ? ETL_CPU_COUNT_MAX : cpus;
    if (out->cpu_count == 0 || !out->cpu_known)
        out->cpu_count = 1;
    set_clock(out, clock_type);
}

/* A type we do not know is a QPC when a frequency is stated (files before Vista). */
static void set_clock(etl_session *session, u32 clock_type)
{
    const u64 cycles_hz = (u64)session->cpu_mhz * CLOCK_HZ_PER_MHZ;
    session->clock_hz = CLOCK_HZ_FILETIME;
    if (clock_type == ETL_CLOCK_TYPE_CPU_CYCLES) {
        session->clock = ETL_CLOCK_CPU_CYCLES;
        if (is_usable_hz(cycles_hz))
            session->clock_hz = cycles_hz;
        else if (is_usable_hz(session->perf_frequency_hz))
            session->clock_hz = session->perf_frequency_hz;
    } else if (clock_type == ETL_CLOCK_TYPE_QPC ||
               (clock_type != ETL_CLOCK_TYPE_SYSTEM_TIME && session->perf_frequency_hz != 0)) {
        session->clock = ETL_CLOCK_QPC;
        if (is_usable_hz(session->perf_frequency_hz))
            session->clock_hz = session->perf_frequency_hz;
    } else {
        session->clock = ETL_CLOCK_SYSTEM_TIME;
    }
}

static bool is_usable_hz(u64 hz)
{
    return hz > 0 && hz <= CLOCK_HZ_MAX;
}

i64 etl_time_ns(const etl_session *session, i64 ticks)
{
    const i64 hz = (i64)session->clock_hz;
    i64 rest;
    const i64 seconds = floor_div(sat_sub_i64(ticks, session->header_ticks), hz, &rest);
    return sat_mul_add_i64(seconds, NS_PER_SECOND, rest * NS_PER_SECOND / hz);
}

/*
 * floor(d * 1e9 / hz) >= ns is the same as d >= ceil(ns * hz / 1e9), because d is
 * a whole number.
 */
i64 etl_time_ticks(const etl_session *session, i64 ns)
{
    const i64 hz = (i64)session->clock_hz;
    i64 rest;
    const i64 seconds = floor_div(ns, NS_PER_SECOND, &rest);
    const i64 rest_ticks = (rest * hz + NS_PER_SECOND - 1) / NS_PER_SECOND;
    const i64 since_header = sat_mul_add_i64(seconds, hz, rest_ticks);
    return etl_sat_add_i64(session->header_ticks, since_header);
}

static i64 sat_sub_i64(i64 a, i64 b)
{
    i64 difference;
    if (!__builtin_sub_overflow(a, b, &difference))
        return difference;
    return b < 0 ? INT64_MAX : INT64_MIN;
}

/* a * b + c for positive b and c >= 0. */
static i64 sat_mul_add_i64(i64 a, i64 b, i64 c)
{
    i64 product;
    if (__builtin_mul_overflow(a, b, &product))
        return a < 0 ? INT64_MIN : INT64_MAX;
    return etl_sat_add_i64(product, c);
}

/* For positive b; 0 <= *remainder < b. */
static i64 floor_div(i64 a, i64 b, i64 *remainder)
{
    i64 quotient = a / b;
    i64 rest = a % b;
    if (rest < 0) {
        quotient--;
        rest += b;
    }
    *remainder = rest;
    return quotient;
}
