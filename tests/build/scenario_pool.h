/*
 * scenario_pool.h - pool events, and a trace of them with known numbers.
 *
 * "pool-leak": a driver on behalf of worker.exe leaks POOL_LEAK_COUNT paged blocks of tag Leak.
 * Blocks of tag Temp are all freed, by another process. Three of tag Old1 are from before the
 * trace, of which one is freed. Two sessions use one address for tag Gses; session 1 frees it. A
 * big block of tag Big1 is allocated and freed, with events of its pages. One free states another
 * size, POOL_UNKNOWN_FREES have no allocation, and one rundown has an odd length. setup.exe asks
 * for POOL_SETUP_COUNT blocks of tag "Irp ", whose events name no thread, and ends; one is freed
 * after that. The rundown at the end lists one block that nothing else tells of, tag Late, and
 * lacks one block of tag Leak.
 *
 * "pool-driver": the same without sessions, pages and whatever contradicts, so all diagnostics are
 * 0. "pool-before": an earlier version of that driver, which leaks POOL_BEFORE_COUNT blocks.
 */
#ifndef TESTS_SCENARIO_POOL_H
#define TESTS_SCENARIO_POOL_H

#include "scenario.h"

#define POOL_LEAK_COUNT    50u
#define POOL_BEFORE_COUNT  20u
#define POOL_LEAK_BYTES    512u
#define POOL_TEMP_COUNT    30u
#define POOL_UNKNOWN_FREES 2u
#define POOL_SETUP_COUNT   4u
#define POOL_SETUP_BYTES   208u

typedef struct pool_spec {
    u32 type;
    char tag[5];
    u64 size, entry;
} pool_spec;

/* Writes an event of a block, or a rundown of several; `session` only for hooks with one. */
void build_pool(etl_build *b, etl_build_at at, u16 hook, const pool_spec *block, u32 session);
void build_pool_list(etl_build *b, etl_build_at at, u16 hook, const pool_spec *blocks, u32 count,
                     u32 extra_bytes);

void scenario_pool_leak(const scenario_run *run, etl_build *b);
void scenario_pool_driver(const scenario_run *run, etl_build *b);
void scenario_pool_before(const scenario_run *run, etl_build *b);

#endif
