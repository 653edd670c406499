/*
 * shard.c - the output of a shard: lifetimes, unmatched frees, and counts by process. Invariant:
 * only the shard's own task writes to it; the run drains shards in their order.
 */
#include "shard.h"

#include <stdlib.h>

process_counts *shard_counts(shard_output *out, u32 process)
{
    assert(process != 0);
    while (out->counts.count < process) {
        if (!ETLHEAP_PUSH(&out->counts, (process_counts){ 0 })) {
            out->out_of_memory = true;
            return NULL;
        }
    }
    return &out->counts.at[process - 1];
}

void shard_emit(shard_output *out, const lifetime *row)
{
    assert(row->process != 0);
    assert(row->free_ticks >= row->alloc_ticks);
    if (!ETLHEAP_PUSH(&out->rows, *row))
        out->out_of_memory = true;
}

void shard_emit_unmatched(shard_output *out, const memory_event *event, u32 process, u8 kind)
{
    const lifetime row = { .alloc_ticks = ETLHEAP_TICKS_BEFORE,
                           .free_ticks = event->ticks,
                           .address = event->address,
                           .size = event->size,
                           .heap = etlheap_kind_has(kind, ETLHEAP_KIND_HAS_HEAP) ? event->heap : 0,
                           .process = process,
                           .thread = ETL_NO_ID,
                           .free_stack = event->stack,
                           .free_thread = event->tid,
                           .kind = (u8)(kind | EHS_LIFE_UNMATCHED),
                           .free_type = ETLHEAP_FREE_FREE };
    shard_emit(out, &row);
}

void shard_output_free(shard_output *out)
{
    ETLHEAP_VECTOR_FREE(&out->rows);
    ETLHEAP_VECTOR_FREE(&out->counts);
    ETLHEAP_VECTOR_FREE(&out->moves);
}

void shard_end_unfreed(const trace_context *context, lifetime *row)
{
    const i64 exit_ticks = etlheap_kind_has(row->kind, ETLHEAP_KIND_OUTLIVES)
                               ? ETLHEAP_TICKS_NEVER
                               : context->processes.at[row->process - 1].end_ticks;
    const i64 destroy_ticks =
        etlheap_kind_has(row->kind, ETLHEAP_KIND_HAS_HEAP)
            ? context_heap_end(context, row->process, row->heap, row->alloc_ticks)
            : ETLHEAP_TICKS_NEVER;
    row->free_ticks = ETLHEAP_TICKS_NEVER;
    row->free_type = ETLHEAP_FREE_NONE;
    if (destroy_ticks != ETLHEAP_TICKS_NEVER) {
        row->free_ticks = destroy_ticks;
        row->free_type = ETLHEAP_FREE_HEAP_DESTROY;
    } else if (exit_ticks != ETLHEAP_TICKS_NEVER) {
        /* An allocation may be stamped a little after its process's end. */
        row->free_ticks = exit_ticks > row->alloc_ticks ? exit_ticks : row->alloc_ticks;
        row->free_type = ETLHEAP_FREE_PROCESS_EXIT;
    }
}
