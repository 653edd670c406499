/*
 * scenario_programs.c - programs that leak or spike in a known way: the battery meter, the two
 * exercises, and the demo, which is made of their parts.
 *
 * In: a run with its seed. Out: a workload. Invariant: sizes, counts and times are constants of
 * scenario.h; the documentation and many tests state what these programs leak.
 */
#include "scenario_inside.h"

#include <assert.h>
#include <stdio.h>

#define MS 1000000u /* in nanoseconds */
#define S  1000000000u

#define HEAP_CREATED_NS     100000u /* before the first block */
#define HEAP_EXTENT_OFFSET  0x10000u
#define BATTERY_FIRST_MS    100u
#define BATTERY_INTERVAL_MS 250u
#define LEAK_BLOCK_BYTES    4096u

/* From the heap inwards: RtlpAllocateHeap, RtlAllocateHeap, malloc, operator new. */
#define ALLOCATOR_FRAMES                                                                           \
    { "ntdll.dll", 0x2c1f3 }, { "ntdll.dll", 0x2b4a0 },                                            \
    {                                                                                              \
        "ucrtbase.dll", 0xfe26                                                                     \
    }
/* The same of a free: RtlpFreeHeap, RtlFreeHeap, free. */
#define FREEING_FRAMES                                                                             \
    { "ntdll.dll", 0x2f1c0 }, { "ntdll.dll", 0x2e0a7 },                                            \
    {                                                                                              \
        "ucrtbase.dll", 0xff1b                                                                     \
    }
#define THREAD_START_FRAMES                                                                        \
    { "kernel32.dll", 0x17614 },                                                                   \
    {                                                                                              \
        "ntdll.dll", 0x526b1                                                                       \
    }
/* NtAllocateVirtualMemory in the kernel, its stub, VirtualAlloc. */
#define KERNEL_COMMIT_FRAMES                                                                       \
    { "ntoskrnl.exe", 0x6f2a41 }, { "ntoskrnl.exe", 0x6f1c0e },                                    \
    {                                                                                              \
        "ntoskrnl.exe", 0x40a6b5                                                                   \
    }
#define KERNEL_COMMIT_COUNT 3u
#define USER_COMMIT_FRAMES                                                                         \
    { "ntdll.dll", 0x9d3f4 },                                                                      \
    {                                                                                              \
        "kernel32.dll", 0x1b2c8                                                                    \
    }

static scenario_program battery_program(workload *w, const scenario_run *run, const etl_build *b);
static void battery_history(scenario_program *p, u32 ticks, u32 kept);
static scenario_program memory_program(workload *w, const scenario_run *run, const etl_build *b);
static u32 main_stack(const scenario_program *p);
static u32 spike_stack(const scenario_program *p);
static void create_heap(const scenario_program *p);
static void expand_heap(const scenario_program *p);
static void grow_second_heap(scenario_program *p);
static void give_free_stacks(scenario_program *p);
static void pin_icon_heap(scenario_program *p);
static void free_older_blocks(scenario_program *p);

/* --- the battery meter --- */

workload *scenario_battery_meter(const scenario_run *run, const etl_build *b)
{
    workload *const w = scenario_workload(run, b, (u64)60 * S);
    scenario_program p = battery_program(w, run, b);
    create_heap(&p);
    battery_history(&p, BATTERY_METER_TICKS, 0);
    scenario_transients(&p, BATTERY_METER_TRANSIENT_COUNT, (u64)59 * S);
    expand_heap(&p);
    workload_sort(w);
    return w;
}

static scenario_program battery_program(workload *w, const scenario_run *run, const etl_build *b)
{
    workload_process process = { .pid = BATTERY_METER_PID,
                                 .parent_pid = 5016,
                                 .name = "BatteryMeter.exe",
                                 .wow64 = run->wow64,
                                 .tids = { BATTERY_METER_LEAK_TID } };
    return scenario_program_of(w, run, b, &process);
}

static void create_heap(const scenario_program *p)
{
    const u32 tid = p->w->processes[p->process].pid + 4;
    const workload_op op = scenario_op(p, HEAP_CREATED_NS, tid, WORKLOAD_HEAP_CREATE);
    workload_add_op(p->w, &op);
}

/* Expands the heap while the program starts, by what all its blocks up to now need: four functions
 * allocate more than is committed, one after the other. */
static void expand_heap(const scenario_program *p)
{
    static const u64 sites[] = { 0x3040, 0x3440, 0x3640, 0x3840 };
    enum { COUNT = ETL_COUNT_OF(sites), PAGE = 4096 };
    const u64 first = p->heap + HEAP_EXTENT_OFFSET;
    const u64 bytes = (p->address_next - first + COUNT * PAGE - 1) / (COUNT * PAGE) * PAGE;
    for (u32 i = 0; i < COUNT; i++) {
        const scenario_frame frames[] = {
            ALLOCATOR_FRAMES, { NULL, sites[i] }, { NULL, 0x31c4 }, THREAD_START_FRAMES
        };
        workload_op op = scenario_op(p, HEAP_CREATED_NS * (2 + i),
                                     p->w->processes[p->process].pid + 4, WORKLOAD_HEAP_EXPAND);
        op.address = first + i * bytes;
        op.size = bytes;
        op.stack = scenario_stack(p, frames, ETL_COUNT_OF(frames), 0);
        op.halves = WORKLOAD_HALF_USER;
        workload_add_op(p->w, &op);
    }
}

static void free_block(scenario_program *p, u64 ns, u32 tid, u32 stack, u64 address)
{
    workload_op op = scenario_op(p, ns, tid, WORKLOAD_HEAP_FREE);
    op.address = address;
    op.stack = stack;
    op.halves = WORKLOAD_HALF_USER;
    workload_add_op(p->w, &op);
}

static u32 trim_stack(const scenario_program *p)
{
    const scenario_frame frames[] = {
        FREEING_FRAMES, { NULL, 0x2ab4 }, { NULL, 0x2c31 }, THREAD_START_FRAMES
    };
    return scenario_stack(p, frames, ETL_COUNT_OF(frames), 0);
}

/* Two call sites in one function, a moment apart. Another thread frees blocks `kept` ticks later;
 * 0: nobody frees them. */
static void battery_history(scenario_program *p, u32 ticks, u32 kept)
{
    static const u64 sites[2] = { BATTERY_METER_LEAK_OFFSET_A, BATTERY_METER_LEAK_OFFSET_B };
    u32 stacks[2];
    for (u32 i = 0; i < 2; i++) {
        const scenario_frame frames[] = { ALLOCATOR_FRAMES, { NULL, 0x8c1b }, { NULL, sites[i] },
                                          { NULL, 0x2b7d }, { NULL, 0x31c4 }, THREAD_START_FRAMES };
        stacks[i] = scenario_stack(p, frames, ETL_COUNT_OF(frames), 0);
    }
    const u32 trimming = kept > 0 ? trim_stack(p) : WORKLOAD_NONE;
    for (u32 i = 0; i < ticks; i++) {
        const u64 ns = ((u64)BATTERY_FIRST_MS + (u64)i * BATTERY_INTERVAL_MS) * MS;
        const u64 free_ns = ns + ((u64)kept * BATTERY_INTERVAL_MS + 5) * MS;
        for (u32 j = 0; j < 2; j++) {
            const u64 address = scenario_alloc(p, ns + (u64)j * 40000, BATTERY_METER_LEAK_TID,
                                               stacks[j], LEAK_BLOCK_BYTES);
            if (kept > 0 && i + kept < ticks)
                free_block(p, free_ns + (u64)j * 40000, BATTERY_METER_PID + 4, trimming, address);
        }
    }
}

/* --- the battery meter, fixed --- */

workload *scenario_battery_meter_fixed(const scenario_run *run, const etl_build *b)
{
    workload *const w = scenario_workload(run, b, (u64)20 * S);
    scenario_program p = battery_program(w, run, b);
    create_heap(&p);
    battery_history(&p, DEMO_LEAK_COUNT / 2, BATTERY_METER_FIXED_KEPT / 2);
    scenario_transients(&p, DEMO_TRANSIENT_COUNT, (u64)19 * S);
    expand_heap(&p);
    workload_sort(w);
    give_free_stacks(&p);
    free_older_blocks(&p);
    pin_icon_heap(&p);
    workload_sort(w);
    return w;
}

/* The stack of a free in the function that made the allocation. */
static u32 own_free_stack(const scenario_program *p, u32 allocation)
{
    static const scenario_frame freeing[] = { FREEING_FRAMES };
    const workload_stack *const from = &p->w->stacks[allocation];
    u64 frames[WORKLOAD_FRAMES_MAX];
    const u32 counts[2] = { 0, from->user_count };
    memcpy(frames, from->frames, from->user_count * sizeof *frames);
    for (u32 i = 0; i < ETL_COUNT_OF(freeing); i++) {
        const u32 image = workload_find_image(p->w, p->process, freeing[i].image);
        frames[i] = p->w->images[image].base + freeing[i].offset;
    }
    return workload_add_stack(p->w, p->process, INT64_MAX - 1, frames, counts);
}

/* Frees without a stack get one of the function that allocated: the operations are in order, so
 * the latest allocation at the address is the one that is freed. */
static void give_free_stacks(scenario_program *p)
{
    enum { STACKS_MAX = 64 };
    u32 of[STACKS_MAX];
    memset(of, 0xff, sizeof of);
    for (u32 i = 0; i < p->w->op_count; i++) {
        workload_op *const op = &p->w->ops[i];
        u32 at = i;
        if (op->kind != WORKLOAD_HEAP_FREE || op->halves != 0)
            continue;
        while (p->w->ops[at].kind != WORKLOAD_HEAP_ALLOC || p->w->ops[at].address != op->address)
            at--;
        const u32 stack = p->w->ops[at].stack;
        assert(stack < STACKS_MAX);
        if (of[stack] == WORKLOAD_NONE)
            of[stack] = own_free_stack(p, stack);
        p->w->ops[i].stack = of[stack];
        p->w->ops[i].halves = WORKLOAD_HALF_USER;
    }
}

static u32 icon_free_stack(const scenario_program *p)
{
    const scenario_frame frames[] = {
        FREEING_FRAMES, { NULL, 0x5d6c }, { NULL, 0x3040 }, THREAD_START_FRAMES
    };
    return scenario_stack(p, frames, ETL_COUNT_OF(frames), 0);
}

/* Frees of blocks from before the trace, by two functions. */
static void free_older_blocks(scenario_program *p)
{
    const scenario_frame frames[] = {
        FREEING_FRAMES, { NULL, 0x3868 }, { NULL, 0x31c4 }, THREAD_START_FRAMES
    };
    const u32 stacks[2] = { icon_free_stack(p),
                            scenario_stack(p, frames, ETL_COUNT_OF(frames), 0) };
    for (u32 i = 0; i < BATTERY_METER_FIXED_UNKNOWN_COUNT; i++)
        free_block(p, (300 + (u64)i * 7) * MS, BATTERY_METER_PID + 4, stacks[i % 4 == 3],
                   p->heap + 0x800000 + (u64)i * 0x200);
}

/* A heap of 1 MiB that fills with icons. When they are freed, two small blocks stay. */
static void pin_icon_heap(scenario_program *p)
{
    enum { ICON_BYTES = 4000, SETTING_BYTES = BATTERY_METER_FIXED_PIN_BYTES / 2 };
    const scenario_frame icon[] = {
        ALLOCATOR_FRAMES, { NULL, 0x8c1b }, { NULL, 0x5d10 }, { NULL, 0x3040 }, THREAD_START_FRAMES
    };
    const scenario_frame setting[] = {
        ALLOCATOR_FRAMES, { NULL, 0x8c1b }, { NULL, 0x3840 }, { NULL, 0x31c4 }, THREAD_START_FRAMES
    };
    const u32 loading = scenario_stack(p, icon, ETL_COUNT_OF(icon), 0);
    const u32 keeping = scenario_stack(p, setting, ETL_COUNT_OF(setting), 0);
    const u32 clearing = icon_free_stack(p);
    const u32 tid = BATTERY_METER_PID + 4;
    p->heap += 0x2000000;
    p->address_next = p->heap + 0x10000;
    workload_op op = scenario_op(p, (u64)1000 * MS, tid, WORKLOAD_HEAP_CREATE);
    workload_add_op(p->w, &op);
    op = scenario_op(p, (u64)1001 * MS, tid, WORKLOAD_HEAP_EXPAND);
    op.address = p->address_next;
    op.size = 0x100000;
    op.stack = loading;
    op.halves = WORKLOAD_HALF_USER;
    workload_add_op(p->w, &op);
    for (u64 i = 0; i < BATTERY_METER_FIXED_ICON_COUNT; i++) {
        if (i % 120 == 60)
            scenario_alloc(p, (1010 + i * 10) * MS + 500000, tid, keeping, SETTING_BYTES);
        const u64 address = scenario_alloc(p, (1010 + i * 10) * MS, tid, loading, ICON_BYTES);
        free_block(p, (5000 + i) * MS + 300000, tid, clearing, address);
    }
}

/* --- the VirtualAlloc exercise --- */

workload *scenario_virtualalloc_exercise(const scenario_run *run, const etl_build *b)
{
    workload *const w = scenario_workload(run, b, (u64)10 * S);
    scenario_program p = memory_program(w, run, b);
    const u32 in_main = main_stack(&p);
    const u32 in_spike = spike_stack(&p);
    const u64 end_ns = (u64)9500 * MS;
    scenario_commit(&p, (u64)500 * MS, end_ns, in_main, VIRTUALALLOC_EXERCISE_STEADY_BYTES);
    scenario_commit(&p, (u64)5000 * MS, end_ns + MS, in_main, VIRTUALALLOC_EXERCISE_STEADY_BYTES);
    for (u32 i = 0; i < VIRTUALALLOC_EXERCISE_SPIKE_COUNT; i++) {
        const u64 ns = (700 + (u64)i * 800) * MS;
        scenario_commit(&p, ns, ns + VIRTUALALLOC_EXERCISE_SPIKE_MS * MS, in_spike,
                        VIRTUALALLOC_EXERCISE_SPIKE_BYTES);
    }
    const u32 count = VIRTUALALLOC_EXERCISE_SMALL_COUNT;
    for (u32 i = 0; i < count; i++) {
        const u64 site = 0x4000 + (u64)(i % 6) * 0x150;
        const scenario_frame frames[] = { KERNEL_COMMIT_FRAMES,
                                          USER_COMMIT_FRAMES,
                                          { NULL, site },
                                          { NULL, VIRTUALALLOC_EXERCISE_MAIN_OFFSET + 0x60 },
                                          THREAD_START_FRAMES };
        const u32 stack = scenario_stack(&p, frames, ETL_COUNT_OF(frames), KERNEL_COMMIT_COUNT);
        const u64 ns = (300 + (u64)i * 90) * MS + 333333;
        scenario_commit(&p, ns, ns + (5 + i % 40) * MS, stack,
                        VIRTUALALLOC_EXERCISE_SMALL_BYTES / count);
    }
    workload_sort(w);
    return w;
}

static scenario_program memory_program(workload *w, const scenario_run *run, const etl_build *b)
{
    workload_process process = { .pid = VIRTUALALLOC_EXERCISE_PID,
                                 .parent_pid = 5016,
                                 .name = "MemoryTestApp.exe",
                                 .wow64 = run->wow64,
                                 .tids = { VIRTUALALLOC_EXERCISE_PID + 12 } };
    return scenario_program_of(w, run, b, &process);
}

static u32 main_stack(const scenario_program *p)
{
    const scenario_frame frames[] = { KERNEL_COMMIT_FRAMES,
                                      USER_COMMIT_FRAMES,
                                      { NULL, VIRTUALALLOC_EXERCISE_MAIN_OFFSET },
                                      THREAD_START_FRAMES };
    return scenario_stack(p, frames, ETL_COUNT_OF(frames), KERNEL_COMMIT_COUNT);
}

static u32 spike_stack(const scenario_program *p)
{
    const scenario_frame frames[] = { KERNEL_COMMIT_FRAMES,
                                      USER_COMMIT_FRAMES,
                                      { NULL, VIRTUALALLOC_EXERCISE_BUFFER_OFFSET },
                                      { NULL, VIRTUALALLOC_EXERCISE_OPERATION1_OFFSET },
                                      { NULL, VIRTUALALLOC_EXERCISE_MAIN_OFFSET + 0x22 },
                                      THREAD_START_FRAMES };
    return scenario_stack(p, frames, ETL_COUNT_OF(frames), KERNEL_COMMIT_COUNT);
}

/* --- the heap exercise --- */

workload *scenario_heap_exercise(const scenario_run *run, const etl_build *b)
{
    workload *const w = scenario_workload(run, b, (u64)12100 * MS);
    const workload_process process = { .pid = HEAP_EXERCISE_PID,
                                       .parent_pid = 5016,
                                       .name = "HeapTestApp.exe",
                                       .wow64 = run->wow64,
                                       .tids = { HEAP_EXERCISE_PID + 12 } };
    scenario_program p = scenario_program_of(w, run, b, &process);
    const scenario_frame frames[] = { ALLOCATOR_FRAMES,
                                      { NULL, 0x9a07 }, /* operator new */
                                      { NULL, HEAP_EXERCISE_INNER_LOOP_OFFSET },
                                      { NULL, 0x20b1 },
                                      { NULL, 0x2406 },
                                      THREAD_START_FRAMES };
    const u32 stack = scenario_stack(&p, frames, ETL_COUNT_OF(frames), 0);
    create_heap(&p);
    for (u32 i = 0; i < HEAP_EXERCISE_LEAK_COUNT; i++) {
        const u64 size = 80 + (u64)(i % 8) * 8;
        scenario_alloc(&p, (5 + (u64)i * 10) * MS, HEAP_EXERCISE_PID + 12, stack, size);
    }
    scenario_transients(&p, HEAP_EXERCISE_TRANSIENT_COUNT, (u64)12 * S);
    workload_sort(w);
    return w;
}

/* --- the demo --- */

workload *scenario_demo(const scenario_run *run, const etl_build *b)
{
    workload *const w = scenario_workload(run, b, (u64)20 * S);
    scenario_program battery = battery_program(w, run, b);
    create_heap(&battery);
    battery_history(&battery, DEMO_LEAK_COUNT / 2, 0);
    scenario_transients(&battery, DEMO_TRANSIENT_COUNT, (u64)19 * S);
    expand_heap(&battery);
    grow_second_heap(&battery);

    scenario_program memory = memory_program(w, run, b);
    scenario_commit(&memory, (u64)4000 * MS, 0, main_stack(&memory), DEMO_OUTSTANDING_BYTES);
    const u32 in_spike = spike_stack(&memory);
    for (u32 i = 0; i < 4; i++) {
        const u64 ns = (3000 + (u64)i * 4500) * MS;
        scenario_commit(&memory, ns, ns + VIRTUALALLOC_EXERCISE_SPIKE_MS * MS, in_spike,
                        VIRTUALALLOC_EXERCISE_SPIKE_BYTES);
    }
    workload_sort(w);
    return w;
}

/* Made, grown twice, given a few blocks, and destroyed with them. */
static void grow_second_heap(scenario_program *p)
{
    const scenario_frame frames[] = { ALLOCATOR_FRAMES, { NULL, 0x5d10 }, THREAD_START_FRAMES };
    const u32 stack = scenario_stack(p, frames, ETL_COUNT_OF(frames), 0);
    const u32 tid = BATTERY_METER_PID + 4;
    const u64 own_heap = p->heap, own_next = p->address_next;
    p->heap += 0x2000000;
    workload_op op = scenario_op(p, (u64)6000 * MS, tid, WORKLOAD_HEAP_CREATE);
    workload_add_op(p->w, &op);
    for (u32 i = 0; i < 2; i++) {
        op = scenario_op(p, (6010 + (u64)i * 900) * MS, tid, WORKLOAD_HEAP_EXPAND);
        op.address = p->heap + 0x2000 + (u64)i * 0x10000;
        op.size = 0x10000;
        op.stack = stack;
        op.halves = WORKLOAD_HALF_USER;
        workload_add_op(p->w, &op);
        p->address_next = op.address + 0x50;
        for (u32 j = 0; j < 20; j++)
            scenario_alloc(p, (6020 + (u64)i * 900 + j * 20) * MS, tid, stack, 3000);
    }
    op = scenario_op(p, (u64)14000 * MS, tid, WORKLOAD_HEAP_DESTROY);
    workload_add_op(p->w, &op);
    p->heap = own_heap;
    p->address_next = own_next;
}
