/* gate_run.c - see gate_run.h. */
#include "gate_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

gate_run gate_run_open(void)
{
    gate_run run = { hand_result_new(), etlheap_query_default(), 0 };
    run.result->abilities.kinds = etlheap_kinds_with(ETLHEAP_KIND_COMMON);
    run.query.jobs = 1;
    return run;
}

u32 gate_run_process(gate_run *run, u32 pid, const char *name, u64 heap_events, u64 virtual_events)
{
    const u32 process = hand_process(run->result, pid, name);
    etlheap_process_info *const info = &run->result->processes.at[process - 1];
    info->events[ETLHEAP_KIND_HEAP] = heap_events;
    info->events[ETLHEAP_KIND_VIRTUALALLOC] = virtual_events;
    return process;
}

void gate_run_add(gate_run *run, etlheap_kind kind, gate_block block)
{
    const lifetime row = { .alloc_ticks = GATE_TICK(1),
                           .free_ticks = block.free_ticks,
                           .address = run->address += 0x10000,
                           .size = block.size,
                           .heap = block.heap,
                           .process = block.process,
                           .stack = hand_stack(run->result, &block.frame, 1),
                           .kind = (u8)kind,
                           .free_type = block.free_ticks == ETLHEAP_TICKS_NEVER
                                            ? ETLHEAP_FREE_NONE
                                            : ETLHEAP_FREE_FREE };
    hand_lifetime(run->result, &row);
}

void gate_run_block(gate_run *run, u32 process, u64 heap, u64 frame, u64 size)
{
    gate_run_add(run, ETLHEAP_KIND_HEAP,
                 (gate_block){ process, heap, size, frame, ETLHEAP_TICKS_NEVER });
}

void gate_run_ready(gate_run *run)
{
    hand_ready(run->result, GATE_TICK(1000));
}

etl_status gate_run_try(const gate_run *run, const etlheap_gate_options *options,
                        const etlheap_gate **gate, etl_error *err)
{
    const etlheap_gate_side side = { run->result, &run->query };
    return etlheap_gate_judge(&side, options, gate, err);
}

const etlheap_gate *gate_run_judge(const gate_run *run, const etlheap_budget *budgets, u32 count)
{
    const etlheap_gate_options options = { .size = sizeof options,
                                           .budgets = budgets,
                                           .budget_count = count,
                                           .stacks_max = 10,
                                           .passes_max = 100 };
    const etlheap_gate *gate = NULL;
    etl_error err = { .status = ETL_OK };
    if (gate_run_try(run, &options, &gate, &err) != ETL_OK)
        fail_msg("%s", err.message);
    return gate;
}

const etlheap_gate *gate_run_judge_scope(const gate_run *run, etlheap_scope scope, u64 limit)
{
    const etlheap_budget budget = { .scope = scope, .limit = limit };
    return gate_run_judge(run, &budget, 1);
}
