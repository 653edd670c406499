/*
 * gate_run.h - runs to be judged by a leak gate, put together by hand: processes with or
 * without events, blocks, no modules. Every failure ends the test.
 */
#ifndef TESTS_GATE_RUN_H
#define TESTS_GATE_RUN_H

#include "tests/support/hand_result.h"

#define GATE_TICK(n) (HAND_START_TICKS + (n))
#define HEAP_BIT     (1u << ETLHEAP_KIND_HEAP)
#define EXTENT_BIT   (1u << ETLHEAP_KIND_EXTENT)
#define VA_BIT       (1u << ETLHEAP_KIND_VIRTUALALLOC)

/* Close it by etlheap_result_free(run.result). */
typedef struct gate_run {
    etlheap_result *result;
    etlheap_query query;
    u64 address;
} gate_run;

/* A run that recorded every kind. */
gate_run gate_run_open(void);

u32 gate_run_process(gate_run *run, u32 pid, const char *name, u64 heap_events, u64 virtual_events);

/* Memory of one frame, allocated at tick 1. */
typedef struct gate_block {
    u32 process;
    u64 heap, size, frame;
    i64 free_ticks;
} gate_block;

void gate_run_add(gate_run *run, etlheap_kind kind, gate_block block);

/* A heap block that is outstanding at the end. */
void gate_run_block(gate_run *run, u32 process, u64 heap, u64 frame, u64 size);

/* After the last process and block. */
void gate_run_ready(gate_run *run);

etl_status gate_run_try(const gate_run *run, const etlheap_gate_options *options,
                        const etlheap_gate **gate, etl_error *err);

/* A gate that must come about, with all that passed listed. */
const etlheap_gate *gate_run_judge(const gate_run *run, const etlheap_budget *budgets, u32 count);
const etlheap_gate *gate_run_judge_scope(const gate_run *run, etlheap_scope scope, u64 limit);

#endif
