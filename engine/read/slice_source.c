/* slice_source.c - see slice_source.h. */
#include "slice_source.h"

/* Of what is read ahead, for streams that hold back. */
#define SILENT_BYTES (READ_AHEAD_BYTES / 2)

static void begin(slice_source *source);
static void read_on(slice_source *source);

bool slice_source_open(slice_source *out, etl_trace *const *traces, u32 trace_count,
                       const timebase *base, u64 slice_bytes)
{
    *out = (slice_source){
        .traces = traces, .trace_count = trace_count, .base = base, .end_ticks = INT64_MIN
    };
    return plan_open(&out->plan, traces, trace_count, base, slice_bytes);
}

etl_status slice_source_next(slice_source *source, plan_slice *slice, bool *more, etl_error *err)
{
    if (!source->is_begun)
        begin(source);
    const etl_status status =
        plan_steps_go_on(&source->steps, &source->plan, source->end_ticks, err);
    *more = false;
    if (status != ETL_OK || source->steps.is_order_broken)
        return status;
    if (!plan_next(&source->plan, slice, more))
        return etl_no_memory(err);
    source->end_ticks = slice->end_ticks;
    read_on(source);
    return ETL_OK;
}

static void begin(slice_source *source)
{
    etl_trace *const trace = source->traces[0];
    source->is_begun = true;
    source->in_file_order = !etl_is_indexed(trace);
    if (!source->in_file_order) {
        source->ahead =
            read_ahead_open(&source->plan, source->traces, source->trace_count, READ_AHEAD_BYTES);
        return;
    }
    plan_steps_open(&source->steps, trace, source->base, SILENT_BYTES);
    if (!etl_is_arriving(trace))
        source->ahead = read_ahead_open_file(trace);
    read_ahead_go_on(source->ahead, READ_AHEAD_BYTES);
}

/* Buffers up to the plan's next were handed out. */
static void read_on(slice_source *source)
{
    if (!source->in_file_order) {
        read_ahead_go_on(source->ahead, source->plan.next);
        return;
    }
    for (; source->reached < source->plan.next; source->reached++) {
        const u32 buffer = source->plan.buffers[source->reached].buffer;
        source->reached_bytes += etl_buffer_info_of(source->traces[0], buffer)->stored_size;
    }
    read_ahead_go_on(source->ahead, source->reached_bytes + READ_AHEAD_BYTES);
}

void slice_source_close(slice_source *source)
{
    read_ahead_close(source->ahead);
    plan_steps_close(&source->steps);
    plan_close(&source->plan);
}

bool slice_source_may_grow(void)
{
    return read_ahead_bound(READ_AHEAD_BYTES) == READ_AHEAD_BYTES;
}
