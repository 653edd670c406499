/*
 * join.h - stack pieces to the memory events they belong to.
 */
#ifndef ETLHEAP_JOIN_H
#define ETLHEAP_JOIN_H

#include "engine/core/digit_sort.h"
#include "deferred.h"
#include "free_stacks.h"
#include "join_recent.h"
#include "wait_limit.h"

/*
 * An event that may still get a part of its stack. While its slice is in hand `event` points
 * at it. Afterwards the event is gone, and a number (STACK_TAG_WAITING) stands for its stack:
 *
 *  - of a range, a slot of its own, which says at the end of the run what the stack is;
 *  - of a block, a number in its shard, for as long as it waits. When that is over, the
 *    number goes to another event, and settled_block says what became of the stack.
 *
 * Runs that keep lifetimes in memory have slots for blocks, too.
 */
typedef struct waiting_event {
    i64 ticks;
    memory_event *event; /* NULL: of an earlier slice, see slot */
    u32 slot;            /* slot or number, + 1; 0: none yet */
    u32 pid, tid;
    u32 walked_pid; /* whose code ran, if it is not the memory's owner's; else 0 */
    u16 cpu;
    u8 op;      /* memory_op */
    u8 session; /* stream_session */
    bool has_kernel, has_user;
    bool is_over;    /* nothing more can come for it */
    bool is_limited; /* ... because too many events came after it */
    bool has_thread; /* when its slice ended */
    u8 shard;
    u32 stack_pid; /* the process of the kernel part */
    stack_ref kernel, user;
} waiting_event;

/* A block of an earlier slice for whose stack nobody waits any longer. */
typedef struct settled_block {
    u32 number; /* among what waits in the shard */
    u8 shard;
    stack_ref stack;
    u32 tid; /* ETL_NO_ID: nothing new is known of it */
} settled_block;

/* Numbers of what waits in a shard, used again. */
typedef struct waiting_numbers {
    u32 count; /* ever */
    ETLHEAP_VECTOR(u32) unused;
} waiting_numbers;

/* A kernel part whose event is not one of ours: neither is its user part's. */
typedef struct foreign_part {
    i64 event_ticks;
    u32 tid;
} foreign_part;

typedef ETLHEAP_VECTOR(waiting_slot) waiting_slots;

typedef struct stack_join {
    ETLHEAP_VECTOR(waiting_event) waiting;
    waiting_slots own_slots;               /* by slot number; those of join_frees come from ... */
    waiting_slots *slots;                  /* ... the join of what opens lifetimes, too */
    free_stacks *frees;                    /* of heap blocks; NULL: nobody asks for their stacks */
    bool is_of_frees;                      /* it is join_frees */
    bool numbers_blocks;                   /* to be set before the first slice */
    waiting_numbers numbers[HEAP_SHARDS];  /* of blocks */
    ETLHEAP_VECTOR(settled_block) settled; /* of the slice */
    i64 waits_from_ticks;                  /* no block before waits; INT64_MAX: none does */
    wait_limit limit;
    u64 limited;                          /* blocks that would have waited for longer without it */
    ETLHEAP_VECTOR(stack_piece) pieces;   /* of the slice */
    ETLHEAP_VECTOR(digit_row) rows;       /* places of them, in the order of time ... */
    ETLHEAP_VECTOR(digit_row) scratch;    /* ... in one of the two */
    ETLHEAP_VECTOR(thread_turn) turns;    /* by thread, then time; none before all that waits */
    ETLHEAP_VECTOR(foreign_part) foreign; /* by event time, then thread; not for longer than that */
    recent_events recent;
    i64 patience_ticks;
} stack_join;

void join_open(stack_join *join, const timebase *base);
void join_close(stack_join *join);
u64 join_bytes(const stack_join *join); /* held between slices */

/*
 * Joins the pieces of a slice's tasks. Events of the tasks must not be moved
 * between scan and this call; afterwards every event's stack is a reference
 * without STACK_TAG_LOCAL. deferred_define has run for the slice.
 */
bool join_slice(stack_join *join, deferred_stacks *deferred, scan_output *tasks, u32 task_count,
                i64 end_ticks);

/*
 * The same for what ends ranges and extents, with a join of its own and after join_slice with
 * the other one: stacks and stack records that nothing took are theirs.
 */
void join_open_frees(stack_join *join, const timebase *base, stack_join *opening);
bool join_frees_slice(stack_join *join, const stack_join *opening, deferred_stacks *deferred,
                      scan_output *tasks, u32 task_count, i64 end_ticks);

/* Have too many events come after the block's, at a moment within the patience? */
bool join_is_limited(const stack_join *join, const waiting_event *row, i64 at_ticks);

#endif
