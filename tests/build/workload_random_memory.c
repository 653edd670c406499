/*
 * workload_random_memory.c - random VirtualAlloc and VirtualFree operations: reserve and commit at
 * once or in turn, commits over committed pages, decommits that split ranges, releases with and
 * without a size; stacks in two halves, delayed, on another CPU, shared by two events.
 *
 * In: the state of the generator. Out: operations in the workload. Invariant: a thread with a stack
 * half to come does nothing else: it has not returned to user mode.
 */
#include "workload_random.h"

#define PAGE_BYTES        4096u
#define GRANULARITY_BYTES 65536u
#define LONG_DELAY_US     400u

static void new_region(maker *m, runner *r, bool commit);
static void commit_part(maker *m, runner *r);
static void decommit_part(maker *m, runner *r);
static void release(maker *m, runner *r);
static void reset(maker *m, runner *r);
static void share_user_half(maker *m, runner *r);
static runner_region *pick_region(maker *m, runner *r);
static void part_of(maker *m, const runner_region *region, workload_op *op);
static void memory_stack(maker *m, runner *r, runner_thread *t, workload_op *op);
static u64 region_base(maker *m, runner *r, u64 size);

void maker_memory_step(maker *m, runner *r)
{
    const u64 pick = below(m, 100);
    if (pick < 30)
        new_region(m, r, true);
    else if (pick < 44)
        new_region(m, r, false);
    else if (pick < 64)
        commit_part(m, r);
    else if (pick < 78)
        decommit_part(m, r);
    else if (pick < 90)
        release(m, r);
    else if (pick < 93)
        reset(m, r);
    else
        share_user_half(m, r);
}

static void new_region(maker *m, runner *r, bool commit)
{
    runner_thread *const t = maker_thread(m, r);
    if (t == NULL || r->region_count == RUNNER_REGIONS_MAX)
        return;
    workload_op op = maker_op(m, r, t, WORKLOAD_VIRTUAL_ALLOC);
    op.size = (1 + below(m, 64)) * PAGE_BYTES;
    op.address = region_base(m, r, op.size);
    op.flags = ETL_BUILD_RESERVE | (commit ? ETL_BUILD_COMMIT : 0);
    if (commit && chance(m, 5))
        op.flags |= ETL_BUILD_LARGE_PAGES;
    memory_stack(m, r, t, &op);
    workload_add_op(m->w, &op);
    r->regions[r->region_count++] =
        (runner_region){ .base = op.address, .size = op.size, .live = true };
}

/* A base for a region: one released before if it is large enough, else a fresh one. */
static u64 region_base(maker *m, runner *r, u64 size)
{
    for (u32 i = 0; i < r->region_count; i++) {
        runner_region *const old = &r->regions[i];
        if (!old->live && old->size >= size && chance(m, 50)) {
            const u64 base = old->base;
            *old = r->regions[--r->region_count];
            return base;
        }
    }
    const u64 base = r->region_next;
    r->region_next += (size + GRANULARITY_BYTES) / GRANULARITY_BYTES * GRANULARITY_BYTES;
    return base;
}

static runner_region *pick_region(maker *m, runner *r)
{
    if (r->region_count == 0)
        return NULL;
    runner_region *const region = &r->regions[below(m, r->region_count)];
    return region->live ? region : NULL;
}

/* Some pages of a region. */
static void part_of(maker *m, const runner_region *region, workload_op *op)
{
    const u64 pages = region->size / PAGE_BYTES;
    const u64 from = below(m, pages);
    op->address = region->base + from * PAGE_BYTES;
    op->size = (1 + below(m, pages - from)) * PAGE_BYTES;
}

static void commit_part(maker *m, runner *r)
{
    runner_thread *const t = maker_thread(m, r);
    const runner_region *const region = pick_region(m, r);
    if (t == NULL || region == NULL)
        return;
    workload_op op = maker_op(m, r, t, WORKLOAD_VIRTUAL_ALLOC);
    part_of(m, region, &op);
    op.flags = ETL_BUILD_COMMIT;
    memory_stack(m, r, t, &op);
    workload_add_op(m->w, &op);
}

static void decommit_part(maker *m, runner *r)
{
    runner_thread *const t = maker_thread(m, r);
    const runner_region *const region = pick_region(m, r);
    if (t == NULL || region == NULL)
        return;
    workload_op op = maker_op(m, r, t, WORKLOAD_VIRTUAL_FREE);
    part_of(m, region, &op);
    op.flags = ETL_BUILD_DECOMMIT;
    if (chance(m, 30))
        memory_stack(m, r, t, &op);
    workload_add_op(m->w, &op);
}

static void release(maker *m, runner *r)
{
    runner_thread *const t = maker_thread(m, r);
    runner_region *const region = pick_region(m, r);
    if (t == NULL || region == NULL)
        return;
    workload_op op = maker_op(m, r, t, WORKLOAD_VIRTUAL_FREE);
    op.address = region->base;
    op.size = chance(m, 50) ? region->size : 0;
    op.flags = ETL_BUILD_RELEASE;
    workload_add_op(m->w, &op);
    region->live = false;
}

static void reset(maker *m, runner *r)
{
    runner_thread *const t = maker_thread(m, r);
    const runner_region *const region = pick_region(m, r);
    if (t == NULL || region == NULL)
        return;
    workload_op op = maker_op(m, r, t, WORKLOAD_VIRTUAL_ALLOC);
    part_of(m, region, &op);
    op.flags = ETL_BUILD_RESET;
    workload_add_op(m->w, &op);
}

/* Two commits of one system call: two kernel halves, one user half for both. */
static void share_user_half(maker *m, runner *r)
{
    runner_thread *const t = maker_thread(m, r);
    const runner_region *const region = pick_region(m, r);
    if (t == NULL || region == NULL)
        return;
    const u32 first = r->memory_stacks[below(m, r->memory_stack_count)];
    const u32 second = r->memory_stacks[below(m, r->memory_stack_count)];
    workload_op op = maker_op(m, r, t, WORKLOAD_VIRTUAL_ALLOC);
    part_of(m, region, &op);
    op.flags = ETL_BUILD_COMMIT;
    op.stack = maker_joined_stack(m, first, second);
    op.halves = WORKLOAD_HALF_KERNEL;
    workload_add_op(m->w, &op);

    m->now += 20 + (i64)below(m, 180);
    part_of(m, region, &op);
    op.ticks = m->now;
    op.stack = second;
    op.halves = WORKLOAD_HALVES;
    workload_add_op(m->w, &op);
    t->busy_until = m->now + 200;
}

/* Gives an operation its stack: none, the user half alone, both in one record, or two halves of
 * which the second may be late and elsewhere. The thread does nothing else meanwhile: it has not
 * returned to user mode. */
static void memory_stack(maker *m, runner *r, runner_thread *t, workload_op *op)
{
    const u64 pick = below(m, 100);
    op->stack = r->memory_stacks[below(m, r->memory_stack_count)];
    op->halves = WORKLOAD_HALVES;
    t->busy_until = m->now + 200;
    if (pick < 5) {
        op->halves = 0;
        op->stack = WORKLOAD_NONE;
    } else if (pick < 15) {
        op->stack = r->heap_stacks[below(m, r->heap_stack_count)];
        op->halves = WORKLOAD_HALF_USER;
    } else if (pick < 30) {
        op->form = ETL_BUILD_STACK_MIXED;
    } else if (pick < 60) {
        op->user_delay = 30 + (i64)below(m, (u64)ticks_of_us(m, LONG_DELAY_US));
        op->user_cpu = maker_other_cpu(m, op->cpu);
        t->busy_until = m->now + op->user_delay + 20;
    }
}

void maker_early_commits(maker *m, runner *child, runner *parent)
{
    runner_thread *const t = maker_thread(m, parent);
    if (t == NULL)
        return;
    workload_op op = maker_op(m, parent, t, WORKLOAD_VIRTUAL_ALLOC);
    op.process = child->process;
    op.address = region_base(m, child, 8 * PAGE_BYTES);
    op.size = 8 * PAGE_BYTES;
    op.flags = ETL_BUILD_RESERVE | ETL_BUILD_COMMIT;
    op.stack = maker_common_stack(m, parent->process);
    op.halves = WORKLOAD_HALVES;
    t->busy_until = m->now + 200;
    workload_add_op(m->w, &op);
    child->regions[child->region_count++] =
        (runner_region){ .base = op.address, .size = op.size, .live = true };
}

void maker_system_commit(maker *m, u32 process, u32 tid)
{
    const workload_op op = {
        .ticks = m->now,
        .kind = WORKLOAD_VIRTUAL_ALLOC,
        .halves = WORKLOAD_HALF_KERNEL,
        .cpu = 0,
        .tid = tid,
        .process = process,
        .freer = process,
        .stack = maker_kernel_stack(m, process),
        .flags = ETL_BUILD_RESERVE | ETL_BUILD_COMMIT,
        .address =
            (m->w->narrow ? 0x40000000u : 0x2b0000000u) + below(m, 0x1000) * GRANULARITY_BYTES,
        .size = 4 * PAGE_BYTES,
    };
    workload_add_op(m->w, &op);
}
