/*
 * scenario.c - the table of scenarios, and the parts they are made of.
 *
 * In: a name. Out: a workload or calls of the builder: a trace with known numbers. The helpers make
 * processes, stacks, blocks and commits of one program. Invariant: what a scenario allocates stands
 * beside its constants in scenario.h, and tests compare with those; change both together.
 */
#include "scenario_dotnet.h"
#include "scenario_handle.h"
#include "scenario_heap_pages.h"
#include "scenario_inside.h"
#include "scenario_mapped.h"
#include "scenario_pool.h"
#include "scenario_section.h"

#include <stdio.h>

static workload *make_random(const scenario_run *run, const etl_build *b);

const scenario scenarios[] = {
    { "demo", "20 s: a leak, a growing heap and VirtualAlloc spikes; small", scenario_demo, NULL },
    { "battery-meter", "60 s: one thread leaks 2 x 4 KiB a tick beside transient blocks",
      scenario_battery_meter, NULL },
    { "battery-meter-fixed", "20 s: the demo without the leak, with stacks of frees",
      scenario_battery_meter_fixed, NULL },
    { "virtualalloc-exercise", "10 s: 126 MiB of commits, all freed by the end",
      scenario_virtualalloc_exercise, NULL },
    { "heap-exercise", "12 s: 1,200 operator new leaks at a constant rate", scenario_heap_exercise,
      NULL },
    { "workload", "random programs with every kind of trouble (--seed, --events)", make_random,
      NULL },
    { "test-runner", "6 s: a mark before each of five tests, of which two leak", NULL,
      scenario_test_runner },
    { "processes", "short processes, one after the other (--events)", NULL, scenario_processes },
    { "pool-leak", "5 s: a driver leaks 50 blocks of paged pool; every odd case of pool", NULL,
      scenario_pool_leak },
    { "handle-leak", "5 s: a program leaks 60 handles to events; other odd cases", NULL,
      scenario_handle_leak },
    { "pool-driver", "5 s: a driver leaks 50 blocks of paged pool, and nothing is odd", NULL,
      scenario_pool_driver },
    { "pool-before", "5 s: the driver of pool-driver before it leaked more", NULL,
      scenario_pool_before },
    { "heap-pages", "3 s: three heaps: one fragmented, one leaks, one commits and decommits", NULL,
      scenario_heap_pages },
    { "dotnet", "10 s: native memory leaks below methods of .NET", NULL, scenario_dotnet },
    { "mapped-views", "5 s: 20 views of a file that are never unmapped; every odd case of views",
      NULL, scenario_mapped_views },
    { "section-leak", "5 s: a program leaks 12 sections of the page file; other odd cases", NULL,
      scenario_section_leak },
    { "kitchen-sink", "every event the builder can write", NULL, scenario_kitchen_sink },
    { NULL, NULL, NULL, NULL },
};

const scenario *scenario_find(const char *name)
{
    for (const scenario *s = scenarios; s->name != NULL; s++) {
        if (strcmp(s->name, name) == 0)
            return s;
    }
    return NULL;
}

bool scenario_write(const scenario *s, scenario_run *run, etl_build *b)
{
    run->cpus = run->cpus ? run->cpus : 4;
    run->seed = run->seed ? run->seed : 1;
    if (s->make == NULL) {
        s->write(run, b);
    } else {
        run->work = s->make(run, b);
        run->truth = workload_truth_of(run->work);
        workload_write(run->work, b, run->heap ? run->heap : b);
    }
    return etl_build_error(b) == NULL;
}

void scenario_run_free(scenario_run *run)
{
    workload_truth_free(&run->truth);
    workload_free(run->work);
    run->work = NULL;
}

static workload *make_random(const scenario_run *run, const etl_build *b)
{
    return workload_random(&(workload_options){ .seed = run->seed,
                                                .operations = run->operations,
                                                .cpus = run->cpus,
                                                .clock_hz = etl_build_clock_hz(b),
                                                .start_ticks = etl_build_start_ticks(b),
                                                .narrow = etl_build_pointer_bytes(b) == 4,
                                                .tidless = run->tidless,
                                                .free_stacks = run->free_stacks,
                                                .end_rundown_only = run->end_rundown_only });
}

/* --- parts --- */

workload *scenario_workload(const scenario_run *run, const etl_build *b, u64 ns)
{
    workload *const w = workload_new(etl_build_start_ticks(b), etl_build_clock_hz(b));
    w->rundown_ticks = w->start_ticks + 200;
    w->end_ticks = etl_build_ticks_at(b, ns);
    w->end_rundown_only = run->end_rundown_only;
    w->narrow = etl_build_pointer_bytes(b) == 4;
    return w;
}

scenario_program scenario_program_of(workload *w, const scenario_run *run, const etl_build *b,
                                     const workload_process *process)
{
    workload_process copy = *process;
    copy.ran_before = true;
    copy.tids[1] = copy.pid + 4;
    copy.tids[2] = copy.pid + 8;
    copy.thread_count = 3;
    const bool narrow = copy.wow64 || w->narrow;
    scenario_program p = {
        .w = w,
        .b = b,
        .heap = narrow ? BATTERY_METER_HEAP_WOW64 : BATTERY_METER_HEAP,
        .region_next = narrow ? 0x5000000 : 0x1c0b0000000,
        .cpus = run->cpus,
        .random = run->seed + copy.pid,
    };
    p.address_next = p.heap + 0x10850;
    p.process = workload_add_process(w, &copy);
    workload_add_usual_images(w, p.process, INT64_MIN);
    return p;
}

u32 scenario_stack(const scenario_program *p, const scenario_frame *frames, u32 count,
                   u32 kernel_count)
{
    u64 addresses[WORKLOAD_FRAMES_MAX];
    char program[64];
    workload_image named = { 0 };
    snprintf(named.path, sizeof named.path, "%s", p->w->processes[p->process].name);
    workload_image_name(&named, program);
    for (u32 i = 0; i < count; i++) {
        const u32 owner = i < kernel_count ? WORKLOAD_KERNEL : p->process;
        const char *const name = frames[i].image ? frames[i].image : program;
        const u32 image = workload_find_image(p->w, owner, name);
        addresses[i] = p->w->images[image].base + frames[i].offset;
    }
    return workload_add_stack(p->w, p->process, INT64_MAX - 1, addresses,
                              (u32[2]){ kernel_count, count - kernel_count });
}

workload_op scenario_op(const scenario_program *p, u64 ns, u32 tid, workload_op_kind kind)
{
    const u32 cpu = tid / 4 % p->cpus;
    return (workload_op){ .ticks = etl_build_ticks_at(p->b, ns),
                          .kind = (u8)kind,
                          .cpu = cpu,
                          .user_cpu = cpu,
                          .tid = tid,
                          .process = p->process,
                          .freer = p->process,
                          .stack = WORKLOAD_NONE,
                          .heap = kind <= WORKLOAD_HEAP_CONTRACT ? p->heap : 0 };
}

u64 scenario_alloc(scenario_program *p, u64 ns, u32 tid, u32 stack, u64 size)
{
    workload_op op = scenario_op(p, ns, tid, WORKLOAD_HEAP_ALLOC);
    op.address = p->address_next;
    op.size = size;
    op.stack = stack;
    op.halves = WORKLOAD_HALF_USER;
    workload_add_op(p->w, &op);
    p->address_next += (size + 31) / 16 * 16;
    return op.address;
}

void scenario_transients(scenario_program *p, u32 count, u64 ns)
{
    static const u64 sizes[] = { 24, 32, 48, 64, 96, 128, 272, 520, 1040, 2080 };
    static const scenario_frame leading[] = { { "ntdll.dll", 0x2c1f3 },
                                              { "ntdll.dll", 0x2b4a0 },
                                              { "ucrtbase.dll", 0xfe26 } };
    enum { STACKS = 30, SLOTS = 64, DEPTH = 14 };
    u32 stacks[STACKS];
    for (u32 i = 0; i < STACKS; i++) {
        scenario_frame frames[DEPTH];
        const u32 depth = 7 + i % (DEPTH - 7);
        memcpy(frames, leading, sizeof leading);
        for (u32 j = 3; j < depth - 2; j++)
            frames[j] = (scenario_frame){ NULL, 0x3000 + (u64)i * 0x140 / j + j * 0x21 };
        frames[depth - 2] = (scenario_frame){ "kernel32.dll", 0x17614 };
        frames[depth - 1] = (scenario_frame){ "ntdll.dll", 0x526b1 };
        stacks[i] = scenario_stack(p, frames, depth, 0);
    }
    /* Slot by slot in turn, and freed before its turn comes again. */
    const u64 gap_ns = ns / (count + SLOTS);
    const u64 slot_base = p->address_next;
    p->address_next += (u64)SLOTS * 0x900;
    const u32 pid = p->w->processes[p->process].pid;
    for (u32 i = 0; i < count; i++) {
        const u64 begin_ns = (u64)i * gap_ns + workload_random_below(&p->random, gap_ns / 2) + 1;
        const u64 life_ns = 1000 + workload_random_below(&p->random, gap_ns * (SLOTS - 4));
        const u32 tid = pid + (workload_random_below(&p->random, 2) ? 4 : 8);
        workload_op op = scenario_op(p, begin_ns, tid, WORKLOAD_HEAP_ALLOC);
        op.address = slot_base + (u64)(i % SLOTS) * 0x900;
        op.size = sizes[workload_random_below(&p->random, ETL_COUNT_OF(sizes))];
        op.stack = stacks[workload_random_below(&p->random, STACKS)];
        op.halves = WORKLOAD_HALF_USER;
        workload_add_op(p->w, &op);
        op.kind = WORKLOAD_HEAP_FREE;
        op.halves = 0;
        op.ticks = etl_build_ticks_at(p->b, begin_ns + life_ns);
        workload_add_op(p->w, &op);
    }
}

void scenario_commit(scenario_program *p, u64 ns, u64 free_ns, u32 stack, u64 size)
{
    const u32 tid = p->w->processes[p->process].pid + 4;
    workload_op op = scenario_op(p, ns, tid, WORKLOAD_VIRTUAL_ALLOC);
    op.address = p->region_next;
    op.size = size;
    op.flags = ETL_BUILD_RESERVE | ETL_BUILD_COMMIT;
    op.stack = stack;
    op.halves = WORKLOAD_HALVES;
    workload_add_op(p->w, &op);
    p->region_next += size + 0x10000;
    if (free_ns == 0)
        return;
    op.kind = WORKLOAD_VIRTUAL_FREE;
    op.ticks = etl_build_ticks_at(p->b, free_ns);
    op.flags = ETL_BUILD_RELEASE;
    op.halves = 0;
    workload_add_op(p->w, &op);
}
