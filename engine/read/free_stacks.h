/*
 * free_stacks.h - call stacks of heap frees, for those who ask who freed.
 *
 * Reports do not ask for them, and what they say of allocations must not depend on whether
 * somebody does. So a free gets what the join leaves over:
 *
 *     pieces ──▶ join.c    allocations, commits, extents take theirs
 *        │ left over
 *        ▼
 *     here       the latest free of the piece's thread and tick that was logged before it
 *
 * A program raises the event of a free, and its thread walks the stack before it does anything
 * else: the stack is one piece, and nearly always it comes next. It is looked for among the
 * events just before the piece, then, for all pieces of a slice together, among its other
 * frees, and among those of earlier slices that sleep. A free sleeps as allocations wait
 * (wait_limit.h), but for fewer events, and costs nothing until a piece names it.
 */
#ifndef ETLHEAP_FREE_STACKS_H
#define ETLHEAP_FREE_STACKS_H

#include "deferred.h"
#include "wait_limit.h"

/* A free of an earlier slice whose stack may still come. */
typedef struct sleeping_free {
    i64 ticks;
    u32 pid, tid;
    u32 rank;  /* in the run, once it is in order; FREE_RANK_NONE: not yet */
    u32 owner; /* number in slots.owners, likewise */
    u8 session;
    bool has_stack;
} sleeping_free;

#define FREE_RANK_NONE UINT32_MAX

/* The stack of a free of an earlier slice, by its rank. */
typedef struct settled_free {
    u32 rank, owner;
    stack_ref stack;
} settled_free;

/* Start from {0}. */
typedef struct free_stacks {
    ETLHEAP_VECTOR(sleeping_free)
    sleeping;                             /* a free's number, in place of its stack, is its
                                               index here until its slice is in order */
    ETLHEAP_VECTOR(settled_free) settled; /* of the slice */
    ETLHEAP_VECTOR(u32) left;             /* places of pieces whose free is not just before them */
} free_stacks;

/* What the join knows of a slice. */
typedef struct free_stacks_slice {
    scan_output *tasks;
    u32 task_count;
    stack_piece *pieces; /* their fates are written */
    deferred_stacks *deferred;
    const wait_limit *limit;
    i64 patience_ticks;
} free_stacks_slice;

/* Before the pieces of a slice: nothing of it is settled. */
void free_stacks_begin(free_stacks *frees);

/* A piece of the slice, which a free may have if nothing else took it. In the order of time.
 * False without memory. */
bool free_stacks_offer(free_stacks *frees, const free_stacks_slice *slice, u32 place);

/* After the last piece: finds the frees of those that are left. False without memory. */
bool free_stacks_finish(free_stacks *frees, const free_stacks_slice *slice);

/* At the end of a slice: frees whose stack may still come are put to sleep, others are
 * forgotten. False without memory. */
bool free_stacks_sleep(free_stacks *frees, const free_stacks_slice *slice, i64 end_ticks);

/* The first moment of a free that sleeps; INT64_MAX: none does. */
i64 free_stacks_oldest(const free_stacks *frees);

u64 free_stacks_bytes(const free_stacks *frees);
void free_stacks_free(free_stacks *frees);

#endif
