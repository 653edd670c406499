/*
 * join_bench.h - slices of a run put together by hand, for tests of the join.
 *
 * Stack n is one frame, n, so a joined stack reads like the list of its parts.
 */
#ifndef TESTS_JOIN_BENCH_H
#define TESTS_JOIN_BENCH_H

#include "engine/read/join.h"

#define JOIN_EVENTS_MAX 64u
#define JOIN_TID        70u
#define JOIN_PID        7u

/* A run, its slice in hand, and the events of all slices for the end. */
typedef struct join_bench {
    keyed_stacks keyed;
    stack_join join;
    stack_table stacks;
    scan_output task; /* the slice's only task */
    struct {
        stack_ref stack;
        u32 tid;
    } events[JOIN_EVENTS_MAX]; /* as the slices left them */
    u32 event_count;
    u32 *ids;
    u64 unresolved;
} join_bench;

join_bench *join_bench_new(void);
void join_bench_free(join_bench *b);

/* What the slice's only task found. join_add_alloc: an allocation of JOIN_PID on
 * CPU 0; join_add_part: a piece of JOIN_TID of JOIN_PID written on CPU 0. */
void join_add_event(join_bench *b, memory_event event);
void join_add_alloc(join_bench *b, i64 ticks, u32 tid);
void join_add_piece(join_bench *b, stack_piece piece);
void join_add_part(join_bench *b, i64 ticks, i64 event_ticks, stack_part part, stack_ref stack);

/* A commit without a thread, and a piece of JOIN_TID written on a CPU. */
void join_add_threadless(join_bench *b, i64 ticks, u32 pid, u16 cpu);
void join_add_part_on(join_bench *b, i64 event_ticks, u16 cpu, stack_part part, stack_ref stack);

/* Joins what was added, as the only task of its slice; events without a stack are those
 * that scanning lists as unresolved. */
void join_task(join_bench *b, i64 end_ticks);

/* The same; the slice's events are remembered as they then are. */
void join_end_slice(join_bench *b, i64 end_ticks);

/* The last slice, and the ids of what is known only then. */
void join_end_run(join_bench *b);

/* The final stack of event i, its parts as decimal digits: 0 none, 12 is stack
 * 1 before stack 2. */
void join_expect_stack(const join_bench *b, u32 event, u64 digits);

#endif
