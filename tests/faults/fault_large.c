/* fault_large.c - see fault_large.h. */
#include "fault_large.h"

#include <stdio.h>

#include "tests/build/etl_build.h"

#define PID    4242u
#define HEAP   0x1f0000u
#define FRAMES 192u
#define BASE   0x7ff600000000u

static etl_build *begin(const char *path, const etl_build_options *wanted)
{
    etl_build_options options = *wanted;
    options.path = path;
    if (options.order == ETL_BUILD_SORTED)
        options.order = ETL_BUILD_STREAMING;
    return etl_build_new(&options);
}

static bool end(etl_build *b)
{
    const bool done = etl_build_finish(b);
    if (!done)
        fprintf(stderr, "fault_large: %s\n", etl_build_error(b));
    etl_build_free(b);
    return done;
}

static etl_build_at at_step(const etl_build *b, u64 step, u32 cpu)
{
    return (etl_build_at){ .ticks = etl_build_start_ticks(b) + 1000 + (i64)step * 10,
                           .cpu = cpu,
                           .pid = PID,
                           .tid = 7 + cpu };
}

/* An allocation on every processor, and the free on another one. */
static bool write_cpus(const char *path, u64 count)
{
    etl_build *const b =
        begin(path, &(etl_build_options){ .cpus = (u32)count, .buffer_bytes = 4096 });
    for (u64 i = 0; i < count * 4; i++)
        etl_build_heap_alloc(b, at_step(b, i, (u32)(i % count)), HEAP, 0x10000 + i * 64, 48);
    for (u64 i = 0; i < count * 2; i++)
        etl_build_heap_free(b, at_step(b, count * 4 + i, (u32)((i * 7) % count)), HEAP,
                            0x10000 + i * 64);
    return end(b);
}

/* Each begins, allocates and ends; process ids are used again. */
static bool write_processes(const char *path, u64 count)
{
    etl_build *const b = begin(path, &(etl_build_options){ .cpus = 2 });
    for (u64 i = 0; i < count; i++) {
        const u32 pid = (u32)(4 + 4 * (i % 50000));
        char name[32];
        snprintf(name, sizeof name, "app%u.exe", (unsigned)(i % 1000));
        const etl_build_process_spec process = { .pid = pid, .name = name };
        etl_build_at at = at_step(b, i * 8, 0);
        at.pid = pid;
        etl_build_process(b, at, ETL_BUILD_START, &process);
        at.ticks += 10;
        etl_build_heap_alloc(b, at, HEAP, 0x20000, 100);
        at.ticks += 10;
        etl_build_process(b, at, ETL_BUILD_END, &process);
    }
    return end(b);
}

/* An allocation each, which differ in their innermost frames. */
static bool write_stacks(const char *path, u64 count)
{
    etl_build *const b = begin(path, &(etl_build_options){ .cpus = 2, .buffer_bytes = 1 << 20 });
    u64 frames[12];
    for (u64 i = 0; i < count; i++) {
        for (u32 f = 0; f < ETL_COUNT_OF(frames); f++)
            frames[f] = BASE + f * 0x1000 + (f < 4 ? (i >> (f * 5)) % 4096 : 0);
        frames[0] = BASE + i;
        const etl_build_at at = at_step(b, i * 4, (u32)(i & 1));
        etl_build_heap_alloc(b, at, HEAP, 0x10000 + i * 32, 24);
        etl_build_stack_walk(
            b, at, &(etl_build_stack){ .user = frames, .user_count = ETL_COUNT_OF(frames) });
    }
    return end(b);
}

/* The deepest stacks that Windows records, none like another. */
static bool write_deep(const char *path, u64 count)
{
    etl_build *const b = begin(path, &(etl_build_options){ .cpus = 2, .buffer_bytes = 1 << 20 });
    u64 frames[FRAMES];
    for (u64 i = 0; i < count; i++) {
        for (u32 f = 0; f < FRAMES; f++)
            frames[f] = BASE + f * 0x100 + i * 0x10000;
        const etl_build_at at = at_step(b, i * 4, (u32)(i & 1));
        etl_build_heap_alloc(b, at, HEAP, 0x10000 + i * 32, 24);
        etl_build_stack_walk(b, at, &(etl_build_stack){ .user = frames, .user_count = FRAMES });
    }
    return end(b);
}

/* One address over and over, without a free: each is over a live block. */
static bool write_one_address(const char *path, u64 count)
{
    etl_build *const b = begin(path, &(etl_build_options){ .cpus = 2 });
    for (u64 i = 0; i < count; i++)
        etl_build_heap_alloc(b, at_step(b, i, (u32)(i & 1)), HEAP, 0x10000, 24 + i % 1000);
    return end(b);
}

/* Commits of single pages, every other one; then a decommit across them all, in
 * steps that each cut one. */
static bool write_intervals(const char *path, u64 count)
{
    etl_build *const b = begin(path, &(etl_build_options){ .cpus = 2 });
    const u64 base = 0x100000000;
    for (u64 i = 0; i < count; i++)
        etl_build_virtual_alloc(b, at_step(b, i, 0), base + i * 8192, 8192, ETL_BUILD_COMMIT);
    for (u64 i = 0; i < count; i++)
        etl_build_virtual_free(b, at_step(b, count + i, 0), base + (count - 1 - i) * 8192 + 4096,
                               4096, ETL_BUILD_DECOMMIT);
    etl_build_virtual_free(b, at_step(b, 2 * count, 0), base, count * 8192, ETL_BUILD_DECOMMIT);
    return end(b);
}

/* Alternately to the end and back to the beginning of time, in one buffer. */
static bool write_backward(const char *path, u64 count)
{
    etl_build *const b =
        begin(path, &(etl_build_options){ .cpus = 1, .order = ETL_BUILD_AS_CALLED });
    for (u64 i = 0; i < count; i++) {
        etl_build_at at = at_step(b, i % 2 == 0 ? i : count * 4 - i, 0);
        etl_build_heap_alloc(b, at, HEAP, 0x10000 + i * 32, 24);
    }
    return end(b);
}

/* A circular file that began anew many times: what is left are the last buffers. */
static bool write_wrapped(const char *path, u64 count)
{
    etl_build *const b =
        begin(path, &(etl_build_options){ .cpus = 4, .buffer_bytes = 4096, .ring_buffers = 16 });
    for (u64 i = 0; i < count; i++) {
        const u64 block = i % 64;
        etl_build_heap_free(b, at_step(b, 2 * i, (u32)(i % 4)), HEAP, 0x10000 + block * 64);
        etl_build_heap_alloc(b, at_step(b, 2 * i + 1, (u32)(i % 4)), HEAP, 0x10000 + block * 64, i);
    }
    return end(b);
}

/* Keys whose definitions lie in buffers that were lost. */
static bool write_lost_keys(const char *path, u64 count)
{
    etl_build *const b = begin(path, &(etl_build_options){ .cpus = 2 });
    for (u64 i = 0; i < count; i++) {
        etl_build_at at = at_step(b, i * 4, (u32)(i & 1));
        etl_build_heap_alloc(b, at, HEAP, 0x10000 + i * 32, 24);
        const i64 event_ticks = at.ticks;
        at.ticks += 13;
        etl_build_stack_key(b, at, 0x1826, event_ticks, 0xFFFFA80003200010u + i * 16);
    }
    return end(b);
}

/* What etlheap_hash_u64() makes of the result without a seed is `hash`. */
static u64 unhash(u64 hash)
{
    const u64 inverse = 0xcfee444d8b59a89bu; /* of its multiplier */
    hash ^= hash >> 32;
    hash *= inverse;
    hash ^= hash >> 32;
    hash *= inverse;
    return hash ^ hash >> 32;
}

/* Addresses that all belong in one place of the table of blocks (blocks.c), were it
 * not for the seed: then each would be compared with all before it. */
static bool write_colliding_blocks(const char *path, u64 count)
{
    etl_build *const b = begin(path, &(etl_build_options){ .cpus = 2 });
    for (u64 i = 0; i < count; i++) {
        const u64 address = unhash(i << 44 | (i & 0xfffff)) ^ (u64)1 << 45;
        etl_build_heap_alloc(b, at_step(b, i, 0), HEAP, address, 24);
    }
    return end(b);
}

/* The same for XXH3 of stacks: for long inputs it multiplies the halves of each word
 * after mixing a constant in, which makes one of them zero here, and adds up the
 * words of a lane, whose sum is the same here. */
static bool write_colliding_stacks(const char *path, u64 count)
{
    const u32 zero[] = { 0x396cfeb8, 0x2c81017c }; /* of the first and second 64 bytes */
    etl_build *const b = begin(path, &(etl_build_options){ .cpus = 2, .buffer_bytes = 1 << 20 });
    u64 frames[40];
    for (u32 f = 0; f < ETL_COUNT_OF(frames); f++)
        frames[f] = BASE + f * 0x100;
    for (u64 i = 0; i < count; i++) {
        frames[0] = i << 32 | zero[0];
        frames[8] = (0x7fffffff - i) << 32 | zero[1];
        const etl_build_at at = at_step(b, i * 4, (u32)(i & 1));
        etl_build_heap_alloc(b, at, HEAP, 0x10000 + i * 32, 24);
        etl_build_stack_walk(
            b, at, &(etl_build_stack){ .user = frames, .user_count = ETL_COUNT_OF(frames) });
    }
    return end(b);
}

const fault_large fault_larges[] = {
    { "1,000,000 addresses with one hash", 1000000, write_colliding_blocks },
    { "250,000 stacks with one hash", 250000, write_colliding_stacks },
    { "2,048 processors", 2048, write_cpus },
    { "100,000 processes", 100000, write_processes },
    { "1,000,000 distinct stacks", 1000000, write_stacks },
    { "40,000 events with stacks of 192 frames", 40000, write_deep },
    { "1,000,000 allocations at one address", 1000000, write_one_address },
    { "100,000 commits, each cut in two", 100000, write_intervals },
    { "1,000,000 records, every other one back in time", 1000000, write_backward },
    { "100,000 allocations in a circular file", 100000, write_wrapped },
    { "500,000 stack keys without a definition", 500000, write_lost_keys },
};

const size_t fault_large_count = ETL_COUNT_OF(fault_larges);
