/*
 * stack_pool.c - makes distinct stacks that share frames as a call tree does.
 *
 * In: a seed and a number of stacks. Out: a pool of modules, processes and stacks.
 *
 *     outermost                                              innermost
 *     thread start, shared with an earlier stack | new frames | allocator
 *
 * Stack i takes the outer part of a random earlier stack of its process and goes its own way from
 * there. So a few outer branches carry most stacks, as in real programs. New frames come from a
 * bounded set of call sites. Depths are 5 + the smaller of two uniform numbers up to 55; one stack
 * in four uses just one such number. That gives many shallow stacks, a tail up to 60 and a mean of
 * 25. Invariant: stacks are distinct; one equal to an earlier stack is drawn again.
 */
#include "stack_pool.h"

#include "bench.h"
#include "bench_random.h"

#include <stdlib.h>

#define OUTER_FRAMES 2u
#define INNER_FRAMES 2u

#define SYSTEM_LIBRARIES 4u /* the first ones: allocator and thread start */

static const pool_module libraries[] = {
    { "\\Device\\HarddiskVolume3\\Windows\\System32\\ntdll.dll", 0x7ffd10000000, 0x216000 },
    { "\\Device\\HarddiskVolume3\\Windows\\System32\\kernel32.dll", 0x7ffd0f000000, 0xc4000 },
    { "\\Device\\HarddiskVolume3\\Windows\\System32\\ucrtbase.dll", 0x7ffd0e000000, 0x111000 },
    { "\\Device\\HarddiskVolume3\\Windows\\System32\\KernelBase.dll", 0x7ffd0d000000, 0x3a6000 },
    { "\\Device\\HarddiskVolume3\\render\\scene.dll", 0x7ffce8000000, 0x9a0000 },
    { "\\Device\\HarddiskVolume3\\render\\geometry.dll", 0x7ffce6000000, 0x640000 },
    { "\\Device\\HarddiskVolume3\\render\\texture.dll", 0x7ffce5000000, 0x380000 },
    { "\\Device\\HarddiskVolume3\\render\\json.dll", 0x7ffce4000000, 0x0f0000 },
    { "\\Device\\HarddiskVolume3\\render\\script.dll", 0x7ffce2000000, 0x7c0000 },
    { "\\Device\\HarddiskVolume3\\render\\network.dll", 0x7ffce1000000, 0x210000 },
    { "\\Device\\HarddiskVolume3\\render\\storage.dll", 0x7ffce0000000, 0x2e0000 },
    { "\\Device\\HarddiskVolume3\\Windows\\System32\\msvcp140.dll", 0x7ffd0b000000, 0x08d000 },
    { "\\Device\\HarddiskVolume3\\Windows\\System32\\combase.dll", 0x7ffd0c000000, 0x389000 },
    { "\\Device\\HarddiskVolume3\\Windows\\System32\\rpcrt4.dll", 0x7ffd0a000000, 0x117000 },
    { "\\Device\\HarddiskVolume3\\Windows\\System32\\user32.dll", 0x7ffd09000000, 0x1ae000 },
    { "\\Device\\HarddiskVolume3\\Windows\\System32\\ws2_32.dll", 0x7ffd08000000, 0x071000 },
};

static const pool_process programs[STACK_POOL_PROCESSES] = {
    { 4321,
      "render.exe",
      { "\\Device\\HarddiskVolume3\\render\\render.exe", 0x7ff6a0000000, 0xe80000 },
      0,
      0 },
    { 5120,
      "worker.exe",
      { "\\Device\\HarddiskVolume3\\render\\worker.exe", 0x7ff7b0000000, 0x240000 },
      0,
      0 },
    { 988,
      "service.exe",
      { "\\Device\\HarddiskVolume3\\render\\service.exe", 0x7ff6c0000000, 0x180000 },
      0,
      0 },
    { 7804,
      "agent.exe",
      { "\\Device\\HarddiskVolume3\\render\\agent.exe", 0x7ff7d0000000, 0x0c0000 },
      0,
      0 },
};

/* Offsets of return addresses at either end of a stack. */
static const u64 outer_frames[OUTER_FRAMES] = { 0x7ffd10000000 + 0x5aa48,
                                                0x7ffd0f000000 + 0x1257d };
static const u64 inner_frames[4][INNER_FRAMES] = {
    { 0x7ffd10000000 + 0x2d4f1, 0x7ffd0e000000 + 0x1e4a0 }, /* malloc */
    { 0x7ffd10000000 + 0x2d4f1, 0x7ffd0e000000 + 0x1e6c6 }, /* calloc */
    { 0x7ffd10000000 + 0x2d4f1, 0x7ffd0d000000 + 0x33b47 }, /* LocalAlloc */
    { 0x7ffd10000000 + 0x2d3d2, 0x7ffd0b000000 + 0x12d3c }, /* operator new */
};

/* Hashes of the stacks made so far; open addressing, 0 is free. */
typedef struct seen_set {
    u64 *slots;
    u64 mask;
} seen_set;

static void share_out(stack_pool *pool, u32 stack_count);
static void make_stack(stack_pool *pool, const pool_process *process, u32 stack, bench_random *r);
static u32 draw_depth(bench_random *r);
static u64 draw_call_site(const pool_process *process, bench_random *r);
static bool is_new(seen_set *seen, pool_stack stack);

stack_pool *stack_pool_new(u32 stack_count)
{
    stack_pool *const pool = bench_allocate(1, sizeof *pool);
    pool->libraries = libraries;
    pool->library_count = ETL_COUNT_OF(libraries);
    pool->stack_count = stack_count;
    pool->starts = bench_allocate((size_t)stack_count + 1, sizeof *pool->starts);
    pool->frames = bench_allocate((size_t)stack_count * STACK_POOL_DEPTH_MAX, sizeof *pool->frames);
    share_out(pool, stack_count);

    seen_set seen = { .mask = 1 };
    while (seen.mask < (u64)stack_count * 4)
        seen.mask = seen.mask * 2 + 1;
    seen.slots = bench_allocate(seen.mask + 1, sizeof *seen.slots);
    bench_random r = { 0x57ac4 };
    for (u32 p = 0; p < STACK_POOL_PROCESSES; p++) {
        const pool_process *const process = &pool->processes[p];
        for (u32 i = 0; i < process->stack_count; i++) {
            const u32 stack = process->first_stack + i;
            do
                make_stack(pool, process, stack, &r);
            while (!is_new(&seen, stack_pool_get(pool, stack)));
        }
    }
    free(seen.slots);
    return pool;
}

/* Shares out the stacks: seven of eight belong to the first process. */
static void share_out(stack_pool *pool, u32 stack_count)
{
    u32 left = stack_count;
    for (u32 p = 0; p < STACK_POOL_PROCESSES; p++) {
        pool->processes[p] = programs[p];
        pool->processes[p].stack_count = stack_count / 24;
        left -= stack_count / 24;
    }
    pool->processes[0].stack_count += left;
    for (u32 p = 1; p < STACK_POOL_PROCESSES; p++) {
        const pool_process *const before = &pool->processes[p - 1];
        pool->processes[p].first_stack = before->first_stack + before->stack_count;
    }
}

void stack_pool_free(stack_pool *pool)
{
    if (pool == NULL)
        return;
    free(pool->starts);
    free(pool->frames);
    free(pool);
}

static void make_stack(stack_pool *pool, const pool_process *process, u32 stack, bench_random *r)
{
    const u32 depth = draw_depth(r);
    u64 *const frames = pool->frames + pool->starts[stack];
    memcpy(frames, inner_frames[bench_random_below(r, 4)], sizeof inner_frames[0]);
    memcpy(frames + depth - OUTER_FRAMES, outer_frames, sizeof outer_frames);

    const u32 own_end = depth - OUTER_FRAMES;
    u32 shared = 0;
    if (stack > process->first_stack) {
        const u32 made = stack - process->first_stack;
        const pool_stack model =
            stack_pool_get(pool, process->first_stack + bench_random_below(r, made));
        const u32 model_own = model.count - OUTER_FRAMES - INNER_FRAMES;
        const u32 own = own_end - INNER_FRAMES;
        shared = bench_random_below(r, model_own < own ? model_own + 1 : own);
        memcpy(frames + own_end - shared, model.frames + model.count - OUTER_FRAMES - shared,
               shared * sizeof *frames);
    }
    for (u32 i = INNER_FRAMES; i < own_end - shared; i++)
        frames[i] = draw_call_site(process, r);
    pool->starts[stack + 1] = pool->starts[stack] + depth;
}

static u32 draw_depth(bench_random *r)
{
    const u32 range = STACK_POOL_DEPTH_MAX - STACK_POOL_DEPTH_MIN + 1;
    const u32 a = bench_random_below(r, range);
    const u32 b = bench_random_below(r, range);
    const bool one_number = bench_random_below(r, 4) == 0;
    return STACK_POOL_DEPTH_MIN + (one_number || a < b ? a : b);
}

/* Half of all calls are made by the program itself. */
static u64 draw_call_site(const pool_process *process, bench_random *r)
{
    const u32 others = ETL_COUNT_OF(libraries) - SYSTEM_LIBRARIES;
    const pool_module *const module =
        bench_random_chance(r, 128) ? &process->program
                                    : &libraries[SYSTEM_LIBRARIES + bench_random_below(r, others)];
    const u32 site = 8 + bench_random_below(r, module->size_bytes / STACK_POOL_CALL_SITE_BYTES - 8);
    /* Return addresses are not aligned. */
    return module->base + (u64)site * STACK_POOL_CALL_SITE_BYTES + (bench_mix(site) & 63);
}

static bool is_new(seen_set *seen, pool_stack stack)
{
    u64 hash = stack.count;
    for (u32 i = 0; i < stack.count; i++)
        hash = bench_mix(hash ^ stack.frames[i]) + i;
    hash |= 1;
    u64 at = hash >> 7 & seen->mask;
    while (seen->slots[at] != 0) {
        if (seen->slots[at] == hash)
            return false;
        at = (at + 1) & seen->mask;
    }
    seen->slots[at] = hash;
    return true;
}

const pool_module *stack_pool_module(const stack_pool *pool, u32 index)
{
    return index < pool->library_count ? &pool->libraries[index]
                                       : &pool->processes[index - pool->library_count].program;
}

u32 stack_pool_module_of(const stack_pool *pool, u64 address)
{
    const u32 count = pool->library_count + STACK_POOL_PROCESSES;
    for (u32 i = 0; i < count; i++) {
        const pool_module *const module = stack_pool_module(pool, i);
        if (address - module->base < module->size_bytes)
            return i;
    }
    return UINT32_MAX;
}
