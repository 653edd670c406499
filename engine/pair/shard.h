/*
 * shard.h - what the pairing stages share: lifetimes out, counts by process.
 */
#ifndef ETLHEAP_SHARD_H
#define ETLHEAP_SHARD_H

#include "engine/context/context.h"
#include "engine/log/ehs_rows.h"
#include "engine/log/journal.h"
#include "engine/log/store.h"

typedef struct process_counts {
    u64 heap_events, virtualalloc_events, custom_events;
    u64 free_without_alloc[ETLHEAP_KIND_COUNT];
} process_counts;

/* Where one shard puts its results; owned by the shard's task. */
typedef struct shard_output {
    ETLHEAP_VECTOR(lifetime) rows;
    shard_journal *journal;                /* takes heap blocks in place of rows; NULL: none */
    ETLHEAP_VECTOR(process_counts) counts; /* at[process - 1] */
    /* Of range shards, if somebody asks who freed: that of the event at hand. What nobody
     * knows is then a row, too, of the kind with EHS_LIFE_UNMATCHED. */
    bool keeps_frees;
    stack_ref free_stack;
    u32 free_thread;
    etl_diag_counts diag;
    bool keeps_reservations; /* rows of kind RESERVE are wanted */
    bool out_of_memory;      /* sticks; results are then incomplete */
} shard_output;

/* The counts of a process; NULL without memory (then out_of_memory is set). */
process_counts *shard_counts(shard_output *out, u32 process);

void shard_emit(shard_output *out, const lifetime *row);
void shard_output_free(shard_output *out);

/* A free whose allocation was not recorded, as a row: see keeps_frees. */
void shard_emit_unmatched(shard_output *out, const memory_event *event, u32 process, u8 kind);

/*
 * When and how a lifetime that nothing freed came to its end: with its heap,
 * with its process, or not. Sets free_ticks and free_type.
 */
void shard_end_unfreed(const trace_context *context, lifetime *row);

#endif
