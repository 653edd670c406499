/*
 * stack_pool.h - the programs of the benchmark and their distinct stacks.
 *
 * A pool holds modules, processes and for each process a list of stacks: 5 to
 * 60 frames, mean about 25, innermost first. Stacks look like those of one
 * program: all begin at a thread's start, share outer frames as branches of one
 * call tree do, and end in the allocator.
 */
#ifndef BENCH_STACK_POOL_H
#define BENCH_STACK_POOL_H

#include "parser/base.h"

/* The inputs are to have 50,000 distinct stacks; the rarest may not occur. */
#define BENCH_STACKS               50100u
#define STACK_POOL_DEPTH_MIN       5u
#define STACK_POOL_DEPTH_MAX       60u
#define STACK_POOL_PROCESSES       4u
#define STACK_POOL_CALL_SITE_BYTES 192u /* one call site in so many bytes of code */

typedef struct pool_module {
    const char *path; /* NT path */
    u64 base;
    u32 size_bytes;
} pool_module;

typedef struct pool_process {
    u32 pid;
    const char *name;
    pool_module program;
    u32 first_stack; /* its stacks are first_stack up to first_stack + stack_count - 1 */
    u32 stack_count;
} pool_process;

typedef struct stack_pool {
    pool_process processes[STACK_POOL_PROCESSES];
    const pool_module *libraries; /* at the same place in every process */
    u32 library_count;
    u32 stack_count;
    u32 *starts; /* stack_count + 1 places in frames */
    u64 *frames;
} stack_pool;

/* Frames of one stack, innermost first. */
typedef struct pool_stack {
    const u64 *frames;
    u32 count;
} pool_stack;

/* A pool of `stack_count` stacks, most of them of the first process. To be given
 * to stack_pool_free(). Aborts without memory. */
stack_pool *stack_pool_new(u32 stack_count);
void stack_pool_free(stack_pool *pool);

static inline pool_stack stack_pool_get(const stack_pool *pool, u32 stack)
{
    const u32 start = pool->starts[stack];
    return (pool_stack){ pool->frames + start, pool->starts[stack + 1] - start };
}

/* The module an address lies in, as an index: libraries first, then the programs
 * of the processes. UINT32_MAX when none. */
u32 stack_pool_module_of(const stack_pool *pool, u64 address);
const pool_module *stack_pool_module(const stack_pool *pool, u32 index);

#endif
