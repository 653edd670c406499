/*
 * workload_world.c - runs the program that fuzz bytes are: time, processes, threads and stacks.
 * workload_world.h has the model and the bytes.
 *
 * In: fuzz bytes. Out: a world: one or two traces, and the lives of everything in it.
 *
 *     for each 8 bytes: time passes, a thread is chosen, an operation runs (workload_heap.c,
 *     workload_memory.c, or a process starts or ends here)
 *
 * Invariant: nothing impossible happens. A thread does one thing after another (world_busy), and
 * events that follow from each other are never at the same tick on different processors
 * (world_touch), because a trace has no order for that.
 */
#include "workload_world.h"

#include <stdlib.h>

#define CLOCK_HZ     10000000
#define START_TICKS  1000000
#define KERNEL_FRAME 0xfffff80000000000u
#define USER_FRAME   0x7ff600000000u
#define PID_FIRST    100u
#define TID_FIRST    1000u
#define PARENT_PID   8u
#define LONG_STEP    1000000 /* longer ones are for threads that wait for nothing */

enum { OP_HEAP = 20, OP_MEMORY = 28, OP_PROCESS = 32 };

static void open_world(world *w, const u8 *machine);
static void open_heap_file(world *w, const etl_build_options *system, u32 size);
static void start_all(world *w);
static void end_all(world *w);
static void run_op(world *w, const u8 *bytes);
static bool choose_thread(world *w, const u8 *bytes, world_op *op);
static void process_op(world *w, const world_op *op);
static world_thread *add_thread(world *w, u32 process, u32 cpu);
static void end_thread(world *w, world_thread *thread);
static bool add_process(world *w, u32 slot, u32 name, bool ran_before);
static void start_process(world *w, const world_op *op);
static void end_process(world *w, const world_op *op);
static void write_process(world *w, etl_build_at at, u8 type, const world_process *process);

static const char *const names[] = { "a.exe", "b.exe" };

void world_run(world *w, const u8 *data, size_t size)
{
    open_world(w, data);
    start_all(w);
    for (u32 i = 1; i <= WORLD_OPS_MAX && (i + 1) * WORLD_BYTES <= size; i++)
        run_op(w, data + (size_t)i * WORLD_BYTES);
    end_all(w);
}

void world_close(world *w)
{
    if (w->heap != w->system)
        etl_build_free(w->heap);
    etl_build_free(w->system);
    ETLHEAP_VECTOR_FREE(&w->ids);
    ETLHEAP_VECTOR_FREE(&w->lives);
    ETLHEAP_VECTOR_FREE(&w->commits);
    ETLHEAP_VECTOR_FREE(&w->walks);
}

static void open_world(world *w, const u8 *machine)
{
    *w = (world){ .flags = machine[1],
                  .cpus = 1 + machine[0] % WORLD_CPUS_MAX,
                  .one_stream = machine[0] / 4 % 8 == 7,
                  .tells_pages = machine[0] / 4 % 2 == 1,
                  .start = START_TICKS,
                  .now = START_TICKS + 1000 };
    etl_build_options options = {
        .cpus = w->cpus,
        .buffer_bytes = 1024u << machine[2] % 6,
        .compress = (w->flags & WORLD_COMPRESSED) != 0,
        .keyed_stacks = (w->flags & WORLD_KEYED) != 0,
        .stack_key_slots = 4,
        .one_stream = w->one_stream,
        .virtual_alloc_without_tid = (w->flags & WORLD_TIDLESS) != 0,
        .events_lost = machine[7] == UINT8_MAX,
        .start_ticks = START_TICKS,
        .clock_hz = CLOCK_HZ,
    };
    w->system = w->heap = etl_build_new(&options);
    if ((w->flags & WORLD_TWO_FILES) != 0)
        open_heap_file(w, &options, machine[2] / 6);
    w->is_lossy = machine[7] != 0;
    if (w->is_lossy && machine[7] != UINT8_MAX)
        etl_build_break(machine[7] % 2 == 0 ? w->heap : w->system, ETL_BREAK_BUFFER_DROP,
                        1 + machine[7] / 2, 0);
}

static void open_heap_file(world *w, const etl_build_options *system, u32 size)
{
    /* Keys are unique in a system, which two builders know nothing of. */
    etl_build_options options = *system;
    options.stack_key_base = 0xFFFFA80003400010u;
    options.buffer_bytes = 1024u << size % 6;
    w->heap = etl_build_new(&options);
}

/* --- time ----------------------------------------------------------------------------- */

u32 world_place(const world *w, u32 cpu, bool is_heap)
{
    const u32 file = is_heap && w->heap != w->system ? 16 : 0;
    return file + (w->one_stream ? 0 : cpu);
}

void world_touch(world *w, const world_stamp *stamp, u32 place)
{
    if (stamp->ticks > w->now || (stamp->ticks == w->now && stamp->place != place))
        w->now = stamp->ticks + 1;
}

void world_busy(world *w, world_thread *thread, i64 ticks)
{
    world_process *const process = &w->processes[thread->process];
    thread->busy_ticks = ticks > thread->busy_ticks ? ticks : thread->busy_ticks;
    process->quiet_ticks = ticks > process->quiet_ticks ? ticks : process->quiet_ticks;
}

etl_build_at world_at(const world *w, const world_thread *thread, i64 ticks)
{
    return (etl_build_at){ .ticks = ticks,
                           .cpu = thread->cpu,
                           .pid = w->processes[thread->process].pid,
                           .tid = thread->tid };
}

i64 world_delay(u8 number)
{
    static const i64 delays[] = { 1, 2, 13, 60, 106, 700, 3000, 9000 };
    return delays[number % ETL_COUNT_OF(delays)];
}

static i64 step_of(u8 number)
{
    static const i64 steps[] = { 0,   0,    1,     1,     2,      5,       13,       50,
                                 200, 1000, 10000, 30000, 200000, 2000000, 15000000, 40000000 };
    return steps[number % ETL_COUNT_OF(steps)];
}

world_frees *world_frees_of(world *w, const world_thread *thread, u32 cpu)
{
    const u32 pid = w->processes[thread->process].pid;
    world_frees *const of_thread = w->frees[(pid - PID_FIRST) / 4][thread->tid - TID_FIRST];
    return &of_thread[cpu == WORLD_NONE ? WORLD_CPUS_MAX : cpu];
}

/* --- operations ------------------------------------------------------------------------ */

static void run_op(world *w, const u8 *bytes)
{
    world_op op = { .kind = bytes[0] % OP_PROCESS,
                    .variant = bytes[1] >> 5,
                    .place = bytes[3],
                    .address = bytes[4],
                    .size = bytes[5],
                    .stack = bytes[6] & 15,
                    .form = bytes[6] >> 4,
                    .delay = bytes[7] };
    if (!choose_thread(w, bytes, &op))
        return;
    if (op.kind < OP_HEAP) {
        world_leave_kernel(w, op.thread);
        world_heap_op(w, &op);
    } else if (op.kind < OP_MEMORY) {
        world_memory_op(w, &op);
    } else {
        process_op(w, &op);
    }
}

/* Lets time pass until the thread can do something on that processor. */
static bool choose_thread(world *w, const u8 *bytes, world_op *op)
{
    op->thread = NULL;
    for (u32 i = 0; i < WORLD_THREADS && op->thread == NULL; i++) {
        world_thread *const thread = &w->threads[((bytes[1] & 7) + i) % WORLD_THREADS];
        op->thread = thread->is_alive ? thread : NULL;
    }
    if (op->thread == NULL)
        return false;
    world_thread *const thread = op->thread;
    op->process = &w->processes[thread->process];
    const i64 step = step_of(bytes[2]);
    for (u32 i = 0; i < WORLD_THREADS && step >= LONG_STEP; i++)
        world_leave_kernel(w, &w->threads[i]);
    w->now += step;
    if (w->now < thread->busy_ticks)
        w->now = thread->busy_ticks;
    const u32 cpu = (bytes[1] >> 3 & 3) % w->cpus;
    if (thread->cpu != cpu && w->now <= thread->busy_ticks)
        w->now = thread->busy_ticks + 1;
    thread->cpu = cpu;
    return true;
}

static void process_op(world *w, const world_op *op)
{
    switch (op->kind - OP_MEMORY) {
    case 0:
        start_process(w, op);
        break;
    case 1:
        end_process(w, op);
        break;
    case 2:
        world_leave_kernel(w, op->thread);
        w->now = op->process->quiet_ticks >= w->now ? op->process->quiet_ticks + 1 : w->now + 1;
        (void)add_thread(w, op->thread->process, op->thread->cpu);
        break;
    default:
        end_thread(w, op->thread);
        break;
    }
}

/* --- stacks ---------------------------------------------------------------------------- */

u32 world_add_walk(world *w, world_walk walk)
{
    if (!ETLHEAP_PUSH(&w->walks, walk))
        abort();
    return (u32)w->walks.count - 1;
}

static u32 frames_of(bool is_kernel, u32 number, u64 *frames)
{
    const u32 count = is_kernel ? 1 + number % 6 : 1 + number * 5 % WORLD_FRAMES_MAX;
    const u64 base = is_kernel ? KERNEL_FRAME : USER_FRAME;
    for (u32 i = 0; i < count; i++)
        frames[i] =
            base + 0x1000u * (count - i) + 0x10u * (number >> (3 * (count - 1 - i) / count));
    return count;
}

u32 world_frames(const world *w, u32 walk, u64 frames[2 * WORLD_FRAMES_MAX])
{
    if (walk == WORLD_NONE)
        return 0;
    const world_walk *const parts = &w->walks.at[walk];
    const u32 kernel = parts->kernel == 0 ? 0 : frames_of(true, parts->kernel - 1u, frames);
    return kernel + (parts->user == 0 ? 0 : frames_of(false, parts->user - 1u, frames + kernel));
}

i64 world_walk_user(world *w, const world_op *op, i64 ticks, bool is_heap, u32 *walk)
{
    u64 user[WORLD_FRAMES_MAX];
    const u32 count = frames_of(false, op->stack, user);
    etl_build *const b = is_heap ? w->heap : w->system;
    const etl_build_at at = world_at(w, op->thread, ticks);
    *walk = world_add_walk(w, (world_walk){ .user = op->stack + 1 });
    if (op->form % 8 == 7) { /* at once */
        etl_build_stack_inline(b, at, ticks, user, count);
        return ticks;
    }
    const etl_build_stack stack = {
        .user = user,
        .user_count = count,
        .form = op->form % 4 == ETL_BUILD_STACK_MIXED ? ETL_BUILD_STACK_DEFAULT : op->form % 4,
        .delay_ticks = world_delay(op->delay),
    };
    etl_build_stack_walk(b, at, &stack);
    return ticks + stack.delay_ticks;
}

/* Returns to user mode: the thread's stack is walked for everything it did in the kernel. */
void world_leave_kernel(world *w, world_thread *thread)
{
    if (thread->wait_count == 0)
        return;
    u64 user[WORLD_FRAMES_MAX];
    const u8 number = (u8)(thread->wait_count + 3);
    const u32 count = frames_of(false, number, user);
    if (w->now <= thread->busy_ticks)
        w->now = thread->busy_ticks + 1;
    etl_build_stack_inline(w->system, world_at(w, thread, w->now), thread->wait_ticks, user, count);
    for (u32 i = 0; i < thread->wait_count; i++)
        w->walks.at[thread->waits[i]].user = number + 1;
    thread->wait_count = 0;
    world_busy(w, thread, w->now);
}

/* --- threads --------------------------------------------------------------------------- */

static u32 take_bit(u32 *bits, u32 count)
{
    for (u32 i = 0; i < count; i++) {
        if ((*bits & 1u << i) == 0) {
            *bits |= 1u << i;
            return i;
        }
    }
    return WORLD_NONE;
}

/* Ids of threads that ended are taken again. */
static world_thread *add_thread(world *w, u32 process, u32 cpu)
{
    for (u32 i = 0; i < WORLD_THREADS; i++) {
        world_thread *const thread = &w->threads[i];
        if (thread->is_alive)
            continue;
        *thread = (world_thread){ .is_alive = true,
                                  .process = process,
                                  .cpu = cpu,
                                  .tid = TID_FIRST + take_bit(&w->tids_in_use, WORLD_THREADS) };
        const u32 pid = w->processes[process].pid;
        const etl_build_thread_spec spec = { .pid = pid, .tid = thread->tid };
        const bool is_first = w->now < START_TICKS + 2000;
        if (!is_first || (w->flags & WORLD_RUNDOWN_LATE) == 0)
            etl_build_thread(w->system, world_at(w, thread, w->now),
                             is_first ? ETL_BUILD_DCSTART : ETL_BUILD_START, &spec);
        w->now++;
        world_busy(w, thread, w->now);
        return thread;
    }
    return NULL;
}

static void end_thread(world *w, world_thread *thread)
{
    w->now = thread->busy_ticks >= w->now ? thread->busy_ticks + 1 : w->now + 1;
    etl_build_thread(
        w->system, world_at(w, thread, w->now), ETL_BUILD_END,
        &(etl_build_thread_spec){ .pid = w->processes[thread->process].pid, .tid = thread->tid });
    world_busy(w, thread, w->now);
    w->tids_in_use &= ~(1u << (thread->tid - TID_FIRST));
    thread->is_alive = false;
    thread->wait_count = 0; /* it never comes back */
    w->now++;
}

/* --- processes ------------------------------------------------------------------------- */

static bool add_process(world *w, u32 slot, u32 name, bool ran_before)
{
    world_process *const process = &w->processes[slot];
    const world_id id = { .pid = PID_FIRST + 4 * take_bit(&w->pids_in_use, WORLD_PROCESSES),
                          .name = names[name % ETL_COUNT_OF(names)] };
    *process = (world_process){ .is_alive = true,
                                .ran_before = ran_before,
                                .id = (u32)w->ids.count,
                                .pid = id.pid,
                                .quiet_ticks = w->now };
    for (u32 i = 0; i < WORLD_HEAPS; i++)
        process->heaps[i].handle = 0x10000u * (i + 1);
    process->heaps[0].is_open = true;
    return ETLHEAP_PUSH(&w->ids, id);
}

static void write_process(world *w, etl_build_at at, u8 type, const world_process *process)
{
    etl_build_process(w->system, at, type,
                      &(etl_build_process_spec){ .pid = process->pid,
                                                 .parent_pid = PARENT_PID,
                                                 .session_id = 1,
                                                 .name = w->ids.at[process->id].name });
}

static void start_process(world *w, const world_op *op)
{
    u32 slot = 0, free_threads = 0;
    while (slot < WORLD_PROCESSES && w->processes[slot].is_alive)
        slot++;
    for (u32 i = 0; i < WORLD_THREADS; i++)
        free_threads += !w->threads[i].is_alive;
    if (slot == WORLD_PROCESSES || free_threads == 0)
        return;
    world_leave_kernel(w, op->thread);
    const u32 cpu = op->thread->cpu;
    w->now = w->now > op->thread->busy_ticks ? w->now : op->thread->busy_ticks + 1;
    w->now++;
    if (!add_process(w, slot, op->place, false))
        abort();
    /* Earlier events would belong to the id's former owner. */
    const i64 ended = w->pid_ended[(w->processes[slot].pid - PID_FIRST) / 4];
    if (op->variant % 2 == 1 && (ended == 0 || w->now - ended > CLOCK_HZ / 100)) {
        world_commit_early(w, op, &w->processes[slot]);
        world_leave_kernel(w, op->thread);
        w->now = w->now > op->thread->busy_ticks ? w->now + 1 : op->thread->busy_ticks + 1;
    }
    write_process(w, world_at(w, op->thread, w->now), ETL_BUILD_START, &w->processes[slot]);
    world_busy(w, op->thread, w->now);
    (void)add_thread(w, slot, cpu);
    w->now++;
}

/* All that it has goes, without records. */
static void close_all(world *w, world_process *process, i64 ticks, u8 how)
{
    for (u32 i = 0; i < WORLD_HEAPS; i++) {
        if (process->heaps[i].is_open)
            world_end_heap(w, process, &process->heaps[i], ticks, how);
    }
    world_remove(w, &process->pages, world_memory_base(), 0, WORLD_PAGES, ticks, how);
}

static void end_process(world *w, const world_op *op)
{
    world_process *const process = op->process;
    if (w->now <= process->quiet_ticks)
        w->now = process->quiet_ticks + 1;
    for (u32 i = 0; i < WORLD_THREADS; i++) {
        world_thread *const thread = &w->threads[i];
        if (thread->is_alive && thread != op->thread && &w->processes[thread->process] == process)
            end_thread(w, thread);
    }
    const etl_build_at at = world_at(w, op->thread, w->now + 1);
    end_thread(w, op->thread);
    w->now++;
    (void)at;
    write_process(w, (etl_build_at){ .ticks = w->now, .cpu = at.cpu, .pid = at.pid, .tid = at.tid },
                  ETL_BUILD_END, process);
    close_all(w, process, w->now, ETLHEAP_FREE_PROCESS_EXIT);
    process->is_alive = false;
    w->pid_ended[(process->pid - PID_FIRST) / 4] = w->now;
    w->pids_in_use &= ~(1u << (process->pid - PID_FIRST) / 4);
    w->now += 2;
}

/* --- begin and end --------------------------------------------------------------------- */

static void start_all(world *w)
{
    static const u32 threads[] = { 2, 1 };
    for (u32 p = 0; p < ETL_COUNT_OF(threads); p++) {
        if (!add_process(w, p, p, true))
            abort();
        if ((w->flags & WORLD_RUNDOWN_LATE) == 0)
            write_process(w, (etl_build_at){ .ticks = w->now, .pid = 4, .tid = 5 },
                          ETL_BUILD_DCSTART, &w->processes[p]);
        w->now++;
        if ((w->flags & WORLD_RUNDOWN_LATE) == 0 && w->tells_pages)
            world_commit_before(w, &w->processes[p]);
        w->now++;
        for (u32 t = 0; t < threads[p]; t++)
            (void)add_thread(w, p, t % w->cpus);
    }
    w->now = START_TICKS + 3000;
}

static void end_all(world *w)
{
    for (u32 i = 0; i < WORLD_THREADS; i++)
        w->now = w->threads[i].busy_ticks >= w->now ? w->threads[i].busy_ticks + 1 : w->now;
    w->now += 100;
    for (u32 p = 0; p < WORLD_PROCESSES; p++) {
        if (!w->processes[p].is_alive)
            continue;
        write_process(w, (etl_build_at){ .ticks = w->now, .pid = 4, .tid = 5 }, ETL_BUILD_DCEND,
                      &w->processes[p]);
        if (w->tells_pages)
            world_run_down(w, &w->processes[p], w->now);
        close_all(w, &w->processes[p], ETLHEAP_TICKS_NEVER, ETLHEAP_FREE_NONE);
        w->now++;
    }
}
