/*
 * workload_random.c - makes a random workload from a seed: four programs, of which one is 32-bit,
 * and one ends and has its process id taken by another one.
 *
 * In: a seed and options. Out: a workload.
 *
 *     rundown ─ heaps made ─ steps ─ A ends ─ steps ─ A' starts ─ steps ─ rundown
 *                            └ each step: a process, a thread, an operation
 *
 * Invariant: times only grow, and the generator knows which blocks and threads are in use, so
 * nothing impossible is made; trouble is made on purpose.
 */
#include "workload_random.h"

#include <stdio.h>
#include <stdlib.h>

#define FIRST_OP_US        800u
#define END_PERCENT        45u /* of the operations: a process ends */
#define REBIRTH_PERCENT    55u /* its id is taken */
#define REBIRTH_AFTER_US   6000u
#define PLUGIN_BASE        0x7ffa30000000u
#define PLUGIN_BASE_NARROW 0x10000000u
#define PLUGIN_BYTES       0x40000u
#define PLUGIN_PERIOD      150u /* operations between loads and unloads */
#define SYSTEM_PID         4u
#define SYSTEM_TID         96u

typedef struct program {
    const char *name;
    u32 pid;
    bool wow64;
} program;

static const program programs[] = {
    { "BatteryMeter.exe", 1000, false },
    { "MemoryTestApp.exe", 1004, false },
    { "ckb.exe", 1008, false },
    { "legacy32.exe", 1012, true },
};
static const program reborn = { "reborn.exe", 1004, false };

#define ENDING_RUNNER 1u

static maker *maker_new(const workload_options *options);
static void choose_options(workload_options *o);
static u32 add_system_process(maker *m);
static void add_runner(maker *m, const program *p, bool ran_before);
static void add_threads(maker *m, runner *r, workload_process *process);
static void step(maker *m, u64 number);
static void make_noise(maker *m);
static void make_tie(maker *m);
static void step_plugin(maker *m, runner *r);
static void end_process(maker *m, runner *r);
static void start_process(maker *m);
static void log_start(maker *m, const runner *r, const runner *parent);
static runner *pick_runner(maker *m);

workload *workload_random(const workload_options *options)
{
    maker *const m = maker_new(options);
    const u32 system = add_system_process(m);
    for (size_t i = 0; i < ETL_COUNT_OF(programs); i++)
        add_runner(m, &programs[i], true);
    m->now += ticks_of_us(m, FIRST_OP_US);
    for (u32 i = 0; i < m->runner_count; i++)
        maker_heap_begin(m, &m->runners[i]);

    const u64 total = m->options.operations;
    i64 ended = 0;
    bool is_reborn = false;
    for (u64 i = 0; i < total; i++) {
        step(m, i);
        if (i % 700 == 350) {
            m->now++;
            maker_system_commit(m, system, SYSTEM_TID);
        }
        if (ended == 0 && i >= total * END_PERCENT / 100) {
            end_process(m, &m->runners[ENDING_RUNNER]);
            ended = m->now;
        }
        if (ended == 0 || is_reborn || i < total * REBIRTH_PERCENT / 100)
            continue;
        if (m->now - ended >= ticks_of_us(m, REBIRTH_AFTER_US)) {
            start_process(m);
            is_reborn = true;
        }
    }
    workload *const w = m->w;
    w->end_ticks = m->now + ticks_of_us(m, FIRST_OP_US);
    workload_sort(w);
    if (options != NULL && options->free_stacks)
        workload_add_free_stacks(w, options->seed);
    free(m);
    return w;
}

static maker *maker_new(const workload_options *options)
{
    static const workload_options defaults;
    maker *const m = calloc(1, sizeof *m);
    if (m == NULL)
        abort();
    m->options = options ? *options : defaults;
    choose_options(&m->options);
    m->w = workload_new(m->options.start_ticks, m->options.clock_hz);
    m->w->rundown_ticks = m->options.start_ticks + 200;
    m->w->end_rundown_only = m->options.end_rundown_only;
    m->w->narrow = m->options.narrow;
    m->mean_gap_ticks = 1 + (u64)m->options.mean_gap_ns * m->options.clock_hz / 1000000000u;
    m->random = m->options.seed;
    m->now = m->options.start_ticks;
    m->tid_next = 2000;
    return m;
}

static void choose_options(workload_options *o)
{
    o->seed = o->seed ? o->seed : 1;
    o->operations = o->operations ? o->operations : 4000;
    o->cpus = o->cpus ? o->cpus : 4;
    o->clock_hz = o->clock_hz ? o->clock_hz : 10000000;
    o->start_ticks = o->start_ticks ? o->start_ticks : 1000000;
    o->stacks = o->stacks ? o->stacks : 150;
    o->mean_gap_ns = o->mean_gap_ns ? o->mean_gap_ns : 26000;
}

static u32 add_system_process(maker *m)
{
    const workload_process process = { .pid = SYSTEM_PID,
                                       .name = "System",
                                       .ran_before = true,
                                       .tids = { SYSTEM_TID },
                                       .thread_count = 1 };
    return workload_add_process(m->w, &process);
}

static void add_runner(maker *m, const program *p, bool ran_before)
{
    runner *const r = &m->runners[m->runner_count];
    workload_process process = { .pid = p->pid,
                                 .parent_pid = 900,
                                 .wow64 = p->wow64 && !m->w->narrow,
                                 .ran_before = ran_before };
    snprintf(process.name, sizeof process.name, "%s", p->name);
    const bool narrow = p->wow64 || m->w->narrow;
    *r = (runner){ .narrow = narrow,
                   .address_next = narrow ? 0x3000000 : 0x20000001050,
                   .unknown_next = narrow ? 0x9000000 : 0x30000000010,
                   .region_next = narrow ? 0x20000000 : 0x10000000000,
                   .plugin = WORKLOAD_NONE };
    add_threads(m, r, &process);
    r->process = workload_add_process(m->w, &process);
    workload_add_usual_images(m->w, r->process, ran_before ? INT64_MIN : m->now + 30);
    maker_stack_pools(m, r);
    m->runner_count++;
}

static void add_threads(maker *m, runner *r, workload_process *process)
{
    r->thread_count = WORKLOAD_THREADS_MAX - 1;
    for (u32 i = 0; i < r->thread_count; i++) {
        r->threads[i] =
            (runner_thread){ .tid = m->tid_next, .cpu = (u32)below(m, m->options.cpus) };
        process->tids[i] = m->tid_next;
        m->tid_next += 4;
    }
    r->noise_tid = m->tid_next;
    process->tids[r->thread_count] = m->tid_next;
    m->tid_next += 4;
    process->thread_count = WORKLOAD_THREADS_MAX;
}

/* --- one step --- */

static void step(maker *m, u64 number)
{
    m->now += 1 + (i64)below(m, m->mean_gap_ticks * 2);
    runner *const r = pick_runner(m);
    const u64 pick = below(m, 100);
    if (pick < 6)
        make_noise(m);
    else if (pick < 8)
        make_tie(m);
    else if (pick < 18)
        maker_memory_step(m, r);
    else
        maker_heap_step(m, r);
    if (!m->options.no_module_reuse && number % PLUGIN_PERIOD == PLUGIN_PERIOD - 1)
        step_plugin(m, &m->runners[0]);
}

static runner *pick_runner(maker *m)
{
    runner *r = NULL;
    do {
        r = &m->runners[below(m, m->runner_count)];
    } while (r->process == WORKLOAD_NONE);
    return r;
}

runner_thread *maker_thread(maker *m, runner *r)
{
    const u32 first = (u32)below(m, r->thread_count);
    for (u32 i = 0; i < r->thread_count; i++) {
        runner_thread *const t = &r->threads[(first + i) % r->thread_count];
        if (t->busy_until > m->now)
            continue;
        if (chance(m, 10))
            t->cpu = (u32)below(m, m->options.cpus);
        return t;
    }
    return NULL;
}

workload_op maker_op(const maker *m, const runner *r, const runner_thread *t, workload_op_kind kind)
{
    return (workload_op){ .ticks = m->now,
                          .kind = (u8)kind,
                          .cpu = t->cpu,
                          .user_cpu = t->cpu,
                          .tid = t->tid,
                          .process = r->process,
                          .freer = r->process,
                          .stack = WORKLOAD_NONE };
}

void maker_heap_stack(maker *m, runner *r, workload_op *op)
{
    if (chance(m, 4))
        return;
    op->halves = WORKLOAD_HALF_USER;
    op->stack = r->plugin != WORKLOAD_NONE && chance(m, 10)
                    ? r->plugin_stack
                    : r->heap_stacks[below(m, r->heap_stack_count)];
}

u32 maker_other_cpu(maker *m, u32 cpu)
{
    if (m->options.cpus == 1)
        return cpu;
    return (cpu + 1 + (u32)below(m, m->options.cpus - 1)) % m->options.cpus;
}

static void make_noise(maker *m)
{
    runner *const r = pick_runner(m);
    const runner_thread t = { .tid = r->noise_tid, .cpu = (u32)below(m, m->options.cpus) };
    workload_op op = maker_op(m, r, &t, WORKLOAD_NOISE);
    op.noise = (u8)below(m, chance(m, 10) ? WORKLOAD_NOISE_COUNT : WORKLOAD_NOISE_MARK);
    op.stack = r->memory_stacks[below(m, r->memory_stack_count)];
    op.halves = WORKLOAD_HALVES;
    op.address = 0x7ff6d2a41234;
    workload_add_op(m->w, &op);
}

/* A commit, and a sample with a stack of its own at the same tick elsewhere. */
static void make_tie(maker *m)
{
    const u32 before = m->w->op_count;
    runner *const r = pick_runner(m);
    maker_memory_step(m, r);
    if (m->options.cpus == 1 || m->w->op_count == before)
        return;
    const workload_op tied = m->w->ops[before];
    if (m->options.tidless && tied.halves == 0)
        return; /* nothing in the trace would say whose stack it is */
    const runner_thread t = { .tid = r->noise_tid, .cpu = maker_other_cpu(m, tied.cpu) };
    workload_op op = maker_op(m, r, &t, WORKLOAD_NOISE);
    op.ticks = tied.ticks;
    op.noise = WORKLOAD_NOISE_SAMPLE;
    op.stack = r->memory_stacks[below(m, r->memory_stack_count)];
    op.halves = WORKLOAD_HALVES;
    workload_add_op(m->w, &op);
}

/* Loads an image at a base where another one was before, or unloads it. */
static void step_plugin(maker *m, runner *r)
{
    const runner_thread *const t = &r->threads[0];
    m->now += ticks_of_us(m, 20);
    if (t->busy_until > m->now)
        return;
    if (r->plugin != WORKLOAD_NONE) {
        workload_op op = maker_op(m, r, t, WORKLOAD_IMAGE_UNLOAD);
        op.image = r->plugin;
        m->w->images[r->plugin].unload_ticks = m->now;
        m->w->images[r->plugin].unloads = true;
        workload_add_op(m->w, &op);
        r->plugin = WORKLOAD_NONE;
        return;
    }
    workload_image image = { .process = r->process,
                             .base = r->narrow ? PLUGIN_BASE_NARROW : PLUGIN_BASE,
                             .size = PLUGIN_BYTES,
                             .load_ticks = m->now,
                             .unload_ticks = INT64_MAX };
    snprintf(image.path, sizeof image.path, "\\Device\\HarddiskVolume3\\Programs\\plugin%u.dll",
             r->plugin_number++ % 3);
    r->plugin = workload_add_image(m->w, &image);
    r->plugin_stack = maker_image_stack(m, r, r->plugin);
    workload_op op = maker_op(m, r, t, WORKLOAD_IMAGE_LOAD);
    op.image = r->plugin;
    workload_add_op(m->w, &op);
    m->now += ticks_of_us(m, 20);
}

/* --- a process ends, another one takes its id --- */

/* Waits until all threads are back in user mode. */
static void wait_for_threads(maker *m, const runner *r)
{
    for (u32 i = 0; i < r->thread_count; i++)
        m->now = r->threads[i].busy_until > m->now ? r->threads[i].busy_until : m->now;
}

/* Ends a process. Its images are unloaded first, which reports them if no rundown has. */
static void end_process(maker *m, runner *r)
{
    m->now += ticks_of_us(m, 2000); /* nothing is in doubt any more */
    wait_for_threads(m, r);
    for (u32 i = 0; i < m->w->image_count; i++) {
        if (m->w->images[i].process != r->process || m->w->images[i].unloads)
            continue;
        m->now += 5;
        workload_op op = maker_op(m, r, &r->threads[0], WORKLOAD_IMAGE_UNLOAD);
        op.image = i;
        workload_add_op(m->w, &op);
    }
    m->now += 5;
    const workload_op end = maker_op(m, r, &r->threads[0], WORKLOAD_PROCESS_END);
    workload_add_op(m->w, &end);
    maker_late_frees(m, r, m->now);
    m->w->processes[r->process].ends = true;
    r->process = WORKLOAD_NONE;
    m->now += 10;
}

static void start_process(maker *m)
{
    runner *const parent = &m->runners[0];
    m->now += ticks_of_us(m, 1000);
    add_runner(m, &reborn, false);
    runner *const r = &m->runners[m->runner_count - 1];
    if (!m->options.no_early_commits) {
        maker_early_commits(m, r, parent);
        m->now += ticks_of_us(m, 100);
    }
    log_start(m, r, parent);
    maker_heap_begin(m, r);
}

static void log_start(maker *m, const runner *r, const runner *parent)
{
    wait_for_threads(m, parent);
    workload_op op = maker_op(m, parent, &parent->threads[0], WORKLOAD_PROCESS_START);
    op.process = r->process;
    workload_add_op(m->w, &op);
    for (u32 i = 0; i < m->w->image_count; i++) {
        workload_image *const image = &m->w->images[i];
        if (image->process != r->process)
            continue;
        m->now += 15;
        image->load_ticks = m->now;
        op = maker_op(m, r, &r->threads[0], WORKLOAD_IMAGE_LOAD);
        op.image = i;
        workload_add_op(m->w, &op);
    }
    for (u32 i = 1; i < r->thread_count; i++) {
        m->now += 15;
        op = maker_op(m, r, &r->threads[i], WORKLOAD_THREAD_START);
        workload_add_op(m->w, &op);
    }
    m->now += 30;
}
