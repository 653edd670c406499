/*
 * workload_memory.c - the pages of a fuzzed world: VirtualAlloc, VirtualFree and rundowns.
 * workload_world.h has the model.
 *
 * In: operations of fuzz bytes. Out: records in the trace, and lives of committed ranges and
 * reservations (the truth).
 *
 * Each process has a small array of pages with their state, so the truth is a scan over it;
 * lifetimes are runs of pages with the same commit. Invariant: pages that one call committed and
 * one other call removed side by side are one lifetime, as in the engine.
 */
#include <stdlib.h>

#include "workload_world.h"

#define MEMORY_FIRST 0x200000000u
#define HOOK_ALLOC   0x0262
#define HOOK_FREE    0x0263
#define HOOK_DCSTART 0x0280
#define HOOK_DCEND   0x0281

/* Pages [first, first + count) of a process. */
typedef struct page_range {
    world_process *owner;
    u32 first, count;
    i64 ticks;
} page_range;

static void reserve(world *w, const world_op *op, world_process *owner);
static void change_part(world *w, const world_op *op, world_process *owner);
static void release(world *w, const world_op *op, world_process *owner);
static void free_unknown(world *w, const world_op *op, world_process *owner);

u64 world_memory_base(void)
{
    return MEMORY_FIRST;
}

/* The process whose memory an operation changes, nearly always the caller's own. */
static world_process *owner_of(world *w, const world_op *op)
{
    world_process *const other = &w->processes[op->place % WORLD_PROCESSES];
    return op->variant == 7 && other->is_alive ? other : op->process;
}

void world_memory_op(world *w, const world_op *op)
{
    world_process *const owner = owner_of(w, op);
    static const u8 kinds[] = { 0, 0, 1, 1, 1, 2, 2, 3 };
    world_touch(w, &owner->memory_last, world_place(w, op->thread->cpu, false));
    if ((w->flags & WORLD_TIDLESS) != 0 && w->now <= w->virtual_ticks)
        w->now = w->virtual_ticks + 1;
    switch (kinds[(op->kind - 20) % 8]) {
    case 0:
        reserve(w, op, owner);
        break;
    case 1:
        change_part(w, op, owner);
        break;
    case 2:
        release(w, op, owner);
        break;
    default:
        free_unknown(w, op, owner);
        break;
    }
}

/* --- pages ----------------------------------------------------------------------------- */

void world_commit(world *w, world_pages *pages, u32 first, u32 count, const world_life *commit)
{
    if (!ETLHEAP_PUSH(&w->commits, *commit))
        abort();
    for (u32 i = first; i < first + count; i++) {
        pages->is_known[i] = true;
        if (pages->commit[i] == 0)
            pages->commit[i] = (u16)w->commits.count;
    }
}

/* Removes pages. Neighbours that one call committed and one other call removed are one lifetime. */
void world_remove(world *w, world_pages *pages, u64 base, u32 first, u32 count, i64 ticks, u8 how)
{
    u32 end;
    for (u32 at = first; at < first + count; at = end) {
        const u16 commit = pages->commit[at];
        for (end = at; end < first + count && pages->commit[end] == commit; end++)
            pages->commit[end] = 0;
        if (commit == 0) {
            end = at + 1;
            continue;
        }
        world_life life = w->commits.at[commit - 1];
        life.address = base + (u64)at * WORLD_PAGE;
        life.size = (u64)(end - at) * WORLD_PAGE;
        life.free_ticks = ticks;
        life.free_type = how;
        life.free_walk = WORLD_NONE;
        if (!ETLHEAP_PUSH(&w->lives, life))
            abort();
    }
}

/* --- calls ----------------------------------------------------------------------------- */

static etl_build_at write_call(world *w, const world_op *op, const page_range *range, u32 flags,
                               bool is_free)
{
    const etl_build_at at = world_at(w, op->thread, w->now);
    const bool whole = (flags & ETL_BUILD_RELEASE) != 0 && op->form % 2 == 0;
    const etl_build_virtual_spec spec = { .hook = is_free ? HOOK_FREE : HOOK_ALLOC,
                                          .base = MEMORY_FIRST + (u64)range->first * WORLD_PAGE,
                                          .size = whole ? 0 : (u64)range->count * WORLD_PAGE,
                                          .flags = flags,
                                          .owner_pid = range->owner->pid };
    etl_build_virtual(w->system, at, &spec);
    range->owner->memory_last = (world_stamp){ w->now, world_place(w, op->thread->cpu, false) };
    w->virtual_ticks = w->now;
    if (range->owner->quiet_ticks < w->now)
        range->owner->quiet_ticks = w->now;
    world_busy(w, op->thread, w->now + 1);
    return at;
}

/* Does the thread stay in the kernel, so that its user half is yet to come? */
static bool stays(const world *w, const world_op *op)
{
    (void)w;
    return op->form % 4 == 3 && op->thread->wait_count < WORLD_WAITS_MAX;
}

static void serve_waits(world *w, world_thread *thread, u8 user)
{
    for (u32 i = 0; i < thread->wait_count; i++)
        w->walks.at[thread->waits[i]].user = user;
    thread->wait_count = 0;
}

/* The stack of a commit: kernel half and user half, perhaps on another processor. */
static u32 walk_call(world *w, const world_op *op, i64 ticks)
{
    u64 frames[2 * WORLD_FRAMES_MAX], *const user = frames + WORLD_FRAMES_MAX;
    world_walk number = { .kernel = (u8)(op->stack + 1) };
    const u32 walk = world_add_walk(w, number);
    const bool is_shared = stays(w, op);
    u64 kernel_frames[2 * WORLD_FRAMES_MAX], user_frames[2 * WORLD_FRAMES_MAX];
    const u32 kernel_count = world_frames(w, walk, kernel_frames);
    w->walks.at[walk] = (world_walk){ .user = (u8)(op->stack + 1) };
    const u32 user_count = world_frames(w, walk, user_frames);
    memcpy(frames, kernel_frames, kernel_count * sizeof *frames);
    memcpy(user, user_frames, user_count * sizeof *user);
    number.user = is_shared ? 0 : (u8)(op->stack + 1);
    w->walks.at[walk] = number;
    const bool is_mixed = op->form % 4 == 2 && op->thread->wait_count == 0;
    const bool moves = op->delay >= 128 && !is_mixed && !is_shared;
    const i64 delay = world_delay(op->delay);
    const i64 user_delay =
        delay + 1 + world_delay(op->delay / 8) * (op->delay % 64 == 63 ? 200 : 1);
    const etl_build_stack stack = {
        .kernel = frames,
        .kernel_count = kernel_count,
        .user = user,
        .user_count = is_shared ? 0 : user_count,
        .form = is_mixed                ? ETL_BUILD_STACK_MIXED
                : op->form / 4 % 2 == 0 ? ETL_BUILD_STACK_DEFAULT
                                        : ETL_BUILD_STACK_INLINE,
        .user_cpu_differs = moves,
        .user_cpu = (op->thread->cpu + 1) % w->cpus,
        .delay_ticks = delay,
        .user_delay_ticks = user_delay,
    };
    etl_build_stack_walk(w->system, world_at(w, op->thread, ticks), &stack);
    world_busy(w, op->thread, ticks + (is_shared || is_mixed ? delay : user_delay));
    if (moves)
        op->thread->cpu = stack.user_cpu;
    if (is_shared) {
        op->thread->waits[op->thread->wait_count++] = walk;
        op->thread->wait_ticks = ticks;
    } else {
        serve_waits(w, op->thread, number.user);
    }
    return walk;
}

static void commit_range(world *w, const world_op *op, const page_range *range, u32 flags)
{
    const etl_build_at at = write_call(w, op, range, flags, false);
    const world_life commit = { .kind = ETLHEAP_KIND_VIRTUALALLOC,
                                .process = range->owner->id,
                                .tid = at.tid,
                                .walk = walk_call(w, op, at.ticks),
                                .alloc_ticks = at.ticks };
    world_commit(w, &range->owner->pages, range->first, range->count, &commit);
}

static void reserve(world *w, const world_op *op, world_process *owner)
{
    page_range range = { .owner = owner, .first = op->address % WORLD_PAGES };
    while (range.count <= op->size % 8u && range.first + range.count < WORLD_PAGES &&
           owner->region[range.first + range.count] == 0)
        range.count++;
    if (range.count == 0)
        return;
    owner->regions = owner->regions == UINT8_MAX ? 1 : owner->regions + 1;
    for (u32 i = 0; i < range.count; i++)
        owner->region[range.first + i] = owner->regions;
    if (op->size >= 128) {
        commit_range(w, op, &range, ETL_BUILD_RESERVE | ETL_BUILD_COMMIT);
        return;
    }
    world_leave_kernel(w, op->thread);
    world_touch(w, &owner->memory_last, WORLD_NONE);
    (void)write_call(w, op, &range, ETL_BUILD_RESERVE, false);
}

void world_commit_early(world *w, const world_op *op, world_process *process)
{
    const page_range range = { .owner = process,
                               .first = op->address % 16,
                               .count = 1 + op->size % 4 };
    process->regions = 1;
    memset(process->region + range.first, 1, range.count);
    if ((w->flags & WORLD_TIDLESS) != 0 && w->now <= w->virtual_ticks)
        w->now = w->virtual_ticks + 1;
    commit_range(w, op, &range, ETL_BUILD_RESERVE | ETL_BUILD_COMMIT);
}

/* --- rundowns ---------------------------------------------------------------------------- */

static void tell_region(world *w, const page_range *region, u16 hook, u64 committed)
{
    const etl_build_virtual_spec spec = { .hook = hook,
                                          .base = MEMORY_FIRST + (u64)region->first * WORLD_PAGE,
                                          .size = (u64)region->count * WORLD_PAGE,
                                          .flags = ETL_BUILD_RESERVE,
                                          .owner_pid = region->owner->pid,
                                          .commit_bytes = committed };
    etl_build_virtual(w->system, (etl_build_at){ .ticks = region->ticks, .pid = 4, .tid = 5 },
                      &spec);
}

void world_commit_before(world *w, world_process *process)
{
    const page_range region = { process, WORLD_PAGES - 5, 4, w->now };
    const world_life commit = { .kind = ETLHEAP_KIND_VIRTUALALLOC,
                                .process = process->id,
                                .tid = ETL_NO_ID,
                                .walk = WORLD_NONE,
                                .alloc_ticks = ETLHEAP_TICKS_BEFORE };
    world_commit(w, &process->pages, region.first, region.count, &commit);
    process->regions = 1;
    memset(process->region + region.first, 1, region.count);
    tell_region(w, &region, HOOK_DCSTART, (u64)region.count * WORLD_PAGE);
}

void world_run_down(world *w, const world_process *process, i64 ticks)
{
    world_process copy = *process;
    page_range region = { .owner = &copy };
    for (u32 at = 0; at < WORLD_PAGES; at = region.first + region.count) {
        region.first = at;
        region.count = 1;
        const u8 number = process->region[at];
        u64 committed = process->pages.commit[at] != 0;
        for (; number != 0 && at + region.count < WORLD_PAGES &&
               process->region[at + region.count] == number;
             region.count++)
            committed += process->pages.commit[at + region.count] != 0;
        region.ticks = ticks;
        if (number != 0)
            tell_region(w, &region, HOOK_DCEND, committed * WORLD_PAGE);
    }
}

/* The region that has a page from the address on. */
static bool find_region(world_process *owner, u32 from, page_range *out)
{
    for (u32 i = 0; i < WORLD_PAGES; i++) {
        const u32 page = (from + i) % WORLD_PAGES;
        const u8 number = owner->region[page];
        if (number == 0)
            continue;
        *out = (page_range){ .owner = owner, .first = page };
        while (out->first > 0 && owner->region[out->first - 1] == number)
            out->first--;
        while (out->first + out->count < WORLD_PAGES &&
               owner->region[out->first + out->count] == number)
            out->count++;
        return true;
    }
    return false;
}

static void change_part(world *w, const world_op *op, world_process *owner)
{
    page_range range;
    if (!find_region(owner, op->address, &range)) {
        reserve(w, op, owner);
        return;
    }
    const u32 skip = op->size % range.count;
    range.first += skip;
    range.count = 1 + op->size / 16 % (range.count - skip);
    if (op->variant % 3 != 0) {
        commit_range(w, op, &range, ETL_BUILD_COMMIT);
        return;
    }
    world_leave_kernel(w, op->thread);
    world_touch(w, &owner->memory_last, WORLD_NONE);
    (void)write_call(w, op, &range, ETL_BUILD_DECOMMIT, true);
    world_remove(w, &owner->pages, MEMORY_FIRST, range.first, range.count, w->now,
                 ETLHEAP_FREE_FREE);
}

static void release(world *w, const world_op *op, world_process *owner)
{
    page_range range;
    if (!find_region(owner, op->address, &range))
        return;
    world_leave_kernel(w, op->thread);
    world_touch(w, &owner->memory_last, WORLD_NONE);
    (void)write_call(w, op, &range, ETL_BUILD_RELEASE, true);
    world_remove(w, &owner->pages, MEMORY_FIRST, range.first, range.count, w->now,
                 ETLHEAP_FREE_FREE);
    for (u32 i = 0; i < range.count; i++)
        owner->region[range.first + i] = 0;
}

/* A reservation from before the trace. */
static void free_unknown(world *w, const world_op *op, world_process *owner)
{
    const page_range range = { .owner = owner,
                               .first = WORLD_PAGES + op->address % 16,
                               .count = 1 };
    world_leave_kernel(w, op->thread);
    world_touch(w, &owner->memory_last, WORLD_NONE);
    (void)write_call(w, op, &range, ETL_BUILD_RELEASE, true);
    w->ids.at[owner->id].unknown[ETLHEAP_KIND_VIRTUALALLOC]++;
}
