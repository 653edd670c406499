/*
 * workload_random.h - the state of the random generator, shared by its files.
 * Not for tests.
 *
 * The generator lives in a world where everything is known: which blocks are in
 * use, which threads are busy. It makes one operation after another, at times
 * that only grow, and every kind of trouble a real trace has, on purpose.
 */
#ifndef TESTS_WORKLOAD_RANDOM_H
#define TESTS_WORKLOAD_RANDOM_H

#include "workload_inside.h"

#define RUNNER_HEAPS_MAX   4u
#define RUNNER_BLOCKS_MAX  400u /* blocks in use at once; more means freeing */
#define RUNNER_REUSE_MAX   64u
#define RUNNER_REGIONS_MAX 24u
#define RUNNER_POOL_MAX    400u
#define RUNNERS_MAX        5u

typedef struct runner_block {
    u64 address;
    u64 size;
    u32 heap; /* index in the runner */
    i64 born;
    i64 not_before; /* left alone until then: an older block at its address is in doubt */
    i64 inverted;   /* its alloc was logged before the free of the older one; 0: it was not */
} runner_block;

typedef struct runner_heap {
    u64 handle;
    u64 extent_next; /* next fresh address of an extent */
    u64 extent_base;
} runner_heap;

/* A reservation of address space. */
typedef struct runner_region {
    u64 base;
    u64 size;
    bool live;
} runner_region;

typedef struct runner_thread {
    u32 tid;
    u32 cpu;
    i64 busy_until; /* a user half of its stack is still to be written */
} runner_thread;

/* A process that allocates. */
typedef struct runner {
    u32 process; /* index of the instance, WORKLOAD_NONE: not running */
    bool narrow; /* its addresses have 32 bits */
    runner_thread threads[WORKLOAD_THREADS_MAX];
    u32 thread_count;
    runner_heap heaps[RUNNER_HEAPS_MAX];
    u32 heap_count;
    runner_block blocks[RUNNER_BLOCKS_MAX];
    u32 block_count;
    u64 reuse[RUNNER_REUSE_MAX]; /* freed addresses, the latest last */
    u32 reuse_count;
    u64 address_next;
    u64 unknown_next; /* blocks older than the trace */
    runner_region regions[RUNNER_REGIONS_MAX];
    u32 region_count;
    u64 region_next;
    u32 heap_stacks[RUNNER_POOL_MAX]; /* user halves only */
    u32 heap_stack_count;
    u32 memory_stacks[RUNNER_POOL_MAX]; /* kernel and user halves */
    u32 memory_stack_count;
    u32 plugin;       /* image loaded at the plug-in base, or WORKLOAD_NONE */
    u32 plugin_stack; /* with frames in it, taken since it was loaded */
    u32 plugin_number;
    u32 noise_tid;
} runner;

typedef struct maker {
    workload *w;
    workload_options options;
    u64 random;
    i64 now;
    u64 mean_gap_ticks;
    runner runners[RUNNERS_MAX];
    u32 runner_count;
    u32 tid_next;
} maker;

static inline u64 below(maker *m, u64 limit)
{
    return workload_random_below(&m->random, limit);
}

static inline bool chance(maker *m, u32 percent)
{
    return below(m, 100) < percent;
}

/* Ticks of so many microseconds. */
/* At least one: clocks may be slow. */
static inline i64 ticks_of_us(const maker *m, u64 us)
{
    return (i64)etl_max_u64(1, us * m->w->clock_hz / 1000000);
}

/* --- workload_random.c --- */

/* An idle thread of the runner, perhaps moved to another CPU; NULL: all busy. */
runner_thread *maker_thread(maker *m, runner *r);
/* An operation of a thread now; the caller fills in the rest and appends it. */
workload_op maker_op(const maker *m, const runner *r, const runner_thread *t,
                     workload_op_kind kind);
/* The stack of an allocation: usually one, of the user half only. */
void maker_heap_stack(maker *m, runner *r, workload_op *op);
/* A CPU other than this one, or this one when there is no other. */
u32 maker_other_cpu(maker *m, u32 cpu);

/* --- workload_random_stacks.c --- */

void maker_stack_pools(maker *m, runner *r);
/* A stack with frames of one image, at a moment. */
u32 maker_image_stack(maker *m, const runner *r, u32 image);
/* Kernel frames of one stack before user frames of another. */
u32 maker_joined_stack(maker *m, u32 kernel_of, u32 user_of);
/* Kernel frames alone, for a process that has no user mode. */
u32 maker_kernel_stack(maker *m, u32 process);
/* Only frames that mean the same in every process. */
u32 maker_common_stack(maker *m, u32 process);

/* --- workload_random_heap.c --- */

void maker_heap_begin(maker *m, runner *r);
void maker_heap_step(maker *m, runner *r);
/* Frees by an ending process that are logged after its end. */
void maker_late_frees(maker *m, runner *r, i64 end_ticks);

/* --- workload_random_memory.c --- */

void maker_memory_step(maker *m, runner *r);
/* Commits that the parent makes in a process about to start. */
void maker_early_commits(maker *m, runner *child, runner *parent);
/* A commit of the system process, whose stacks have no user half. */
void maker_system_commit(maker *m, u32 process, u32 tid);

/* Gives what frees memory stacks, of the processes' own ones (workload_free_stacks.c). */
void workload_add_free_stacks(workload *w, u64 seed);

#endif
