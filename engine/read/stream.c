/*
 * stream.c - gives every record of the traces in order of time, for dump.
 *
 * In: traces. Out: one record after the other, with its description.
 *
 *     buffers, by first time    |--a--|      |--c---|
 *                                 |----b----|    |-d-|
 *     heap of open buffers      by the time of their next record: the smallest is next
 *
 * A buffer is opened when the heap's front has reached its first time. So no more buffers are open
 * at once than overlap in time, usually one for each CPU. Invariant: ties go by stream and
 * position, so the order is total. A record whose time goes back in its buffer comes right after
 * the one before it.
 */
#include <stdlib.h>

#include "descriptions.h"
#include "engine/core/continued.h"
#include "engine/engine.h"
#include "plan.h"
#include "plan_steps.h"

/* A buffer that is being read, and its next record. */
typedef struct open_buffer {
    i64 key;    /* time the record sorts at */
    u64 stream; /* decides ties: file, session, CPU */
    u32 order;  /* position in the plan: decides the rest */
    u32 trace;
    etl_buffer buffer;
    etl_record record;
    etl_scratch scratch;
} open_buffer;

struct etlheap_stream {
    etl_trace *const *traces;
    u32 trace_count;
    timebase base;
    read_plan plan;
    ETLHEAP_VECTOR(open_buffer *) heap;
    ETLHEAP_VECTOR(open_buffer *) spare; /* closed ones; their scratch is kept */
    open_buffer *current;                /* gave the latest record; not in the heap */
    description_set descriptions;
    etl_diag_counts diag;
    bool describes, has_descriptions;
    bool failed, is_over;
};

static bool advance(etlheap_stream *stream, open_buffer *open);
static bool open_next(etlheap_stream *stream);

etl_status etlheap_stream_open(etl_trace *const *traces, u32 trace_count, etlheap_stream **out,
                               etl_error *err)
{
    *out = NULL;
    if (trace_count == 0)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "no trace to read");
    etlheap_stream *const stream = calloc(1, sizeof *stream);
    if (stream == NULL)
        return etl_no_memory(err);
    stream->traces = traces;
    stream->trace_count = trace_count;
    const etl_status status = traces_index_rest(traces, trace_count, err);
    if (status != ETL_OK) {
        etlheap_stream_close(stream);
        return status;
    }
    if (!timebase_open(&stream->base, traces, trace_count) ||
        !plan_open(&stream->plan, traces, trace_count, &stream->base, 1)) {
        etlheap_stream_close(stream);
        return etl_no_memory(err);
    }
    for (u32 i = 0; i < trace_count; i++)
        etl_diag_merge(&stream->diag, etl_trace_diagnostics(traces[i]));
    continued_correct(traces, trace_count, &stream->diag);
    *out = stream;
    return ETL_OK;
}

static void free_buffer(open_buffer *open)
{
    if (open == NULL)
        return;
    etl_scratch_free(&open->scratch);
    free(open);
}

void etlheap_stream_close(etlheap_stream *stream)
{
    if (stream == NULL)
        return;
    for (size_t i = 0; i < stream->heap.count; i++)
        free_buffer(stream->heap.at[i]);
    for (size_t i = 0; i < stream->spare.count; i++)
        free_buffer(stream->spare.at[i]);
    free_buffer(stream->current);
    ETLHEAP_VECTOR_FREE(&stream->heap);
    ETLHEAP_VECTOR_FREE(&stream->spare);
    descriptions_free(&stream->descriptions);
    plan_close(&stream->plan);
    timebase_close(&stream->base);
    free(stream);
}

static bool before(const open_buffer *a, const open_buffer *b)
{
    if (a->key != b->key)
        return a->key < b->key;
    return a->stream != b->stream ? a->stream < b->stream : a->order < b->order;
}

static bool push_heap(etlheap_stream *stream, open_buffer *open)
{
    if (!ETLHEAP_PUSH(&stream->heap, open))
        return false;
    size_t at = stream->heap.count - 1;
    while (at > 0 && before(open, stream->heap.at[(at - 1) / 2])) {
        stream->heap.at[at] = stream->heap.at[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    stream->heap.at[at] = open;
    return true;
}

static open_buffer *pop_heap(etlheap_stream *stream)
{
    open_buffer *const front = stream->heap.at[0];
    open_buffer *const moved = stream->heap.at[--stream->heap.count];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= stream->heap.count)
            break;
        if (child + 1 < stream->heap.count &&
            before(stream->heap.at[child + 1], stream->heap.at[child]))
            child++;
        if (!before(stream->heap.at[child], moved))
            break;
        stream->heap.at[at] = stream->heap.at[child];
        at = child;
    }
    if (stream->heap.count > 0)
        stream->heap.at[at] = moved;
    return front;
}

static bool is_due(const etlheap_stream *stream)
{
    if (stream->plan.next >= stream->plan.count)
        return false;
    return stream->heap.count == 0 ||
           stream->plan.buffers[stream->plan.next].first_ticks <= stream->heap.at[0]->key;
}

/* Counts what is known only after the last record. */
static bool end(etlheap_stream *stream)
{
    for (u32 i = 0; !stream->is_over && i < stream->trace_count; i++)
        etl_diag_add(&stream->diag, ETL_DIAG_file_changed, etl_trace_changed(stream->traces[i]));
    stream->is_over = true;
    return false;
}

void etlheap_stream_describe(etlheap_stream *stream)
{
    stream->describes = true;
}

/* Hooks and messages have no descriptions. False without memory. */
static bool describe(etlheap_stream *stream, etlheap_stream_record *out)
{
    out->description = (etl_description){ .source = ETL_DESCRIPTION_NONE };
    out->diag = &stream->diag;
    const bool may_have = out->record.provider != NULL && !out->record.has_hook &&
                          !etl_record_is_injected(&out->record);
    if (!stream->describes || !may_have ||
        descriptions_find(&stream->descriptions, &out->record, &out->description, &stream->diag) ||
        stream->has_descriptions)
        return true;
    stream->has_descriptions = true;
    etl_diag_counts ignored = { { 0 } }; /* the record's own were counted above */
    if (!descriptions_read(&stream->descriptions, stream->traces, stream->trace_count,
                           &stream->diag))
        return false;
    descriptions_find(&stream->descriptions, &out->record, &out->description, &ignored);
    return true;
}

bool etlheap_stream_next(etlheap_stream *stream, etlheap_stream_record *out)
{
    if (stream->failed)
        return false;
    /* The views of the latest record become invalid here. */
    if (stream->current != NULL && !advance(stream, stream->current))
        stream->failed = true;
    stream->current = NULL;
    while (!stream->failed && is_due(stream))
        stream->failed = !open_next(stream);
    if (stream->failed || stream->heap.count == 0)
        return end(stream);
    open_buffer *const open = pop_heap(stream);
    stream->current = open;
    const tick_map *const map = timebase_map(&stream->base, open->trace, open->buffer.session);
    out->record = open->record;
    out->trace = open->trace;
    out->session = open->buffer.session;
    out->ticks = open->record.has_time ? tick_map_apply(map, open->record.ticks) : open->key;
    out->time_ns = etl_time_ns(stream->base.base, out->ticks);
    if (describe(stream, out))
        return true;
    stream->failed = true;
    return false;
}

/* Takes the next record and puts the buffer back, or retires it at its end. */
static bool advance(etlheap_stream *stream, open_buffer *open)
{
    if (!etl_record_next(&open->buffer, &open->record)) {
        if (ETLHEAP_PUSH(&stream->spare, open))
            return true;
        free_buffer(open);
        return false;
    }
    const tick_map *const map = timebase_map(&stream->base, open->trace, open->buffer.session);
    if (open->record.has_time) {
        const i64 ticks = tick_map_apply(map, open->record.ticks);
        open->key = ticks > open->key ? ticks : open->key;
    }
    if (push_heap(stream, open))
        return true;
    free_buffer(open);
    return false;
}

static bool open_next(etlheap_stream *stream)
{
    const u32 order = stream->plan.next++;
    const plan_buffer *const planned = &stream->plan.buffers[order];
    open_buffer *open =
        stream->spare.count > 0 ? stream->spare.at[--stream->spare.count] : calloc(1, sizeof *open);
    if (open == NULL)
        return false;
    open->key = planned->first_ticks;
    open->stream = planned->stream;
    open->order = order;
    open->trace = plan_trace(planned->stream);
    if (etl_buffer_load(stream->traces[open->trace], planned->buffer, &open->scratch, &stream->diag,
                        &open->buffer) != ETL_OK) {
        free_buffer(open);
        return false;
    }
    return advance(stream, open);
}

etl_status etlheap_stream_status(const etlheap_stream *stream)
{
    return stream->failed ? ETL_ERR_MEMORY : ETL_OK;
}

const etl_diag_counts *etlheap_stream_diagnostics(const etlheap_stream *stream)
{
    return &stream->diag;
}
