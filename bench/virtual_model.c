/*
 * virtual_model.c - reservations that are committed piece by piece.
 *
 * A reservation has 64 pieces of 64 KiB. Each step one thread takes a
 * reservation of its process at random and commits, decommits or releases there:
 *
 *     none ─reserve (or reserve and commit at once)─▶ reserved
 *     reserved ─commit some pieces, decommit others─▶ reserved
 *     reserved ─release, one step in sixteen───────▶ none
 *
 * Commits and decommits cover one to sixteen neighbouring pieces whatever their
 * state: an analysis must split and merge ranges. One CPU acts at a time, which
 * is simpler than the heap model's way and fits the rarer calls.
 */
#include "virtual_model.h"

#include "bench.h"
#include "bench_random.h"

#include <stdlib.h>

#define RESERVATIONS        4096u /* places for reservations per process */
#define PIECES              64u
#define PIECE_BYTES         ((u64)64 << 10)
#define RESERVATION_BYTES   (PIECES * PIECE_BYTES)
#define FIRST_ADDRESS       0x20000000000u
#define CPUS                8u
#define THREADS_PER_PROCESS 8u

#define MEM_COMMIT   0x1000u
#define MEM_RESERVE  0x2000u
#define MEM_DECOMMIT 0x4000u
#define MEM_RELEASE  0x8000u

typedef struct reservation {
    bool exists;
    u64 committed; /* a bit per piece */
} reservation;

struct virtual_model {
    const stack_pool *pool;
    virtual_model_sums sums;
    bench_random random;
    u64 events_left;
    i64 now_ticks;
    reservation places[STACK_POOL_PROCESSES][RESERVATIONS];
};

static void act(virtual_model *m, reservation *place, virtual_event *out);
static void reserve(virtual_model *m, reservation *place, virtual_event *out);
static void release(virtual_model *m, reservation *place, virtual_event *out);
static void change(virtual_model *m, reservation *place, virtual_event *out);
static void set_committed(virtual_model *m, reservation *place, u64 committed);

virtual_model *virtual_model_new(const stack_pool *pool, u64 events, i64 start_ticks)
{
    virtual_model *const m = bench_allocate(1, sizeof *m);
    m->pool = pool;
    m->events_left = events;
    m->now_ticks = start_ticks + 1000;
    m->random.state = 0xa110c;
    return m;
}

void virtual_model_free(virtual_model *m)
{
    free(m);
}

const virtual_model_sums *virtual_model_sums_of(const virtual_model *m)
{
    return &m->sums;
}

bool virtual_model_next(virtual_model *m, virtual_event *out)
{
    if (m->events_left == 0)
        return false;
    m->events_left--;
    /* Longer than a stack takes to be recorded, so the next call is later. */
    m->now_ticks += 150 + bench_random_below(&m->random, 300);
    const u64 bits = bench_random_next(&m->random);
    const u32 process = (bits & 7) < 6 ? 0 : (u32)(bits & 3);
    const pool_process *const owner = &m->pool->processes[process];
    const u32 index = (u32)(bits >> 8) % RESERVATIONS;
    *out = (virtual_event){
        .cpu = (u32)(bits >> 24) % CPUS,
        .process = process,
        .tid = 6000 + process * 64 + (u32)(bits >> 32) % THREADS_PER_PROCESS * 4,
        .stack = owner->first_stack + bench_random_below(&m->random, owner->stack_count),
        .ticks = m->now_ticks,
        .base = FIRST_ADDRESS + index * (RESERVATION_BYTES * 2),
        .size = RESERVATION_BYTES,
    };
    act(m, &m->places[process][index], out);
    m->sums.allocs += out->is_alloc;
    m->sums.frees += !out->is_alloc;
    return true;
}

static void act(virtual_model *m, reservation *place, virtual_event *out)
{
    if (!place->exists)
        reserve(m, place, out);
    else if (bench_random_below(&m->random, 16) == 0)
        release(m, place, out);
    else
        change(m, place, out);
}

static void reserve(virtual_model *m, reservation *place, virtual_event *out)
{
    const bool commit_too = bench_random_chance(&m->random, 64);
    place->exists = true;
    out->is_alloc = true;
    out->flags = MEM_RESERVE | (commit_too ? MEM_COMMIT : 0);
    set_committed(m, place, commit_too ? UINT64_MAX : 0);
}

static void release(virtual_model *m, reservation *place, virtual_event *out)
{
    place->exists = false;
    out->flags = MEM_RELEASE;
    set_committed(m, place, 0);
}

static void change(virtual_model *m, reservation *place, virtual_event *out)
{
    const u32 first = bench_random_below(&m->random, PIECES);
    const u32 wanted = 1 + bench_random_below(&m->random, 16);
    const u32 count = wanted < PIECES - first ? wanted : PIECES - first;
    const u64 pieces = (((u64)1 << count) - 1) << first;
    out->base += first * PIECE_BYTES;
    out->size = count * PIECE_BYTES;
    out->is_alloc = bench_random_chance(&m->random, 150);
    out->flags = out->is_alloc ? MEM_COMMIT : MEM_DECOMMIT;
    set_committed(m, place, out->is_alloc ? place->committed | pieces : place->committed & ~pieces);
}

static void set_committed(virtual_model *m, reservation *place, u64 committed)
{
    const u64 before = (u64)__builtin_popcountll(place->committed) * PIECE_BYTES;
    const u64 after = (u64)__builtin_popcountll(committed) * PIECE_BYTES;
    place->committed = committed;
    m->sums.committed_bytes += after - before;
    m->sums.committed_peak_bytes =
        etl_max_u64(m->sums.committed_peak_bytes, m->sums.committed_bytes);
}
