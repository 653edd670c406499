/*
 * blocks.h - the open heap blocks of one shard, and the rules that close them.
 *
 * Key: (process, heap handle, address). A shard sees all events of its keys in time order. Rules
 * (docs/format/events.md, 2):
 *
 * - An alloc opens a block, a free closes it; a free without a block is counted separately. - A
 * moving realloc is a summary: its alloc and free were logged before it. The event says which of
 * the two were seen (realloc_trail.h); the other is supplied. An in-place realloc closes the block
 * and opens one of the new size. - Destroying a heap or ending a process ends its blocks without
 * events. An open block is *dead* if its heap was destroyed after the block was allocated. Dead
 * blocks are swept out, or found when an event meets them.
 *
 * An alloc over an open block *displaces* it. Either the block's free was lost, or it is late:
 * events get their time when they are logged, so the free of one thread can come after the next
 * alloc of the address by another thread. The next event at the address decides:
 *
 *     next event                                  the displaced block's free was
 *     free by the thread of the newer block       lost: a thread's own events are in order
 *     free by another thread                      in doubt; the event after that decides:
 *         a second free, a realloc in place, or     late: the first free was the older one's
 *         the realloc that made the newer block
 *         an alloc                                  lost: the first free was the newer one's,
 *                                                   unless the older one's thread made it soon;
 *                                                   a guess, if it may be late as well
 *         the realloc that the free belongs to      whichever block has the size it names
 *         nothing for as long as patience_ticks     a guess, which is counted (see is_late)
 *     alloc, realloc                              lost
 *
 * A block whose free was lost ended when its address was reused. All limits are in trace time, so
 * the result does not depend on how the trace is cut into slices.
 */
#ifndef ETLHEAP_BLOCKS_H
#define ETLHEAP_BLOCKS_H

#include "shard.h"
#include "waiting_blocks.h"

#define BLOCK_SIZE_BIG UINT32_MAX

/* The size of a block that is 4 GiB or larger. */
typedef struct big_size {
    u32 rank;
    u64 size;
} big_size;

/* A block whose address was reused before its free was seen. */
typedef struct displaced_block {
    block from;
    i64 free_ticks; /* time of the free in doubt */
    u32 free_tid;
    u32 free_rank; /* rank in the run */
    u32 newer;     /* pool index of the block that displaced it */
    u32 next_free; /* in an unused entry: index + 1 of the next one */
    u16 newer_cpu; /* CPU that logged the newer block's alloc */
    u16 free_cpu;
    bool in_doubt; /* a free came that may belong to this block or the newer one */
    bool in_use;
} displaced_block;

typedef struct block_table {
    block_pool open;
    ETLHEAP_VECTOR(displaced_block) displaced;
    u32 free_displaced; /* index + 1 of an unused entry */
    u32 displaced_count;
    ETLHEAP_VECTOR(big_size) big; /* by rank */
    waiting_blocks waiting;
} block_table;

typedef struct block_rules {
    const trace_context *context;
    const origin_table *origins;
    i64 race_ticks;     /* a free later than this counts as lost, not late */
    i64 patience_ticks; /* how long to wait for the next event at an address */
    bool is_lossy;      /* the trace lost events */
    u32 first_rank;     /* rank of the slice's first event in the run */
} block_rules;

/* Applies an event that has its final numbers and went through blocks_prepare. */
void blocks_apply(block_table *table, const block_rules *rules, const ordered_event *event,
                  shard_output *out);

/* Two prefetch steps before blocks_apply: blocks_prepare computes the hash of an event with a final
 * heap and fetches the head; the second one, some events later, fetches the block. blocks_apply
 * needs the first. */
void blocks_prepare(const block_table *table, ordered_event *event);
void blocks_prefetch(const block_table *table, const ordered_event *event);

/* Emits dead blocks: those of destroyed heaps, and of processes that ended longer before
 * `now_ticks` than late events can come. */
void blocks_sweep(block_table *table, const block_rules *rules, i64 now_ticks, shard_output *out);

/* Decides displaced blocks for which no event came within patience_ticks. */
void blocks_decide(block_table *table, const block_rules *rules, i64 now_ticks, shard_output *out);

/* True if a block of the heap is open at the address just before a time. */
bool blocks_is_live(const block_table *table, const block_rules *rules, u32 heap, u64 address,
                    i64 ticks);

/* The block that an event opened, by heap, address and rank; NULL if it has ended. */
block *blocks_find(const block_table *table, u32 heap, u64 address, u32 rank);

/* Emits all remaining blocks. */
void blocks_finish(block_table *table, const block_rules *rules, shard_output *out);

void blocks_free(block_table *table);

#endif
