/*
 * join.h - stack pieces to the memory events they belong to.
 */
#ifndef ETLHEAP_JOIN_H
#define ETLHEAP_JOIN_H

#include "engine/core/digit_sort.h"
#include "deferred.h"
#include "join_recent.h"

/*
 * An event that may still get a part of its stack. While its slice is in hand
 * `event` points at it; afterwards the event is gone into a lifetime and a slot
 * (STACK_TAG_WAITING) stands for its stack.
 */
typedef struct waiting_event {
    i64 ticks;
    memory_event *event; /* NULL: of an earlier slice, see slot */
    u32 slot;            /* number + 1; 0: none yet */
    u32 pid, tid;
    u32 walked_pid; /* whose code ran, if it is not the memory's owner's; else 0 */
    u16 cpu;
    u8 op;      /* memory_op */
    u8 session; /* stream_session */
    bool has_kernel, has_user;
    bool is_over;  /* nothing more can come for it */
    u32 stack_pid; /* the process of the kernel part */
    stack_ref kernel, user;
} waiting_event;

/* A kernel part whose event is not one of ours: neither is its user part's. */
typedef struct foreign_part {
    i64 event_ticks;
    u32 tid;
} foreign_part;

typedef struct stack_join {
    ETLHEAP_VECTOR(waiting_event) waiting;
    ETLHEAP_VECTOR(waiting_slot) slots;   /* by slot number */
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

#endif
