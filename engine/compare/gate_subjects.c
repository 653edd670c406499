/*
 * gate_subjects.c - makes the subjects of a budget from rows, and judges them.
 *
 * In: gate_rows and a budget (scope, limit). Out: subjects with outcome and amounts, failed ones
 * first, each with its largest stacks.
 *
 *     rows ──▶ entries sorted by (subject, process, stack) ──▶ sums of one subject ──▶ outcome
 *
 * Known leaks, and kinds that the budget is not about, make no entry. Invariant: the order of
 * entries and subjects depends on content only (by_outcome), so reports of equal runs are equal.
 */
#include <stdlib.h>

#include "gate.h"

/* A row with its sort keys. Keys that the scope does not tell apart are 0. */
typedef struct entry {
    u8 kind;
    u32 generation;
    u32 process; /* of the subject */
    u64 heap;
    u32 stack;
    u32 row_process; /* of the row: stacks of the subject are told apart by these */
    u32 row_stack;
    u32 row;
} entry;

/* A subject under construction. */
typedef struct draft {
    etlheap_gate_subject subject;
    etlheap_amount unsure; /* memory that may have been freed unseen */
    u32 first, count;      /* of entries */
} draft;

typedef struct judge {
    owned_gate *gate;
    const gate_rows *rows;
    etlheap_gate_budget *budget;
    ETLHEAP_VECTOR(entry) entries;
    ETLHEAP_VECTOR(draft) drafts;
} judge;

static bool collect(judge *j);
static entry entry_of(const gate_row *row, u32 index, etlheap_scope scope);
static int by_place(const void *a, const void *b);
static bool is_same_subject(const entry *a, const entry *b);
static bool sum_subjects(judge *j);
static etlheap_gate_subject subject_of(const judge *j, const gate_row *row);
static void judge_subjects(judge *j);
static i64 measured_of(const etlheap_budget *budget, const etlheap_amount *now,
                       const etlheap_amount *baseline);
static i64 limit_of(const etlheap_budget *budget, const etlheap_amount *baseline);
static etlheap_outcome judge_subject(judge *j, const etlheap_gate_subject *subject,
                                     const etlheap_amount *unsure);
static int by_outcome(const void *a, const void *b);
static bool publish(judge *j);
static bool list_stacks(judge *j, const draft *from, etlheap_gate_subject *to,
                        etlheap_gate_stack **stacks);

bool gate_subjects_judge(owned_gate *gate, const gate_rows *rows, etlheap_gate_budget *out)
{
    judge j = { .gate = gate, .rows = rows, .budget = out };
    bool ok = collect(&j) && sum_subjects(&j);
    if (ok)
        judge_subjects(&j);
    ok = ok && publish(&j);
    ETLHEAP_VECTOR_FREE(&j.entries);
    ETLHEAP_VECTOR_FREE(&j.drafts);
    return ok;
}

/* Collects the rows of the budget. Rows without memory make subjects only if subjects are processes
 * or larger. */
static bool collect(judge *j)
{
    const u32 kinds = gate_kinds_of(j->gate, &j->budget->budget);
    const etlheap_scope scope = j->budget->budget.scope;
    const bool is_fine = scope == ETLHEAP_SCOPE_HEAP || scope == ETLHEAP_SCOPE_STACK;
    for (size_t i = 0; i < j->rows->list.count; i++) {
        const gate_row *const row = &j->rows->list.at[i];
        const bool empty = row->now.count == 0 && row->baseline.count == 0;
        if (!(kinds >> row->kind & 1) || row->suppression != SUPPRESSION_NONE || (empty && is_fine))
            continue;
        if (!ETLHEAP_PUSH(&j->entries, entry_of(row, (u32)i, scope)))
            return false;
    }
    if (j->entries.count > 0)
        qsort(j->entries.at, j->entries.count, sizeof *j->entries.at, by_place);
    return true;
}

static bool has_process(etlheap_scope scope)
{
    return scope != ETLHEAP_SCOPE_TOTAL && scope != ETLHEAP_SCOPE_MARK;
}

static entry entry_of(const gate_row *row, u32 index, etlheap_scope scope)
{
    return (entry){
        .kind = row->kind,
        .generation = row->generation,
        .process = has_process(scope) ? row->process : 0,
        .heap = scope == ETLHEAP_SCOPE_HEAP ? row->heap : 0,
        .stack = scope == ETLHEAP_SCOPE_STACK ? row->stack : 0,
        .row_process = row->process,
        .row_stack = row->stack,
        .row = index,
    };
}

static int compare_u64(u64 a, u64 b)
{
    return a < b ? -1 : a > b;
}

static int by_place(const void *a, const void *b)
{
    const entry *const left = a;
    const entry *const right = b;
    int order = compare_u64(left->kind, right->kind);
    if (order == 0)
        order = compare_u64(left->generation, right->generation);
    if (order == 0)
        order = compare_u64(left->process, right->process);
    if (order == 0)
        order = compare_u64(left->heap, right->heap);
    if (order == 0)
        order = compare_u64(left->stack, right->stack);
    if (order == 0)
        order = compare_u64(left->row_process, right->row_process);
    if (order == 0)
        order = compare_u64(left->row_stack, right->row_stack);
    return order != 0 ? order : compare_u64(left->row, right->row);
}

static bool is_same_subject(const entry *a, const entry *b)
{
    return a->kind == b->kind && a->generation == b->generation && a->process == b->process &&
           a->heap == b->heap && a->stack == b->stack;
}

static bool sum_subjects(judge *j)
{
    for (size_t i = 0; i < j->entries.count; i++) {
        const gate_row *const row = &j->rows->list.at[j->entries.at[i].row];
        const bool is_new = i == 0 || !is_same_subject(&j->entries.at[i], &j->entries.at[i - 1]);
        if (is_new &&
            !ETLHEAP_PUSH(&j->drafts, (draft){ .subject = subject_of(j, row), .first = (u32)i }))
            return false;
        draft *const last = &j->drafts.at[j->drafts.count - 1];
        last->count++;
        gate_add_amount(&last->subject.now, &row->now);
        gate_add_amount(&last->subject.baseline, &row->baseline);
        gate_add_amount(&last->unsure, &row->unsure);
    }
    return true;
}

static void set_mark(const owned_gate *gate, u32 generation, etlheap_gate_subject *out)
{
    const etlheap_marks *const marks = etlheap_result_marks(gate->now->result);
    const etlheap_mark *const mark = &marks->at[generation - 1];
    const query_plan *const plan = &gate->plan;
    out->mark = mark->name;
    out->mark_number = mark->number;
    out->from_ns = mark->time_ns > plan->from_ns ? mark->time_ns : plan->from_ns;
    out->to_ns = plan->to_ns;
    if (generation < marks->count && marks->at[generation].time_ns < plan->to_ns)
        out->to_ns = marks->at[generation].time_ns;
}

static etlheap_gate_subject subject_of(const judge *j, const gate_row *row)
{
    const etlheap_scope scope = j->budget->budget.scope;
    etlheap_gate_subject subject = { .kind = (etlheap_kind)row->kind,
                                     .pid = ETL_NO_ID,
                                     .stack = ETLHEAP_NO_INDEX };
    if (scope == ETLHEAP_SCOPE_MARK)
        set_mark(j->gate, row->generation, &subject);
    if (has_process(scope)) {
        subject.process = row->name;
        subject.pid = row->pid;
    }
    if (scope == ETLHEAP_SCOPE_HEAP) {
        subject.has_heap = row->has_heap;
        subject.heap_handle = row->heap;
    }
    if (scope == ETLHEAP_SCOPE_STACK)
        subject.stack = row->stack;
    return subject;
}

static void judge_subjects(judge *j)
{
    etlheap_gate_budget *const budget = j->budget;
    for (size_t i = 0; i < j->drafts.count; i++) {
        etlheap_gate_subject *const subject = &j->drafts.at[i].subject;
        subject->measured = measured_of(&budget->budget, &subject->now, &subject->baseline);
        subject->limit = limit_of(&budget->budget, &subject->baseline);
        subject->outcome = judge_subject(j, subject, &j->drafts.at[i].unsure);
        budget->failed_count += subject->outcome == ETLHEAP_OUTCOME_FAIL;
    }
    budget->judged_count = (u32)j->drafts.count;
    budget->outcome = ETLHEAP_OUTCOME_PASS;
    if (j->drafts.count == 0)
        return;
    qsort(j->drafts.at, j->drafts.count, sizeof *j->drafts.at, by_outcome);
    budget->outcome = j->drafts.at[0].subject.outcome;
}

/* The value that a budget measures: bytes or allocations, all of it or what was added to
 * the baseline. */
static i64 measured_of(const etlheap_budget *budget, const etlheap_amount *now,
                       const etlheap_amount *baseline)
{
    const u64 after = budget->is_count ? now->count : now->size_bytes;
    const u64 before = budget->is_count ? baseline->count : baseline->size_bytes;
    const i64 all = (i64)etl_min_u64(after, INT64_MAX);
    return budget->is_growth ? all - (i64)etl_min_u64(before, INT64_MAX) : all;
}

/* The limit for a subject. The share is cut to whole units: 5 % of 10 bytes allows no more.
 * Limits that do not fit become the largest i64. */
static i64 limit_of(const etlheap_budget *budget, const etlheap_amount *baseline)
{
    const u64 before = budget->is_count ? baseline->count : baseline->size_bytes;
    u64 share = 0;
    u64 rest;
    if (budget->is_growth) {
        const u64 parts = budget->baseline_millionths;
        if (__builtin_mul_overflow(before / ETLHEAP_BUDGET_MILLIONTHS, parts, &share) ||
            __builtin_mul_overflow(before % ETLHEAP_BUDGET_MILLIONTHS, parts, &rest))
            return INT64_MAX;
        share = etl_sat_add_u64(share, rest / ETLHEAP_BUDGET_MILLIONTHS);
    }
    return (i64)etl_min_u64(etl_sat_add_u64(budget->limit, share), INT64_MAX);
}

/* Is the limit exceeded only together with memory that may have been freed unseen? Growth is of
 * whole stacks, so all such memory of the kind may be part of it. */
static bool depends_on_unsure(const judge *j, const etlheap_gate_subject *subject,
                              const etlheap_amount *own)
{
    const etlheap_budget *const budget = &j->budget->budget;
    const etlheap_amount *const unsure = budget->is_growth ? &j->gate->unsure[subject->kind] : own;
    const u64 value = budget->is_count ? unsure->count : unsure->size_bytes;
    return value > 0 && etl_sat_add_i64(subject->measured, -(i64)etl_min_u64(value, INT64_MAX)) <=
                            subject->limit;
}

/* Judges a subject. A lossy run still fails if it exceeds a limit: a gate that lets leaks pass
 * because events were lost is worse than one that fails for lost frees. A lossy baseline decides
 * nothing: lost allocations there make this run look larger, lost frees smaller. */
static etlheap_outcome judge_subject(judge *j, const etlheap_gate_subject *subject,
                                     const etlheap_amount *unsure)
{
    etlheap_gate_budget *const budget = j->budget;
    if (budget->doubts & 1u << ETLHEAP_DOUBT_BASELINE_LOSS)
        return ETLHEAP_OUTCOME_INCONCLUSIVE;
    const bool is_doubtful = (budget->doubts & 1u << ETLHEAP_DOUBT_LOSS) != 0 ||
                             (budget->is_unmeasured && !j->gate->options->allow_empty);
    if (subject->measured <= subject->limit)
        return is_doubtful ? ETLHEAP_OUTCOME_INCONCLUSIVE : ETLHEAP_OUTCOME_PASS;
    u32 doubts = budget->budget.is_growth ? gate_doubts_of_growth(j->gate, subject->kind) : 0;
    if (depends_on_unsure(j, subject, unsure))
        doubts |= 1u << ETLHEAP_DOUBT_OVERWRITTEN;
    budget->doubts |= doubts;
    return doubts != 0 ? ETLHEAP_OUTCOME_INCONCLUSIVE : ETLHEAP_OUTCOME_FAIL;
}

/* Sorts the worst first, then the largest; ties go by entries, whose order depends on content. */
static int by_outcome(const void *a, const void *b)
{
    const draft *const left = a;
    const draft *const right = b;
    if (left->subject.outcome != right->subject.outcome)
        return left->subject.outcome > right->subject.outcome ? -1 : 1;
    if (left->subject.measured != right->subject.measured)
        return left->subject.measured > right->subject.measured ? -1 : 1;
    return compare_u64(left->first, right->first);
}

/* Keeps all subjects that failed and the first of the others. For marks it keeps all, because each
 * is a test. */
static bool publish(judge *j)
{
    const bool is_mark = j->budget->budget.scope == ETLHEAP_SCOPE_MARK;
    const u64 wanted = (u64)j->budget->failed_count + j->gate->options->passes_max;
    const u32 count = (u32)etl_min_u64(is_mark ? UINT32_MAX : wanted, j->drafts.count);
    etlheap_gate_subject *const subjects =
        etlheap_arena_alloc(&j->gate->arena, (count + (size_t)1) * sizeof *subjects);
    if (subjects == NULL)
        return false;
    for (u32 i = 0; i < count; i++) {
        gate_unsigned listed = { .budget = j->budget, .subject = &subjects[i] };
        subjects[i] = j->drafts.at[i].subject;
        if (subjects[i].outcome == ETLHEAP_OUTCOME_FAIL &&
            !list_stacks(j, &j->drafts.at[i], &subjects[i], &listed.stacks))
            return false;
        if (!ETLHEAP_PUSH(&j->gate->listed, listed))
            return false;
    }
    j->budget->subjects = subjects;
    j->budget->subject_count = count;
    if (!j->budget->budget.is_growth)
        return true;
    for (size_t i = 0; i < j->drafts.count; i++) {
        j->gate->gate.grown_count += j->drafts.at[i].subject.measured > 0;
        j->gate->gate.shrunk_count += j->drafts.at[i].subject.measured < 0;
    }
    return true;
}

/* A stack of a subject, with the value that the budget measures. */
typedef struct blame {
    etlheap_gate_stack stack;
    i64 measured;
    u32 place;
} blame;

static int by_blame(const void *a, const void *b)
{
    const blame *const left = a;
    const blame *const right = b;
    if (left->measured != right->measured)
        return left->measured > right->measured ? -1 : 1;
    return compare_u64(left->place, right->place);
}

/* Sums the stacks of a subject. Its entries are sorted by process and stack, so rows of one stack
 * from several heaps are neighbours. */
static u32 sum_stacks(const judge *j, const draft *from, blame *out)
{
    u32 count = 0;
    for (u32 i = 0; i < from->count; i++) {
        const entry *const at = &j->entries.at[from->first + i];
        const gate_row *const row = &j->rows->list.at[at->row];
        if (i == 0 || at->row_process != at[-1].row_process || at->row_stack != at[-1].row_stack) {
            out[count] =
                (blame){ .stack = { .stack = row->stack, .process = row->name }, .place = count };
            count++;
        }
        gate_add_amount(&out[count - 1].stack.now, &row->now);
        gate_add_amount(&out[count - 1].stack.baseline, &row->baseline);
    }
    for (u32 i = 0; i < count; i++)
        out[i].measured =
            measured_of(&j->budget->budget, &out[i].stack.now, &out[i].stack.baseline);
    return count;
}

/* Lists the stacks to blame, without those that did not add to the measured value. */
static bool list_stacks(judge *j, const draft *from, etlheap_gate_subject *to,
                        etlheap_gate_stack **stacks)
{
    blame *const all = malloc(((size_t)from->count + 1) * sizeof *all);
    if (all == NULL)
        return false;
    const u32 count = sum_stacks(j, from, all);
    qsort(all, count, sizeof *all, by_blame);
    u32 guilty = 0;
    while (guilty < count && all[guilty].measured > 0)
        guilty++;
    to->stack_count = (u32)etl_min_u64(guilty, j->gate->options->stacks_max);
    to->stacks_omitted = guilty - to->stack_count;
    *stacks = etlheap_arena_alloc(&j->gate->arena, (to->stack_count + (size_t)1) * sizeof **stacks);
    for (u32 i = 0; *stacks != NULL && i < to->stack_count; i++)
        (*stacks)[i] = all[i].stack;
    to->stacks = *stacks;
    free(all);
    return *stacks != NULL;
}
