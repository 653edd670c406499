/*
 * free_stacks.h - call stacks of heap frees, for questions about who freed.
 *
 * Reports do not need these stacks, and the stacks of allocations must not depend on whether they
 * are recorded. So a free gets only stack parts that the join leaves over:
 *
 *     pieces ──▶ join.c    allocations, commits, extents take theirs
 *        │ left over
 *        ▼
 *     here       the latest free of the piece's thread and tick that was logged before it
 *
 * A thread that frees a block walks its stack right after logging the event. The stack is one
 * piece, and nearly always the next record. It is looked up among the events just before the piece;
 * then, for all pieces of the slice together, among its other frees, and among sleeping frees of
 * earlier slices. A free sleeps like a waiting allocation (wait_limit.h), but for fewer events, and
 * costs nothing until a piece names it.
 *
 * A moving realloc logs the free of the old block. If that free has no stack, because the session
 * records stacks of Alloc and ReAlloc only, realloc_frees.h gives it the realloc's.
 */
#ifndef ETLHEAP_FREE_STACKS_H
#define ETLHEAP_FREE_STACKS_H

#include "keyed.h"
#include "wait_limit.h"

/* A free of an earlier slice whose stack may still come. */
typedef struct sleeping_free {
    i64 ticks;
    u32 pid, tid;
    u32 rank;  /* in the run, once known; FREE_RANK_NONE: not yet */
    u32 owner; /* number in slots.owners, once known */
    u64 address;
    stack_ref of_realloc; /* stack that it has unless its own comes; STACK_NONE: none */
    u32 follows;          /* its realloc's number in the shard `follows_shard`, + 1; 0: none */
    u8 follows_shard;
    u8 session;
    bool has_stack;
} sleeping_free;

#define FREE_RANK_NONE UINT32_MAX

/* The stack of a free of an earlier slice, by its rank. */
typedef struct resolved_free {
    u32 rank, owner;
    stack_ref stack;
} resolved_free;

/* A block of an earlier slice that no longer waits for its stack (join.h). */
typedef struct resolved_block {
    u32 number; /* its number in the shard */
    u8 shard;
    stack_ref stack;
    u32 tid; /* ETL_NO_ID: unchanged */
} resolved_block;

/* Start from {0}. */
typedef struct free_stacks {
    ETLHEAP_VECTOR(sleeping_free)
    sleeping; /* a free's index stands for its stack until its slice is in order */
    ETLHEAP_VECTOR(resolved_free) resolved; /* stacks found in the slice */
    ETLHEAP_VECTOR(u32) left; /* places of pieces whose free was not just before them */
} free_stacks;

/* The join's data of a slice. */
typedef struct free_stacks_slice {
    scan_output *tasks;
    u32 task_count;
    stack_piece *pieces; /* this file writes their fates */
    keyed_stacks *keyed;
    const wait_limit *limit;
    i64 patience_ticks;
} free_stacks_slice;

/* Call it before the pieces of a slice. False if memory runs out. */
bool free_stacks_begin(free_stacks *frees);

/* Does a record at `later_ticks` come too late for a free at that time? */
bool free_stacks_is_late(const free_stacks_slice *slice, i64 free_ticks, i64 later_ticks);

/* Resolves a free of an earlier slice. One that never got a rank has no row to change. False if
 * memory runs out. */
bool free_stacks_resolve(free_stacks *frees, const sleeping_free *row, stack_ref stack);

/* Offers a piece of the slice that no allocation took. Call it in time order. False if memory runs
 * out. */
bool free_stacks_offer(free_stacks *frees, const free_stacks_slice *slice, u32 place);

/* Call it after the last piece. Finds the frees of the pieces that are left. False if memory runs
 * out. */
bool free_stacks_finish(free_stacks *frees, const free_stacks_slice *slice);

/* Call it at the end of a slice. Frees whose stack may still come go to sleep; others are
 * forgotten. False if memory runs out. */
bool free_stacks_sleep(free_stacks *frees, const free_stacks_slice *slice, i64 end_ticks);

/* The time of the oldest sleeping free; INT64_MAX: none. */
i64 free_stacks_oldest(const free_stacks *frees);

u64 free_stacks_bytes(const free_stacks *frees);
void free_stacks_free(free_stacks *frees);

#endif
