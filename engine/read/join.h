/* join.h - assigns stack pieces to the memory events they belong to. */
#ifndef ETLHEAP_JOIN_H
#define ETLHEAP_JOIN_H

#include "engine/core/digit_sort.h"
#include "keyed.h"
#include "free_stacks.h"
#include "join_recent.h"
#include "wait_limit.h"

/*
 * An event that may still get a part of its stack. `event` points to it until its slice ends. After
 * that the event is gone, and a number (STACK_TAG_WAITING) stands for its stack:
 *
 * - for a range, an origin of its own, which holds the stack at the end of the run;
 * - for a block, a number in its shard, for as long as it waits. Then the number is reused, and
 *   resolved_block has the result. Runs that keep lifetimes in memory use origins for blocks, too.
 */
typedef struct waiting_event {
    i64 ticks;
    memory_event *event; /* NULL: of an earlier slice, see origin */
    u32 origin;          /* origin or number, + 1; 0: not assigned */
    u32 pid, tid;
    u32 walked_pid; /* process that made the call, if not the memory's owner; else 0 */
    u16 cpu;
    u8 op;      /* memory_op */
    u8 session; /* stream_session */
    bool has_kernel, has_user;
    bool is_over;    /* no more parts can come */
    bool is_limited; /* ... because too many events followed */
    bool has_thread; /* had a thread when its slice ended */
    u8 shard;
    u32 stack_pid; /* the process of the kernel part */
    stack_ref kernel, user;
} waiting_event;

/* The reusable numbers of waiting blocks in a shard. */
typedef struct waiting_numbers {
    u32 count; /* numbers ever used */
    ETLHEAP_VECTOR(u32) unused;
} waiting_numbers;

/* A kernel part of an event that is not a memory event. The user part then belongs to that event,
 * too. */
typedef struct foreign_part {
    i64 event_ticks;
    u32 tid;
} foreign_part;

typedef ETLHEAP_VECTOR(waiting_origin) waiting_origins;

typedef struct stack_join {
    ETLHEAP_VECTOR(waiting_event) waiting;
    waiting_origins own_origins; /* by origin number; those of join_frees come ... */
    waiting_origins *origins;    /* ... from the join of allocations, too */
    free_stacks *frees;          /* frees of heap blocks; NULL: their stacks are not needed */
    bool is_of_frees;            /* it is join_frees */
    bool numbers_blocks;         /* set it before the first slice */
    waiting_numbers numbers[HEAP_SHARDS];    /* of blocks */
    ETLHEAP_VECTOR(resolved_block) resolved; /* of the slice */
    i64 waits_from_ticks; /* no block allocated before this waits; INT64_MAX: none waits */
    wait_limit limit;
    u64 limited;                          /* blocks that waited less because of the limit */
    ETLHEAP_VECTOR(stack_piece) pieces;   /* of the slice */
    ETLHEAP_VECTOR(digit_row) rows;       /* places of pieces in time order ... */
    ETLHEAP_VECTOR(digit_row) scratch;    /* ... in one of the two */
    ETLHEAP_VECTOR(thread_turn) turns;    /* by thread, then time */
    ETLHEAP_VECTOR(foreign_part) foreign; /* by event time, then thread */
    recent_events recent;
    i64 patience_ticks;
} stack_join;

void join_open(stack_join *join, const timebase *base);
void join_close(stack_join *join);
u64 join_bytes(const stack_join *join); /* memory held between slices */

/* Joins the pieces of a slice's tasks. Call keyed_define for the slice first, and do not move
 * events between scan and this call. Afterwards no event's stack is a STACK_TAG_LOCAL reference. */
bool join_slice(stack_join *join, keyed_stacks *keyed, scan_output *tasks, u32 task_count,
                i64 end_ticks);

/* Joins events that end ranges and extents, with a separate join and after join_slice: they get the
 * pieces that no allocation took. */
void join_open_frees(stack_join *join, const timebase *base, stack_join *opening);
bool join_frees_slice(stack_join *join, const stack_join *opening, keyed_stacks *keyed,
                      scan_output *tasks, u32 task_count, i64 end_ticks);

/* True if too many events followed the block's, at a time when it may still wait. */
bool join_is_limited(const stack_join *join, const waiting_event *row, i64 at_ticks);

#endif
