/*
 * scenario_inside.h - what the scenarios share: a program with named stacks, and
 * the habits programs have. Not for tests.
 */
#ifndef TESTS_SCENARIO_INSIDE_H
#define TESTS_SCENARIO_INSIDE_H

#include "scenario.h"
#include "workload_inside.h"

/* A frame as it is written down: image (lower case, NULL: the program) and offset. */
typedef struct scenario_frame {
    const char *image;
    u64 offset;
} scenario_frame;

/* A program of a scenario being made. */
typedef struct scenario_program {
    workload *w;
    const etl_build *b; /* for times */
    u32 process;
    u64 heap;
    u64 address_next; /* fresh heap addresses */
    u64 region_next;  /* fresh reservations */
    u32 cpus;
    u64 random;
} scenario_program;

/* A workload as long as the scenario, whose rundown at the end is at `ns`. */
workload *scenario_workload(const scenario_run *run, const etl_build *b, u64 ns);

/* A program that ran before the trace, with its usual images and three threads:
 * pid + 4, pid + 8, and `tid`. */
scenario_program scenario_program_of(workload *w, const scenario_run *run, const etl_build *b,
                                     const workload_process *process);

/* A stack: `kernel_count` frames of the kernel, then the program's. */
u32 scenario_stack(const scenario_program *p, const scenario_frame *frames, u32 count,
                   u32 kernel_count);

/* An operation of a thread of the program at a time; the CPU follows the thread. */
workload_op scenario_op(const scenario_program *p, u64 ns, u32 tid, workload_op_kind kind);

/* Allocates `size` bytes at a fresh address; returns the address. */
u64 scenario_alloc(scenario_program *p, u64 ns, u32 tid, u32 stack, u64 size);

/* `count` blocks spread over the time before `ns`, each living less than a
 * second, at addresses that are used again. */
void scenario_transients(scenario_program *p, u32 count, u64 ns);

/* Commits fresh memory at `ns`; frees it at `free_ns` (0: never). */
void scenario_commit(scenario_program *p, u64 ns, u64 free_ns, u32 stack, u64 size);

/* The scenarios. */
workload *scenario_battery_meter(const scenario_run *run, const etl_build *b);
workload *scenario_battery_meter_fixed(const scenario_run *run, const etl_build *b);
workload *scenario_demo(const scenario_run *run, const etl_build *b);
workload *scenario_virtualalloc_exercise(const scenario_run *run, const etl_build *b);
workload *scenario_heap_exercise(const scenario_run *run, const etl_build *b);
void scenario_test_runner(const scenario_run *run, etl_build *b);
void scenario_processes(const scenario_run *run, etl_build *b);
void scenario_kitchen_sink(const scenario_run *run, etl_build *b);

#endif
