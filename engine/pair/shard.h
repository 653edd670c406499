/* shard.h - shared by the pairing stages: the output of a shard, and counts by process. */
#ifndef ETLHEAP_SHARD_H
#define ETLHEAP_SHARD_H

#include "engine/context/context.h"
#include "engine/log/ehs_rows.h"
#include "engine/log/event_list.h"
#include "engine/log/store.h"

typedef struct process_counts {
    u64 events[ETLHEAP_KIND_COUNT]; /* as etlheap_process_info.events */
    u64 free_without_alloc[ETLHEAP_KIND_COUNT];
} process_counts;

/* An event that took over the rank of another one in its slice. */
typedef struct rank_move {
    u32 from, to;
} rank_move;

/* The output of one shard; owned by the shard's task. */
typedef struct shard_output {
    ETLHEAP_VECTOR(lifetime) rows;
    shard_events *events;                  /* takes heap blocks instead of rows; NULL: none */
    ETLHEAP_VECTOR(process_counts) counts; /* at[process - 1] */
    /* Only for range shards, if a question asks who freed: the freer of the current event. A free
     * of unknown memory is then also a row, of the kind with EHS_LIFE_UNMATCHED. */
    bool keeps_frees;
    stack_ref free_stack;
    u32 free_thread;
    ETLHEAP_VECTOR(rank_move) moves; /* of the slice, of events whose freer still waits */
    etl_diag_counts diag;
    bool keeps_named_kinds; /* make rows of kinds that are selected only by name */
    bool out_of_memory;     /* stays set; results are then incomplete */
} shard_output;

/* The counts of a process; NULL, with out_of_memory set, if memory runs out. */
process_counts *shard_counts(shard_output *out, u32 process);

void shard_emit(shard_output *out, const lifetime *row);
void shard_output_free(shard_output *out);

/* Emits a row for a free whose allocation was not recorded: see keeps_frees. */
void shard_emit_unmatched(shard_output *out, const memory_event *event, u32 process, u8 kind);

/* Sets free_ticks and free_type of a lifetime without a free: it ended with its heap, with its
 * process, or not at all. */
void shard_end_unfreed(const trace_context *context, lifetime *row);

#endif
