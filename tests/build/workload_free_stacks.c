/*
 * workload_free_stacks.c - gives what frees memory call stacks, in a workload that is made.
 *
 * Everything else of the workload stays as it is, so that a trace with stacks of frees and one
 * without tell the same of allocations.
 */
#include "workload_random.h"

#include <stdlib.h>

#define WITHOUT_PERCENT 15u
#define USER_HALF_TICKS 130 /* a user half is written by then */

/* The stacks of a process that hold at any time, with kernel frames or without. */
typedef struct stack_pool {
    u32 *at;
    u32 count;
} stack_pool;

static stack_pool pool_of(const workload *w, u32 process, bool kernel)
{
    stack_pool pool = { .at = malloc((w->stack_count + 1) * sizeof *pool.at) };
    if (pool.at == NULL)
        abort();
    for (u32 i = 0; i < w->stack_count; i++) {
        const workload_stack *const stack = &w->stacks[i];
        const bool is_alike = (stack->kernel_count > 0) == kernel && stack->user_count > 0;
        if (stack->process == process && stack->ticks == INT64_MAX - 1 && is_alike)
            pool.at[pool.count++] = i;
    }
    return pool;
}

/* Does the thread do something else before the user half of its stack is written? */
static bool is_busy(const workload *w, const workload_op *op)
{
    const workload_op *const end = w->ops + w->op_count;
    for (const workload_op *next = op + 1; next < end; next++) {
        if (next->ticks - op->ticks > USER_HALF_TICKS)
            return false;
        if (next->tid == op->tid)
            return true;
    }
    return false;
}

static void give_stack(workload *w, workload_op *op, u64 *random)
{
    const bool is_kernels = op->kind == WORKLOAD_VIRTUAL_FREE;
    if (is_kernels && is_busy(w, op))
        return;
    stack_pool pool = pool_of(w, op->freer, is_kernels);
    if (pool.count > 0 && workload_random_below(random, 100) >= WITHOUT_PERCENT) {
        op->stack = pool.at[workload_random_below(random, pool.count)];
        op->halves = is_kernels ? WORKLOAD_HALVES : WORKLOAD_HALF_USER;
    }
    free(pool.at);
}

void workload_add_free_stacks(workload *w, u64 seed)
{
    u64 random = seed ^ 0x66726565u;
    for (u32 i = 0; i < w->op_count; i++) {
        workload_op *const op = &w->ops[i];
        const bool frees = op->kind == WORKLOAD_HEAP_FREE || op->kind == WORKLOAD_VIRTUAL_FREE ||
                           op->kind == WORKLOAD_HEAP_CONTRACT;
        if (frees && op->halves == 0)
            give_stack(w, op, &random);
    }
}
