/*
 * heap_model.c - simulates threads that allocate and free on eight CPUs.
 *
 * In: a number of allocations, a pool of stacks and a seed. Out: events in global time order.
 *
 *     step: the CPU with the smallest clock acts, then its clock moves on
 *
 *        alloc at t ──▶ its stack at t + 0.8..4 µs ──▶ 2..18 µs later the next
 *        free  at t ─────────────────────────────────▶ 2..18 µs later the next
 *
 * A stack record follows its allocation within microseconds on the same CPU, as in recordings.
 * After some two hundred events a CPU takes up another thread, and now and then idles first, which
 * is what makes buffers of one CPU reach a file late.
 *
 * Whether a thread allocates or frees depends on the number of open blocks: it rises to OPEN_MAX,
 * stays there and falls to a fifth of it, so that long traces hold no more open blocks than shorter
 * ones. Half of the draws for a free are among the last blocks allocated on the CPU (short lives,
 * same thread), the others among all of the process (long lives, other threads and CPUs). A draw of
 * a block that is gone becomes an allocation.
 *
 * Stacks are drawn Zipf-like: ranks 1, 2-3, 4-7, 8-15, ... each get the same share, so rank n is
 * drawn about 1/n as often as rank 1, without a table. A stack asks for one to four sizes only, as
 * call sites do. Invariant: a block is freed only after the call that allocated it has returned
 * (has_returned), and a thread is never on two CPUs at once.
 */
#include "heap_model.h"

#include "bench.h"
#include "bench_random.h"
#include "heap_blocks.h"

#include <stdlib.h>

#define OPEN_MAX      900000u /* fewer in small inputs */
#define THREADS       32u
#define RECENT_BLOCKS 64u

/* Times in ticks of 100 ns. */
#define STACK_DELAY_MIN   8u
#define STACK_DELAY_RANGE 32u
#define PAUSE_MIN         20u
#define PAUSE_RANGE       160u
#define IDLE_MIN          200000u
#define IDLE_RANGE        1800000u

typedef struct thread {
    u32 process;
    u32 tid;
    i64 ready_ticks; /* later than anything it did on another CPU */
    bool is_running;
} thread;

typedef struct cpu {
    i64 now_ticks;
    u32 thread;
    u32 events_left; /* until another thread runs */
    bool stack_due;
    heap_event allocation; /* whose stack is due */
    u32 recent[RECENT_BLOCKS];
    u32 place;     /* in the open list of its process, and */
    u32 candidate; /* any block: both drawn ahead, see look_ahead() */
} cpu;

typedef struct process {
    u32 first_heap;
    u32 heap_count;
} process;

struct heap_model {
    const stack_pool *pool;
    u64 allocs; /* wanted */
    u32 open_max;
    u32 open_end;
    heap_model_sums sums;
    bench_random random;
    cpu cpus[HEAP_MODEL_CPUS];
    thread threads[THREADS];
    process processes[STACK_POOL_PROCESSES];
    heap_model_heap heaps[HEAP_MODEL_HEAPS];
    heap_blocks *blocks;
};

static void make_processes(heap_model *m);
static void make_threads(heap_model *m, i64 start_ticks);
static cpu *earliest(heap_model *m);
static void tell_stack(heap_model *m, cpu *c, heap_event *out);
static bool act(heap_model *m, cpu *c, heap_event *out);
static bool wants_alloc(heap_model *m);
static u64 open_target(const heap_model *m);
static void allocate(heap_model *m, cpu *c, heap_event *out);
static u32 draw_stack(heap_model *m, const pool_process *owner);
static u32 draw_size(heap_model *m, u32 stack);
static u32 choose_open(heap_model *m, const cpu *c);
static bool has_returned(const heap_block *b, i64 now_ticks);
static void release(heap_model *m, const cpu *c, u32 number, heap_event *out);
static heap_event describe(const heap_model *m, const cpu *c, u32 number, heap_event_kind kind);
static void move_on(heap_model *m, cpu *c);
static void look_ahead(heap_model *m, cpu *c);
static void switch_thread(heap_model *m, cpu *c);

heap_model *heap_model_new(const stack_pool *pool, u64 allocs, u32 open_max, i64 start_ticks)
{
    heap_model *const m = bench_allocate(1, sizeof *m);
    m->pool = pool;
    m->allocs = allocs;
    m->open_max = (u32)etl_min_u64(open_max == 0 ? OPEN_MAX : open_max, allocs / 4);
    m->open_end = m->open_max / 5;
    m->random.state = 0x6ea9;
    make_processes(m);
    make_threads(m, start_ticks);
    return m;
}

/* The first process has most heaps, and its first heap gets most blocks. */
static void make_processes(heap_model *m)
{
    static const u32 heap_counts[STACK_POOL_PROCESSES] = { 6, 2, 2, 2 };
    u32 regions[HEAP_MODEL_HEAPS];
    u32 heap = 0;
    for (u32 p = 0; p < STACK_POOL_PROCESSES; p++) {
        m->processes[p] = (process){ heap, heap_counts[p] };
        for (u32 i = 0; i < heap_counts[p]; i++, heap++) {
            regions[heap] = i;
            m->heaps[heap] =
                (heap_model_heap){ p, 0x1c0a0000000u + (u64)p * 0x2000000 + i * 0x90000u };
        }
    }
    /* A free block serves only its own size class, and a block freed a moment ago on a CPU with a
     * later clock serves nobody yet. So there are more blocks than open ones. */
    const u32 spare = 4096 + (u32)(m->allocs / 16);
    m->blocks = heap_blocks_new(m->open_max * 2 + spare, regions, heap);
}

static void make_threads(heap_model *m, i64 start_ticks)
{
    for (u32 i = 0; i < THREADS; i++) {
        const u32 owner = i < THREADS - 6 ? 0 : 1 + (i & 1) + (i == THREADS - 1);
        m->threads[i] = (thread){ owner, 6000 + i * 4, start_ticks, i < HEAP_MODEL_CPUS };
    }
    for (u32 i = 0; i < HEAP_MODEL_CPUS; i++) {
        cpu *const c = &m->cpus[i];
        c->now_ticks = start_ticks + 100 + i * 13;
        c->thread = i;
        c->events_left = 50 + i * 25;
        c->candidate = HEAP_BLOCK_NONE;
        memset(c->recent, 0xFF, sizeof c->recent);
    }
}

void heap_model_free(heap_model *m)
{
    if (m == NULL)
        return;
    heap_blocks_free(m->blocks);
    free(m);
}

u32 heap_model_heaps(const heap_model *m, const heap_model_heap **out)
{
    *out = m->heaps;
    return HEAP_MODEL_HEAPS;
}

const heap_model_sums *heap_model_sums_of(const heap_model *m)
{
    return &m->sums;
}

bool heap_model_next(heap_model *m, heap_event *out)
{
    for (;;) {
        cpu *const c = earliest(m);
        if (c->stack_due) {
            tell_stack(m, c, out);
            return true;
        }
        if (m->sums.allocs >= m->allocs && m->sums.open <= m->open_end)
            c->now_ticks = INT64_MAX; /* the last one to act waits for no one */
        if (earliest(m)->now_ticks == INT64_MAX)
            return false;
        if (c->now_ticks < INT64_MAX && act(m, c, out))
            return true;
    }
}

static cpu *earliest(heap_model *m)
{
    u32 first = 0;
    i64 ticks = m->cpus[0].now_ticks;
    for (u32 i = 1; i < HEAP_MODEL_CPUS; i++) {
        const bool is_earlier = m->cpus[i].now_ticks < ticks;
        first = is_earlier ? i : first;
        ticks = is_earlier ? m->cpus[i].now_ticks : ticks;
    }
    return &m->cpus[first];
}

static void tell_stack(heap_model *m, cpu *c, heap_event *out)
{
    *out = c->allocation;
    out->kind = HEAP_EVENT_STACK;
    out->ticks = c->now_ticks;
    c->stack_due = false;
    move_on(m, c);
}

/* Lets a CPU act; false if it had nothing to do. */
static bool act(heap_model *m, cpu *c, heap_event *out)
{
    const bool is_alloc = wants_alloc(m);
    const u32 victim = is_alloc ? HEAP_BLOCK_NONE : choose_open(m, c);
    if (is_alloc)
        allocate(m, c, out);
    else if (victim != HEAP_BLOCK_NONE)
        release(m, c, victim, out);
    if (!is_alloc)
        move_on(m, c);
    return is_alloc || victim != HEAP_BLOCK_NONE;
}

static bool wants_alloc(heap_model *m)
{
    const u64 target = open_target(m);
    if (m->sums.allocs >= m->allocs)
        return false;
    return bench_random_chance(&m->random, m->sums.open < target ? 192 : 64);
}

/* How many blocks should be open now: rises over the first quarter of the allocations and falls
 * over the last one. */
static u64 open_target(const heap_model *m)
{
    const u64 done = m->sums.allocs;
    const u64 quarter = m->allocs / 4 + 1;
    if (done < quarter)
        return m->open_max * done / quarter;
    if (done < quarter * 3)
        return m->open_max;
    const u64 left = quarter * 4 - etl_min_u64(done, quarter * 4);
    return m->open_end + (m->open_max - m->open_end) * left / quarter;
}

static void allocate(heap_model *m, cpu *c, heap_event *out)
{
    const u32 p = m->threads[c->thread].process;
    const process *const owner = &m->processes[p];
    const u32 stack = draw_stack(m, &m->pool->processes[p]);
    /* A stack keeps to its heap: 5 of 8 to the first one. */
    const u32 choice = (u32)(bench_mix(stack) >> 40) & 7;
    const heap_request request = {
        .process = p,
        .heap = owner->first_heap + (choice < 5 ? 0 : choice % owner->heap_count),
        .size = draw_size(m, stack),
        .stack = stack,
    };
    const u32 number = heap_blocks_open(m->blocks, &request, c->now_ticks);
    c->recent[bench_random_below(&m->random, RECENT_BLOCKS)] = number;

    m->sums.allocs++;
    m->sums.open++;
    m->sums.open_peak = etl_max_u64(m->sums.open_peak, m->sums.open);
    m->sums.alloc_bytes += request.size;
    m->sums.open_bytes += request.size;
    m->sums.frames += stack_pool_get(m->pool, stack).count;

    *out = describe(m, c, number, HEAP_EVENT_ALLOC);
    c->allocation = *out;
    c->stack_due = true;
    c->now_ticks += STACK_DELAY_MIN + bench_random_below(&m->random, STACK_DELAY_RANGE);
}

static u32 draw_stack(heap_model *m, const pool_process *owner)
{
    const u32 octaves = 32 - (u32)__builtin_clz(owner->stack_count);
    for (;;) {
        const u64 bits = bench_random_next(&m->random);
        const u32 octave = (u32)((bits >> 32) * octaves >> 32);
        const u32 rank = (1u << octave) | ((u32)bits & ((1u << octave) - 1));
        if (rank <= owner->stack_count)
            return owner->first_stack + rank - 1;
    }
}

/* Small sizes are the most common; each stack asks for up to four of them. */
static u32 draw_size(heap_model *m, u32 stack)
{
    const u32 sizes = 1 + (u32)(bench_mix(stack) & 3);
    const u32 which = sizes == 1 ? 0 : (u32)(bench_random_next(&m->random) >> 32) % sizes;
    const u64 bits = bench_mix((u64)stack * 4 + which + 1);
    const u32 zeros = (u32)__builtin_ctzll(bits | 1u << (HEAP_BLOCK_CLASSES - 1));
    const u32 base = HEAP_BLOCK_MIN_BYTES << zeros;
    return base / 2 + 1 + (u32)(bits >> 32) % (base / 2);
}

/* Draws an open block of the running process; none if the draw fails. */
static u32 choose_open(heap_model *m, const cpu *c)
{
    const u32 recent = c->recent[bench_random_below(&m->random, RECENT_BLOCKS)];
    const u32 number = bench_random_chance(&m->random, 128) ? recent : c->candidate;
    if (number == HEAP_BLOCK_NONE)
        return HEAP_BLOCK_NONE;
    const heap_block *const b = heap_blocks_get(m->blocks, number);
    const bool is_ours = b->is_open && b->process == m->threads[c->thread].process;
    return is_ours && has_returned(b, c->now_ticks) ? number : HEAP_BLOCK_NONE;
}

/* Has the call returned? The program knows the address only then, after its stack was recorded. */
static bool has_returned(const heap_block *b, i64 now_ticks)
{
    return b->ticks + STACK_DELAY_MIN + STACK_DELAY_RANGE < now_ticks;
}

static void release(heap_model *m, const cpu *c, u32 number, heap_event *out)
{
    *out = describe(m, c, number, HEAP_EVENT_FREE);
    heap_blocks_close(m->blocks, number, c->now_ticks);
    m->sums.frees++;
    m->sums.open--;
    m->sums.open_bytes -= out->size;
}

/* The event of the CPU's thread on an open block. */
static heap_event describe(const heap_model *m, const cpu *c, u32 number, heap_event_kind kind)
{
    const heap_block *const b = heap_blocks_get(m->blocks, number);
    const thread *const who = &m->threads[c->thread];
    return (heap_event){
        .kind = kind,
        .cpu = (u32)(c - m->cpus),
        .process = who->process,
        .tid = who->tid,
        .stack = b->stack,
        .ticks = c->now_ticks,
        .alloc_ticks = b->ticks,
        .heap = m->heaps[b->heap].handle,
        .address = b->address,
        .size = b->size,
    };
}

static void move_on(heap_model *m, cpu *c)
{
    c->now_ticks += PAUSE_MIN + bench_random_below(&m->random, PAUSE_RANGE);
    if (--c->events_left == 0)
        switch_thread(m, c);
    look_ahead(m, c);
}

/* Draws ahead what a free may need: the place of a block two steps before, the block one step
 * before. Either is rarely in the cache and gets fetched meanwhile. The block may be gone when it
 * is used. */
static void look_ahead(heap_model *m, cpu *c)
{
    const u32 p = m->threads[c->thread].process;
    const heap_open_list *const open = heap_blocks_list(m->blocks, p);
    c->candidate = HEAP_BLOCK_NONE;
    if (c->place < open->count) {
        c->candidate = open->numbers[c->place];
        __builtin_prefetch(heap_blocks_get(m->blocks, c->candidate), 1);
    }
    c->place = bench_random_below(&m->random, open->count + 1);
    __builtin_prefetch(&open->numbers[c->place]);
}

/* Gives a CPU another thread, at a tick after the thread's last one. So a thread is never seen on
 * two CPUs at once: (time, thread) names an event. */
static void switch_thread(heap_model *m, cpu *c)
{
    thread *const old = &m->threads[c->thread];
    old->is_running = false;
    old->ready_ticks = c->now_ticks;
    do
        c->thread = bench_random_below(&m->random, THREADS);
    while (m->threads[c->thread].is_running);
    thread *const chosen = &m->threads[c->thread];
    chosen->is_running = true;
    if (bench_random_below(&m->random, 64) == 0)
        c->now_ticks += IDLE_MIN + bench_random_below(&m->random, IDLE_RANGE);
    if (c->now_ticks < chosen->ready_ticks)
        c->now_ticks = chosen->ready_ticks;
    c->events_left = 100 + bench_random_below(&m->random, 200);
}
