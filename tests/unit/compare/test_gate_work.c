/*
 * Goal: thousands of suppressions and hundreds of thousands of heaps cost a gate no more than they
 * must: each frame is searched for once, and each search looks at few of the lines.
 * Method: a run with as many heaps as asked for, whose blocks come from a few stacks. The steps of
 * the search are counted, because seconds depend on the machine.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/compare/gate.h"
#include "gate_run.h"

#define STACKS    50u
#define LINE_SIZE 48u

static etlheap_suppressions *lines_of(u32 count)
{
    etlheap_suppressions *suppressions = NULL;
    etl_error err;
    assert_int_equal(etlheap_suppressions_open(&suppressions, &err), ETL_OK);
    for (u32 i = 0; i < count; i++) {
        char line[LINE_SIZE];
        const int size = snprintf(line, sizeof line, "leak:App::Cache%05u<*>::grow\n", i);
        assert_int_equal(etlheap_suppressions_add(suppressions, "known",
                                                  (etl_bytes){ (const u8 *)line, (size_t)size },
                                                  &err),
                         ETL_OK);
    }
    return suppressions;
}

/* The steps of a gate with a limit per heap. */
static u64 steps_of(u32 heaps, u32 lines)
{
    gate_run run = gate_run_open();
    const u32 process = gate_run_process(&run, 10, "a.exe", heaps, 0);
    for (u32 i = 0; i < heaps; i++)
        gate_run_block(&run, process, 0x10000 + i, 0x1000 + i % STACKS, 10);
    gate_run_ready(&run);
    etlheap_suppressions *const suppressions = lines_of(lines);
    const etlheap_budget budget = { .scope = ETLHEAP_SCOPE_HEAP, .limit = 100 };
    const etlheap_gate_options options = {
        .size = sizeof options, .budgets = &budget, .budget_count = 1, .suppressions = suppressions
    };
    const etlheap_gate *gate = NULL;
    etl_error err = { .status = ETL_OK };
    assert_int_equal(gate_run_try(&run, &options, &gate, &err), ETL_OK);
    assert_int_equal(gate->budgets[0].judged_count, heaps);
    assert_int_equal(gate->outcome, ETLHEAP_OUTCOME_PASS);
    static_assert(offsetof(owned_gate, gate) == 0, "the gate is the begin of what owns it");
    const u64 steps = ((const owned_gate *)(const void *)gate)->suppression_steps;
    etlheap_gate_free(gate);
    etlheap_suppressions_close(suppressions);
    etlheap_result_free(run.result);
    return steps;
}

/* Trying each line on each heap would take 50 million steps. */
static void suppressions_cost_no_more_with_heaps_and_lines(void **state)
{
    (void)state;
    const u64 few = steps_of(100, 10);
    assert_in_range(few, 1, 100 * STACKS);
    assert_true(steps_of(10000, 10) == few);
    assert_in_range(steps_of(10000, 5000), 1, 20 * few);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(suppressions_cost_no_more_with_heaps_and_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
