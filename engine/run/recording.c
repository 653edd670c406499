/*
 * recording.c - decides whether traces belong to one recording. etlheap_recording.h is its
 * interface.
 *
 * In: the log-file headers of traces. Out: yes, or a sentence that says what differs.
 *
 * The sessions of one recording share a computer, a boot and a stretch of time, which unrelated
 * sessions do not share by chance. All three are in the log-file header; no event is needed.
 * Invariant: a fact that a header lacks is neither for nor against (a session that was not stopped
 * has no end; a tool may leave the boot time 0).
 *
 * Source: docs/format/container.md, 6; how far boot times of one boot lie apart: diaghub-kernel.etl
 * and diaghub-user-injected.etl (observed, equal), 2 s there.
 */
#include "engine/engine.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "engine/read/plan_steps.h"
#include "engine/read/trace_identity.h"

#define FILETIME_PER_SECOND ((i64)10000000)

/* No computer boots twice in this time. Corrections of the wall clock move boot times, but rarely
 * that far. */
#define BOOT_TOLERANCE (10 * FILETIME_PER_SECOND)

/* The longest gap between two files of one session. */
#define NEXT_FILE_TOLERANCE (10 * FILETIME_PER_SECOND)

/* A bit of etl_session.log_file_mode: evntrace.h. */
#define MODE_NEWFILE 0x00000008u
#define MODE_PRIVATE 0x00000800u
#define MODE_RELOG   0x00010000u

#define WHAT_SIZE 96

/* When a file was recorded, as FILETIME. */
typedef struct recorded_span {
    i64 start, end; /* end INT64_MAX: the session was not stopped */
} recorded_span;

/* The distance between two times; saturates, because headers may hold anything. */
static i64 distance(i64 a, i64 b)
{
    i64 difference;
    if (__builtin_sub_overflow(a, b, &difference) || difference == INT64_MIN)
        return INT64_MAX;
    return difference < 0 ? -difference : difference;
}

static recorded_span span_of(const etl_trace *trace)
{
    recorded_span span = { INT64_MAX, INT64_MIN };
    for (u32 i = 0; i < etl_session_count(trace); i++) {
        const etl_session *const session = etl_session_of(trace, i);
        const i64 start = session->start_time_filetime;
        const i64 end = session->end_time_filetime < start ? INT64_MAX : session->end_time_filetime;
        span.start = start < span.start ? start : span.start;
        span.end = end > span.end ? end : span.end;
    }
    return span;
}

/* "12.3" of 100 ns. */
static void print_seconds(char out[32], i64 filetime)
{
    const i64 tenths = filetime / (FILETIME_PER_SECOND / 10);
    snprintf(out, 32, "%" PRId64 ".%" PRId64, tenths / 10, tenths % 10);
}

static bool differs(char what[WHAT_SIZE], const char *format, ...) ETL_PRINTF(2, 3);

/* Writes the sentence; always returns true. */
static bool differs(char what[WHAT_SIZE], const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(what, WHAT_SIZE, format, arguments);
    va_end(arguments);
    return true;
}

static bool other_computer(const etl_session *a, const etl_session *b, char what[WHAT_SIZE])
{
    const u32 modes = a->log_file_mode | b->log_file_mode;
    if (a->perf_frequency_hz != 0 && b->perf_frequency_hz != 0 &&
        a->perf_frequency_hz != b->perf_frequency_hz)
        return differs(what,
                       "the performance counter has %" PRIu64 " Hz in one and %" PRIu64
                       " Hz in the other",
                       a->perf_frequency_hz, b->perf_frequency_hz);
    if ((modes & MODE_RELOG) == 0 && a->os_build != b->os_build)
        return differs(what, "one is of Windows build %u, the other of %u", a->os_build,
                       b->os_build);
    if ((modes & MODE_PRIVATE) == 0 && a->cpu_known && b->cpu_known && a->cpu_count != b->cpu_count)
        return differs(what, "one is of %u processors, the other of %u", a->cpu_count,
                       b->cpu_count);
    return false;
}

/* Are both from different boots? Ticks of the system time are wall-clock time and say nothing about
 * a boot. */
static bool other_boot(const etl_session *a, const etl_session *b, char what[WHAT_SIZE])
{
    char seconds[32];
    if (a->boot_time_filetime > 0 && b->boot_time_filetime > 0) {
        const i64 apart = distance(a->boot_time_filetime, b->boot_time_filetime);
        print_seconds(seconds, apart);
        return apart > BOOT_TOLERANCE && differs(what, "their boot times are %s s apart", seconds);
    }
    if (a->clock != b->clock || a->clock_hz != b->clock_hz || a->clock == ETL_CLOCK_SYSTEM_TIME)
        return false;
    const i64 by_ticks = etl_time_ns(a, b->header_ticks) / 100;
    i64 by_wall;
    if (__builtin_sub_overflow(b->start_time_filetime, a->start_time_filetime, &by_wall))
        by_wall = INT64_MAX;
    print_seconds(seconds, distance(by_ticks, by_wall));
    return distance(by_ticks, by_wall) > BOOT_TOLERANCE &&
           differs(what, "their clocks and start times disagree by %s s", seconds);
}

static bool same_bytes(etl_bytes a, etl_bytes b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.at, b.at, a.size) == 0);
}

/* Has the session gone on in another file? */
static bool goes_on(const etl_session *a, const etl_session *b, i64 gap)
{
    return (a->log_file_mode & b->log_file_mode & MODE_NEWFILE) != 0 &&
           same_bytes(a->name_utf16, b->name_utf16) && gap <= NEXT_FILE_TOLERANCE;
}

static bool other_time(const etl_trace *a, const etl_trace *b, char what[WHAT_SIZE])
{
    char seconds[32];
    const recorded_span x = span_of(a), y = span_of(b);
    const recorded_span *const first = x.start <= y.start ? &x : &y;
    const recorded_span *const second = first == &x ? &y : &x;
    if (second->start <= first->end)
        return false;
    const i64 gap = distance(second->start, first->end);
    print_seconds(seconds, gap);
    return !goes_on(etl_session_of(a, 0), etl_session_of(b, 0), gap) &&
           differs(what, "%s was started %s s after %s was stopped",
                   first == &x ? "the second" : "the first", seconds,
                   first == &x ? "the first" : "the second");
}

/* Reads records only of traces whose headers are the same. */
static etl_status is_copy(const etl_trace *a, const etl_trace *b, bool *copy)
{
    const etl_session *const x = etl_session_of(a, 0), *const y = etl_session_of(b, 0);
    u64 ids[2][2];
    *copy = false;
    if (etl_buffer_count(a) != etl_buffer_count(b) || x->header_ticks != y->header_ticks ||
        x->start_time_filetime != y->start_time_filetime)
        return ETL_OK;
    etl_status status = trace_identify(a, ids[0]);
    if (status == ETL_OK)
        status = trace_identify(b, ids[1]);
    *copy = status == ETL_OK && memcmp(ids[0], ids[1], sizeof ids[0]) == 0;
    return status;
}

static etl_status compare(const etl_trace *a, const etl_trace *b, bool together, etl_error *err)
{
    const etl_session *const x = etl_session_of(a, 0), *const y = etl_session_of(b, 0);
    char what[WHAT_SIZE];
    bool copy;
    const etl_status status = is_copy(a, b, &copy);
    if (status != ETL_OK)
        return etl_fail_with(err, status, 0, "out of memory");
    if (copy)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "the same trace is given twice and would count double; name it once");
    if (together ||
        (!other_computer(x, y, what) && !other_boot(x, y, what) && !other_time(a, b, what)))
        return ETL_OK;
    return etl_fail_hint(err, ETL_ERR_ARGUMENT, ETL_HINT_OTHER_RECORDINGS,
                         "different recordings (%s)", what);
}

etl_status etlheap_recording_check(etl_trace *const *traces, u32 trace_count, bool together,
                                   u32 pair[2], etl_error *err)
{
    const etl_status indexed =
        trace_count > 1 ? traces_index_rest(traces, trace_count, err) : ETL_OK;
    if (indexed != ETL_OK)
        return indexed;
    for (u32 second = 1; second < trace_count; second++) {
        for (u32 first = 0; first < second; first++) {
            const etl_status status = compare(traces[first], traces[second], together, err);
            pair[0] = first;
            pair[1] = second;
            if (status != ETL_OK)
                return status;
        }
    }
    return ETL_OK;
}
