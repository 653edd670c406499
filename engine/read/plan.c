/*
 * plan.c - decides in which order buffers are read: slices of time, each cut into tasks.
 *
 * In: the time of the first record of every buffer of all traces. Out: one slice after the other,
 * with its buffers by stream, cut into tasks of about TASK_BYTES of one stream.
 *
 * The order in a file is the order of flushing, which may lag by seconds. Sorted by first time, a
 * slice can end where the next buffer not yet handed out begins: all records before that time are
 * in buffers handed out by then. plan.h draws a slice. Invariants: a buffer that was not read to
 * its end is handed out again (carry_unfinished), or its records are lost. A slice's end lies after
 * the start of its first new buffer, or the plan would not advance. All orders are total.
 */
#include "plan.h"

#include <stdlib.h>

#define TASK_BYTES ((u64)1 << 20)
#define PLAN_CPUS  2048u /* no system has more; a number beyond shares the place of another */

static void add_trace(read_plan *plan, const etl_trace *trace, u32 trace_index,
                      const timebase *base);
static int by_time(const void *a, const void *b);
static int by_stream(const void *a, const void *b);
static void carry_unfinished(plan_slice *slice);
static bool cut_tasks(const read_plan *plan, plan_slice *slice);

bool plan_open(read_plan *out, etl_trace *const *traces, u32 trace_count, const timebase *base,
               u64 slice_bytes)
{
    assert(slice_bytes > 0);
    size_t total = 0;
    for (u32 i = 0; i < trace_count; i++)
        total += etl_buffer_count(traces[i]);
    *out = (read_plan){ .complete_ticks = INT64_MAX,
                        .slice_bytes = slice_bytes,
                        .task_bytes = TASK_BYTES };
    if (total >= UINT32_MAX)
        return false;
    out->buffers = calloc(total + 1, sizeof *out->buffers);
    out->latest = malloc(2 * PLAN_CPUS * sizeof *out->latest);
    if (out->buffers == NULL || out->latest == NULL)
        return false;
    out->sequences = out->latest + PLAN_CPUS;
    for (u32 i = 0; i < trace_count; i++) {
        out->taken = 0;
        add_trace(out, traces[i], i, base);
    }
    assert(out->count == total);
    plan_sort(out);
    return true;
}

bool plan_extend(read_plan *plan, const etl_trace *trace, const timebase *base)
{
    const size_t total = etl_buffer_count(trace);
    assert(plan->count == plan->taken && total >= plan->count);
    void *const grown = realloc(plan->buffers, (total + 1) * sizeof *plan->buffers);
    if (grown == NULL)
        return false;
    plan->buffers = grown;
    add_trace(plan, trace, 0, base);
    return true;
}

void plan_sort(read_plan *plan)
{
    qsort(plan->buffers + plan->next, plan->count - plan->next, sizeof *plan->buffers, by_time);
}

/* Makes the streams of a session empty. */
static void begin_streams(read_plan *plan)
{
    for (u32 i = 0; i < PLAN_CPUS; i++) {
        plan->latest[i] = INT64_MIN;
        plan->sequences[i] = INT64_MIN;
    }
}

/*
 * The time by which a buffer is put in order. If a clock was set back, a processor's later buffer
 * has an earlier time. It must not be read first, so it counts as no earlier than those before it.
 * In a ring file the times go back where it was overwritten, but the numbers do, too. The header
 * buffer only has the time of the header.
 */
static i64 time_in_stream(read_plan *plan, const etl_session *session, const etl_buffer_info *info,
                          i64 ticks)
{
    if (plan_has_header(session, info))
        return ticks;
    i64 *const latest = &plan->latest[info->cpu % PLAN_CPUS];
    i64 *const sequence = &plan->sequences[info->cpu % PLAN_CPUS];
    const bool goes_on = info->sequence > *sequence;
    *sequence = info->sequence;
    if (session->clock == ETL_CLOCK_QPC || !goes_on || ticks > *latest)
        *latest = ticks;
    return *latest;
}

/* A buffer without a timed record gets the time of the buffer before it: it must still be read
 * once, for its records and its damage. */
static void add_trace(read_plan *plan, const etl_trace *trace, u32 trace_index,
                      const timebase *base)
{
    u32 session = 0;
    i64 previous = plan->taken_ticks;
    if (plan->taken == 0)
        previous = tick_map_apply(timebase_map(base, trace_index, 0),
                                  etl_session_of(trace, 0)->header_ticks);
    const u32 count = etl_buffer_count(trace);
    for (u32 i = plan->taken; i < count; i++) {
        const etl_buffer_info *const info = etl_buffer_info_of(trace, i);
        if (i == 0 || info->session != session)
            begin_streams(plan);
        session = info->session;
        i64 ticks;
        if (etl_buffer_first_ticks(trace, i, &ticks))
            previous = tick_map_apply(timebase_map(base, trace_index, session), ticks);
        plan->buffers[plan->count++] = (plan_buffer){
            .first_ticks = time_in_stream(plan, etl_session_of(trace, session), info, previous),
            .sequence = info->sequence,
            .stream = (u64)trace_index << 32 | (u64)session << 16 | info->cpu,
            .buffer = i,
            .bytes = info->valid_size,
        };
    }
    plan->taken = count;
    plan->taken_ticks = previous;
}

static int compare_u64(u64 a, u64 b)
{
    return (a > b) - (a < b);
}

static int compare_i64(i64 a, i64 b)
{
    return (a > b) - (a < b);
}

/* Total orders, so that the result does not depend on the C library's sort. */
static int compare_within_stream(const plan_buffer *a, const plan_buffer *b)
{
    int order = compare_i64(a->first_ticks, b->first_ticks);
    if (order == 0)
        order = compare_i64(a->sequence, b->sequence);
    return order != 0 ? order : compare_u64(a->buffer, b->buffer);
}

static int by_time(const void *a, const void *b)
{
    const plan_buffer *const x = a, *const y = b;
    int order = compare_i64(x->first_ticks, y->first_ticks);
    if (order == 0)
        order = compare_u64(x->stream, y->stream);
    return order != 0 ? order : compare_within_stream(x, y);
}

static int by_stream(const void *a, const void *b)
{
    const plan_buffer *const x = a, *const y = b;
    const int order = compare_u64(x->stream, y->stream);
    return order != 0 ? order : compare_within_stream(x, y);
}

void plan_close(read_plan *plan)
{
    free(plan->buffers);
    free(plan->latest);
    plan->latest = NULL;
    plan->buffers = NULL;
    plan->count = 0;
}

bool plan_next(read_plan *plan, plan_slice *slice, bool *more)
{
    carry_unfinished(slice);
    *more = plan->next < plan->count || slice->buffers.count > 0;
    const u32 first = plan->next;
    u64 bytes = 0;
    while (plan->next < plan->count) {
        const plan_buffer *const buffer = &plan->buffers[plan->next];
        const bool enough = bytes >= plan->slice_bytes;
        /* The end must lie after the start of the first new buffer, or the plan would not
         * advance. */
        if (enough && buffer->first_ticks > plan->buffers[first].first_ticks)
            break;
        if (buffer->first_ticks >= plan->complete_ticks)
            break;
        bytes += buffer->bytes;
        if (!ETLHEAP_PUSH(&slice->buffers, *buffer))
            return false;
        plan->next++;
    }
    slice->end_ticks = plan->next < plan->count ? plan->buffers[plan->next].first_ticks : INT64_MAX;
    if (slice->end_ticks > plan->complete_ticks)
        slice->end_ticks = plan->complete_ticks;
    if (slice->buffers.count > 0)
        qsort(slice->buffers.at, slice->buffers.count, sizeof *slice->buffers.at, by_stream);
    return cut_tasks(plan, slice);
}

static void carry_unfinished(plan_slice *slice)
{
    size_t kept = 0;
    for (size_t i = 0; i < slice->buffers.count; i++) {
        if (slice->buffers.at[i].resume != PLAN_DONE)
            slice->buffers.at[kept++] = slice->buffers.at[i];
    }
    slice->buffers.count = kept;
}

static bool cut_tasks(const read_plan *plan, plan_slice *slice)
{
    slice->tasks.count = 0;
    u64 bytes = 0;
    for (u32 i = 0; i < slice->buffers.count; i++) {
        const plan_buffer *const buffer = &slice->buffers.at[i];
        const bool same = i > 0 && buffer[-1].stream == buffer->stream;
        if (!same || bytes >= plan->task_bytes) {
            if (!ETLHEAP_PUSH(&slice->tasks, (plan_task){ i, 0 }))
                return false;
            bytes = 0;
        }
        slice->tasks.at[slice->tasks.count - 1].count++;
        bytes += buffer->bytes;
    }
    return true;
}

void plan_slice_free(plan_slice *slice)
{
    ETLHEAP_VECTOR_FREE(&slice->buffers);
    ETLHEAP_VECTOR_FREE(&slice->tasks);
}
