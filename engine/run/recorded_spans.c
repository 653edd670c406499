/*
 * recorded_spans.c - finds out from when to when each kind of memory was recorded.
 *
 * In: the kinds and the last record of each session, from the tasks of the scan; the time and the
 * sequence of every buffer, from the plan. Out: a span for each kind (etlheap_recorded).
 *
 * A session is complete from its first event on, whatever time its header states. Only if buffers
 * are missing at the start, as in a ring that has wrapped, it is complete later:
 *
 *     processor 0           ░░░░░░ ├─50─┤├─52─┤   begins with buffer 50
 *     processor 1   ├─7─┤ ░░░░░░░░░░ ├─51─┤       begins with 51: what it did after 7 is missing
 *     processor 2                          ├53┤   was idle: nothing is missing
 *                                    ↑   ↑
 *                                    │   buffer 50 was flushed: nothing later is missing
 *                                    the latest beginning of processors 0 and 1
 *
 * The files do not say that processor 2 was idle. So the span begins with the latest of the
 * processors' oldest buffers, but not after the flush of the oldest buffer of those that are kept
 * without a gap (etl_session.kept_sequence). Buffers older than that count for nothing. Invariant:
 * a span never covers time in which events of its kind may be missing.
 */
#include "recorded_spans.h"

#include <stdlib.h>

#include "engine/core/continued.h"

/* Buffers of sessions whose older buffers are missing, by stream and sequence. */
typedef struct kept_buffers {
    plan_buffer *at;
    u32 count;
} kept_buffers;

bool recorded_sessions_open(recorded_sessions *out, const timebase *base, const u64 *steps_back)
{
    *out = (recorded_sessions){ .base = base,
                                .steps_back = steps_back,
                                .at = calloc(base->map_count, sizeof *out->at) };
    for (u32 i = 0; out->at != NULL && i < base->map_count; i++)
        out->at[i] = (recorded_session){ .first_ticks = INT64_MAX, .last_ticks = INT64_MIN };
    return out->at != NULL;
}

void recorded_sessions_close(recorded_sessions *sessions)
{
    free(sessions->at);
    free(sessions->from);
    sessions->at = NULL;
    sessions->from = NULL;
}

static recorded_session *session_of(const recorded_sessions *sessions, u64 stream)
{
    return &sessions->at[sessions->base->first[plan_trace(stream)] + plan_session(stream)];
}

void recorded_sessions_note(recorded_sessions *sessions, const scan_output *tasks, u32 task_count)
{
    for (u32 i = 0; i < task_count; i++) {
        recorded_session *const session = session_of(sessions, tasks[i].stream);
        session->kinds |= tasks[i].kinds;
        if (tasks[i].last_ticks > session->last_ticks)
            session->last_ticks = tasks[i].last_ticks;
    }
}

static const etl_session *header_of(etl_trace *const *traces, u64 stream)
{
    return etl_session_of(traces[plan_trace(stream)], plan_session(stream));
}

static bool is_data(etl_trace *const *traces, const plan_buffer *buffer)
{
    const etl_trace *const trace = traces[plan_trace(buffer->stream)];
    const etl_session *const session = header_of(traces, buffer->stream);
    return !plan_has_header(session, etl_buffer_info_of(trace, buffer->buffer));
}

/* Finds where sessions begin, and lists the buffers of those that begin later than their first
 * event. */
static void find_firsts(recorded_sessions *sessions, etl_trace *const *traces,
                        const read_plan *plan, kept_buffers *kept)
{
    for (u32 i = 0; i < plan->count; i++) {
        const plan_buffer *const buffer = &plan->buffers[i];
        recorded_session *const session = session_of(sessions, buffer->stream);
        const etl_session *const header = header_of(traces, buffer->stream);
        if (!is_data(traces, buffer))
            continue;
        if (buffer->first_ticks < session->first_ticks)
            session->first_ticks = buffer->first_ticks;
        if (header->buffers_overwritten > 0 &&
            (plan_session(buffer->stream) > 0 ||
             sessions->from[plan_trace(buffer->stream)] == CONTINUED_FROM_NONE))
            kept->at[kept->count++] = *buffer;
    }
}

static int by_stream_and_sequence(const void *a, const void *b)
{
    const plan_buffer *const x = a, *const y = b;
    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    if (x->sequence != y->sequence)
        return x->sequence < y->sequence ? -1 : 1;
    return (x->buffer > y->buffer) - (x->buffer < y->buffer);
}

/* The flush of the oldest buffer that is kept without a gap; INT64_MAX: unknown. */
static i64 oldest_flush(const recorded_sessions *sessions, etl_trace *const *traces,
                        const plan_buffer *buffers, u32 count)
{
    const u64 stream = buffers[0].stream;
    const i64 kept_sequence = header_of(traces, stream)->kept_sequence;
    const tick_map *const map =
        timebase_map(sessions->base, plan_trace(stream), plan_session(stream));
    i64 ticks = INT64_MAX;
    for (u32 i = 0; i < count; i++) {
        if (buffers[i].sequence == kept_sequence &&
            etl_buffer_flush_ticks(traces[plan_trace(stream)], buffers[i].buffer, &ticks))
            return tick_map_apply(map, ticks);
    }
    return INT64_MAX;
}

/* Sets where a session begins from its buffers, which are by processor and sequence. */
static void begin_later(const recorded_sessions *sessions, etl_trace *const *traces,
                        const plan_buffer *buffers, u32 count)
{
    recorded_session *const session = session_of(sessions, buffers[0].stream);
    const i64 kept_sequence = header_of(traces, buffers[0].stream)->kept_sequence;
    const i64 flush_ticks = oldest_flush(sessions, traces, buffers, count);
    bool has_oldest = false;
    i64 latest_ticks = INT64_MIN;
    for (u32 i = 0; i < count; i++) {
        has_oldest = has_oldest && buffers[i].stream == buffers[i - 1].stream;
        if (has_oldest || buffers[i].sequence < kept_sequence)
            continue;
        has_oldest = true;
        if (buffers[i].first_ticks > latest_ticks)
            latest_ticks = buffers[i].first_ticks;
    }
    session->first_ticks = latest_ticks < flush_ticks ? latest_ticks : flush_ticks;
}

static bool is_same_session(const plan_buffer *a, const plan_buffer *b)
{
    return a->stream >> 16 == b->stream >> 16;
}

/* Where a session begins: its header's time if all its events are in the header buffer, or if the
 * time of its first event is impossible. */
static i64 beginning_of(const timebase *base, u32 index, const recorded_session *session)
{
    const tick_map *const map = &base->maps[index];
    const bool is_possible =
        session->first_ticks != INT64_MAX && session->first_ticks >= timebase_earliest(base);
    return is_possible ? session->first_ticks : tick_map_apply(map, map->from->header_ticks);
}

/* A kind that several sessions record lasts from the first one's beginning to the last one's
 * end. */
static void add_session(const timebase *base, u32 index, const recorded_session *session,
                        etlheap_trace_info *info)
{
    const i64 from_ns = etl_time_ns(base->base, beginning_of(base, index, session));
    const i64 to_ns = timebase_end_ns(base->base, session->last_ticks);
    if (from_ns >= to_ns)
        return;
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        etlheap_recorded *const out = &info->recorded[kind];
        if ((session->kinds >> kind & 1) == 0)
            continue;
        out->from_ns = out->is_known && out->from_ns < from_ns ? out->from_ns : from_ns;
        out->to_ns = out->is_known && out->to_ns > to_ns ? out->to_ns : to_ns;
        out->is_known = true;
    }
}

static void join(recorded_session *a, recorded_session *b)
{
    a->kinds |= b->kinds;
    a->first_ticks = a->first_ticks < b->first_ticks ? a->first_ticks : b->first_ticks;
    a->last_ticks = a->last_ticks > b->last_ticks ? a->last_ticks : b->last_ticks;
    *b = *a;
}

/* Joins what several files tell about one session. Each turn takes it one file further, in both
 * directions. */
static void join_continued(recorded_sessions *sessions, etl_trace *const *traces, u32 trace_count)
{
    for (u32 turn = 0; turn < trace_count; turn++) {
        for (u32 i = 0; i < trace_count; i++) {
            const u32 from = sessions->from[i];
            if (from == CONTINUED_FROM_NONE)
                continue;
            const u32 last = etl_session_count(traces[from]) - 1;
            join(&sessions->at[sessions->base->first[from] + last],
                 &sessions->at[sessions->base->first[i]]);
        }
    }
}

static bool find_continued(recorded_sessions *sessions, etl_trace *const *traces, u32 trace_count)
{
    sessions->from = calloc(trace_count, sizeof *sessions->from);
    for (u32 i = 0; sessions->from != NULL && i < trace_count; i++)
        sessions->from[i] = continued_from(traces, trace_count, i);
    return sessions->from != NULL;
}

bool recorded_spans_find(recorded_sessions *sessions, etl_trace *const *traces, u32 trace_count,
                         const read_plan *plan, etlheap_result *result)
{
    kept_buffers kept = { .at = malloc((plan->count + (size_t)1) * sizeof *kept.at) };
    if (kept.at == NULL || !find_continued(sessions, traces, trace_count)) {
        free(kept.at);
        return false;
    }
    find_firsts(sessions, traces, plan, &kept);
    if (kept.count > 0)
        qsort(kept.at, kept.count, sizeof *kept.at, by_stream_and_sequence);
    for (u32 first = 0, end = 0; first < kept.count; first = end) {
        while (end < kept.count && is_same_session(&kept.at[end], &kept.at[first]))
            end++;
        begin_later(sessions, traces, kept.at + first, end - first);
    }
    join_continued(sessions, traces, trace_count);
    for (u32 i = 0; i < sessions->base->map_count; i++)
        add_session(sessions->base, i, &sessions->at[i], &result->info);
    if (sessions->base->base->clock != ETL_CLOCK_QPC) /* that one is never set */
        etl_diag_add(&result->diag, ETL_DIAG_clock_set_back, *sessions->steps_back);
    free(kept.at);
    return true;
}
