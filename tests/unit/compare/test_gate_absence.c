/*
 * Goal: what could not be measured is told with its reason: kinds that the trace does not
 * have, patterns that match nobody, lost events.
 * Method: processes with events of some kinds put together by hand; what is missing
 * follows from how they were made.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "gate_run.h"

#define STACK_A 0x1000

/* heap.exe has heap events, virtual.exe of both kinds and most, idle.exe none. */
static gate_run run_of_two(void)
{
    gate_run r = gate_run_open();
    gate_run_process(&r, 30, "heap.exe", 5, 0);
    gate_run_process(&r, 20, "virtual.exe", 4, 5);
    gate_run_process(&r, 10, "idle.exe", 0, 0);
    gate_run_process(&r, 25, "heap.exe", 5, 0);
    gate_run_process(&r, 40, "after.exe", 5, 0);
    gate_run_ready(&r);
    return r;
}

static void kinds_that_only_others_have_are_the_patterns_fault(void **state)
{
    static const char *const pattern[] = { "heap*" };
    static const struct {
        const char *name;
        u32 pid;
        u64 events;
    } listed[] = { { "virtual.exe", 20, 9 },
                   { "after.exe", 40, 5 },
                   { "heap.exe", 25, 5 },
                   { "heap.exe", 30, 5 } };
    gate_run r = run_of_two();
    (void)state;
    r.query.processes = pattern;
    r.query.process_count = 1;
    const etlheap_budget budget = { .scope = ETLHEAP_SCOPE_TOTAL, .kinds = VA_BIT };
    const etlheap_gate *const gate = gate_run_judge(&r, &budget, 1);
    assert_int_equal(gate->outcome, ETLHEAP_OUTCOME_FAIL);
    assert_int_equal(gate->doubts, 1u << ETLHEAP_DOUBT_NO_PROCESS);
    assert_int_equal(gate->absence.kinds, 0);
    assert_int_equal(gate->absence.other_kinds, VA_BIT);
    assert_int_equal(gate->absence.pattern_count, 0);
    assert_int_equal(gate->absence.process_count, ETL_COUNT_OF(listed));
    for (u32 i = 0; i < ETL_COUNT_OF(listed); i++) {
        const etlheap_gate_process *const process = &gate->absence.processes[i];
        assert_string_equal(process->name, listed[i].name);
        assert_int_equal(process->pid, listed[i].pid);
        assert_int_equal(process->events, listed[i].events);
        assert_int_equal(process->kinds, HEAP_BIT | EXTENT_BIT | (i == 0 ? VA_BIT : 0));
    }
    etlheap_gate_free(gate);
    etlheap_result_free(r.result);
}

static void every_kind_that_a_budget_names_must_be_there(void **state)
{
    static const struct {
        u32 query_kinds, budget_kinds, missing;
    } rows[] = {
        { 0, 0, 0 },
        { 0, HEAP_BIT, 0 },
        { 0, VA_BIT, VA_BIT },
        { 0, HEAP_BIT | VA_BIT, VA_BIT },
        { HEAP_BIT | VA_BIT, 0, VA_BIT },
        { HEAP_BIT, 0, 0 },
        { HEAP_BIT | EXTENT_BIT, HEAP_BIT | VA_BIT, 0 }, /* the query's filter comes first */
        /* All that is recorded together: kinds with recordings of their own change nothing. */
        { ETLHEAP_KINDS_DEFAULT | 1u << ETLHEAP_KIND_RESERVE, 0, 0 },
    };
    (void)state;
    for (u32 i = 0; i < ETL_COUNT_OF(rows); i++) {
        gate_run r = gate_run_open();
        const u32 a = gate_run_process(&r, 10, "a.exe", 5, 0);
        gate_run_block(&r, a, 0x10, STACK_A, 30);
        gate_run_ready(&r);
        r.query.kinds = rows[i].query_kinds;
        r.result->abilities.kinds |= r.query.kinds;
        const etlheap_budget budget = { .scope = ETLHEAP_SCOPE_TOTAL,
                                        .kinds = rows[i].budget_kinds,
                                        .limit = 100 };
        const etlheap_gate *const gate = gate_run_judge(&r, &budget, 1);
        assert_int_equal(gate->is_unmeasured, rows[i].missing != 0);
        assert_int_equal(gate->doubts, rows[i].missing != 0 ? 1u << ETLHEAP_DOUBT_NO_EVENTS : 0);
        assert_int_equal(gate->absence.kinds, rows[i].missing);
        assert_int_equal(gate->absence.other_kinds, 0);
        assert_int_equal(gate->outcome,
                         rows[i].missing != 0 ? ETLHEAP_OUTCOME_FAIL : ETLHEAP_OUTCOME_PASS);
        etlheap_gate_free(gate);
        etlheap_result_free(r.result);
    }
}

/* A session without extents' events says nothing of extents. */
static void kinds_that_were_not_recorded_are_missing(void **state)
{
    gate_run r = gate_run_open();
    (void)state;
    const u32 a = gate_run_process(&r, 10, "a.exe", 5, 0);
    gate_run_block(&r, a, 0x10, STACK_A, 30);
    gate_run_ready(&r);
    for (u32 way = 0; way < 2; way++) {
        r.result->abilities.kinds = way == 0 ? EXTENT_BIT : HEAP_BIT;
        const etlheap_gate *const gate = gate_run_judge_scope(&r, ETLHEAP_SCOPE_TOTAL, 100);
        assert_int_equal(gate->kinds, way == 0 ? EXTENT_BIT : HEAP_BIT);
        assert_int_equal(gate->budgets[0].judged_count, 1);
        assert_int_equal(gate->budgets[0].subjects[0].measured, way == 0 ? 0 : 30);
        etlheap_gate_free(gate);
    }
    etlheap_result_free(r.result);
}

static void without_any_events_every_kind_is_missing(void **state)
{
    gate_run r = gate_run_open();
    (void)state;
    gate_run_process(&r, 10, "a.exe", 0, 0);
    gate_run_ready(&r);
    const etlheap_gate *const gate = gate_run_judge_scope(&r, ETLHEAP_SCOPE_TOTAL, 100);
    assert_int_equal(gate->outcome, ETLHEAP_OUTCOME_FAIL);
    assert_int_equal(gate->kinds, 0);
    assert_int_equal(gate->absence.kinds, ETLHEAP_KINDS_DEFAULT);
    assert_int_equal(gate->absence.process_count, 0);
    assert_int_equal(gate->budgets[0].judged_count, 0);
    etlheap_gate_free(gate);
    etlheap_result_free(r.result);
}

/* Why nothing was measured, told beside suppressions that matched nothing. */
static void names_and_suppressions_stand_side_by_side(void **state)
{
    static const char text[] = "leak:one\nleak:two\nleak:three\n";
    static const char *const patterns[] = { "nobody*", "b.exe", "20x" };
    static const char *const names[] = { "d.exe", "c.exe", "b.exe", "a.exe" };
    gate_run r = gate_run_open();
    etlheap_suppressions *known = NULL;
    const etlheap_gate *gate = NULL;
    (void)state;
    for (u32 i = 0; i < ETL_COUNT_OF(names); i++)
        gate_run_process(&r, 10 * i, names[i], 9 - i, 0);
    gate_run_ready(&r);
    assert_int_equal(etlheap_suppressions_open(&known, NULL), ETL_OK);
    assert_int_equal(etlheap_suppressions_add(
                         known, "known", (etl_bytes){ (const u8 *)text, sizeof text - 1 }, NULL),
                     ETL_OK);
    r.query.processes = patterns;
    r.query.process_count = (u32)ETL_COUNT_OF(patterns);
    const etlheap_budget budget = { .scope = ETLHEAP_SCOPE_PROCESS };
    const etlheap_gate_options options = { .size = sizeof options,
                                           .budgets = &budget,
                                           .budget_count = 1,
                                           .suppressions = known,
                                           .passes_max = 10 };
    assert_int_equal(gate_run_try(&r, &options, &gate, NULL), ETL_OK);
    assert_int_equal(gate->absence.pattern_count, 2);
    assert_string_equal(gate->absence.patterns[0], "nobody*");
    assert_string_equal(gate->absence.patterns[1], "20x");
    assert_int_equal(gate->absence.process_count, ETL_COUNT_OF(names));
    for (u32 i = 0; i < ETL_COUNT_OF(names); i++) {
        assert_string_equal(gate->absence.processes[i].name, names[i]);
        assert_int_equal(gate->absence.processes[i].pid, 10 * i);
        assert_int_equal(gate->absence.processes[i].kinds, HEAP_BIT | EXTENT_BIT);
        assert_int_equal(gate->absence.processes[i].events, 9 - i);
    }
    assert_int_equal(gate->suppression_count, 3);
    for (u32 i = 0; i < 3; i++) {
        assert_int_equal(gate->suppressions[i].line, i + 1);
        assert_int_equal(gate->suppressions[i].stacks, 0);
    }
    assert_string_equal(gate->suppressions[2].pattern, "three");
    etlheap_gate_free(gate);
    etlheap_suppressions_close(known);
    etlheap_result_free(r.result);
}

/* Limits of ours leave totals whole, but for buffers that cannot be read. What is missing of pool
 * or handles is no doubt of heap blocks. */
static void losses_and_damage_cast_doubt_and_limits_do_not(void **state)
{
    (void)state;
    for (int i = 0; i < ETL_DIAG_COUNT; i++) {
        gate_run r = gate_run_open();
        gate_run_process(&r, 10, "a.exe", 5, 0);
        gate_run_ready(&r);
        etl_diag_add(&r.result->diag, (etl_diag)i, 1);
        const etl_severity severity = etl_diag_describe((etl_diag)i)->severity;
        const bool is_of_others =
            i == ETL_DIAG_key_over_live || i == ETL_DIAG_handle_process_unknown;
        const bool expected =
            !is_of_others && (severity == ETL_SEVERITY_LOSS || severity == ETL_SEVERITY_DAMAGE ||
                              i == ETL_DIAG_buffer_compression_unsupported);
        const etlheap_gate *const gate = gate_run_judge_scope(&r, ETLHEAP_SCOPE_TOTAL, 100);
        assert_int_equal(gate->is_lossy, expected);
        assert_int_equal(gate->outcome,
                         expected ? ETLHEAP_OUTCOME_INCONCLUSIVE : ETLHEAP_OUTCOME_PASS);
        etlheap_gate_free(gate);
        etlheap_result_free(r.result);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_that_only_others_have_are_the_patterns_fault),
        cmocka_unit_test(every_kind_that_a_budget_names_must_be_there),
        cmocka_unit_test(kinds_that_were_not_recorded_are_missing),
        cmocka_unit_test(without_any_events_every_kind_is_missing),
        cmocka_unit_test(names_and_suppressions_stand_side_by_side),
        cmocka_unit_test(losses_and_damage_cast_doubt_and_limits_do_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
