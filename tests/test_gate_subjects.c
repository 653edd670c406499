/*
 * Goal: a gate's subjects are what the scope says, of the processes, kinds and heaps that
 * were asked for; what could not be measured is told with its reason; and how the query
 * sorts and groups changes nothing.
 * Method: processes and blocks put together by hand, without modules; the expected sums
 * are written beside them. Names, suppressions and stacks to blame: test_gate.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "hand_result.h"

#define T(n)       (HAND_START_TICKS + (n))
#define NEVER      ETLHEAP_TICKS_NEVER
#define HEAP_BIT   (1u << ETLHEAP_KIND_HEAP)
#define EXTENT_BIT (1u << ETLHEAP_KIND_EXTENT)
#define VIRTUAL    ETLHEAP_KIND_VIRTUALALLOC
#define VA_BIT     (1u << ETLHEAP_KIND_VIRTUALALLOC)
#define STACK_A    0x1000
#define STACK_B    0x2000

typedef struct run {
    etlheap_result *result;
    etlheap_query query;
    u64 address;
} run;

static run run_open(void)
{
    run r = { hand_result_new(), etlheap_query_default(), 0 };
    r.result->abilities = (etlheap_abilities){ .heap = true, .virtualalloc = true, .extent = true };
    r.query.jobs = 1;
    return r;
}

static u32 add_process(run *r, u32 pid, const char *name, u64 heap_events, u64 virtual_events)
{
    const u32 process = hand_process(r->result, pid, name);
    etlheap_process_info *const info = &r->result->processes.at[process - 1];
    info->heap_events = heap_events;
    info->virtualalloc_events = virtual_events;
    return process;
}

/* A heap block, outstanding at the end unless it is freed. */
typedef struct block {
    u32 process;
    u64 heap, size, frame;
    i64 free_ticks;
} block;

static void add_lifetime(run *r, etlheap_kind kind, block b)
{
    const lifetime row = { .alloc_ticks = T(1),
                           .free_ticks = b.free_ticks,
                           .address = r->address += 0x10000,
                           .size = b.size,
                           .heap = b.heap,
                           .process = b.process,
                           .stack = hand_stack(r->result, &b.frame, 1),
                           .kind = (u8)kind,
                           .free_type =
                               b.free_ticks == NEVER ? ETLHEAP_FREE_NONE : ETLHEAP_FREE_FREE };
    hand_lifetime(r->result, &row);
}

static void add_block(run *r, u32 process, u64 heap, u64 frame, u64 size)
{
    add_lifetime(r, ETLHEAP_KIND_HEAP, (block){ process, heap, size, frame, NEVER });
}

static void ready(run *r)
{
    hand_ready(r->result, T(1000));
}

static etl_status try_judge(const run *r, const etlheap_gate_options *options,
                            const etlheap_gate **gate, etl_error *err)
{
    const etlheap_gate_side side = { r->result, &r->query };
    return etlheap_gate_judge(&side, options, gate, err);
}

/* A gate that must come about. */
static const etlheap_gate *judge(const run *r, const etlheap_budget *budgets, u32 count)
{
    const etlheap_gate_options options = { .size = sizeof options,
                                           .budgets = budgets,
                                           .budget_count = count,
                                           .stacks_max = 10,
                                           .passes_max = 100 };
    const etlheap_gate *gate = NULL;
    etl_error err = { .status = ETL_OK };
    if (try_judge(r, &options, &gate, &err) != ETL_OK)
        fail_msg("%s", err.message);
    return gate;
}

static const etlheap_gate *judge_scope(const run *r, etlheap_scope scope, u64 limit)
{
    const etlheap_budget budget = { .scope = scope, .limit = limit };
    return judge(r, &budget, 1);
}

/* --- what a subject is ---------------------------------------------------------------- */

static void each_heap_is_a_subject(void **state)
{
    run r = run_open();
    (void)state;
    const u32 a = add_process(&r, 10, "a.exe", 5, 1);
    add_block(&r, a, 0x10, STACK_A, 30);
    add_block(&r, a, 0x10, STACK_B, 40);
    add_block(&r, a, 0x20, STACK_A, 20);
    add_lifetime(&r, VIRTUAL, (block){ a, 0, 5, STACK_A, NEVER });
    ready(&r);
    const etlheap_gate *const gate = judge_scope(&r, ETLHEAP_SCOPE_HEAP, 50);
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
    run r = run_open();
    (void)state;
    const u32 ids[] = { add_process(&r, 10, "a.exe", 12, 0), add_process(&r, 20, "a.exe", 9, 0) };
    for (u32 i = 0; i < ETL_COUNT_OF(rows); i++) {
        for (u32 k = 0; k < rows[i].count; k++)
            add_block(&r, ids[rows[i].process], 0x10, rows[i].frame, 1);
    }
    ready(&r);
    const etlheap_gate *const gate = judge_scope(&r, ETLHEAP_SCOPE_PROCESS, 0);
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
    run r = run_open();
    u32 seen = 0;
    (void)state;
    for (u32 i = 0; i < ETL_COUNT_OF(names); i++)
        add_process(&r, 10 * (i + 1), names[i], i == 1 ? 0 : 7, 0);
    ready(&r);
    const etlheap_budget budget = { .scope = ETLHEAP_SCOPE_PROCESS, .kinds = HEAP_BIT };
    const etlheap_gate *const gate = judge(&r, &budget, 1);
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
    run r = run_open();
    (void)state;
    const u32 a = add_process(&r, 10, "a.exe", 5, 1);
    add_block(&r, a, 0x10, STACK_A, 30);
    add_lifetime(&r, VIRTUAL, (block){ a, 0, 4096, STACK_A, NEVER });
    add_lifetime(&r, ETLHEAP_KIND_EXTENT, (block){ a, 0x10, 8192, STACK_B, NEVER });
    ready(&r);
    const etlheap_budget budgets[] = {
        { .scope = ETLHEAP_SCOPE_TOTAL, .limit = 1 << 20 },
        { .scope = ETLHEAP_SCOPE_TOTAL, .kinds = VA_BIT },
        { .scope = ETLHEAP_SCOPE_TOTAL, .kinds = HEAP_BIT | EXTENT_BIT, .limit = 100 },
        { .scope = ETLHEAP_SCOPE_TOTAL, .kinds = EXTENT_BIT }
    };
    const etlheap_gate *const gate = judge(&r, budgets, (u32)ETL_COUNT_OF(budgets));
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
    run r = run_open();
    (void)state;
    const u32 a = add_process(&r, 10, "a.exe", 9, 0);
    for (u64 i = 0; i < 5; i++) /* the first one has no bytes to blame */
        add_block(&r, a, 0x10, STACK_A + i, 10 * i);
    ready(&r);
    const etlheap_budget budget = { .scope = ETLHEAP_SCOPE_TOTAL, .limit = 99 };
    const etlheap_gate_options options = {
        .size = sizeof options, .budgets = &budget, .budget_count = 1, .stacks_max = 3
    };
    const etlheap_gate *gate = NULL;
    assert_int_equal(try_judge(&r, &options, &gate, NULL), ETL_OK);
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

/* Freed blocks are larger and more than those that stay. */
static void sorting_and_grouping_of_the_query_change_nothing(void **state)
{
    (void)state;
    for (u32 way = 0; way < 6; way++) {
        run r = run_open();
        const u32 a = add_process(&r, 10, "a.exe", 90, 0);
        for (u32 i = 0; i < 20; i++) {
            const u64 frame = STACK_A + i;
            add_lifetime(&r, ETLHEAP_KIND_HEAP, (block){ a, 0x10, 5000, frame, T(2) });
            add_lifetime(&r, ETLHEAP_KIND_HEAP, (block){ a, 0x10, 5000, frame, T(3) });
            if (i % 2 == 0)
                add_block(&r, a, 0x10, frame, i);
        }
        ready(&r);
        r.query.sort_ascending = way == 1 || way == 2;
        r.query.sort = way == 2   ? ETLHEAP_MEASURE_SIZE
                       : way == 3 ? ETLHEAP_MEASURE_COUNT
                                  : ETLHEAP_MEASURE_OUTSTANDING_SIZE;
        r.query.types = way == 4 ? 1u << ETLHEAP_TYPE_AIFI : 0;
        r.query.group_by_count = way == 3 ? 2 : way == 5 ? 1 : 4;
        r.query.growth = r.query.lifetime_ranks = way == 3;
        const etlheap_gate *const gate = judge_scope(&r, ETLHEAP_SCOPE_STACK, 8);
        assert_int_equal(gate->outstanding[ETLHEAP_KIND_HEAP].size_bytes, 90);
        assert_int_equal(gate->outstanding[ETLHEAP_KIND_HEAP].count, 10);
        assert_int_equal(gate->budgets[0].judged_count, 10);
        assert_int_equal(gate->budgets[0].failed_count, 5);
        etlheap_gate_free(gate);
        etlheap_result_free(r.result);
    }
}

static void budgets_that_make_no_sense_are_refused(void **state)
{
    const etlheap_budget bad[] = {
        { .scope = ETLHEAP_SCOPE_COUNT },
        { .scope = ETLHEAP_SCOPE_TOTAL, .kinds = 1u << ETLHEAP_KIND_COUNT },
        { .scope = ETLHEAP_SCOPE_TOTAL, .kinds = 1u << 31 },
    };
    run r = run_open();
    (void)state;
    add_process(&r, 10, "a.exe", 5, 1);
    ready(&r);
    for (u32 i = 0; i < ETL_COUNT_OF(bad); i++) {
        const etlheap_budget budgets[] = { { .scope = ETLHEAP_SCOPE_TOTAL }, bad[i] };
        const etlheap_gate_options options = { .size = sizeof options,
                                               .budgets = budgets,
                                               .budget_count = 2 };
        const etlheap_gate *gate = NULL;
        etl_error err = { .status = ETL_OK };
        assert_int_equal(try_judge(&r, &options, &gate, &err), ETL_ERR_ARGUMENT);
        assert_non_null(strstr(err.message, "scope or kind"));
        assert_null(gate);
    }
    etlheap_result_free(r.result);
}

/* --- what is not there ------------------------------------------------------------------ */

/* heap.exe has heap events, virtual.exe of both kinds and most, idle.exe none. */
static run run_of_two(void)
{
    run r = run_open();
    add_process(&r, 30, "heap.exe", 5, 0);
    add_process(&r, 20, "virtual.exe", 4, 5);
    add_process(&r, 10, "idle.exe", 0, 0);
    add_process(&r, 25, "heap.exe", 5, 0);
    add_process(&r, 40, "after.exe", 5, 0);
    ready(&r);
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
    run r = run_of_two();
    (void)state;
    r.query.processes = pattern;
    r.query.process_count = 1;
    const etlheap_budget budget = { .scope = ETLHEAP_SCOPE_TOTAL, .kinds = VA_BIT };
    const etlheap_gate *const gate = judge(&r, &budget, 1);
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
    };
    (void)state;
    for (u32 i = 0; i < ETL_COUNT_OF(rows); i++) {
        run r = run_open();
        const u32 a = add_process(&r, 10, "a.exe", 5, 0);
        add_block(&r, a, 0x10, STACK_A, 30);
        ready(&r);
        r.query.kinds = rows[i].query_kinds;
        const etlheap_budget budget = { .scope = ETLHEAP_SCOPE_TOTAL,
                                        .kinds = rows[i].budget_kinds,
                                        .limit = 100 };
        const etlheap_gate *const gate = judge(&r, &budget, 1);
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
    run r = run_open();
    (void)state;
    const u32 a = add_process(&r, 10, "a.exe", 5, 0);
    add_block(&r, a, 0x10, STACK_A, 30);
    ready(&r);
    for (u32 way = 0; way < 2; way++) {
        r.result->abilities.heap = way == 1;
        r.result->abilities.extent = way == 0;
        const etlheap_gate *const gate = judge_scope(&r, ETLHEAP_SCOPE_TOTAL, 100);
        assert_int_equal(gate->kinds, way == 0 ? EXTENT_BIT : HEAP_BIT);
        assert_int_equal(gate->budgets[0].judged_count, 1);
        assert_int_equal(gate->budgets[0].subjects[0].measured, way == 0 ? 0 : 30);
        etlheap_gate_free(gate);
    }
    etlheap_result_free(r.result);
}

/* Why nothing was measured, told beside suppressions that matched nothing. */
static void names_and_suppressions_stand_side_by_side(void **state)
{
    static const char text[] = "leak:one\nleak:two\nleak:three\n";
    static const char *const patterns[] = { "nobody*", "heap.exe", "20x" };
    run r = run_of_two();
    etlheap_suppressions *known = NULL;
    const etlheap_gate *gate = NULL;
    (void)state;
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
    assert_int_equal(try_judge(&r, &options, &gate, NULL), ETL_OK);
    assert_int_equal(gate->absence.pattern_count, 2);
    assert_string_equal(gate->absence.patterns[0], "nobody*");
    assert_string_equal(gate->absence.patterns[1], "20x");
    assert_int_equal(gate->absence.process_count, 4);
    assert_string_equal(gate->absence.processes[0].name, "virtual.exe");
    assert_string_equal(gate->absence.processes[3].name, "heap.exe");
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

/* Limits of ours leave totals whole, but for buffers that cannot be read. */
static void losses_and_damage_cast_doubt_and_limits_do_not(void **state)
{
    (void)state;
    for (int i = 0; i < ETL_DIAG_COUNT; i++) {
        run r = run_open();
        add_process(&r, 10, "a.exe", 5, 0);
        ready(&r);
        etl_diag_add(&r.result->diag, (etl_diag)i, 1);
        const etl_severity severity = etl_diag_describe((etl_diag)i)->severity;
        const bool expected = severity == ETL_SEVERITY_LOSS || severity == ETL_SEVERITY_DAMAGE ||
                              i == ETL_DIAG_buffer_compression_unsupported;
        const etlheap_gate *const gate = judge_scope(&r, ETLHEAP_SCOPE_TOTAL, 100);
        assert_int_equal(gate->is_lossy, expected);
        assert_int_equal(gate->outcome,
                         expected ? ETLHEAP_OUTCOME_INCONCLUSIVE : ETLHEAP_OUTCOME_PASS);
        etlheap_gate_free(gate);
        etlheap_result_free(r.result);
    }
}

/* --- growth ------------------------------------------------------------------------------ */

static const etlheap_gate *judge_growth(const run *now, const run *before, etlheap_scope scope)
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
    if (try_judge(now, &options, &gate, &err) != ETL_OK)
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
    run before = run_open(), now = run_open();
    (void)state;
    for (u32 i = 0; i < ETL_COUNT_OF(rows); i++) {
        const u32 was = add_process(&before, 10 + i, rows[i].name, 9, 0);
        const u32 is = add_process(&now, 50 - i, rows[i].name, 9, 0);
        for (u64 k = 0; k < rows[i].before; k++)
            add_block(&before, was, 0x10, STACK_A, 10);
        for (u64 k = 0; k < rows[i].now; k++)
            add_block(&now, is, 0x10, STACK_A, 10);
    }
    add_block(&before, add_process(&before, 70, "gone.exe", 3, 0), 0x10, STACK_B, 500);
    add_process(&before, 80, "empty.exe", 3, 0);
    ready(&before);
    ready(&now);
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
    run before = run_open(), now = run_open();
    (void)state;
    add_block(&before, add_process(&before, 10, "a.exe", 3, 0), 0x10, STACK_A, 100);
    add_block(&now, add_process(&now, 10, "a.exe", 3, 0), 0x10, STACK_A, 80);
    add_block(&now, add_process(&now, 20, "A.EXE", 3, 0), 0x20, STACK_A, 70);
    ready(&before);
    ready(&now);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_heap_is_a_subject),
        cmocka_unit_test(processes_of_one_name_are_subjects_of_their_own),
        cmocka_unit_test(processes_without_memory_are_subjects_if_they_have_events),
        cmocka_unit_test(each_kind_is_judged_by_itself),
        cmocka_unit_test(stacks_beyond_the_largest_are_counted),
        cmocka_unit_test(sorting_and_grouping_of_the_query_change_nothing),
        cmocka_unit_test(budgets_that_make_no_sense_are_refused),
        cmocka_unit_test(kinds_that_only_others_have_are_the_patterns_fault),
        cmocka_unit_test(every_kind_that_a_budget_names_must_be_there),
        cmocka_unit_test(kinds_that_were_not_recorded_are_missing),
        cmocka_unit_test(names_and_suppressions_stand_side_by_side),
        cmocka_unit_test(losses_and_damage_cast_doubt_and_limits_do_not),
        cmocka_unit_test(processes_that_grew_shrank_or_are_gone_are_counted),
        cmocka_unit_test(both_processes_of_a_name_grow_as_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
