/*
 * Goal: budgets are held against the right sums of the right memory: subjects by scope,
 * known leaks left out, the stacks to blame, growth by function and not by address.
 * Method: blocks put into the modules of symbol_world.h by hand. That random traces are
 * judged as a model says is shown on the whole program (oracle_check.py).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/support/symbol_world.h"

#define STACKS_MAX 5u

static const u64 in_grow[] = { WORLD_APP + WORLD_GROW, WORLD_APP + WORLD_MAIN };
static const u64 in_grow_late[] = { WORLD_APP + WORLD_GROW_LATE, WORLD_APP + WORLD_MAIN };
static const u64 in_push[] = { WORLD_APP + WORLD_PUSH, WORLD_APP + WORLD_MAIN };
static const u64 in_file[] = { WORLD_CRT + WORLD_FILE, WORLD_APP + WORLD_MAIN };
static const u64 in_blank[] = { WORLD_BLANK + 0x1000 };

#define BLOCK(world, size, frames) world_block(world, size, frames, (u32)ETL_COUNT_OF(frames))

/* A world that a trace with heap events could have been made of. */
static symbol_world *traced_world(void)
{
    symbol_world *const w = world_new();
    w->result->processes.at[w->process - 1].events[ETLHEAP_KIND_HEAP] = 1;
    w->result->abilities.kinds |= 1u << ETLHEAP_KIND_HEAP;
    return w;
}

static etlheap_budget budget_of(etlheap_scope scope, u64 limit)
{
    return (etlheap_budget){ .scope = scope, .limit = limit };
}

/* A gate that must come about. Baseline and suppressions may be NULL. */
static const etlheap_gate *judge(symbol_world *w, symbol_world *base, const char *suppressions,
                                 const etlheap_budget *budget)
{
    etlheap_suppressions *known = NULL;
    etl_error err = { .status = ETL_OK };
    const etlheap_gate *gate = NULL;
    if (w->symbols == NULL)
        world_open_symbols(w, NULL);
    if (base != NULL && base->symbols == NULL)
        world_open_symbols(base, NULL);
    const etlheap_gate_side now = { w->result, &w->query };
    const etlheap_gate_side before = { base ? base->result : NULL, base ? &base->query : NULL };
    if (suppressions != NULL) {
        const etl_bytes text = { (const u8 *)suppressions, strlen(suppressions) };
        assert_int_equal(etlheap_suppressions_open(&known, &err), ETL_OK);
        assert_int_equal(etlheap_suppressions_add(known, "known", text, &err), ETL_OK);
    }
    const etlheap_gate_options options = { .size = sizeof options,
                                           .budgets = budget,
                                           .budget_count = 1,
                                           .suppressions = known,
                                           .baseline = base ? &before : NULL,
                                           .stacks_max = STACKS_MAX,
                                           .passes_max = 100 };
    assert_int_equal(etlheap_gate_judge(&now, &options, &gate, &err), ETL_OK);
    assert_int_equal(gate->budget_count, 1);
    /* With these go the patterns that the gate shows, which no test reads. */
    etlheap_suppressions_close(known);
    return gate;
}

static const etlheap_gate_subject *subject_of(const etlheap_gate *gate, u32 index)
{
    assert_true(index < gate->budgets[0].subject_count);
    return &gate->budgets[0].subjects[index];
}

/* --- sums and limits ------------------------------------------------------------ */

static void limit_itself_is_within_the_budget(void **state)
{
    (void)state;
    symbol_world *const w = traced_world();
    BLOCK(w, 60, in_grow);
    BLOCK(w, 40, in_file);
    for (u64 limit = 99; limit <= 100; limit++) {
        const etlheap_budget budget = budget_of(ETLHEAP_SCOPE_PROCESS, limit);
        const etlheap_gate *const gate = judge(w, NULL, NULL, &budget);
        assert_int_equal(gate->outcome, limit == 99 ? ETLHEAP_OUTCOME_FAIL : ETLHEAP_OUTCOME_PASS);
        assert_int_equal(subject_of(gate, 0)->measured, 100);
        assert_int_equal(gate->outstanding[ETLHEAP_KIND_HEAP].size_bytes, 100);
        etlheap_gate_free(gate);
    }
    world_free(w);
}

static void blocks_without_bytes_are_counted(void **state)
{
    (void)state;
    symbol_world *const w = traced_world();
    BLOCK(w, 0, in_grow);
    BLOCK(w, 0, in_file);
    etlheap_budget budget = budget_of(ETLHEAP_SCOPE_TOTAL, 1);
    budget.is_count = true;
    const etlheap_gate *const gate = judge(w, NULL, NULL, &budget);
    assert_int_equal(gate->outcome, ETLHEAP_OUTCOME_FAIL);
    assert_int_equal(subject_of(gate, 0)->measured, 2);
    assert_int_equal(subject_of(gate, 0)->stack_count, 2);
    etlheap_gate_free(gate);
    world_free(w);
}

static void process_without_leaks_is_a_subject_that_has_nothing(void **state)
{
    (void)state;
    symbol_world *const w = traced_world();
    const etlheap_budget budget = budget_of(ETLHEAP_SCOPE_PROCESS, 0);
    const etlheap_gate *const gate = judge(w, NULL, NULL, &budget);
    assert_int_equal(gate->outcome, ETLHEAP_OUTCOME_PASS);
    assert_int_equal(gate->budgets[0].judged_count, 1);
    assert_string_equal(subject_of(gate, 0)->process, "a.exe");
    assert_int_equal(subject_of(gate, 0)->measured, 0);
    etlheap_gate_free(gate);
    world_free(w);
}

static void failed_subjects_come_first_and_largest_stacks_are_listed(void **state)
{
    (void)state;
    symbol_world *const w = traced_world();
    BLOCK(w, 10, in_file);
    BLOCK(w, 30, in_grow);
    BLOCK(w, 20, in_blank);
    const etlheap_budget by_stack = budget_of(ETLHEAP_SCOPE_STACK, 15);
    const etlheap_gate *gate = judge(w, NULL, NULL, &by_stack);
    assert_int_equal(gate->budgets[0].failed_count, 2);
    assert_int_equal(subject_of(gate, 0)->measured, 30);
    assert_int_equal(subject_of(gate, 1)->measured, 20);
    assert_int_equal(subject_of(gate, 2)->outcome, ETLHEAP_OUTCOME_PASS);
    assert_int_equal(subject_of(gate, 0)->stack_count, 1);
    assert_int_equal(subject_of(gate, 0)->stacks[0].stack, subject_of(gate, 0)->stack);
    etlheap_gate_free(gate);

    const etlheap_budget by_process = budget_of(ETLHEAP_SCOPE_PROCESS, 15);
    gate = judge(w, NULL, NULL, &by_process);
    assert_int_equal(subject_of(gate, 0)->stack_count, 3);
    assert_int_equal(subject_of(gate, 0)->stacks[0].now.size_bytes, 30);
    assert_int_equal(subject_of(gate, 0)->stacks[2].now.size_bytes, 10);
    etlheap_gate_free(gate);
    world_free(w);
}

static void growth_heap_by_heap_is_refused(void **state)
{
    (void)state;
    symbol_world *const w = traced_world();
    const etlheap_gate_side side = { w->result, &w->query };
    const etlheap_budget budget = { .is_growth = true, .scope = ETLHEAP_SCOPE_HEAP };
    const etlheap_gate_options options = { .size = sizeof options,
                                           .budgets = &budget,
                                           .budget_count = 1 };
    const etlheap_gate *gate;
    etl_error err;
    assert_int_equal(etlheap_gate_judge(&side, &options, &gate, &err), ETL_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "handles"));
    etlheap_gate_free(NULL);
    world_free(w);
}

/* --- known leaks ------------------------------------------------------------------- */

static void suppressed_memory_counts_for_no_subject(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        u64 left, stacks;
    } rows[] = {
        { "leak:nothing\n", 100, 0 },       { "leak:grow\n", 30, 2 }, /* grow itself, and what was inlined into it */
        { "leak:^vec<int>::push$", 70, 1 },                           /* an inlined call */
        { "leak:File::open\n", 80, 1 },                               /* a public symbol */
        { "leak:main\n", 10, 3 },                                     /* an outer frame */
        { "leak:a.cpp\n", 30, 2 },                                    /* a source file */
        { "leak:crt.dll", 80, 1 },          { "leak:blank*", 90, 1 }, { "leak:*", 0, 4 },
    };
    symbol_world *const w = traced_world();
    const etlheap_budget budget = budget_of(ETLHEAP_SCOPE_TOTAL, 0);
    BLOCK(w, 40, in_grow);
    BLOCK(w, 30, in_push);
    BLOCK(w, 20, in_file);
    BLOCK(w, 10, in_blank);
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        const etlheap_gate *const gate = judge(w, NULL, rows[i].text, &budget);
        assert_int_equal(subject_of(gate, 0)->measured, rows[i].left);
        assert_int_equal(gate->outstanding[ETLHEAP_KIND_HEAP].size_bytes, rows[i].left);
        assert_int_equal(gate->suppressed[ETLHEAP_KIND_HEAP].size_bytes, 100 - rows[i].left);
        assert_int_equal(gate->suppression_count, 1);
        assert_int_equal(gate->suppressions[0].stacks, rows[i].stacks);
        assert_int_equal(gate->suppressions[0].of[ETLHEAP_KIND_HEAP].size_bytes,
                         100 - rows[i].left);
        etlheap_gate_free(gate);
    }
    world_free(w);
}

static void innermost_frame_decides_which_suppression_counts(void **state)
{
    (void)state;
    symbol_world *const w = traced_world();
    const etlheap_budget budget = budget_of(ETLHEAP_SCOPE_TOTAL, 0);
    BLOCK(w, 20, in_file); /* File::open < main */
    const etlheap_gate *const gate = judge(w, NULL, "leak:main\nleak:open\n", &budget);
    assert_int_equal(gate->suppressions[0].stacks, 0);
    assert_int_equal(gate->suppressions[1].stacks, 1);
    assert_int_equal(gate->suppressions[1].line, 2);
    etlheap_gate_free(gate);
    world_free(w);
}

static void suppressed_growth_is_none(void **state)
{
    (void)state;
    symbol_world *const base = traced_world();
    symbol_world *const w = traced_world();
    const etlheap_budget budget = { .is_growth = true, .scope = ETLHEAP_SCOPE_TOTAL };
    BLOCK(base, 10, in_grow);
    BLOCK(w, 50, in_grow);
    const etlheap_gate *gate = judge(w, base, "leak:^grow$", &budget);
    assert_int_equal(gate->outcome, ETLHEAP_OUTCOME_PASS);
    assert_int_equal(subject_of(gate, 0)->measured, 0);
    etlheap_gate_free(gate);
    gate = judge(w, base, NULL, &budget);
    assert_int_equal(gate->outcome, ETLHEAP_OUTCOME_FAIL);
    etlheap_gate_free(gate);
    world_free(w);
    world_free(base);
}

/* --- growth ------------------------------------------------------------------------ */

static void growth_is_of_functions_wherever_the_call_is(void **state)
{
    (void)state;
    symbol_world *const base = traced_world();
    symbol_world *const w = traced_world();
    const etlheap_budget budget = { .is_growth = true, .scope = ETLHEAP_SCOPE_STACK, .limit = 5 };
    BLOCK(base, 100, in_grow);
    BLOCK(base, 7, in_blank);
    BLOCK(w, 106, in_grow_late);
    BLOCK(w, 7, in_blank);
    BLOCK(w, 5, in_file);
    const etlheap_gate *const gate = judge(w, base, NULL, &budget);
    assert_int_equal(gate->budgets[0].judged_count, 3);
    assert_int_equal(gate->budgets[0].failed_count, 1);
    assert_int_equal(subject_of(gate, 0)->measured, 6);
    assert_int_equal(subject_of(gate, 0)->baseline.size_bytes, 100);
    assert_int_equal(subject_of(gate, 0)->now.size_bytes, 106);
    assert_int_equal(subject_of(gate, 0)->pid, ETL_NO_ID);
    assert_false(gate->may_tighten);
    assert_int_equal(gate->grown_count, 2);
    etlheap_gate_free(gate);
    world_free(w);
    world_free(base);
}

static void share_of_the_baseline_is_cut_to_whole_units(void **state)
{
    (void)state;
    static const struct {
        u64 before, now, limit, millionths;
        i64 allowed;
        etlheap_outcome outcome;
    } rows[] = {
        { 100, 105, 0, 50000, 5, ETLHEAP_OUTCOME_PASS },
        { 100, 106, 0, 50000, 5, ETLHEAP_OUTCOME_FAIL },
        { 119, 125, 0, 50000, 5, ETLHEAP_OUTCOME_FAIL }, /* 5.95 */
        { 100, 115, 10, 50000, 15, ETLHEAP_OUTCOME_PASS },
        { 10, 10, 0, 0, 0, ETLHEAP_OUTCOME_PASS },
        { 10, 4, 0, 0, 0, ETLHEAP_OUTCOME_PASS },
        { 100, 200, 0, 1000000, 100, ETLHEAP_OUTCOME_PASS },
        { UINT64_C(3) << 60, UINT64_C(7) << 60, 0, 10000000000, INT64_MAX, ETLHEAP_OUTCOME_PASS },
        { 100, 110, UINT64_MAX, 50000, INT64_MAX, ETLHEAP_OUTCOME_PASS },
    };
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        symbol_world *const base = traced_world();
        symbol_world *const w = traced_world();
        const etlheap_budget budget = { .is_growth = true,
                                        .scope = ETLHEAP_SCOPE_PROCESS,
                                        .limit = rows[i].limit,
                                        .baseline_millionths = rows[i].millionths };
        BLOCK(base, rows[i].before, in_grow);
        BLOCK(w, rows[i].now, in_grow);
        const etlheap_gate *const gate = judge(w, base, NULL, &budget);
        assert_int_equal(subject_of(gate, 0)->limit, rows[i].allowed);
        assert_int_equal(gate->outcome, rows[i].outcome);
        etlheap_gate_free(gate);
        world_free(w);
        world_free(base);
    }
}

static void run_that_is_nowhere_larger_may_tighten(void **state)
{
    (void)state;
    symbol_world *const base = traced_world();
    symbol_world *const w = traced_world();
    etlheap_budget budget = { .is_growth = true, .scope = ETLHEAP_SCOPE_STACK, .limit = 100 };
    BLOCK(base, 50, in_grow);
    BLOCK(base, 20, in_file);
    BLOCK(w, 40, in_grow);
    BLOCK(w, 20, in_file);
    const etlheap_gate *gate = judge(w, base, NULL, &budget);
    assert_true(gate->may_tighten);
    assert_int_equal(gate->shrunk_count, 1);
    etlheap_gate_free(gate);

    BLOCK(w, 5, in_blank); /* less in all, but one stack is larger */
    gate = judge(w, base, NULL, &budget);
    assert_int_equal(gate->outcome, ETLHEAP_OUTCOME_PASS);
    assert_false(gate->may_tighten);
    etlheap_gate_free(gate);
    budget.scope = ETLHEAP_SCOPE_PROCESS;
    gate = judge(w, base, NULL, &budget);
    assert_true(gate->may_tighten);
    etlheap_gate_free(gate);
    world_free(w);
    world_free(base);
}

static void run_without_a_process_of_the_baseline_may_not_tighten(void **state)
{
    (void)state;
    symbol_world *const base = traced_world();
    symbol_world *const w = traced_world();
    const etlheap_budget budget = { .is_growth = true, .scope = ETLHEAP_SCOPE_PROCESS };
    base->result->processes.at[base->process - 1].name = "B.EXE";
    BLOCK(base, 50, in_grow);
    const etlheap_gate *gate = judge(w, base, NULL, &budget);
    assert_int_equal(gate->missing_count, 1);
    assert_string_equal(gate->missing[0], "B.EXE");
    assert_false(gate->may_tighten);
    etlheap_gate_free(gate);

    base->result->processes.at[base->process - 1].name = "A.EXE"; /* the same in any case */
    gate = judge(w, base, NULL, &budget);
    assert_int_equal(gate->missing_count, 0);
    assert_true(gate->may_tighten);
    assert_int_equal(gate->budgets[0].judged_count, 1);
    etlheap_gate_free(gate);
    world_free(w);
    world_free(base);
}

static void growth_without_a_baseline_is_skipped(void **state)
{
    (void)state;
    symbol_world *const w = traced_world();
    const etlheap_budget budget = { .is_growth = true, .scope = ETLHEAP_SCOPE_PROCESS };
    BLOCK(w, 50, in_grow);
    const etlheap_gate *const gate = judge(w, NULL, NULL, &budget);
    assert_int_equal(gate->outcome, ETLHEAP_OUTCOME_PASS);
    assert_int_equal(gate->budgets[0].outcome, ETLHEAP_OUTCOME_SKIPPED);
    assert_null(gate->budgets[0].table);
    assert_null(gate->baseline);
    etlheap_gate_free(gate);
    world_free(w);
}

static void baseline_without_events_of_a_kind_proves_nothing(void **state)
{
    (void)state;
    symbol_world *const base = traced_world();
    symbol_world *const w = traced_world();
    const etlheap_budget budget = { .is_growth = true, .scope = ETLHEAP_SCOPE_PROCESS };
    base->result->processes.at[base->process - 1].events[ETLHEAP_KIND_HEAP] = 0;
    BLOCK(w, 50, in_grow);
    world_open_symbols(w, NULL);
    world_open_symbols(base, NULL);
    const etlheap_gate_side now = { w->result, &w->query };
    const etlheap_gate_side before = { base->result, &base->query };
    for (u32 passes_max = 0; passes_max < 2; passes_max++) { /* listed or not */
        const etlheap_gate_options options = { .size = sizeof options,
                                               .budgets = &budget,
                                               .budget_count = 1,
                                               .baseline = &before,
                                               .passes_max = passes_max };
        const etlheap_gate *gate;
        assert_int_equal(etlheap_gate_judge(&now, &options, &gate, NULL), ETL_OK);
        assert_int_equal(gate->outcome, ETLHEAP_OUTCOME_INCONCLUSIVE);
        assert_int_equal(gate->doubts, 1u << ETLHEAP_DOUBT_BASELINE_NO_EVENTS);
        assert_int_equal(gate->budgets[0].subject_count, passes_max);
        etlheap_gate_free(gate);
    }
    world_free(w);
    world_free(base);
}

/* --- names and fingerprints ----------------------------------------------------------- */

/* --- what is not there ----------------------------------------------------------------- */

static void processes_with_events_are_named_when_nothing_is_measured(void **state)
{
    static const char *const patterns[] = { "a.exe", "b.exe" };
    const etlheap_budget budget = budget_of(ETLHEAP_SCOPE_TOTAL, 1000);
    symbol_world *const w = traced_world();
    (void)state;
    w->query.processes = patterns;
    w->query.process_count = 1;
    const etlheap_gate *gate = judge(w, NULL, NULL, &budget);
    assert_int_equal(gate->outcome, ETLHEAP_OUTCOME_PASS);
    assert_null(gate->absence.processes);
    etlheap_gate_free(gate);
    w->query.process_count = 2;
    gate = judge(w, NULL, NULL, &budget);
    assert_int_equal(gate->outcome, ETLHEAP_OUTCOME_FAIL);
    assert_int_equal(gate->doubts, 1u << ETLHEAP_DOUBT_NO_PROCESS);
    assert_int_equal(gate->absence.pattern_count, 1);
    assert_string_equal(gate->absence.patterns[0], "b.exe");
    assert_int_equal(gate->absence.process_count, 1);
    assert_string_equal(gate->absence.processes[0].name, "a.exe");
    assert_int_equal(gate->absence.processes[0].kinds, 1u << ETLHEAP_KIND_HEAP);
    assert_int_equal(gate->absence.kinds, 0);
    etlheap_gate_free(gate);
    world_free(w);
}

/* --- names --------------------------------------------------------------------------- */

/* The name of the innermost frame of a stack of the first budget's table. */
static const char *symbol_in(const etlheap_gate *gate, u32 stack)
{
    const etlheap_table *const table = gate->budgets[0].table;
    return table->frames[table->frame_indices[table->stack_starts[stack]]].symbol;
}

static void only_what_is_listed_is_named(void **state)
{
    (void)state;
    symbol_world *const w = traced_world();
    const etlheap_budget budget = budget_of(ETLHEAP_SCOPE_STACK, 15);
    etl_error err;
    world_open_symbols(w, NULL);
    BLOCK(w, 30, in_grow);
    BLOCK(w, 10, in_file);
    const etlheap_gate_side now = { w->result, &w->query };
    const etlheap_gate_options options = { .size = sizeof options,
                                           .budgets = &budget,
                                           .budget_count = 1,
                                           .stacks_max = 1,
                                           .passes_max = 0 };
    const etlheap_gate *gate;
    assert_int_equal(etlheap_gate_judge(&now, &options, &gate, &err), ETL_OK);
    assert_int_equal(gate->budgets[0].subject_count, 1);
    assert_int_equal(gate->budgets[0].judged_count, 2);
    const u32 listed = subject_of(gate, 0)->stack;
    assert_string_equal(symbol_in(gate, listed), "grow");
    assert_int_equal(gate->budgets[0].table->stack_count, 2);
    assert_null(symbol_in(gate, 1 - listed));
    etlheap_gate_free(gate);
    world_free(w);
}

/* The stacks to blame are listed with a subject, as many as were asked for. */
static void stacks_to_blame_are_named_and_others_are_not(void **state)
{
    (void)state;
    symbol_world *const w = traced_world();
    const etlheap_budget budget = budget_of(ETLHEAP_SCOPE_PROCESS, 15);
    etl_error err;
    world_open_symbols(w, NULL);
    BLOCK(w, 30, in_grow);
    BLOCK(w, 20, in_file);
    world_block(w, 10, (const u64[]){ WORLD_LIB + WORLD_LIB_MAKE }, 1);
    const etlheap_gate_side now = { w->result, &w->query };
    const etlheap_gate_options options = {
        .size = sizeof options, .budgets = &budget, .budget_count = 1, .stacks_max = 2
    };
    const etlheap_gate *gate;
    assert_int_equal(etlheap_gate_judge(&now, &options, &gate, &err), ETL_OK);
    const etlheap_gate_subject *const subject = subject_of(gate, 0);
    assert_int_equal(subject->stack_count, 2);
    assert_int_equal(subject->stacks_omitted, 1);
    const u32 first = subject->stacks[0].stack, second = subject->stacks[1].stack;
    assert_string_equal(symbol_in(gate, first), "grow");
    assert_string_equal(symbol_in(gate, second), "File::open");
    assert_null(symbol_in(gate, 3 - first - second));
    assert_true(subject->stacks[0].fingerprint != 0 && subject->stacks[1].fingerprint != 0);
    assert_true(subject->stacks[0].fingerprint != subject->stacks[1].fingerprint);
    etlheap_gate_free(gate);
    world_free(w);
}

/* Each budget lists stacks of its own, whether they failed or not. */
static void what_any_budget_lists_is_named(void **state)
{
    (void)state;
    symbol_world *const w = traced_world();
    const etlheap_budget budgets[] = { budget_of(ETLHEAP_SCOPE_STACK, 25),
                                       budget_of(ETLHEAP_SCOPE_STACK, 100),
                                       budget_of(ETLHEAP_SCOPE_STACK, 15) };
    etl_error err;
    world_open_symbols(w, NULL);
    BLOCK(w, 30, in_grow);
    BLOCK(w, 20, in_file);
    world_block(w, 10, (const u64[]){ WORLD_LIB + WORLD_LIB_MAKE }, 1);
    const etlheap_gate_side now = { w->result, &w->query };
    for (u32 way = 0; way < 3; way++) {
        /* One failed; one passes but is listed; two of another budget. */
        const etlheap_gate_options options = { .size = sizeof options,
                                               .budgets = way == 1 ? &budgets[1] : budgets,
                                               .budget_count = way == 2 ? 3 : 1,
                                               .passes_max = way == 1 };
        const etlheap_gate *gate;
        assert_int_equal(etlheap_gate_judge(&now, &options, &gate, &err), ETL_OK);
        const etlheap_gate_budget *const last = &gate->budgets[gate->budget_count - 1];
        assert_int_equal(last->subject_count, way == 2 ? 2 : 1);
        const u32 first = last->subjects[0].stack;
        assert_string_equal(symbol_in(gate, first), "grow");
        u32 named = 0;
        for (u32 stack = 0; stack < 3; stack++)
            named += symbol_in(gate, stack) != NULL;
        assert_int_equal(named, last->subject_count);
        etlheap_gate_free(gate);
    }
    world_free(w);
}

static u64 fingerprint_of(symbol_world *w, const u64 *frames, u32 count, bool of_stack)
{
    const etlheap_budget budget = budget_of(ETLHEAP_SCOPE_STACK, 0);
    world_block(w, 30, frames, count);
    const etlheap_gate *const gate = judge(w, NULL, NULL, &budget);
    const etlheap_gate_subject *const subject = subject_of(gate, 0);
    const u64 fingerprint = of_stack ? subject->stacks[0].fingerprint : subject->fingerprint;
    etlheap_gate_free(gate);
    world_free(w);
    return fingerprint;
}

static void fingerprint_is_of_functions_and_name(void **state)
{
    (void)state;
    for (u32 of_stack = 0; of_stack < 2; of_stack++) {
        const u64 grow = fingerprint_of(traced_world(), in_grow, 2, of_stack);
        assert_int_equal(fingerprint_of(traced_world(), in_grow_late, 2, of_stack), grow);
        assert_int_not_equal(fingerprint_of(traced_world(), in_grow, 1, of_stack), grow);
        assert_int_not_equal(fingerprint_of(traced_world(), in_file, 2, of_stack), grow);
        symbol_world *const other_case = traced_world();
        other_case->result->processes.at[other_case->process - 1].name = "A.exe";
        assert_int_equal(fingerprint_of(other_case, in_grow, 2, of_stack), grow);
        symbol_world *const other_name = traced_world();
        other_name->result->processes.at[other_name->process - 1].name = "b.exe";
        assert_int_not_equal(fingerprint_of(other_name, in_grow, 2, of_stack), grow);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limit_itself_is_within_the_budget),
        cmocka_unit_test(blocks_without_bytes_are_counted),
        cmocka_unit_test(process_without_leaks_is_a_subject_that_has_nothing),
        cmocka_unit_test(failed_subjects_come_first_and_largest_stacks_are_listed),
        cmocka_unit_test(growth_heap_by_heap_is_refused),
        cmocka_unit_test(suppressed_memory_counts_for_no_subject),
        cmocka_unit_test(innermost_frame_decides_which_suppression_counts),
        cmocka_unit_test(suppressed_growth_is_none),
        cmocka_unit_test(growth_is_of_functions_wherever_the_call_is),
        cmocka_unit_test(share_of_the_baseline_is_cut_to_whole_units),
        cmocka_unit_test(run_that_is_nowhere_larger_may_tighten),
        cmocka_unit_test(run_without_a_process_of_the_baseline_may_not_tighten),
        cmocka_unit_test(growth_without_a_baseline_is_skipped),
        cmocka_unit_test(baseline_without_events_of_a_kind_proves_nothing),
        cmocka_unit_test(processes_with_events_are_named_when_nothing_is_measured),
        cmocka_unit_test(only_what_is_listed_is_named),
        cmocka_unit_test(stacks_to_blame_are_named_and_others_are_not),
        cmocka_unit_test(what_any_budget_lists_is_named),
        cmocka_unit_test(fingerprint_is_of_functions_and_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
