/* plan_steps.c - see plan_steps.h. */
#include "plan_steps.h"

#include <stdlib.h>

#define STEPS       8u    /* to a slice, about */
#define STREAMS_MAX 4096u /* more are no longer looked up one by one: the whole index then */

static bool is_slice_known(const plan_steps *steps, const read_plan *plan);
static etl_status take_step(plan_steps *steps, read_plan *plan, i64 end_ticks, etl_error *err);
static bool note_front(plan_steps *steps, const plan_buffer *buffer);
static i64 complete_ticks(const plan_steps *steps);

etl_status traces_index_rest(etl_trace *const *traces, u32 trace_count, etl_error *err)
{
    etl_status status = ETL_OK;
    for (u32 i = 0; i < trace_count && status == ETL_OK; i++)
        status = etl_index_rest(traces[i], err);
    return status;
}

void plan_steps_open(plan_steps *out, etl_trace *trace, const timebase *base, u64 silent_bytes)
{
    *out = (plan_steps){ .trace = trace, .base = base, .silent_bytes = silent_bytes };
}

etl_status plan_steps_go_on(plan_steps *steps, read_plan *plan, i64 end_ticks, etl_error *err)
{
    if (steps->trace == NULL)
        return ETL_OK;
    if (steps->fronts.count == 0) { /* what was planned when the plan was opened */
        plan->complete_ticks = INT64_MIN;
        for (u32 i = 0; i < plan->count; i++) {
            if (!note_front(steps, &plan->buffers[i]))
                return etl_no_memory(err);
        }
    }
    etl_status status = ETL_OK;
    while (status == ETL_OK && !steps->is_order_broken && !is_slice_known(steps, plan))
        status = take_step(steps, plan, end_ticks, err);
    plan_sort(plan);
    return status;
}

/* Or everything is known. */
static bool is_slice_known(const plan_steps *steps, const read_plan *plan)
{
    if (steps->trace == NULL)
        return true;
    u64 bytes = 0;
    for (u32 i = plan->next; i < plan->count && bytes < plan->slice_bytes; i++)
        bytes += plan->buffers[i].first_ticks < plan->complete_ticks ? plan->buffers[i].bytes : 0;
    return bytes >= plan->slice_bytes;
}

static etl_status take_step(plan_steps *steps, read_plan *plan, i64 end_ticks, etl_error *err)
{
    etl_trace *const trace = steps->trace;
    const u32 first = plan->count;
    const u64 to = etl_indexed_bytes(trace) + plan->slice_bytes / STEPS + 1;
    const etl_status status = etl_index_more(trace, to, err);
    if (status != ETL_OK)
        return status;
    steps->is_order_broken = etl_session_count(trace) > 1;
    if (steps->is_order_broken)
        return ETL_OK;
    bool has_memory = plan_extend(plan, trace, steps->base);
    for (u32 i = first; has_memory && i < plan->count; i++) {
        has_memory = note_front(steps, &plan->buffers[i]);
        steps->is_order_broken |= plan->buffers[i].first_ticks < end_ticks;
    }
    if (!has_memory)
        return etl_no_memory(err);
    if (etl_is_indexed(trace))
        steps->trace = NULL;
    plan->complete_ticks = steps->trace == NULL ? INT64_MAX : complete_ticks(steps);
    return ETL_OK;
}

static bool note_front(plan_steps *steps, const plan_buffer *buffer)
{
    const u64 offset = etl_buffer_info_of(steps->trace, buffer->buffer)->offset;
    for (size_t i = 0; i < steps->fronts.count; i++) {
        stream_front *const front = &steps->fronts.at[i];
        if (front->stream != buffer->stream)
            continue;
        if (buffer->first_ticks > front->ticks)
            front->ticks = buffer->first_ticks;
        front->offset = offset;
        return true;
    }
    const stream_front front = { buffer->stream, buffer->first_ticks, offset };
    return steps->fronts.count > STREAMS_MAX || ETLHEAP_PUSH(&steps->fronts, front);
}

static i64 complete_ticks(const plan_steps *steps)
{
    if (steps->fronts.count > STREAMS_MAX)
        return INT64_MIN;
    const u64 indexed = etl_indexed_bytes(steps->trace);
    const i64 tail = etl_tail_ticks(steps->trace);
    i64 complete = INT64_MAX;
    if (tail != INT64_MAX)
        complete = tick_map_apply(timebase_map(steps->base, 0, 0), tail);
    for (size_t i = 0; i < steps->fronts.count; i++) {
        const stream_front *const front = &steps->fronts.at[i];
        if (indexed - front->offset <= steps->silent_bytes && front->ticks < complete)
            complete = front->ticks;
    }
    return complete;
}

void plan_steps_close(plan_steps *steps)
{
    ETLHEAP_VECTOR_FREE(&steps->fronts);
    *steps = (plan_steps){ 0 };
}
