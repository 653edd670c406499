/*
 * etl_build_stacks.c - stack walk records, inline or as keys into a cache.
 *
 * In: stacks of events. Out: stack records, key references, and key definitions.
 *
 * A session with stack caching keeps distinct stacks in a table in the kernel and logs only the
 * address of an entry, the key. What the key stood for is logged when the entry is given up
 * (0x1823) or when the session stops (0x1824). So the definition always follows its references, and
 * after it the same key may stand for another stack. A reader takes the first definition that is
 * not earlier than the reference. Invariant: a slot is given up only if its definition can lie
 * strictly between the last use of the old stack and the first use of the new one. If it cannot,
 * the stack is logged inline, which is what the kernel does on a cache miss too.
 * Source: kernel MOF (StackWalk_Key*), phnt ntwmi.h; the order of references and definitions as
 * observed in recordings with stack caching.
 */
#include "etl_build_inside.h"

#include <stdlib.h>

#define HOOK_STACK          0x1820u
#define HOOK_KEY_DELETE     0x1823u
#define HOOK_KEY_RUNDOWN    0x1824u
#define HOOK_KEY_KERNEL     0x1825u
#define HOOK_KEY_USER       0x1826u
#define KEY_STEP            0x240u
#define CACHED_FRAMES_MIN   4u
#define DELAY_TICKS         13
#define USER_DELAY_TICKS    106
#define RUNDOWN_DELAY_TICKS 50

static void walk_mixed(etl_build *b, const etl_build_at *at, i64 ticks,
                       const etl_build_stack *stack);
static void order_half(etl_build *b, const etl_build_at *at, i64 ticks, u32 cpu,
                       const etl_build_stack *stack, bool is_user);
static bool find_key(etl_build *b, i64 ticks, u32 cpu, const build_half *half, const u64 *frames,
                     u64 *key);
static u64 hash_of(const u64 *frames, u32 count);
static bool may_give_up(const etl_build *b, const build_key_slot *slot, i64 ticks, u32 cpu);
static void define(etl_build *b, i64 ticks, u32 cpu, u16 hook, u32 slot);
static void install(build_key_slot *slot, const u64 *frames, u32 count);
static void place_inline(etl_build *b, i64 ticks, u32 cpu, const build_half *half,
                         const u64 *frames);
static void place_key(etl_build *b, i64 ticks, u32 cpu, const build_half *half, u64 key);
static void begin_stack(etl_build *b, const etl_build_at *at, u16 hook);
static void place_now(etl_build *b, i64 ticks, u32 cpu);

void etl_build_stack_walk(etl_build *b, etl_build_at at, const etl_build_stack *stack)
{
    if (!build_ok(b))
        return;
    const i64 delay = stack->delay_ticks ? stack->delay_ticks : DELAY_TICKS;
    if (stack->form == ETL_BUILD_STACK_MIXED) {
        walk_mixed(b, &at, at.ticks + delay, stack);
        return;
    }
    const i64 user_delay =
        stack->user_delay_ticks ? stack->user_delay_ticks : delay + USER_DELAY_TICKS;
    const i64 user_ticks = at.ticks + (stack->kernel_count > 0 ? user_delay : delay);
    if (stack->kernel_count > 0)
        order_half(b, &at, at.ticks + delay, at.cpu, stack, false);
    if (stack->user_count > 0)
        order_half(b, &at, user_ticks, stack->user_cpu_differs ? stack->user_cpu : at.cpu, stack,
                   true);
}

static void walk_mixed(etl_build *b, const etl_build_at *at, i64 ticks,
                       const etl_build_stack *stack)
{
    const u32 count = stack->kernel_count + stack->user_count;
    const build_half both = {
        .event_ticks = at->ticks, .pid = at->pid, .tid = at->tid, .count = count
    };
    u64 *const frames = build_realloc(NULL, (count + 1) * sizeof *frames);
    for (u32 i = 0; i < stack->kernel_count; i++)
        frames[i] = stack->kernel[i];
    for (u32 i = 0; i < stack->user_count; i++)
        frames[stack->kernel_count + i] = stack->user[i];
    build_order_half(b, ticks, at->cpu, &both, frames);
    free(frames);
}

static void order_half(etl_build *b, const etl_build_at *at, i64 ticks, u32 cpu,
                       const etl_build_stack *stack, bool is_user)
{
    const u32 count = is_user ? stack->user_count : stack->kernel_count;
    const bool cached = b->session.options.keyed_stacks && count >= CACHED_FRAMES_MIN;
    const build_half half = {
        .event_ticks = at->ticks,
        .pid = at->pid,
        .tid = at->tid,
        .count = count,
        .is_user = is_user,
        .keyed = stack->form == ETL_BUILD_STACK_KEYED ||
                 (stack->form == ETL_BUILD_STACK_DEFAULT && cached),
    };
    build_order_half(b, ticks, cpu, &half, is_user ? stack->user : stack->kernel);
}

/* --- when the time of a half has come --- */

void build_stack_place(etl_build *b, i64 ticks, u32 cpu, const build_half *half, const u64 *frames)
{
    u64 key = 0;
    if (half->keyed && find_key(b, ticks, cpu, half, frames, &key))
        place_key(b, ticks, cpu, half, key);
    else
        place_inline(b, ticks, cpu, half, frames);
}

/* The key of the stack, made by giving up another one if need be. */
static bool find_key(etl_build *b, i64 ticks, u32 cpu, const build_half *half, const u64 *frames,
                     u64 *key)
{
    const u32 slots = b->session.options.stack_key_slots;
    if (b->slots == NULL) {
        b->slots = build_realloc(NULL, slots * sizeof *b->slots);
        memset(b->slots, 0, slots * sizeof *b->slots);
    }
    const u32 index = (u32)(hash_of(frames, half->count) % slots);
    build_key_slot *const slot = &b->slots[index];
    const bool same = slot->in_use && slot->count == half->count &&
                      memcmp(slot->frames, frames, half->count * sizeof *frames) == 0;
    if (!same) {
        if (slot->in_use && !may_give_up(b, slot, ticks, cpu))
            return false;
        if (slot->in_use)
            define(b, ticks - 1, cpu, HOOK_KEY_DELETE, index);
        install(slot, frames, half->count);
        slot->last_use_ticks = ticks;
    }
    if (ticks > slot->last_use_ticks)
        slot->last_use_ticks = ticks;
    *key = b->session.options.stack_key_base + (u64)index * KEY_STEP;
    return true;
}

static u64 hash_of(const u64 *frames, u32 count)
{
    u64 hash = count;
    for (u32 i = 0; i < count; i++) {
        hash = (hash ^ frames[i]) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    return hash >> 16;
}

static bool may_give_up(const etl_build *b, const build_key_slot *slot, i64 ticks, u32 cpu)
{
    const u32 stream = b->session.options.one_stream ? 0 : cpu;
    return slot->last_use_ticks < ticks - 1 && b->buffers[stream].last_ticks < ticks;
}

static void define(etl_build *b, i64 ticks, u32 cpu, u16 hook, u32 slot)
{
    const etl_build_at at = { .ticks = ticks, .cpu = cpu };
    const build_key_slot *const old = &b->slots[slot];
    begin_stack(b, &at, hook);
    build_put_pointer(b, b->session.options.stack_key_base + (u64)slot * KEY_STEP);
    for (u32 i = 0; i < old->count; i++)
        build_put_pointer(b, old->frames[i]);
    place_now(b, ticks, cpu);
}

static void install(build_key_slot *slot, const u64 *frames, u32 count)
{
    if (count > slot->capacity) {
        slot->capacity = count;
        slot->frames = build_realloc(slot->frames, count * sizeof *frames);
    }
    memcpy(slot->frames, frames, count * sizeof *frames);
    slot->count = count;
    slot->in_use = true;
}

static void place_inline(etl_build *b, i64 ticks, u32 cpu, const build_half *half,
                         const u64 *frames)
{
    const etl_build_at at = { .ticks = ticks, .cpu = cpu };
    begin_stack(b, &at, HOOK_STACK);
    build_put_u64(b, (u64)half->event_ticks);
    build_put_u32(b, half->pid);
    build_put_u32(b, half->tid);
    if (b->put.pointer_bytes == 8) {
        build_put_bytes(b, frames, half->count * sizeof *frames);
    } else {
        for (u32 i = 0; i < half->count; i++)
            build_put_pointer(b, frames[i]);
    }
    place_now(b, ticks, cpu);
}

static void place_key(etl_build *b, i64 ticks, u32 cpu, const build_half *half, u64 key)
{
    const etl_build_at at = { .ticks = ticks, .cpu = cpu };
    begin_stack(b, &at, half->is_user ? HOOK_KEY_USER : HOOK_KEY_KERNEL);
    build_put_u64(b, (u64)half->event_ticks);
    build_put_u32(b, half->pid);
    build_put_u32(b, half->tid);
    build_put_pointer(b, key);
    place_now(b, ticks, cpu);
}

/* All records of the group have PERFINFO headers, version 2. */
static void begin_stack(etl_build *b, const etl_build_at *at, u16 hook)
{
    build_begin(b, at, hook, ETL_BUILD_HEADER_PERFINFO, 2);
}

/* Not through the order: the time of these records has come. */
static void place_now(etl_build *b, i64 ticks, u32 cpu)
{
    if (b->put.overflow)
        build_fail(b, "a stack of that many frames does not fit a record");
    if (!build_ok(b))
        return;
    const u16 size = (u16)b->put.at;
    memcpy(b->record + 4, &size, sizeof size);
    build_place(b, ticks, cpu, b->record, size);
}

void build_stack_rundown(etl_build *b)
{
    if (b->slots == NULL)
        return;
    i64 ticks = b->now_ticks + RUNDOWN_DELAY_TICKS;
    for (u32 i = 0; i < b->session.options.stack_key_slots; i++) {
        if (b->slots[i].in_use)
            define(b, ticks++, 0, HOOK_KEY_RUNDOWN, i);
    }
}

void build_stack_free(etl_build *b)
{
    if (b->slots == NULL)
        return;
    for (u32 i = 0; i < b->session.options.stack_key_slots; i++)
        free(b->slots[i].frames);
    free(b->slots);
    b->slots = NULL;
}

/* --- single records --- */

void etl_build_stack_inline(etl_build *b, etl_build_at at, i64 event_ticks, const u64 *frames,
                            u32 count)
{
    if (!build_ok(b))
        return;
    begin_stack(b, &at, HOOK_STACK);
    build_put_u64(b, (u64)event_ticks);
    build_put_u32(b, at.pid);
    build_put_u32(b, at.tid);
    for (u32 i = 0; i < count; i++)
        build_put_pointer(b, frames[i]);
    build_end(b, &at);
}

void etl_build_stack_key(etl_build *b, etl_build_at at, u16 hook, i64 event_ticks, u64 key)
{
    if (!build_ok(b))
        return;
    begin_stack(b, &at, hook);
    build_put_u64(b, (u64)event_ticks);
    build_put_u32(b, at.pid);
    build_put_u32(b, at.tid);
    build_put_pointer(b, key);
    build_end(b, &at);
}

void etl_build_stack_definition(etl_build *b, etl_build_at at, u16 hook, u64 key,
                                const etl_build_stack *frames)
{
    if (!build_ok(b))
        return;
    begin_stack(b, &at, hook);
    build_put_pointer(b, key);
    for (u32 i = 0; i < frames->kernel_count; i++)
        build_put_pointer(b, frames->kernel[i]);
    for (u32 i = 0; i < frames->user_count; i++)
        build_put_pointer(b, frames->user[i]);
    build_end(b, &at);
}
