/*
 * scenario_processes.c - many short processes, one after the other, as on a build server.
 *
 * Each process starts, allocates two blocks, frees one and ends. Processes share a few names,
 * process ids are used again, and a few processes allocate more than the others.
 */
#include "scenario_inside.h"

#include <stdio.h>

#define HEAP       UINT64_C(0x1f0000)
#define IMAGE_BASE UINT64_C(0x7ff6a0000000)
#define NAMES      50u
#define PIDS       50000u
#define STACKS     16u
#define STEP_TICKS 80

static void write_process(etl_build *b, u64 number)
{
    char name[32];
    snprintf(name, sizeof name, "step%u.exe", (unsigned)(number % NAMES));
    const u32 pid = (u32)(4 + 4 * (number % PIDS));
    const etl_build_process_spec process = { .pid = pid, .name = name };
    const u64 frames[] = { IMAGE_BASE + 0x40 * (number % STACKS), IMAGE_BASE + 0x1020 };
    const etl_build_stack stack = { .user = frames, .user_count = ETL_COUNT_OF(frames) };
    etl_build_at at = { .ticks = etl_build_start_ticks(b) + 1000 + (i64)number * STEP_TICKS,
                        .pid = pid,
                        .tid = pid + 4 };
    etl_build_process(b, at, ETL_BUILD_START, &process);
    for (u32 i = 0; i < 2; i++) {
        at.ticks += 10;
        etl_build_heap_alloc(b, at, HEAP, 0x20000 + i * 0x1000u,
                             number % 1000 == 0 ? PROCESSES_MORE_BYTES : PROCESSES_BYTES);
        etl_build_stack_walk(b, at, &stack);
    }
    at.ticks += 10;
    etl_build_heap_free(b, at, HEAP, 0x20000);
    at.ticks += 10;
    etl_build_process(b, at, ETL_BUILD_END, &process);
}

void scenario_processes(const scenario_run *run, etl_build *b)
{
    const u64 count = run->operations != 0 ? run->operations : PROCESSES_COUNT;
    for (u64 i = 0; i < count; i++)
        write_process(b, i);
}
