/* plan_growth.c - see plan_growth.h. */
#include "plan_growth.h"

#include <stdlib.h>

#define STEPS       8u    /* to a slice, about */
#define STREAMS_MAX 4096u /* more are no longer looked up one by one: the whole index then */

static bool is_slice_known(const plan_growth *growth, const read_plan *plan);
static etl_status take_step(plan_growth *growth, read_plan *plan, i64 end_ticks, etl_error *err);
static bool note_front(plan_growth *growth, const plan_buffer *buffer);
static i64 settled_ticks(const plan_growth *growth);

etl_status traces_index_rest(etl_trace *const *traces, u32 trace_count, etl_error *err)
{
    etl_status status = ETL_OK;
    for (u32 i = 0; i < trace_count && status == ETL_OK; i++)
        status = etl_index_rest(traces[i], err);
    return status;
}

void plan_growth_open(plan_growth *out, etl_trace *trace, const timebase *base, u64 silent_bytes)
{
    *out = (plan_growth){ .trace = trace, .base = base, .silent_bytes = silent_bytes };
}

etl_status plan_growth_go_on(plan_growth *growth, read_plan *plan, i64 end_ticks, etl_error *err)
{
    if (growth->trace == NULL)
        return ETL_OK;
    if (growth->fronts.count == 0) { /* what was planned when the plan was opened */
        plan->settled_ticks = INT64_MIN;
        for (u32 i = 0; i < plan->count; i++) {
            if (!note_front(growth, &plan->buffers[i]))
                return etl_no_memory(err);
        }
    }
    etl_status status = ETL_OK;
    while (status == ETL_OK && !growth->is_order_broken && !is_slice_known(growth, plan))
        status = take_step(growth, plan, end_ticks, err);
    plan_sort(plan);
    return status;
}

/* Or everything is known. */
static bool is_slice_known(const plan_growth *growth, const read_plan *plan)
{
    if (growth->trace == NULL)
        return true;
    u64 bytes = 0;
    for (u32 i = plan->next; i < plan->count && bytes < plan->slice_bytes; i++)
        bytes += plan->buffers[i].first_ticks < plan->settled_ticks ? plan->buffers[i].bytes : 0;
    return bytes >= plan->slice_bytes;
}

static etl_status take_step(plan_growth *growth, read_plan *plan, i64 end_ticks, etl_error *err)
{
    etl_trace *const trace = growth->trace;
    const u32 first = plan->count;
    const u64 to = etl_indexed_bytes(trace) + plan->slice_bytes / STEPS + 1;
    const etl_status status = etl_index_more(trace, to, err);
    if (status != ETL_OK)
        return status;
    growth->is_order_broken = etl_session_count(trace) > 1;
    if (growth->is_order_broken)
        return ETL_OK;
    bool has_memory = plan_extend(plan, trace, growth->base);
    for (u32 i = first; has_memory && i < plan->count; i++) {
        has_memory = note_front(growth, &plan->buffers[i]);
        growth->is_order_broken |= plan->buffers[i].first_ticks < end_ticks;
    }
    if (!has_memory)
        return etl_no_memory(err);
    if (etl_is_indexed(trace))
        growth->trace = NULL;
    plan->settled_ticks = growth->trace == NULL ? INT64_MAX : settled_ticks(growth);
    return ETL_OK;
}

static bool note_front(plan_growth *growth, const plan_buffer *buffer)
{
    const u64 offset = etl_buffer_info_of(growth->trace, buffer->buffer)->offset;
    for (size_t i = 0; i < growth->fronts.count; i++) {
        stream_front *const front = &growth->fronts.at[i];
        if (front->stream != buffer->stream)
            continue;
        if (buffer->first_ticks > front->ticks)
            front->ticks = buffer->first_ticks;
        front->offset = offset;
        return true;
    }
    const stream_front front = { buffer->stream, buffer->first_ticks, offset };
    return growth->fronts.count > STREAMS_MAX || ETLHEAP_PUSH(&growth->fronts, front);
}

static i64 settled_ticks(const plan_growth *growth)
{
    if (growth->fronts.count > STREAMS_MAX)
        return INT64_MIN;
    const u64 indexed = etl_indexed_bytes(growth->trace);
    const i64 tail = etl_tail_ticks(growth->trace);
    i64 settled = INT64_MAX;
    if (tail != INT64_MAX)
        settled = tick_map_apply(timebase_map(growth->base, 0, 0), tail);
    for (size_t i = 0; i < growth->fronts.count; i++) {
        const stream_front *const front = &growth->fronts.at[i];
        if (indexed - front->offset <= growth->silent_bytes && front->ticks < settled)
            settled = front->ticks;
    }
    return settled;
}

void plan_growth_close(plan_growth *growth)
{
    ETLHEAP_VECTOR_FREE(&growth->fronts);
    *growth = (plan_growth){ 0 };
}
