/*
 * Goal: a gate's subjects are what the scope says, of the processes, kinds and heaps that
 * were asked for, and how the query sorts and groups changes nothing.
 * Method: processes and blocks put together by hand, without modules; the expected sums
 * are written beside them. Names, suppressions and stacks to blame: test_gate.c. What
 * could not be measured: test_gate_absence.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "gate_run.h"

#define STACK_A 0x1000
#define STACK_B 0x2000
#define VIRTUAL ETLHEAP_KIND_VIRTUALALLOC

/* --- what a subject is ---------------------------------------------------------------- */

static void each_heap_is_a_subject(void **state)
{
    gate_run r = gate_run_open();
    (void)state;
    const u32 a = gate_run_process(&r, 10, "a.exe", 5, 1);
    gate_run_block(&r, a, 0x10, STACK_A, 30);
    gate_run_block(&r, a, 0x10, STACK_B, 40);
    gate_run_block(&r, a, 0x20, STACK_A, 20);
    gate_run_add(&r, VIRTUAL, (gate_block){ a, 0, 5, STACK_A, ETLHEAP_TICKS_NEVER });
    gate_run_ready(&r);
    const etlheap_gate *const gate = gate_run_judge_scope(&r, ETLHEAP_SCOPE_HEAP, 50);
    const etlheap_gate_budget *const budget = &gate->budgets[0];
    assert_int_equal(budget->judged_count, 3);
    assert_int_equal(budget->failed_count, 1);
    assert_true(budget->subjects[0].has_heap);
    assert_int_equal(budget->subjects[0].heap_handle, 0x10);
    assert_int_equal(budget->subjects[0].measured, 70);
    assert_int_equal(budget->subjects[0].stack_count, 2);
    assert_int_equal(budget->subjects[1].heap_handle, 0x20);
    assert_int_equal(budget->subjects[1].measured, 20);
    assert_int_equal(budget->subjects[2].kind, VIRTUAL);
    assert_false(budget->subjects[2].has_heap);
    assert_int_equal(budget->subjects[2].measured, 5);
    etlheap_gate_free(gate);
    etlheap_result_free(r.result);
}

/* Rows come by count: those of the two processes take turns. */
static void processes_of_one_name_are_subjects_of_their_own(void **state)
{
    static const struct {
        u32 process;
        u64 frame;
        u32 count;
    } rows[] = { { 0, STACK_A, 6 }, { 1, STACK_A, 5 }, { 0, STACK_B, 4 },
                 { 1, STACK_B, 3 }, { 0, 0x3000, 2 },  { 1, 0x3000, 1 } };
    gate_run r = gate_run_open();
    (void)state;
    const u32 ids[] = { gate_run_process(&r, 10, "a.exe", 12, 0),
                        gate_run_process(&r, 20, "a.exe", 9, 0) };
    for (u32 i = 0; i < ETL_COUNT_OF(rows); i++) {
        for (u32 k = 0; k < rows[i].count; k++)
            gate_run_block(&r, ids[rows[i].process], 0x10, rows[i].frame, 1);
    }
    gate_run_ready(&r);
    const etlheap_gate *const gate = gate_run_judge_scope(&r, ETLHEAP_SCOPE_PROCESS, 0);
    const etlheap_gate_budget *const budget = &gate->budgets[0];
    /* Whose heap events are recorded, its extents are too: there are none. */
    assert_int_equal(budget->judged_count, 4);
    assert_int_equal(budget->failed_count, 2);
    for (u32 i = 0; i < 2; i++) {
        assert_int_equal(budget->subjects[i].pid, i == 0 ? 10 : 20);
        assert_int_equal(budget->subjects[i].measured, i == 0 ? 12 : 9);
        assert_int_equal(budget->subjects[i].stack_count, 3);
        for (u32 k = 0; k < 3; k++)
            assert_int_equal(budget->subjects[i].stacks[k].now.size_bytes, rows[2 * k + i].count);
    }
    etlheap_gate_free(gate);
    etlheap_result_free(r.result);
}

static void processes_without_memory_are_subjects_if_they_have_events(void **state)
{
    static const char *const names[] = { "a.exe", "b.exe", "c.exe", "d.exe" };
    gate_run r = gate_run_open();
    u32 seen = 0;
    (void)state;
    for (u32 i = 0; i < ETL_COUNT_OF(names); i++)
        gate_run_process(&r, 10 * (i + 1), names[i], i == 1 ? 0 : 7, 0);
    gate_run_ready(&r);
    const etlheap_budget budget = { .scope = ETLHEAP_SCOPE_PROCESS, .kinds = HEAP_BIT };
    const etlheap_gate *const gate = gate_run_judge(&r, &budget, 1);
    assert_int_equal(gate->outcome, ETLHEAP_OUTCOME_PASS);
    assert_int_equal(gate->budgets[0].judged_count, 3);
    for (u32 i = 0; i < 3; i++) {
        const etlheap_gate_subject *const subject = &gate->budgets[0].subjects[i];
        assert_int_equal(subject->measured, 0);
        for (u32 k = 0; k < ETL_COUNT_OF(names); k++)
            seen |= strcmp(subject->process, names[k]) == 0 && subject->pid == 10 * (k + 1)
                        ? 1u << k
                        : 0;
    }
    assert_int_equal(seen, 1 | 4 | 8);
    etlheap_gate_free(gate);
    etlheap_result_free(r.result);
}

static void each_kind_is_judged_by_itself(void **state)
{
    gate_run r = gate_run_open();
    (void)state;
    const u32 a = gate_run_process(&r, 10, "a.exe", 5, 1);
    gate_run_block(&r, a, 0x10, STACK_A, 30);
    gate_run_add(&r, VIRTUAL, (gate_block){ a, 0, 4096, STACK_A, ETLHEAP_TICKS_NEVER });
    gate_run_add(&r, ETLHEAP_KIND_EXTENT,
                 (gate_block){ a, 0x10, 8192, STACK_B, ETLHEAP_TICKS_NEVER });
    gate_run_ready(&r);
    const etlheap_budget budgets[] = {
        { .scope = ETLHEAP_SCOPE_TOTAL, .limit = 1 << 20 },
        { .scope = ETLHEAP_SCOPE_TOTAL, .kinds = VA_BIT },
        { .scope = ETLHEAP_SCOPE_TOTAL, .kinds = HEAP_BIT | EXTENT_BIT, .limit = 100 },
        { .scope = ETLHEAP_SCOPE_TOTAL, .kinds = EXTENT_BIT }
    };
    const etlheap_gate *const gate = gate_run_judge(&r, budgets, (u32)ETL_COUNT_OF(budgets));
    const etlheap_gate_budget *const judged = gate->budgets;
    assert_int_equal(gate->outcome, ETLHEAP_OUTCOME_FAIL);
    assert_int_equal(judged[0].outcome, ETLHEAP_OUTCOME_PASS);
    assert_int_equal(judged[0].judged_count, 3);
    assert_int_equal(judged[0].subjects[0].measured, 8192);
    assert_int_equal(judged[0].subjects[1].measured, 4096);
    assert_int_equal(judged[0].subjects[2].measured, 30);
    assert_int_equal(judged[1].judged_count, 1);
    assert_int_equal(judged[1].subjects[0].measured, 4096);
    assert_int_equal(judged[2].judged_count, 2);
    assert_int_equal(judged[2].failed_count, 1);
    assert_int_equal(judged[3].subjects[0].measured, 8192);
    assert_int_equal(gate->kinds, HEAP_BIT | VA_BIT | EXTENT_BIT);
    assert_int_equal(gate->outstanding[ETLHEAP_KIND_EXTENT].size_bytes, 8192);
    for (u32 i = 0; i < ETL_COUNT_OF(budgets); i++) {
        for (u32 k = 0; k < judged[i].subject_count; k++) {
            assert_true(judged[i].subjects[k].fingerprint != 0);
            for (u32 s = 0; s < judged[i].subjects[k].stack_count; s++)
                assert_true(judged[i].subjects[k].stacks[s].fingerprint != 0);
        }
    }
    etlheap_gate_free(gate);
    etlheap_result_free(r.result);
}

static void stacks_beyond_the_largest_are_counted(void **state)
{
    gate_run r = gate_run_open();
    (void)state;
    const u32 a = gate_run_process(&r, 10, "a.exe", 9, 0);
    for (u64 i = 0; i < 5; i++) /* the first one has no bytes to blame */
        gate_run_block(&r, a, 0x10, STACK_A + i, 10 * i);
    gate_run_ready(&r);
    const etlheap_budget budget = { .scope = ETLHEAP_SCOPE_TOTAL, .limit = 99 };
    const etlheap_gate_options options = {
        .size = sizeof options, .budgets = &budget, .budget_count = 1, .stacks_max = 3
    };
    const etlheap_gate *gate = NULL;
    assert_int_equal(gate_run_try(&r, &options, &gate, NULL), ETL_OK);
    assert_int_equal(gate->budgets[0].subject_count, 1);
    const etlheap_gate_subject *const subject = &gate->budgets[0].subjects[0];
    assert_int_equal(subject->now.count, 5);
    assert_int_equal(subject->stack_count, 3);
    assert_int_equal(subject->stacks_omitted, 1);
    for (u32 i = 0; i < 3; i++) {
        assert_int_equal(subject->stacks[i].now.size_bytes, 40 - 10 * i);
        assert_int_equal(subject->stacks[i].now.count, 1);
        assert_string_equal(subject->stacks[i].process, "a.exe");
    }
    etlheap_gate_free(gate);
    etlheap_result_free(r.result);
}

/* --- the query ------------------------------------------------------------------------ */

/* Freed blocks are larger and more where nothing stays. */
static void sorting_and_grouping_of_the_query_change_nothing(void **state)
{
    (void)state;
    for (u32 way = 0; way < 6; way++) {
        gate_run r = gate_run_open();
        const u32 a = gate_run_process(&r, 10, "a.exe", 90, 0);
        for (u32 i = 0; i < 20; i++) {
            const u64 frame = STACK_A + i;
            gate_run_add(&r, ETLHEAP_KIND_HEAP, (gate_block){ a, 0x10, 5000, frame, GATE_TICK(2) });
            if (i % 2 == 0)
                gate_run_block(&r, a, 0x10, frame, i);
            else /* more, and larger, than where something stays */
                gate_run_add(&r, ETLHEAP_KIND_HEAP,
                             (gate_block){ a, 0x10, 9000, frame, GATE_TICK(3) });
            gate_run_add(&r, ETLHEAP_KIND_HEAP,
                         (gate_block){ a, 0x10, 50, frame + i % 2, GATE_TICK(3) });
        }
        gate_run_ready(&r);
        r.query.sort_ascending = way == 1 || way == 2;
        r.query.sort = way == 2   ? ETLHEAP_MEASURE_SIZE
                       : way == 3 ? ETLHEAP_MEASURE_COUNT
                                  : ETLHEAP_MEASURE_OUTSTANDING_SIZE;
        r.query.types = way == 4 ? 1u << ETLHEAP_TYPE_AIFI : 0;
        r.query.group_by_count = way == 3 ? 2 : way == 5 ? 1 : 4;
        r.query.growth = r.query.lifetime_ranks = way == 3;
        const etlheap_gate *const gate = gate_run_judge_scope(&r, ETLHEAP_SCOPE_STACK, 8);
        assert_int_equal(gate->outstanding[ETLHEAP_KIND_HEAP].size_bytes, 90);
        assert_int_equal(gate->outstanding[ETLHEAP_KIND_HEAP].count, 10);
        assert_int_equal(gate->budgets[0].judged_count, 10);
        assert_int_equal(gate->budgets[0].failed_count, 5);
        etlheap_gate_free(gate);
        etlheap_result_free(r.result);
    }
}

/* One process holds 3 + 4 bytes, and 100 more until tick 500. Each row is a limit just met. */
static void each_quantity_is_measured_in_each_scope(void **state)
{
    static const struct {
        etlheap_quantity quantity;
        bool is_count;
        etlheap_scope scope;
        u32 subjects;
        i64 most;
    } rows[] = {
        { ETLHEAP_QUANTITY_OUTSTANDING, false, ETLHEAP_SCOPE_FUNCTION, 2, 4 },
        { ETLHEAP_QUANTITY_PEAK, false, ETLHEAP_SCOPE_TOTAL, 1, 107 },
        { ETLHEAP_QUANTITY_PEAK, false, ETLHEAP_SCOPE_PROCESS, 1, 107 },
        { ETLHEAP_QUANTITY_PEAK, false, ETLHEAP_SCOPE_HEAP, 2, 104 },
        { ETLHEAP_QUANTITY_PEAK, false, ETLHEAP_SCOPE_STACK, 3, 100 },
        { ETLHEAP_QUANTITY_ALLOCATED, true, ETLHEAP_SCOPE_PROCESS, 1, 3 },
        { ETLHEAP_QUANTITY_ALLOCATED, true, ETLHEAP_SCOPE_HEAP, 2, 2 },
        { ETLHEAP_QUANTITY_ALLOCATED, true, ETLHEAP_SCOPE_FUNCTION, 3, 1 },
    };
    gate_run r = gate_run_open();
    const u32 a = gate_run_process(&r, 10, "a.exe", 5, 0);
    (void)state;
    gate_run_block(&r, a, 0x100, 1, 3);
    gate_run_block(&r, a, 0x200, 2, 4);
    gate_run_add(&r, ETLHEAP_KIND_HEAP, (gate_block){ a, 0x200, 100, 3, GATE_TICK(500) });
    gate_run_ready(&r);
    for (u32 i = 0; i < ETL_COUNT_OF(rows); i++) {
        const etlheap_budget budgets[] = {
            { .scope = rows[i].scope,
              .kinds = HEAP_BIT,
              .quantity = rows[i].quantity,
              .is_count = rows[i].is_count,
              .limit = (u64)rows[i].most },
            { .scope = rows[i].scope,
              .kinds = HEAP_BIT,
              .quantity = rows[i].quantity,
              .is_count = rows[i].is_count,
              .limit = (u64)rows[i].most - 1 },
        };
        const etlheap_gate *const gate = gate_run_judge(&r, budgets, 2);
        assert_int_equal(gate->budgets[0].judged_count, rows[i].subjects);
        assert_int_equal(gate->budgets[0].subjects[0].measured, rows[i].most);
        assert_int_equal(gate->budgets[0].outcome, ETLHEAP_OUTCOME_PASS);
        assert_int_equal(gate->budgets[1].outcome, ETLHEAP_OUTCOME_FAIL);
        etlheap_gate_free(gate);
    }
    etlheap_result_free(r.result);
}

static void budgets_that_make_no_sense_are_refused(void **state)
{
    const etlheap_budget bad[] = {
        { .scope = ETLHEAP_SCOPE_COUNT },
        { .scope = ETLHEAP_SCOPE_TOTAL, .kinds = 1u << ETLHEAP_KIND_COUNT },
        { .scope = ETLHEAP_SCOPE_TOTAL, .kinds = 1u << 31 },
        { .scope = ETLHEAP_SCOPE_TOTAL, .quantity = ETLHEAP_QUANTITY_COUNT },
    };
    gate_run r = gate_run_open();
    (void)state;
    gate_run_process(&r, 10, "a.exe", 5, 1);
    gate_run_ready(&r);
    for (u32 i = 0; i < ETL_COUNT_OF(bad); i++) {
        const etlheap_budget budgets[] = { { .scope = ETLHEAP_SCOPE_TOTAL }, bad[i] };
        const etlheap_gate_options options = { .size = sizeof options,
                                               .budgets = budgets,
                                               .budget_count = 2 };
        const etlheap_gate *gate = NULL;
        etl_error err = { .status = ETL_OK };
        assert_int_equal(gate_run_try(&r, &options, &gate, &err), ETL_ERR_ARGUMENT);
        assert_non_null(strstr(err.message, "scope or kind"));
        assert_null(gate);
    }
    etlheap_result_free(r.result);
}

/* --- growth ------------------------------------------------------------------------------ */

static const etlheap_gate *judge_growth(const gate_run *now, const gate_run *before,
                                        etlheap_scope scope)
{
    const etlheap_gate_side baseline = { before->result, &before->query };
    const etlheap_budget budget = { .is_growth = true, .scope = scope, .limit = 1000 };
    const etlheap_gate_options options = { .size = sizeof options,
                                           .budgets = &budget,
                                           .budget_count = 1,
                                           .baseline = &baseline,
                                           .passes_max = 100 };
    const etlheap_gate *gate = NULL;
    etl_error err = { .status = ETL_OK };
    if (gate_run_try(now, &options, &gate, &err) != ETL_OK)
        fail_msg("%s", err.message);
    return gate;
}

/* Of four processes one grows, two shrink and one stays; one is gone and one had nothing. */
static void processes_that_grew_shrank_or_are_gone_are_counted(void **state)
{
    static const struct {
        const char *name;
        u64 before, now; /* blocks of ten bytes */
    } rows[] = { { "a.exe", 1, 3 }, { "b.exe", 5, 2 }, { "c.exe", 4, 3 }, { "d.exe", 2, 2 } };
    gate_run before = gate_run_open(), now = gate_run_open();
    (void)state;
    for (u32 i = 0; i < ETL_COUNT_OF(rows); i++) {
        const u32 was = gate_run_process(&before, 10 + i, rows[i].name, 9, 0);
        const u32 is = gate_run_process(&now, 50 - i, rows[i].name, 9, 0);
        for (u64 k = 0; k < rows[i].before; k++)
            gate_run_block(&before, was, 0x10, STACK_A, 10);
        for (u64 k = 0; k < rows[i].now; k++)
            gate_run_block(&now, is, 0x10, STACK_A, 10);
    }
    gate_run_block(&before, gate_run_process(&before, 70, "gone.exe", 3, 0), 0x10, STACK_B, 500);
    gate_run_process(&before, 80, "empty.exe", 3, 0);
    gate_run_ready(&before);
    gate_run_ready(&now);
    const etlheap_gate *const gate = judge_growth(&now, &before, ETLHEAP_SCOPE_PROCESS);
    assert_int_equal(gate->outcome, ETLHEAP_OUTCOME_PASS);
    assert_int_equal(gate->grown_count, 1);
    assert_int_equal(gate->shrunk_count, 3); /* the one that is gone, too */
    assert_int_equal(gate->missing_count, 1);
    assert_false(gate->may_tighten);
    const etlheap_gate_subject *const largest = &gate->budgets[0].subjects[0];
    assert_string_equal(largest->process, "a.exe");
    assert_int_equal(largest->measured, 20);
    assert_int_equal(largest->baseline.count, 1);
    assert_int_equal(largest->now.count, 3);
    etlheap_gate_free(gate);
    etlheap_result_free(before.result);
    etlheap_result_free(now.result);
}

static void both_processes_of_a_name_grow_as_one(void **state)
{
    gate_run before = gate_run_open(), now = gate_run_open();
    (void)state;
    gate_run_block(&before, gate_run_process(&before, 10, "a.exe", 3, 0), 0x10, STACK_A, 100);
    gate_run_block(&now, gate_run_process(&now, 10, "a.exe", 3, 0), 0x10, STACK_A, 80);
    gate_run_block(&now, gate_run_process(&now, 20, "A.EXE", 3, 0), 0x20, STACK_A, 70);
    gate_run_ready(&before);
    gate_run_ready(&now);
    const etlheap_gate *const gate = judge_growth(&now, &before, ETLHEAP_SCOPE_PROCESS);
    assert_int_equal(gate->budgets[0].judged_count, 2); /* heaps and extents */
    assert_int_equal(gate->budgets[0].subjects[0].measured, 50);
    assert_int_equal(gate->budgets[0].subjects[0].pid, ETL_NO_ID);
    assert_int_equal(gate->grown_count, 1);
    assert_int_equal(gate->missing_count, 0);
    etlheap_gate_free(gate);
    etlheap_result_free(before.result);
    etlheap_result_free(now.result);
}

/* Without a stack there is no subject, but a doubt. */
static void doubts_count_without_a_subject(void **state)
{
    static const struct {
        bool is_lossy, is_baseline_lossy;
        etlheap_outcome outcome;
    } rows[] = { { false, false, ETLHEAP_OUTCOME_PASS },
                 { true, false, ETLHEAP_OUTCOME_INCONCLUSIVE },
                 { false, true, ETLHEAP_OUTCOME_INCONCLUSIVE } };
    (void)state;
    for (u32 i = 0; i < ETL_COUNT_OF(rows); i++) {
        gate_run before = gate_run_open(), now = gate_run_open();
        gate_run_process(&before, 10, "a.exe", 3, 0);
        gate_run_process(&now, 10, "a.exe", 3, 0);
        gate_run_ready(&before);
        gate_run_ready(&now);
        etl_diag_add(&now.result->diag, ETL_DIAG_events_lost, rows[i].is_lossy);
        etl_diag_add(&before.result->diag, ETL_DIAG_events_lost, rows[i].is_baseline_lossy);
        const etlheap_gate *const gate = judge_growth(&now, &before, ETLHEAP_SCOPE_STACK);
        assert_int_equal(gate->budgets[0].judged_count, 0);
        assert_int_equal(gate->outcome, rows[i].outcome);
        etlheap_gate_free(gate);
        etlheap_result_free(before.result);
        etlheap_result_free(now.result);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_heap_is_a_subject),
        cmocka_unit_test(processes_of_one_name_are_subjects_of_their_own),
        cmocka_unit_test(processes_without_memory_are_subjects_if_they_have_events),
        cmocka_unit_test(each_kind_is_judged_by_itself),
        cmocka_unit_test(stacks_beyond_the_largest_are_counted),
        cmocka_unit_test(sorting_and_grouping_of_the_query_change_nothing),
        cmocka_unit_test(each_quantity_is_measured_in_each_scope),
        cmocka_unit_test(budgets_that_make_no_sense_are_refused),
        cmocka_unit_test(processes_that_grew_shrank_or_are_gone_are_counted),
        cmocka_unit_test(both_processes_of_a_name_grow_as_one),
        cmocka_unit_test(doubts_count_without_a_subject),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
