/*
 * Goal: a verdict that proves nothing never looks like a pass: what decides first, and
 * what then, when a run or its baseline is lossy, nothing was measured, a limit is
 * exceeded, or several of these.
 * Method: every combination, made by hand in the modules of symbol_world.h, against the
 * order of decisions as a reader of docs/check.md would write it down. What statuses
 * and baselines come of it is shown on the whole program (oracle_check.py).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/symbol_world.h"

static const u64 in_grow[] = { WORLD_APP + WORLD_GROW, WORLD_APP + WORLD_MAIN };

/* A run, its baseline and what is asked of them. */
typedef struct situation {
    bool is_growth, has_baseline, is_lossy, is_baseline_lossy, is_empty, is_exceeded, allow_empty;
} situation;

#define SITUATIONS 128u

static situation situation_of(u32 number)
{
    return (situation){ number & 1,      number >> 1 & 1, number >> 2 & 1, number >> 3 & 1,
                        number >> 4 & 1, number >> 5 & 1, number >> 6 & 1 };
}

/* As docs/check.md has it. */
static etlheap_outcome outcome_wanted(const situation *s)
{
    if (s->is_empty && !s->allow_empty)
        return ETLHEAP_OUTCOME_FAIL;
    if (s->is_growth && s->has_baseline && s->is_baseline_lossy)
        return ETLHEAP_OUTCOME_INCONCLUSIVE;
    if (s->is_exceeded && !s->is_empty && (!s->is_growth || s->has_baseline))
        return ETLHEAP_OUTCOME_FAIL;
    if (s->is_lossy)
        return ETLHEAP_OUTCOME_INCONCLUSIVE;
    return s->is_growth && !s->has_baseline ? ETLHEAP_OUTCOME_SKIPPED : ETLHEAP_OUTCOME_PASS;
}

/* A run with one block; 0: without heap events. */
static symbol_world *run_of(u64 size_bytes, bool is_lossy)
{
    symbol_world *const w = world_new();
    w->result->abilities.kinds |= 1u << ETLHEAP_KIND_HEAP;
    if (size_bytes > 0) {
        w->result->processes.at[w->process - 1].events[ETLHEAP_KIND_HEAP] = 1;
        world_block(w, size_bytes, in_grow, (u32)ETL_COUNT_OF(in_grow));
    }
    if (is_lossy)
        etl_diag_add(&w->result->diag, ETL_DIAG_events_lost, 1);
    return w;
}

static const etlheap_gate *judge_situation(const situation *s, symbol_world *w, symbol_world *base)
{
    const etlheap_gate_side now = { w->result, &w->query };
    const etlheap_gate_side before = { base->result, &base->query };
    const etlheap_budget budget = { .is_growth = s->is_growth,
                                    .scope = ETLHEAP_SCOPE_TOTAL,
                                    .limit = s->is_exceeded ? 0 : 1000 };
    const etlheap_gate_options options = { .size = sizeof options,
                                           .budgets = &budget,
                                           .budget_count = 1,
                                           .baseline = s->has_baseline ? &before : NULL,
                                           .allow_empty = s->allow_empty };
    const etlheap_gate *gate = NULL;
    etl_error err;
    assert_int_equal(etlheap_gate_judge(&now, &options, &gate, &err), ETL_OK);
    return gate;
}

static void every_situation_has_one_outcome(void **state)
{
    u32 seen = 0;
    (void)state;
    for (u32 number = 0; number < SITUATIONS; number++) {
        const situation s = situation_of(number);
        symbol_world *const w = run_of(s.is_empty ? 0 : 100, s.is_lossy);
        symbol_world *const base = run_of(50, s.is_baseline_lossy);
        const etlheap_gate *const gate = judge_situation(&s, w, base);
        const etlheap_outcome wanted = outcome_wanted(&s);
        if (gate->budgets[0].outcome != wanted)
            fail_msg("situation %u: %s and not %s", number,
                     etlheap_outcome_word(gate->budgets[0].outcome), etlheap_outcome_word(wanted));
        assert_int_equal(gate->outcome,
                         wanted == ETLHEAP_OUTCOME_SKIPPED ? ETLHEAP_OUTCOME_PASS : wanted);
        assert_int_equal(gate->is_unmeasured, s.is_empty);
        assert_int_equal(gate->is_lossy, s.is_lossy);
        assert_int_equal(gate->may_found, s.is_growth && !s.is_empty);
        for (u32 i = 0; i < gate->budgets[0].subject_count; i++)
            assert_true(gate->budgets[0].subjects[i].outcome != ETLHEAP_OUTCOME_PASS ||
                        gate->outcome == ETLHEAP_OUTCOME_PASS);
        seen |= 1u << wanted;
        etlheap_gate_free(gate);
        world_free(w);
        world_free(base);
    }
    assert_int_equal(seen, (1u << ETLHEAP_OUTCOME_COUNT) - 1);
}

/* What is required decides first, and changes no limit's outcome. */
static void what_is_required_fails_the_gate_if_it_is_missing(void **state)
{
    static const char *const words[] = { "A.exe", "nobody.exe", "a,b", "a" };
    static const struct {
        bool requires_baseline, has_baseline;
        u32 count, listed, unmet;
    } rows[] = {
        { false, false, 0, 0, 0 }, { true, true, 0, 1, 0 },   { true, false, 0, 1, 1 },
        { false, false, 1, 1, 0 }, { false, false, 2, 2, 1 }, { true, false, 3, 4, 3 },
        { true, true, 4, 4, 1 }, /* "a,b" is a list, as "a" names a process */
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        symbol_world *const w = run_of(100, false);
        symbol_world *const base = run_of(100, false);
        const etlheap_gate_side now = { w->result, &w->query };
        const etlheap_gate_side before = { base->result, &base->query };
        const etlheap_budget budget = { .scope = ETLHEAP_SCOPE_TOTAL, .limit = 1000 };
        const etlheap_gate_options options = { .size = sizeof options,
                                               .budgets = &budget,
                                               .budget_count = 1,
                                               .baseline = rows[i].has_baseline ? &before : NULL,
                                               .allow_empty = true,
                                               .requires_baseline = rows[i].requires_baseline,
                                               .required_processes = words,
                                               .required_process_count = rows[i].count };
        const etlheap_gate *gate = NULL;
        etl_error err;
        assert_int_equal(etlheap_gate_judge(&now, &options, &gate, &err), ETL_OK);
        assert_int_equal(gate->unmet_count, rows[i].unmet);
        assert_int_equal(gate->requirement_count, rows[i].listed);
        assert_int_equal(gate->outcome,
                         rows[i].unmet > 0 ? ETLHEAP_OUTCOME_FAIL : ETLHEAP_OUTCOME_PASS);
        assert_int_equal(gate->budgets[0].outcome, ETLHEAP_OUTCOME_PASS);
        etlheap_gate_free(gate);
        world_free(w);
        world_free(base);
    }
}

/* A limit of heap blocks says what it says, whatever happened to keys of pool. */
static void what_is_missing_of_one_kind_is_no_doubt_of_another(void **state)
{
    static const struct {
        u32 kinds;
        etl_diag diag;
        etlheap_outcome wanted;
    } rows[] = {
        { 1u << ETLHEAP_KIND_HEAP, ETL_DIAG_key_over_live, ETLHEAP_OUTCOME_PASS },
        { 0, ETL_DIAG_key_over_live, ETLHEAP_OUTCOME_PASS }, /* kinds that are judged unnamed */
        { 1u << ETLHEAP_KIND_POOL, ETL_DIAG_key_over_live, ETLHEAP_OUTCOME_INCONCLUSIVE },
        { 1u << ETLHEAP_KIND_POOL, ETL_DIAG_handle_process_unknown, ETLHEAP_OUTCOME_PASS },
        { 1u << ETLHEAP_KIND_HEAP, ETL_DIAG_alloc_over_live, ETLHEAP_OUTCOME_INCONCLUSIVE },
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        symbol_world *const w = run_of(100, false);
        w->result->abilities.kinds |= 1u << ETLHEAP_KIND_POOL;
        w->result->processes.at[w->process - 1].events[ETLHEAP_KIND_POOL] = 1;
        w->query.kinds = rows[i].kinds;
        etl_diag_add(&w->result->diag, rows[i].diag, 1);
        const etlheap_gate_side now = { w->result, &w->query };
        const etlheap_budget budget = { .scope = ETLHEAP_SCOPE_TOTAL,
                                        .kinds = rows[i].kinds,
                                        .limit = 1000 };
        const etlheap_gate_options options = {
            .size = sizeof options, .budgets = &budget, .budget_count = 1, .allow_empty = true
        };
        const etlheap_gate *gate = NULL;
        etl_error err;
        assert_int_equal(etlheap_gate_judge(&now, &options, &gate, &err), ETL_OK);
        assert_int_equal(gate->outcome, rows[i].wanted);
        etlheap_gate_free(gate);
        world_free(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_situation_has_one_outcome),
        cmocka_unit_test(what_is_required_fails_the_gate_if_it_is_missing),
        cmocka_unit_test(what_is_missing_of_one_kind_is_no_doubt_of_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
