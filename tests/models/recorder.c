/*
 * recorder.c - the world and its sessions; recorder.h says what for.
 *
 * In: a setup. Out: events in their true order, and the files of the sessions.
 *
 * Events happen one after the other, at least 100 ns apart, so their order is known. Each is given to
 * the session that records its kind, if that one runs, with the time of the session's clock. Builders
 * get them in the true order (ETL_BUILD_AS_CALLED): a clock that was set back does not sort them.
 */
#include "recorder.h"

#include <stdio.h>
#include <stdlib.h>

#define TICK_NS      100
#define BUFFER_BYTES 4096u
#define LIVE_MAX     400u
#define HEAP         ((u64)0x1f0000)
#define KERNEL_FILE  0u
#define START_TIME   ((i64)132400000000000000) /* wall time when the kernel session starts */

/* A block that a program has. */
typedef struct live_block {
    u64 address, size;
    u8 program;
    bool is_range;
} live_block;

typedef struct world {
    recorder *r;
    u64 random;
    i64 now_ns;
    live_block live[LIVE_MAX];
    u32 live_count;
    u64 next_address;
    u64 freed[8]; /* addresses to use again */
    u32 freed_count;
    i64 starts_ns[RECORDER_PROGRAMS], ends_ns[RECORDER_PROGRAMS];
} world;

static u64 next_random(u64 *state)
{
    u64 x = *state += 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

static u32 below(u64 *state, u32 limit)
{
    return (u32)(next_random(state) % limit);
}

static bool chance(u64 *state, u32 percent)
{
    return below(state, 100) < percent;
}

recorder_setup recorder_draw(u64 seed)
{
    static const i64 lengths[] = { 50000000, 2000000000, 60000000000, 3600000000000 };
    static const i64 steps[] = { 500000, 1000000, 15625000 };
    u64 random = seed * 2654435761u + 1;
    recorder_setup out = { .seed = seed, .idle_cpu = UINT32_MAX, .late_cpu = UINT32_MAX };
    out.cpus = 1 + below(&random, 4);
    out.programs = 1 + below(&random, RECORDER_PROGRAMS);
    out.events = 60 + below(&random, 700);
    out.length_ns = lengths[below(&random, 4)];
    out.clock = chance(&random, 60) ? 1 : 2 + below(&random, 2);
    if (out.clock == 2)
        out.clock_step_ns = steps[below(&random, 3)];
    out.mode = (recorder_mode)below(&random, RECORDER_MODES);
    out.ring_buffers = out.cpus + 1 + below(&random, 4);
    out.two_files = chance(&random, 40);
    if (chance(&random, 40))
        out.heap_start_ns = out.length_ns / 10 * (1 + below(&random, 7));
    if (out.cpus > 1 && chance(&random, 50))
        out.idle_cpu = out.cpus - 1;
    else if (out.cpus > 1 && chance(&random, 50))
        out.late_cpu = out.cpus - 1;
    if (out.mode == RECORDER_FILE && chance(&random, 15))
        out.lost_buffers = 1 + below(&random, 2);
    if (out.clock == 2 && out.mode == RECORDER_FILE && out.length_ns > 3000000000 &&
        chance(&random, 30))
        out.set_back_ns = 2000000000;
    /* Only where all frees are recorded does an address say which block is meant. */
    out.reuses_addresses = out.mode != RECORDER_RING && out.mode != RECORDER_BUFFERING &&
                           out.lost_buffers == 0 && chance(&random, 70);
    return out;
}

void recorder_describe(const recorder_setup *s, char *out, size_t size)
{
    static const char *const modes[] = { "file", "ring", "buffering", "compressed" };
    snprintf(out, size,
             "seed %llu: %u cpus, %u programs, %u events in %.3f s, clock %u step %lld ns back "
             "%lld ns, %s of %u, %s, heap after %.3f s, idle %d, late %d, lost %u, %s",
             (unsigned long long)s->seed, s->cpus, s->programs, s->events,
             (double)s->length_ns / 1e9, s->clock, (long long)s->clock_step_ns,
             (long long)s->set_back_ns, modes[s->mode], s->ring_buffers,
             s->two_files ? "two files" : "one file", (double)s->heap_start_ns / 1e9,
             (int)s->idle_cpu, (int)s->late_cpu, s->lost_buffers,
             s->reuses_addresses ? "reuse" : "no reuse");
}

u32 recorder_pid(u32 program)
{
    return 1000 + 4 * program;
}

/* --- the world ------------------------------------------------------------------------- */

static u32 pick_cpu(world *w)
{
    const recorder_setup *const s = &w->r->setup;
    u32 cpu = below(&w->random, s->cpus);
    if ((cpu == s->idle_cpu && w->now_ns > s->length_ns / 5) ||
        (cpu == s->late_cpu && w->now_ns < s->length_ns / 10 * 9))
        cpu = 0;
    return cpu;
}

static void happen(world *w, recorder_op op, u32 program, u64 address, u64 size)
{
    recorder *const r = w->r;
    if (r->count == RECORDER_EVENTS)
        return;
    r->events[r->count++] = (recorder_event){
        .ns = w->now_ns,
        .op = (u8)op,
        .program = (u8)program,
        .cpu = pick_cpu(w),
        .tid = recorder_pid(program) * 10 + below(&w->random, 3),
        .address = address,
        .size = size,
    };
}

static bool runs(const world *w, u32 program)
{
    return w->now_ns >= w->starts_ns[program] && w->now_ns < w->ends_ns[program];
}

static void allocate(world *w, u32 program)
{
    const bool is_range = chance(&w->random, 15);
    const bool again =
        !is_range && w->r->setup.reuses_addresses && w->freed_count > 0 && chance(&w->random, 70);
    const u64 address = again ? w->freed[--w->freed_count] : w->next_address;
    const u64 size = is_range ? 0x10000 : 16 + below(&w->random, 4000);
    if (w->live_count == LIVE_MAX)
        return;
    w->next_address += again ? 0 : 0x20000;
    w->live[w->live_count++] = (live_block){ address, size, (u8)program, is_range };
    happen(w, is_range ? RECORDER_COMMIT : RECORDER_ALLOC, program, address, size);
}

/* Frees a block of the program, sooner a young one. */
static void release(world *w, u32 program)
{
    for (u32 turn = 0; turn < 8 && w->live_count > 0; turn++) {
        const u32 young = w->live_count < 8 ? w->live_count : 8;
        const u32 at = chance(&w->random, 70) ? w->live_count - 1 - below(&w->random, young)
                                              : below(&w->random, w->live_count);
        const live_block block = w->live[at];
        if (block.program != program)
            continue;
        w->live[at] = w->live[--w->live_count];
        if (!block.is_range && w->freed_count < ETL_COUNT_OF(w->freed))
            w->freed[w->freed_count++] = block.address;
        happen(w, block.is_range ? RECORDER_RELEASE : RECORDER_FREE, program, block.address,
               block.size);
        return;
    }
}

/* A session that starts says which programs run already. */
static void run_down(world *w, i64 before_ns)
{
    for (u32 p = 0; p < w->r->setup.programs; p++) {
        if (w->starts_ns[p] > before_ns || !runs(w, p))
            continue;
        happen(w, RECORDER_RUNNING, p, 0, 0);
        w->now_ns += TICK_NS;
    }
}

/* Programs that start or end now; blocks of those that ended are forgotten. */
static void turn_programs(world *w, i64 before_ns)
{
    const i64 start_ns = w->r->setup.heap_start_ns;
    if (!w->r->setup.two_files && start_ns > before_ns && start_ns <= w->now_ns)
        run_down(w, before_ns);
    for (u32 p = 0; p < w->r->setup.programs; p++) {
        if (w->starts_ns[p] > before_ns && w->starts_ns[p] <= w->now_ns) {
            w->starts_ns[p] = w->now_ns;
            happen(w, RECORDER_START, p, 0, 0);
            w->now_ns += TICK_NS;
        }
        if (w->ends_ns[p] > before_ns && w->ends_ns[p] <= w->now_ns) {
            w->ends_ns[p] = w->now_ns;
            happen(w, RECORDER_EXIT, p, 0, 0);
            w->now_ns += TICK_NS;
            for (u32 i = w->live_count; i-- > 0;) {
                if (w->live[i].program == p)
                    w->live[i] = w->live[--w->live_count];
            }
        }
    }
}

static void live_world(world *w)
{
    const recorder_setup *const s = &w->r->setup;
    const i64 mean_ns = s->length_ns / s->events;
    for (u32 p = 0; p < s->programs; p++) {
        w->starts_ns[p] = chance(&w->random, 50) ? -1 : s->length_ns / 100 * below(&w->random, 60);
        w->ends_ns[p] = p > 0 && chance(&w->random, 50)
                            ? w->starts_ns[p] + s->length_ns / 100 * (5 + below(&w->random, 30))
                            : INT64_MAX;
        if (w->starts_ns[p] < 0)
            happen(w, RECORDER_RUNNING, p, 0, 0);
    }
    for (u32 i = 0; i < s->events; i++) {
        const i64 before_ns = w->now_ns;
        const i64 gap_ns = (i64)(next_random(&w->random) % (u64)(2 * mean_ns));
        w->now_ns += (gap_ns / TICK_NS + 1) * TICK_NS;
        turn_programs(w, before_ns);
        const u32 program = below(&w->random, s->programs);
        if (!runs(w, program))
            continue;
        if (chance(&w->random, 55))
            allocate(w, program);
        else
            release(w, program);
        w->now_ns += TICK_NS;
    }
}

/* --- the sessions ---------------------------------------------------------------------- */

static bool is_of_heap(u8 op)
{
    return op == RECORDER_ALLOC || op == RECORDER_FREE;
}

/* What the clock says. */
static i64 clock_ticks(const recorder *r, i64 ns)
{
    const recorder_setup *const s = &r->setup;
    i64 shown_ns = ns;
    if (s->set_back_ns > 0 && ns > s->length_ns / 2)
        shown_ns -= s->set_back_ns;
    if (s->clock_step_ns > 0)
        shown_ns = shown_ns / s->clock_step_ns * s->clock_step_ns;
    return r->origin_ticks + (s->clock == 3 ? shown_ns : shown_ns / TICK_NS);
}

static etl_build *begin_session(const recorder *r, i64 start_ns, recorder_mode mode,
                                const char *name)
{
    const recorder_setup *const s = &r->setup;
    const bool is_ring = mode == RECORDER_RING || mode == RECORDER_BUFFERING;
    return etl_build_new(&(etl_build_options){
        .cpus = s->cpus,
        .buffer_bytes = BUFFER_BYTES,
        .clock = s->clock,
        .clock_hz = s->clock == 3 ? 1000000000 : 10000000,
        .start_ticks = clock_ticks(r, start_ns),
        .start_filetime = START_TIME + (clock_ticks(r, start_ns) - r->origin_ticks) /
                                           (s->clock == 3 ? TICK_NS : 1),
        .log_file_mode = mode == RECORDER_BUFFERING ? 0x400
                         : mode == RECORDER_RING    ? 0x2
                                                    : 0,
        .ring_buffers = is_ring ? s->ring_buffers : 0,
        .compress = mode == RECORDER_COMPRESSED,
        .order = ETL_BUILD_AS_CALLED,
        .session_name = name,
    });
}

static void write_event(etl_build *b, const recorder_event *event)
{
    static const char *const names[] = { "one.exe", "two.exe", "three.exe" };
    const u32 pid = recorder_pid(event->program);
    const etl_build_at at = {
        .ticks = event->ticks, .cpu = event->cpu, .pid = pid, .tid = event->tid
    };
    const etl_build_process_spec spec = { .pid = pid, .name = names[event->program] };
    switch ((recorder_op)event->op) {
    case RECORDER_ALLOC:
        etl_build_heap_alloc(b, at, HEAP, event->address, event->size);
        break;
    case RECORDER_FREE:
        etl_build_heap_free(b, at, HEAP, event->address);
        break;
    case RECORDER_COMMIT:
        etl_build_virtual_alloc(b, at, event->address, event->size,
                                ETL_BUILD_COMMIT | ETL_BUILD_RESERVE);
        break;
    case RECORDER_RELEASE:
        etl_build_virtual_free(b, at, event->address, event->size, ETL_BUILD_RELEASE);
        break;
    case RECORDER_START:
        etl_build_process(b, at, ETL_BUILD_START, &spec);
        break;
    case RECORDER_RUNNING:
        etl_build_process(b, at, ETL_BUILD_DCSTART, &spec);
        break;
    case RECORDER_EXIT:
        etl_build_process(b, at, ETL_BUILD_END, &spec);
        break;
    }
}

/* Which file an event goes to. Of one file all is of one session, which then starts late. */
static void place_event(const recorder *r, recorder_event *event)
{
    const recorder_setup *const s = &r->setup;
    const u32 heap_file = s->two_files ? 1 : KERNEL_FILE;
    event->file = (u8)(is_of_heap(event->op) ? heap_file : KERNEL_FILE);
    event->is_recorded = event->file != heap_file || event->ns >= s->heap_start_ns;
    event->ticks = clock_ticks(r, event->ns);
}

static void record(recorder *r)
{
    const recorder_setup *const s = &r->setup;
    const u32 heap_file = s->two_files ? 1 : KERNEL_FILE;
    u64 random = s->seed ^ 0x5151;
    u32 lost = s->lost_buffers;
    r->file_count = s->two_files ? 2 : 1;
    r->zero_ticks = clock_ticks(r, s->two_files ? 0 : s->heap_start_ns);
    if (s->two_files)
        r->files[KERNEL_FILE] = begin_session(r, 0, RECORDER_FILE, "NT Kernel Logger");
    r->files[heap_file] = begin_session(r, s->heap_start_ns, s->mode, "Heap Session");
    for (u32 i = 0; i < r->count; i++) {
        recorder_event *const event = &r->events[i];
        place_event(r, event);
        if (!event->is_recorded)
            continue;
        write_event(r->files[event->file], event);
        if (lost > 0 && event->file == heap_file && i > r->count / 3 && chance(&random, 3)) {
            etl_build_lose_buffer(r->files[heap_file], event->ticks, event->cpu);
            lost--;
        }
    }
    for (u32 i = 0; i < r->file_count; i++) {
        if (!etl_build_finish(r->files[i]))
            snprintf(r->error, sizeof r->error, "%s", etl_build_error(r->files[i]));
    }
}

void recorder_make(recorder *out, const recorder_setup *setup)
{
    *out = (recorder){ .setup = *setup };
    out->events = calloc(RECORDER_EVENTS, sizeof *out->events);
    out->origin_ticks = setup->clock == 2 ? START_TIME : 1000000;
    world *const w = calloc(1, sizeof *w);
    if (out->events == NULL || w == NULL)
        abort();
    w->r = out;
    w->random = setup->seed;
    w->next_address = 0x20000000000;
    w->now_ns = 1000;
    live_world(w);
    free(w);
    record(out);
    if (out->error[0] == '\0')
        recorder_find_truth(out);
}

void recorder_free(recorder *r)
{
    for (u32 i = 0; i < r->file_count; i++)
        etl_build_free(r->files[i]);
    free(r->events);
    *r = (recorder){ .count = 0 };
}
