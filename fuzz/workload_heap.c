/*
 * workload_heap.c - the heaps of a fuzzed world: blocks, reallocs and extents. workload_world.h has
 * the model.
 *
 * In: operations of fuzz bytes. Out: records in the trace, and lives (the truth).
 *
 *     operation ──▶ what the program does ──▶ open_life, close_block    the truth
 *                                         ──▶ log_alloc, log_free ...   at once or late, as
 *                                                                       another CPU would log it
 *
 * Invariant: whatever the trace cannot tell must not happen: no two events that follow from each
 * other at one tick on different CPUs, no address handed out while two frees are in doubt
 * (wait_for, can_overtake, looks_like_summary).
 */
#include <stdlib.h>

#include "workload_world.h"

#define BLOCK_STEP   0x40u
#define BLOCK_FIRST  0x740u
#define EXTENT_FIRST 0x800000u

static void alloc(world *w, const world_op *op, world_heap *heap);
static void free_block(world *w, const world_op *op, world_heap *heap, bool is_late);
static void resize(world *w, const world_op *op, world_heap *heap);
static void move(world *w, const world_op *op, world_heap *heap);
static void move_unseen(world *w, const world_op *op, world_heap *heap, u32 old, u32 fresh);
static void free_unknown(world *w, const world_op *op, const world_heap *heap);
static void create(world *w, const world_op *op);
static void destroy(world *w, const world_op *op);
static void expand(world *w, const world_op *op, world_heap *heap);
static void contract(world *w, const world_op *op, world_heap *heap);

static world_heap *heap_of(const world_op *op)
{
    for (u32 i = 0; i < WORLD_HEAPS; i++) {
        world_heap *const heap = &op->process->heaps[(op->place + i) % WORLD_HEAPS];
        if (heap->is_open)
            return heap;
    }
    return NULL;
}

void world_heap_op(world *w, const world_op *op)
{
    world_heap *const heap = heap_of(op);
    if (heap == NULL) {
        create(w, op);
        return;
    }
    world_touch(w, &heap->last, world_place(w, op->thread->cpu, true));
    static const u8 kinds[] = { 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 9, 0 };
    switch (kinds[op->kind]) {
    case 0:
        alloc(w, op, heap);
        break;
    case 1:
    case 2:
        free_block(w, op, heap, kinds[op->kind] == 2);
        break;
    case 3:
        resize(w, op, heap);
        break;
    case 4:
        move(w, op, heap);
        break;
    case 5:
        free_unknown(w, op, heap);
        break;
    case 6:
        create(w, op);
        break;
    case 7:
        destroy(w, op);
        break;
    case 8:
        expand(w, op, heap);
        break;
    default:
        contract(w, op, heap);
        break;
    }
}

/* --- blocks ---------------------------------------------------------------------------- */

static u64 address_of(const world_heap *heap, u32 block)
{
    return heap->handle + BLOCK_FIRST + BLOCK_STEP * block;
}

static u64 size_of(u8 number)
{
    static const u64 sizes[] = { 0,           1,           16,       24,           24,
                                 40,          64,          100,      0x1000,       300000,
                                 0xFFFFFFFEu, 0xFFFFFFFFu, 1u << 31, 0x100000000u, 5000000000u,
                                 (u64)1 << 40 };
    return sizes[number % ETL_COUNT_OF(sizes)];
}

/* --- records --- */

static void note_record(world *w, const world_op *op, u64 heap, u64 freed)
{
    world_frees *const all = world_frees_of(w, op->thread, WORLD_NONE);
    world_frees *const here = world_frees_of(w, op->thread, op->thread->cpu);
    *all = (world_frees){ { heap, all->heaps[0] }, { freed, all->addresses[0] }, 0, 0 };
    *here = (world_frees){ { heap, here->heaps[0] }, { freed, here->addresses[0] }, 0, 0 };
}

static void log_alloc(world *w, const world_op *op, const world_heap *heap, i64 ticks, u64 address)
{
    etl_build_heap_alloc(w->heap, world_at(w, op->thread, ticks), heap->handle, address,
                         size_of(op->size));
    note_record(w, op, heap->handle, 0);
    world_frees *const all = world_frees_of(w, op->thread, WORLD_NONE);
    world_frees *const here = world_frees_of(w, op->thread, op->thread->cpu);
    all->allocated = here->allocated = address;
    all->size = here->size = size_of(op->size);
}

static void log_free(world *w, const world_op *op, const world_heap *heap, i64 ticks, u64 address)
{
    etl_build_heap_free(w->heap, world_at(w, op->thread, ticks), heap->handle, address);
    note_record(w, op, heap->handle, address);
}

/* The engine makes two events of the record. */
static void log_realloc(world *w, const world_op *op, const world_heap *heap, i64 ticks,
                        const etl_build_realloc *change)
{
    etl_build_heap_realloc(w->heap, world_at(w, op->thread, ticks), heap->handle, change);
    note_record(w, op, heap->handle, 0);
    note_record(w, op, heap->handle, 0);
}

/* Has the thread just freed a block at the address itself, on that CPU? */
static bool has_just_freed(world *w, const world_op *op, u32 cpu, u64 heap, u64 address)
{
    const world_frees *const frees = world_frees_of(w, op->thread, cpu);
    for (u32 i = 0; i < 2; i++) {
        if (frees->heaps[i] == heap && frees->addresses[i] == address)
            return true;
    }
    return false;
}

/* Has it just allocated what the ReAlloc's block will be, on that CPU? */
static bool has_just_allocated(world *w, const world_op *op, u32 cpu, u64 heap, u64 address)
{
    const world_frees *const last = world_frees_of(w, op->thread, cpu);
    return last->heaps[0] == heap && last->allocated == address && last->size == size_of(op->size);
}

/* Would the ReAlloc alone look like the summary of an Alloc and a Free, or of an Alloc whose Free
 * is missing? If the thread was on another CPU in between, the trace could tell, but the engine
 * looks at one CPU. */
static bool looks_like_summary(world *w, const world_op *op, const world_heap *heap, u64 old,
                               u64 fresh)
{
    return has_just_freed(w, op, WORLD_NONE, heap->handle, old) ||
           has_just_freed(w, op, op->thread->cpu, heap->handle, old) ||
           has_just_allocated(w, op, WORLD_NONE, heap->handle, fresh) ||
           has_just_allocated(w, op, op->thread->cpu, heap->handle, fresh);
}

/* --- what is done to blocks --- */

/* The first block from a number on that is free, or is not; WORLD_NONE if there is none. */
static u32 find_block(const world_heap *heap, u32 from, bool is_free)
{
    for (u32 i = 0; i < WORLD_BLOCKS; i++) {
        const u32 block = (from + i) % WORLD_BLOCKS;
        if ((heap->blocks[block].life == 0) == is_free)
            return block;
    }
    return WORLD_NONE;
}

/* Walks the event's stack, if heap events have stacks; returns when the thread can go on. */
static i64 walk_event(world *w, const world_op *op, i64 ticks, u32 *walk)
{
    *walk = WORLD_NONE;
    if ((w->flags & WORLD_NO_STACKS) != 0)
        return ticks;
    return world_walk_user(w, op, ticks, true, walk);
}

static void open_life(world *w, const world_op *op, const world_heap *heap, u32 block, i64 ticks)
{
    const world_life life = { .kind = ETLHEAP_KIND_HEAP,
                              .process = op->process->id,
                              .tid = op->thread->tid,
                              .walk = WORLD_NONE,
                              .free_walk = WORLD_NONE,
                              .heap = heap->handle,
                              .address = address_of(heap, block),
                              .size = size_of(op->size),
                              .alloc_ticks = ticks,
                              .free_ticks = ETLHEAP_TICKS_NEVER,
                              .summary_ticks = ticks };
    if (!ETLHEAP_PUSH(&w->lives, life))
        abort();
    op->process->heaps[(heap - op->process->heaps)].blocks[block].life = (u32)w->lives.count;
}

static world_life *life_of(const world *w, const world_block *block)
{
    return &w->lives.at[block->life - 1];
}

/* Ends the block's lifetime, and returns its index. */
static u32 close_block(world *w, world_block *block, i64 ticks, u8 how)
{
    const u32 index = block->life - 1;
    world_life *const life = life_of(w, block);
    life->free_ticks = ticks;
    life->free_type = how;
    block->life = 0;
    block->has_displaced = false;
    return index;
}

/* May the thread have the address although its last free is not logged yet? */
static bool can_overtake(const world *w, const world_op *op, const world_block *block)
{
    return block->late_ticks > w->now && block->late_tid != op->thread->tid &&
           (w->one_stream || block->late_place != world_place(w, op->thread->cpu, true));
}

/* Waits until the address may be handed out. */
static void wait_for(world *w, const world_op *op, world_block *block)
{
    const u32 place = world_place(w, op->thread->cpu, true);
    world_touch(w, &block->last, place);
    const bool overtakes = can_overtake(w, op, block);
    if (!overtakes)
        world_touch(w, &(world_stamp){ block->late_ticks, block->late_place }, place);
    block->has_displaced = overtakes;
}

static void stamp(const world *w, const world_op *op, world_block *block, i64 ticks)
{
    block->last = (world_stamp){ ticks, world_place(w, op->thread->cpu, true) };
    if (block->has_displaced && block->late_ticks >= ticks)
        block->last = (world_stamp){ block->late_ticks, WORLD_NONE };
}

static void alloc(world *w, const world_op *op, world_heap *heap)
{
    if (op->variant == 7) { /* of a call that failed */
        log_alloc(w, op, heap, w->now, 0);
        world_busy(w, op->thread, w->now + 1);
        return;
    }
    const u32 number = find_block(heap, op->address, true);
    if (number == WORLD_NONE) {
        free_block(w, op, heap, false);
        return;
    }
    world_block *const block = &heap->blocks[number];
    wait_for(w, op, block);
    const i64 ticks = w->now;
    log_alloc(w, op, heap, ticks, address_of(heap, number));
    open_life(w, op, heap, number, ticks);
    const i64 next = walk_event(w, op, ticks, &life_of(w, block)->walk);
    stamp(w, op, block, next);
    world_busy(w, op->thread, next);
}

static void free_block(world *w, const world_op *op, world_heap *heap, bool is_late)
{
    const u32 number = find_block(heap, op->address, false);
    if (number == WORLD_NONE)
        return;
    world_block *const block = &heap->blocks[number];
    world_touch(w, &block->last, world_place(w, op->thread->cpu, true));
    /* Two late frees of one address could not be told apart. */
    const i64 ticks = is_late && !block->has_displaced ? w->now + world_delay(op->delay) : w->now;
    log_free(w, op, heap, ticks, address_of(heap, number));
    const u32 ended = close_block(w, block, ticks, ETLHEAP_FREE_FREE);
    i64 next = ticks;
    if ((w->flags & WORLD_FREE_STACKS) != 0)
        next = walk_event(w, op, ticks, &w->lives.at[ended].free_walk);
    block->late_ticks = ticks;
    block->late_place = world_place(w, op->thread->cpu, true);
    block->late_tid = op->thread->tid;
    world_busy(w, op->thread, next);
}

static void resize(world *w, const world_op *op, world_heap *heap)
{
    const u32 number = find_block(heap, op->address, false);
    if (number == WORLD_NONE)
        return;
    world_block *const block = &heap->blocks[number];
    world_touch(w, &block->last, world_place(w, op->thread->cpu, true));
    const i64 ticks = w->now;
    const u64 address = address_of(heap, number);
    const etl_build_realloc change = { .new_address = address,
                                       .old_address = op->variant % 2 == 0 ? address : 0,
                                       .new_size = size_of(op->size),
                                       .old_size = life_of(w, block)->size };
    log_realloc(w, op, heap, ticks, &change);
    const u32 ended = close_block(w, block, ticks, ETLHEAP_FREE_FREE);
    open_life(w, op, heap, number, ticks);
    life_of(w, block)->is_realloc = true;
    const i64 next = walk_event(w, op, ticks, &life_of(w, block)->walk);
    w->lives.at[ended].free_walk = life_of(w, block)->walk;
    stamp(w, op, block, next);
    world_busy(w, op->thread, next);
}

/* Alloc, Free, ReAlloc. The old address may be handed out again before the summary, and
 * even before its free is logged. */
static void move(world *w, const world_op *op, world_heap *heap)
{
    const u32 old = find_block(heap, op->address, false);
    const u32 fresh = find_block(heap, op->address / WORLD_BLOCKS, true);
    if (old == WORLD_NONE || fresh == WORLD_NONE)
        return;
    const bool is_unseen = (w->flags & WORLD_REALLOC_ONLY) != 0;
    if (is_unseen &&
        looks_like_summary(w, op, heap, address_of(heap, old), address_of(heap, fresh)))
        return;
    world_touch(w, &heap->blocks[old].last, world_place(w, op->thread->cpu, true));
    wait_for(w, op, &heap->blocks[fresh]);
    world_touch(w, &heap->blocks[old].last, world_place(w, op->thread->cpu, true));
    if (is_unseen) {
        move_unseen(w, op, heap, old, fresh);
        return;
    }
    world_block *const from = &heap->blocks[old], *const to = &heap->blocks[fresh];
    const bool may_overtake = op->variant % 2 == 1 && !from->has_displaced;
    const u64 old_size = life_of(w, from)->size;
    log_alloc(w, op, heap, w->now, address_of(heap, fresh));
    open_life(w, op, heap, fresh, w->now);
    const i64 walked = walk_event(w, op, w->now, &life_of(w, to)->walk);
    const i64 freed = walked + op->variant / 2;
    log_free(w, op, heap, freed, address_of(heap, old));
    const u32 ended = close_block(w, from, freed, ETLHEAP_FREE_FREE);
    from->late_ticks = freed;
    from->late_place = world_place(w, op->thread->cpu, true);
    from->late_tid = may_overtake ? op->thread->tid : WORLD_NONE;
    if (!may_overtake)
        from->last = (world_stamp){ freed, from->late_place };
    const i64 summary = freed + world_delay(op->delay / 8) * (op->delay >= 192 ? 5 : 1);
    log_realloc(w, op, heap, summary,
                &(etl_build_realloc){ .new_address = address_of(heap, fresh),
                                      .old_address = address_of(heap, old),
                                      .new_size = size_of(op->size),
                                      .old_size = old_size });
    life_of(w, to)->is_realloc = true;
    life_of(w, to)->summary_ticks = summary;
    stamp(w, op, to, summary);
    /* The free has no stack of its own, so it has that of its realloc. */
    world_busy(w, op->thread, walk_event(w, op, summary, &w->lives.at[ended].free_walk));
}

/* Moves a block; only ReAlloc is logged. */
static void move_unseen(world *w, const world_op *op, world_heap *heap, u32 old, u32 fresh)
{
    world_block *const from = &heap->blocks[old], *const to = &heap->blocks[fresh];
    const i64 ticks = w->now;
    log_realloc(w, op, heap, ticks,
                &(etl_build_realloc){ .new_address = address_of(heap, fresh),
                                      .old_address = address_of(heap, old),
                                      .new_size = size_of(op->size),
                                      .old_size = life_of(w, from)->size });
    const u32 ended = close_block(w, from, ticks, ETLHEAP_FREE_FREE);
    from->late_ticks = 0;
    from->last = (world_stamp){ ticks, world_place(w, op->thread->cpu, true) };
    open_life(w, op, heap, fresh, ticks);
    life_of(w, to)->is_realloc = true;
    const i64 next = walk_event(w, op, ticks, &life_of(w, to)->walk);
    w->lives.at[ended].free_walk = life_of(w, to)->walk;
    stamp(w, op, to, next);
    world_busy(w, op->thread, next);
}

/* Frees a block from before the trace, or NULL. */
static void free_unknown(world *w, const world_op *op, const world_heap *heap)
{
    const bool is_null = op->variant == 7;
    log_free(w, op, heap, w->now, is_null ? 0 : address_of(heap, WORLD_BLOCKS + op->address % 8));
    w->ids.at[op->process->id].unknown[ETLHEAP_KIND_HEAP] += !is_null;
    u32 walk;
    i64 next = w->now;
    if ((w->flags & WORLD_FREE_STACKS) != 0)
        next = walk_event(w, op, w->now, &walk);
    world_busy(w, op->thread, next);
}

/* --- heaps ----------------------------------------------------------------------------- */

static void create(world *w, const world_op *op)
{
    for (u32 i = 0; i < WORLD_HEAPS; i++) {
        world_heap *const heap = &op->process->heaps[i];
        if (heap->is_open)
            continue;
        world_touch(w, &heap->last, WORLD_NONE);
        *heap = (world_heap){ .is_open = true, .handle = heap->handle };
        etl_build_heap_create(w->heap, world_at(w, op->thread, w->now), heap->handle);
        heap->last = (world_stamp){ w->now, WORLD_NONE };
        world_busy(w, op->thread, w->now + 1);
        return;
    }
}

/* Destroys a heap, if no operation on it is pending. */
static void destroy(world *w, const world_op *op)
{
    world_heap *const heap = &op->process->heaps[op->place % WORLD_HEAPS];
    if (!heap->is_open)
        return;
    if (w->now <= op->process->quiet_ticks)
        w->now = op->process->quiet_ticks + 1;
    etl_build_heap_destroy(w->heap, world_at(w, op->thread, w->now), heap->handle);
    world_end_heap(w, op->process, heap, w->now, ETLHEAP_FREE_HEAP_DESTROY);
    heap->is_open = false;
    heap->last = (world_stamp){ w->now, WORLD_NONE };
    world_busy(w, op->thread, w->now + 1);
}

void world_end_heap(world *w, world_process *process, world_heap *heap, i64 ticks, u8 how)
{
    (void)process;
    for (u32 i = 0; i < WORLD_BLOCKS; i++) {
        if (heap->blocks[i].life != 0)
            close_block(w, &heap->blocks[i], ticks, how);
    }
    world_remove(w, &heap->extents, world_extent_base(heap), 0, WORLD_PAGES, ticks, how);
}

/* --- extents --------------------------------------------------------------------------- */

u64 world_extent_base(const world_heap *heap)
{
    return (heap->handle << 12) + EXTENT_FIRST;
}

static void expand(world *w, const world_op *op, world_heap *heap)
{
    world_touch(w, &heap->extents_last, world_place(w, op->thread->cpu, true));
    const u32 first = op->address % WORLD_PAGES;
    u32 count = 1 + op->size % 8;
    count = first + count > WORLD_PAGES ? WORLD_PAGES - first : count;
    const i64 ticks = w->now;
    const u64 base = world_extent_base(heap);
    etl_build_heap_expand(w->heap, world_at(w, op->thread, ticks), heap->handle,
                          base + (u64)first * WORLD_PAGE, (u64)count * WORLD_PAGE);
    const world_life commit = { .kind = ETLHEAP_KIND_EXTENT,
                                .process = op->process->id,
                                .tid = op->thread->tid,
                                .walk = WORLD_NONE,
                                .heap = heap->handle,
                                .alloc_ticks = ticks };
    world_commit(w, &heap->extents, first, count, &commit);
    heap->extents_last = (world_stamp){ ticks, world_place(w, op->thread->cpu, true) };
    world_busy(w, op->thread, ticks + 1);
}

static void contract(world *w, const world_op *op, world_heap *heap)
{
    world_touch(w, &heap->extents_last, world_place(w, op->thread->cpu, true));
    const u32 first = op->address % WORLD_PAGES;
    u32 count = 1 + op->size % 8;
    count = first + count > WORLD_PAGES ? WORLD_PAGES - first : count;
    const u64 base = world_extent_base(heap);
    bool is_known = false;
    for (u32 i = first; i < first + count; i++)
        is_known |= heap->extents.is_known[i];
    w->ids.at[op->process->id].unknown[ETLHEAP_KIND_EXTENT] += !is_known;
    etl_build_heap_contract(w->heap, world_at(w, op->thread, w->now), heap->handle,
                            base + (u64)first * WORLD_PAGE, (u64)count * WORLD_PAGE);
    world_remove(w, &heap->extents, base, first, count, w->now, ETLHEAP_FREE_FREE);
    heap->extents_last = (world_stamp){ w->now, world_place(w, op->thread->cpu, true) };
    world_busy(w, op->thread, w->now + 1);
}
