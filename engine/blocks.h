/*
 * blocks.h - the open heap blocks of one shard, and the rules that close them.
 *
 * Key: (process, heap handle, address). A shard sees all events of its keys in
 * time order. Rules (etl-events.md A.4):
 *
 *  - alloc opens, free closes; a free of nothing is counted apart.
 *  - A moving realloc is a summary: its alloc and free were logged before it. It
 *    marks the new block; what is missing of the two is supplied.
 *  - An in-place realloc closes the block and opens one of the new size.
 *  - Destroying a heap or ending a process ends what is left in it. No event is
 *    sent for that: an open block is *dead* when its heap was destroyed after it
 *    was allocated, and dead blocks are swept out, or found when met.
 *  - Events are stamped when logged, not when done: the free of an address may
 *    come after the next alloc of it on another CPU. So an alloc over an open
 *    block *displaces* it; a free within 1 ms closes the displaced block, after
 *    that it counts as freed when it was displaced (its free was lost).
 */
#ifndef ETLHEAP_BLOCKS_H
#define ETLHEAP_BLOCKS_H

#include "block_pool.h"
#include "shard.h"

#define BLOCK_SIZE_BIG UINT32_MAX

/* The size of a block that is 4 GiB or larger. */
typedef struct big_size {
    u32 rank;
    u64 size;
} big_size;

typedef struct block_table {
    block_pool open;
    ETLHEAP_VECTOR(block) displaced;
    u32 free_displaced; /* index + 1 of an unused entry; chained by .displaced */
    u32 displaced_count;
    ETLHEAP_VECTOR(big_size) big; /* by rank */
} block_table;

typedef struct block_rules {
    const trace_context *context;
    const slot_table *slots;
    i64 race_ticks; /* 1 ms */
    u32 first_rank; /* of the slice, in the run */
} block_rules;

/* Applies an event whose numbers are settled, and which blocks_prepare has seen. */
void blocks_apply(block_table *table, const block_rules *rules, const ordered_event *event,
                  shard_output *out);

/* What blocks_apply will look at is fetched in two steps: of an event whose heap is
 * settled the hash and the head, and some events later the block. Nothing is applied
 * without the first. */
void blocks_prepare(const block_table *table, ordered_event *event);
void blocks_prefetch(const block_table *table, const ordered_event *event);

/* Emits the dead blocks: of destroyed heaps, and of processes that ended more
 * than the late-event allowance before `now_ticks`. */
void blocks_sweep(block_table *table, const block_rules *rules, i64 now_ticks, shard_output *out);

/* Settles displaced blocks that no free can close any more. */
void blocks_settle(block_table *table, const block_rules *rules, i64 now_ticks, shard_output *out);

/* Emits everything that is left. */
void blocks_finish(block_table *table, const block_rules *rules, shard_output *out);

void blocks_free(block_table *table);

#endif
