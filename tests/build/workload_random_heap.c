/*
 * workload_random_heap.c - random heap operations, and what goes wrong with them: lost frees,
 * blocks older than the trace, frees logged after the allocation that took their place, reallocs
 * with parts missing.
 *
 * In: the state of the generator (workload_random.h). Out: operations in the workload. Invariant:
 * whatever makes a block's end doubtful leaves its address alone for as long as the engine is
 * patient, so that the truth stays the only possible answer.
 */
#include "workload_random.h"

#define BLOCK_ALIGN           16u
#define PAGE_BYTES            4096u
#define EXTENT_PAGES          64u
#define DOUBT_US              1300u /* longer than a displaced block waits for its Free */
#define INVERSION_US          50u
#define PATIENCE_US           100000u /* so long the next event tells whose free was late */
#define REALLOC_FREE_TICKS    34      /* as observed: Alloc, Free 34 ticks later, */
#define REALLOC_SUMMARY_TICKS 38      /* ReAlloc 4 ticks after that */

static void step_alloc(maker *m, runner *r);
static void step_free(maker *m, runner *r);
static void step_move(maker *m, runner *r);
static bool take_meanwhile(maker *m, runner *r, const runner_thread *freer,
                           const workload_op *freed);
static void step_in_place(maker *m, runner *r);
static void step_unknown(maker *m, runner *r);
static void step_lost_free(maker *m, runner *r);
static void step_inversion(maker *m, runner *r);
static void step_quick_reuse(maker *m, runner *r);
static void step_destroy(maker *m, runner *r);
static void step_extent(maker *m, runner *r);

typedef struct heap_step {
    u32 weight;
    void (*run)(maker *m, runner *r);
} heap_step;

static const heap_step steps[] = {
    { 420, step_alloc },  { 330, step_free },    { 60, step_move },      { 40, step_in_place },
    { 18, step_unknown }, { 9, step_lost_free }, { 12, step_inversion }, { 30, step_quick_reuse },
    { 3, step_destroy },  { 40, step_extent },
};

static runner_block *pick_block(maker *m, runner *r);
static u64 new_address(maker *m, runner *r);
static u64 block_size(maker *m);
static void add_block(maker *m, runner *r, const workload_op *op, u32 heap);
static void drop_block(runner *r, const runner_block *block);
static void reuse_later(runner *r, u64 address);
static workload_op block_op(const maker *m, const runner *r, const runner_thread *t,
                            workload_op_kind kind, const runner_block *block);

void maker_heap_begin(maker *m, runner *r)
{
    r->heap_count = 2 + (u32)below(m, RUNNER_HEAPS_MAX - 1);
    for (u32 i = 0; i < r->heap_count; i++) {
        /* The same handles in every process: a handle alone says nothing. */
        runner_heap *const heap = &r->heaps[i];
        *heap =
            (runner_heap){ .handle = (r->narrow ? 0xA30000u : 0x1f2a0000000u) + (u64)i * 0x110000 };
        heap->extent_base = heap->handle + 0x1000;
        heap->extent_next = heap->extent_base;
        workload_op op = maker_op(m, r, &r->threads[0], WORKLOAD_HEAP_CREATE);
        op.heap = heap->handle;
        workload_add_op(m->w, &op);
        m->now += 20;
    }
}

void maker_heap_step(maker *m, runner *r)
{
    u32 total = 0;
    for (size_t i = 0; i < ETL_COUNT_OF(steps); i++)
        total += steps[i].weight;
    u64 pick = below(m, total);
    size_t chosen = 0;
    while (pick >= steps[chosen].weight)
        pick -= steps[chosen++].weight;
    if (r->block_count + 3 >= RUNNER_BLOCKS_MAX)
        step_free(m, r);
    else
        steps[chosen].run(m, r);
}

/* Picks a block that is not in doubt, or NULL. */
static runner_block *pick_block(maker *m, runner *r)
{
    if (r->block_count == 0)
        return NULL;
    runner_block *const block = &r->blocks[below(m, r->block_count)];
    return block->not_before <= m->now ? block : NULL;
}

/* A new address, often one freed a moment ago, as allocators do. */
static u64 new_address(maker *m, runner *r)
{
    if (r->reuse_count > 0 && chance(m, 60))
        return r->reuse[--r->reuse_count];
    const u64 address = r->address_next;
    r->address_next += BLOCK_ALIGN * (1 + below(m, 40));
    return address;
}

static void reuse_later(runner *r, u64 address)
{
    if (r->reuse_count < RUNNER_REUSE_MAX)
        r->reuse[r->reuse_count++] = address;
}

static u64 block_size(maker *m)
{
    static const u64 usual[] = { 16, 24, 40, 64, 108, 256, 1024, 4096, 70000 };
    return chance(m, 70) ? usual[below(m, ETL_COUNT_OF(usual))] : 1 + below(m, 3000);
}

static void add_block(maker *m, runner *r, const workload_op *op, u32 heap)
{
    assert(r->block_count < RUNNER_BLOCKS_MAX);
    r->blocks[r->block_count++] =
        (runner_block){ .address = op->address, .size = op->size, .heap = heap, .born = m->now };
}

static void drop_block(runner *r, const runner_block *block)
{
    r->blocks[block - r->blocks] = r->blocks[--r->block_count];
}

static workload_op block_op(const maker *m, const runner *r, const runner_thread *t,
                            workload_op_kind kind, const runner_block *block)
{
    workload_op op = maker_op(m, r, t, kind);
    op.heap = r->heaps[block->heap].handle;
    op.address = block->address;
    op.size = block->size;
    return op;
}

static void step_alloc(maker *m, runner *r)
{
    runner_thread *const t = maker_thread(m, r);
    if (t == NULL)
        return;
    const u32 heap = (u32)below(m, r->heap_count);
    workload_op op = maker_op(m, r, t, WORKLOAD_HEAP_ALLOC);
    op.heap = r->heaps[heap].handle;
    op.address = new_address(m, r);
    op.size = block_size(m);
    maker_heap_stack(m, r, &op);
    workload_add_op(m->w, &op);
    add_block(m, r, &op, heap);
}

static void step_free(maker *m, runner *r)
{
    runner_thread *const t = maker_thread(m, r);
    const runner_block *const block = pick_block(m, r);
    if (t == NULL || block == NULL)
        return;
    workload_op op = block_op(m, r, t, WORKLOAD_HEAP_FREE, block);
    if (chance(m, 2))
        maker_heap_stack(m, r, &op);
    workload_add_op(m->w, &op);
    reuse_later(r, block->address);
    drop_block(r, block);
}

/* Alloc(new), Free(old), ReAlloc; now and then without the first or the second,
 * or of a block older than the trace; or another thread is given the old address
 * before the summary is logged. */
static void step_move(maker *m, runner *r)
{
    runner_thread *const t = maker_thread(m, r);
    const runner_block *const picked = pick_block(m, r);
    if (t == NULL || picked == NULL)
        return;
    runner_block old = *picked;
    const bool known = !chance(m, 8);
    const bool log_alloc = !chance(m, 10);
    /* A young block in the old place could be taken for another thread's. */
    const bool young = old.born > m->now - ticks_of_us(m, DOUBT_US);
    /* Without either record, a block that is not old could be, too. */
    const bool is_old = old.born < m->now - ticks_of_us(m, 2 * PATIENCE_US);
    const bool log_free = young || (!log_alloc && !is_old) || !chance(m, 10);
    if (known) {
        drop_block(r, picked);
    } else {
        old.address = r->unknown_next;
        r->unknown_next += PAGE_BYTES;
    }

    workload_op op = block_op(m, r, t, WORKLOAD_HEAP_ALLOC, &old);
    op.address = new_address(m, r);
    op.size = old.size + 1 + below(m, 500);
    maker_heap_stack(m, r, &op);
    if (log_alloc)
        workload_add_op(m->w, &op);
    workload_op free_op = block_op(m, r, t, WORKLOAD_HEAP_FREE, &old);
    free_op.ticks = m->now + REALLOC_FREE_TICKS;
    if (log_free)
        workload_add_op(m->w, &free_op);
    /* Without its Alloc the summary could be of the block that was taken meanwhile. */
    const bool taken =
        known && log_free && log_alloc && chance(m, 10) && take_meanwhile(m, r, t, &free_op);

    op.kind = WORKLOAD_HEAP_REALLOC;
    op.ticks = m->now + REALLOC_SUMMARY_TICKS;
    op.old_address = old.address;
    op.old_size = old.size;
    if (log_alloc && op.halves != 0) {
        /* The summary has a stack of its own, which is not the block's. */
        op.stack = r->heap_stacks[below(m, r->heap_stack_count)];
    }
    workload_add_op(m->w, &op);
    m->now = op.ticks;
    add_block(m, r, &op, old.heap);
    if (known && !taken)
        reuse_later(r, old.address);
}

/* Another thread allocates at an address a tick after it was freed. */
static bool take_meanwhile(maker *m, runner *r, const runner_thread *freer,
                           const workload_op *freed)
{
    const runner_thread *const taker = maker_thread(m, r);
    if (taker == NULL || taker == freer)
        return false;
    const i64 now = m->now;
    workload_op op = *freed;
    op.kind = WORKLOAD_HEAP_ALLOC;
    op.ticks = m->now = freed->ticks + 1;
    op.tid = taker->tid;
    op.cpu = op.user_cpu = maker_other_cpu(m, freed->cpu);
    op.size = block_size(m);
    maker_heap_stack(m, r, &op);
    workload_add_op(m->w, &op);
    for (u32 heap = 0; heap < r->heap_count; heap++) {
        if (r->heaps[heap].handle == op.heap)
            add_block(m, r, &op, heap);
    }
    m->now = now;
    return true;
}

/* The old address is the new one, or left out; the block may be older than the trace. */
static void step_in_place(maker *m, runner *r)
{
    runner_thread *const t = maker_thread(m, r);
    runner_block *block = pick_block(m, r);
    if (t == NULL || block == NULL)
        return;
    if (chance(m, 10)) {
        r->blocks[r->block_count++] = (runner_block){
            .address = r->unknown_next, .size = 100, .heap = block->heap, .not_before = m->now
        };
        r->unknown_next += PAGE_BYTES;
        block = &r->blocks[r->block_count - 1];
    }
    workload_op op = block_op(m, r, t, WORKLOAD_HEAP_REALLOC, block);
    op.old_size = block->size;
    op.size = 1 + below(m, 2 * block->size);
    op.old_address = chance(m, 70) ? op.address : 0;
    maker_heap_stack(m, r, &op);
    workload_add_op(m->w, &op);
    block->size = op.size;
    block->born = m->now;
}

static void step_unknown(maker *m, runner *r)
{
    runner_thread *const t = maker_thread(m, r);
    if (t == NULL)
        return;
    workload_op op = maker_op(m, r, t, WORKLOAD_HEAP_FREE);
    op.heap = r->heaps[(u32)below(m, r->heap_count)].handle;
    op.address = r->unknown_next;
    r->unknown_next += PAGE_BYTES;
    workload_add_op(m->w, &op);
}

/* Was there a late free recently? With another alloc over the block, nothing would tell which of
 * the two frees was lost. */
static bool is_doubtful(const maker *m, const runner_block *block)
{
    return block->inverted != 0 && m->now <= block->inverted + ticks_of_us(m, PATIENCE_US);
}

/* The Free was lost, the address is given out again. */
static void step_lost_free(maker *m, runner *r)
{
    runner_thread *const t = maker_thread(m, r);
    runner_block *const block = pick_block(m, r);
    if (t == NULL || block == NULL)
        return;
    if (is_doubtful(m, block))
        return;
    workload_op op = block_op(m, r, t, WORKLOAD_HEAP_ALLOC, block);
    op.size = block_size(m);
    maker_heap_stack(m, r, &op);
    workload_add_op(m->w, &op);
    block->size = op.size;
    block->born = m->now;
    block->not_before = m->now + ticks_of_us(m, DOUBT_US);
}

/* One thread frees, another takes the address at once, and the two are logged in
 * the wrong order. Half the time the new block is freed quickly too. */
static void step_inversion(maker *m, runner *r)
{
    runner_thread *const taker = maker_thread(m, r);
    runner_thread *const freer = maker_thread(m, r);
    runner_block *const block = pick_block(m, r);
    if (taker == NULL || freer == NULL || block == NULL || taker->cpu == freer->cpu ||
        is_doubtful(m, block))
        return;
    workload_op op = block_op(m, r, taker, WORKLOAD_HEAP_ALLOC, block);
    op.size = block_size(m);
    maker_heap_stack(m, r, &op);
    workload_add_op(m->w, &op);
    block->size = op.size;
    block->born = m->now;

    m->now += 1 + (i64)below(m, (u64)ticks_of_us(m, INVERSION_US));
    workload_op free_op = block_op(m, r, freer, WORKLOAD_HEAP_FREE, block);
    workload_add_op(m->w, &free_op);
    if (chance(m, 50)) {
        m->now += 3 + (i64)below(m, (u64)ticks_of_us(m, INVERSION_US));
        free_op.ticks = m->now;
        workload_add_op(m->w, &free_op);
        drop_block(r, block);
    } else {
        block->inverted = m->now;
    }
}

/* Freed on one CPU, allocated on another a few ticks later. */
static void step_quick_reuse(maker *m, runner *r)
{
    runner_thread *const freer = maker_thread(m, r);
    runner_thread *const taker = maker_thread(m, r);
    runner_block *const block = pick_block(m, r);
    if (taker == NULL || freer == NULL || block == NULL)
        return;
    workload_op op = block_op(m, r, freer, WORKLOAD_HEAP_FREE, block);
    workload_add_op(m->w, &op);

    m->now += 1 + (i64)below(m, 20);
    op = block_op(m, r, taker, WORKLOAD_HEAP_ALLOC, block);
    op.cpu = maker_other_cpu(m, freer->cpu);
    op.user_cpu = op.cpu;
    op.size = block_size(m);
    maker_heap_stack(m, r, &op);
    workload_add_op(m->w, &op);
    block->size = op.size;
    block->born = m->now;
}

/* The heap goes with all its blocks; one with the same handle comes back. */
static void step_destroy(maker *m, runner *r)
{
    runner_thread *const t = maker_thread(m, r);
    const u32 heap = (u32)below(m, r->heap_count);
    if (t == NULL || heap == 0)
        return; /* the process heap stays */
    for (u32 i = 0; i < r->block_count; i++) {
        if (r->blocks[i].heap == heap && r->blocks[i].not_before > m->now)
            return;
    }
    workload_op op = maker_op(m, r, t, WORKLOAD_HEAP_DESTROY);
    op.heap = r->heaps[heap].handle;
    workload_add_op(m->w, &op);
    for (u32 i = r->block_count; i-- > 0;) {
        if (r->blocks[i].heap != heap)
            continue;
        reuse_later(r, r->blocks[i].address);
        drop_block(r, &r->blocks[i]);
    }
    m->now += 30 + (i64)below(m, 300);
    op.kind = WORKLOAD_HEAP_CREATE;
    op.ticks = m->now;
    workload_add_op(m->w, &op);
    r->heaps[heap].extent_next = r->heaps[heap].extent_base;
}

/* A heap commits more of its space, some of it twice, or gives some back. */
static void step_extent(maker *m, runner *r)
{
    runner_thread *const t = maker_thread(m, r);
    if (t == NULL || m->options.no_extents)
        return;
    runner_heap *const heap = &r->heaps[(u32)below(m, r->heap_count)];
    const u64 pages_used = (heap->extent_next - heap->extent_base) / PAGE_BYTES;
    const bool full = pages_used >= EXTENT_PAGES;
    if (full || (pages_used > 4 && chance(m, 40))) {
        workload_op op = maker_op(m, r, t, WORKLOAD_HEAP_CONTRACT);
        op.heap = heap->handle;
        op.address = heap->extent_base + below(m, pages_used) * PAGE_BYTES;
        op.size = (1 + below(m, 6)) * PAGE_BYTES;
        workload_add_op(m->w, &op);
        if (full)
            heap->extent_next = heap->extent_base;
        return;
    }
    const u64 back = pages_used > 0 && chance(m, 30) ? 1 + below(m, 2) : 0;
    workload_op op = maker_op(m, r, t, WORKLOAD_HEAP_EXPAND);
    op.heap = heap->handle;
    op.address = heap->extent_next - (back < pages_used ? back : pages_used) * PAGE_BYTES;
    op.size = (1 + back + below(m, 8)) * PAGE_BYTES;
    if (chance(m, 50))
        maker_heap_stack(m, r, &op);
    workload_add_op(m->w, &op);
    heap->extent_next = op.address + op.size;
}

void maker_late_frees(maker *m, runner *r, i64 end_ticks)
{
    for (u32 i = 0; i < 3 && r->block_count > 0; i++) {
        const runner_block *const block = &r->blocks[below(m, r->block_count)];
        if (block->not_before > end_ticks)
            continue;
        workload_op op = block_op(m, r, &r->threads[0], WORKLOAD_HEAP_FREE, block);
        op.ticks = end_ticks + ticks_of_us(m, 200 + (u64)i * 700 + below(m, 300));
        if (r->threads[0].busy_until > op.ticks)
            continue;
        workload_add_op(m->w, &op);
        drop_block(r, block);
    }
}
