/*
 * blocks.h - the open heap blocks of one shard, and the rules that close them.
 *
 * Key: (process, heap handle, address). A shard sees all events of its keys in
 * time order. Rules (docs/format/events.md, 2):
 *
 *  - Alloc opens, free closes; a free of nothing is counted apart.
 *  - A moving realloc is a summary: its alloc and free were logged before it. What
 *    was seen of the two comes with the event (realloc_trail.h); what is missing is
 *    supplied. An in-place realloc closes the block and opens one of the new size.
 *  - Destroying a heap or ending a process ends what is left in it. No event is
 *    sent for that: an open block is *dead* when its heap was destroyed after it
 *    was allocated, and dead blocks are swept out, or found when met.
 *
 * An alloc over an open block *displaces* it. Either the block's free was lost, or it is
 * late: events are stamped when they are logged, so the free of one thread can come after
 * the next alloc of the address by another. What happens next at the address decides:
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
 * A block whose free was lost ended when its address was given out again. All limits are
 * of trace time, so results do not depend on how the trace is cut into slices.
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

/* A block whose address was given out again before its free was seen. */
typedef struct displaced_block {
    block from;
    i64 free_ticks; /* of the free in doubt */
    u32 free_tid;
    u32 free_rank; /* in the run */
    u32 newer;     /* the block that displaced it, by index in the pool */
    u32 next_free; /* of an unused entry: index + 1 of the next one */
    u16 newer_cpu; /* that logged the newer block's alloc */
    u16 free_cpu;
    bool in_doubt; /* a free came that may be this block's or the newer one's */
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
    const slot_table *slots;
    i64 race_ticks;     /* a free that is later than that is taken as lost, not late */
    i64 patience_ticks; /* how long the next event at an address is waited for */
    bool is_lossy;      /* the trace says that it lost events */
    u32 first_rank;     /* of the slice, in the run */
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

/* Settles displaced blocks about which patience_ticks brought no news. */
void blocks_settle(block_table *table, const block_rules *rules, i64 now_ticks, shard_output *out);

/* The block that an event opened, by its heap, address and rank; NULL: it has ended. */
block *blocks_find(const block_table *table, u32 heap, u64 address, u32 rank);

/* Emits everything that is left. */
void blocks_finish(block_table *table, const block_rules *rules, shard_output *out);

void blocks_free(block_table *table);

#endif
