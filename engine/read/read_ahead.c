/*
 * read_ahead.c - asks the system for the next slices while one is analyzed.
 *
 * In: the plan, and how far it has been handed out. Out: pages in the page cache. A helper thread
 * asks for a few megabytes at a time, up to a limit. Invariant: it maps and copies nothing, so a
 * wrong guess only costs a read.
 */
#include "read_ahead.h"

#include <stdlib.h>

#include "engine/core/machine.h"
#include "engine/core/workers.h"

#define ASK_BYTES   (8 * ETL_MIB)
#define LEAST_BYTES (32 * ETL_MIB) /* a slice; less is read before a thread is of use */

typedef struct buffer_piece {
    u64 offset, size_bytes;
    u32 trace;
} buffer_piece;

struct read_ahead {
    const plan_buffer *buffers;
    u32 count;
    etl_trace *const *traces;
    u64 ahead_bytes; /* the bound */
    etlheap_helper *helper;
    /* Of the thread alone: */
    u32 next, reached; /* into the plan's buffers: to be asked for, and handed out */
    u64 asked_bytes;   /* stored bytes of the plan up to `next`, and up to `reached` */
    u64 reached_bytes;
    ETLHEAP_VECTOR(buffer_piece) pieces;
    const etl_trace *file; /* in file order: its bytes up to `asked_bytes` were asked for */
};

static bool ask_in_plan(void *context, u64 until);
static bool ask_in_file(void *context, u64 until);
static read_ahead *begin(read_ahead *ahead, etlheap_helper_fn *fn);
static bool are_warm(etl_trace *const *traces, u32 count);

u64 read_ahead_bound(u64 bytes_max)
{
    return etl_min_u64(machine_memory_available() / 2, bytes_max);
}

read_ahead *read_ahead_open(const read_plan *plan, etl_trace *const *traces, u32 trace_count,
                            u64 bytes_max)
{
    u64 bytes = 0;
    for (u32 i = 0; i < plan->count && bytes <= LEAST_BYTES; i++)
        bytes += plan->buffers[i].bytes;
    const u64 bound = read_ahead_bound(bytes_max);
    if (bytes <= LEAST_BYTES || bound < ASK_BYTES || are_warm(traces, trace_count))
        return NULL;
    read_ahead *const ahead = calloc(1, sizeof *ahead);
    if (ahead == NULL)
        return NULL;
    ahead->buffers = plan->buffers;
    ahead->count = plan->count;
    ahead->traces = traces;
    ahead->ahead_bytes = bound;
    return begin(ahead, ask_in_plan);
}

static bool are_warm(etl_trace *const *traces, u32 count)
{
    bool are = true;
    for (u32 i = 0; are && i < count; i++)
        are = etl_trace_is_warm(traces[i]);
    return are;
}

read_ahead *read_ahead_open_file(const etl_trace *trace)
{
    read_ahead *const ahead = calloc(1, sizeof *ahead);
    if (ahead == NULL)
        return NULL;
    ahead->file = trace;
    return begin(ahead, ask_in_file);
}

static read_ahead *begin(read_ahead *ahead, etlheap_helper_fn *fn)
{
    ahead->helper = etlheap_helper_open(fn, ahead);
    if (ahead->helper != NULL)
        return ahead;
    free(ahead);
    return NULL;
}

void read_ahead_go_on(read_ahead *ahead, u64 next)
{
    if (ahead != NULL)
        etlheap_helper_allow(ahead->helper, next);
}

void read_ahead_close(read_ahead *ahead)
{
    if (ahead == NULL)
        return;
    etlheap_helper_close(ahead->helper);
    ETLHEAP_VECTOR_FREE(&ahead->pieces);
    free(ahead);
}

static const etl_buffer_info *info_of(const read_ahead *ahead, u32 i)
{
    const plan_buffer *const buffer = &ahead->buffers[i];
    return etl_buffer_info_of(ahead->traces[plan_trace(buffer->stream)], buffer->buffer);
}

static int by_place(const void *a, const void *b)
{
    const buffer_piece *const x = a, *const y = b;
    if (x->trace != y->trace)
        return x->trace < y->trace ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Buffers that lie one behind the other in the file are one request. */
static void fetch_pieces(read_ahead *ahead)
{
    buffer_piece *const pieces = ahead->pieces.at;
    const size_t count = ahead->pieces.count;
    qsort(pieces, count, sizeof *pieces, by_place);
    for (size_t i = 0, next; i < count; i = next) {
        buffer_piece whole = pieces[i];
        for (next = i + 1; next < count && pieces[next].trace == whole.trace &&
                           pieces[next].offset == whole.offset + whole.size_bytes;
             next++)
            whole.size_bytes += pieces[next].size_bytes;
        (void)etl_trace_fetch(ahead->traces[whole.trace], whole.offset, whole.size_bytes);
    }
}

static bool ask_in_file(void *context, u64 until)
{
    read_ahead *const ahead = context;
    const u64 end = etl_min_u64(until, etl_file_size(ahead->file));
    if (ahead->asked_bytes >= end)
        return false;
    const u64 size = etl_min_u64(ASK_BYTES, end - ahead->asked_bytes);
    (void)etl_trace_fetch(ahead->file, ahead->asked_bytes, size);
    ahead->asked_bytes += size;
    return true;
}

/* What was handed out before it was asked for is being read by those who need it. */
static bool ask_in_plan(void *context, u64 until)
{
    read_ahead *const ahead = context;
    for (; ahead->reached < until; ahead->reached++)
        ahead->reached_bytes += info_of(ahead, ahead->reached)->stored_size;
    if (ahead->next < ahead->reached) {
        ahead->next = ahead->reached;
        ahead->asked_bytes = ahead->reached_bytes;
    }
    if (ahead->next == ahead->count ||
        ahead->asked_bytes - ahead->reached_bytes >= ahead->ahead_bytes)
        return false;
    ahead->pieces.count = 0;
    for (u64 bytes = 0; ahead->next < ahead->count && bytes < ASK_BYTES; ahead->next++) {
        const etl_buffer_info *const info = info_of(ahead, ahead->next);
        const buffer_piece piece = { info->offset, info->stored_size,
                                     plan_trace(ahead->buffers[ahead->next].stream) };
        bytes += piece.size_bytes;
        ahead->asked_bytes += piece.size_bytes;
        if (!ETLHEAP_PUSH(&ahead->pieces, piece))
            return false;
    }
    fetch_pieces(ahead);
    return true;
}
