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

#include "engine/context/pool_heap.h"
#include "parser/system/name_fold.h"
#include "gate.h"

/* A row with its sort keys. Keys that the scope does not tell apart are 0. */
typedef struct entry {
    u8 kind;
    u32 generation;
    u32 process; /* of the subject */
    u64 heap;    /* or tag */
    u32 stack;
    u32 place;       /* module or function, as gate_places numbers them */
    u32 frame;       /* of the function; ETLHEAP_NO_INDEX: none */
    u32 row_process; /* of the row: stacks of the subject are told apart by these */
    u32 row_stack;
    u32 row;
} entry;

/* A subject under construction. */
typedef struct draft {
    etlheap_gate_subject subject;
    etlheap_amount unsure; /* memory that may have been freed unseen */
    u32 first, count;      /* of entries */
    i64 now_ns, baseline_ns;
    bool has_amount; /* of a peak: further rows make it unknown */
} draft;

typedef struct judge {
    owned_gate *gate;
    const gate_rows *rows;
    etlheap_gate_budget *budget;
    gate_places places;
    ETLHEAP_VECTOR(entry) entries;
    ETLHEAP_VECTOR(draft) drafts;
} judge;

static bool collect(judge *j);
static int by_place(const void *a, const void *b);
static bool is_same_subject(const entry *a, const entry *b);
static bool sum_subjects(judge *j);
static etlheap_gate_subject subject_of(const judge *j, const entry *at);
static void judge_subjects(judge *j);
static etlheap_outcome judge_subject(judge *j, const draft *of);
static int by_outcome(const void *a, const void *b);
static bool publish(judge *j);
static bool list_stacks(judge *j, const draft *from, etlheap_gate_subject *to,
                        etlheap_gate_stack **stacks);

bool gate_subjects_judge(owned_gate *gate, const gate_rows *rows, etlheap_gate_budget *out)
{
    judge j = { .gate = gate, .rows = rows, .budget = out };
    bool ok =
        gate_places_open(&j.places, rows->table, &out->budget) && collect(&j) && sum_subjects(&j);
    if (ok)
        judge_subjects(&j);
    ok = ok && publish(&j);
    gate_places_close(&j.places);
    ETLHEAP_VECTOR_FREE(&j.entries);
    ETLHEAP_VECTOR_FREE(&j.drafts);
    return ok;
}

static entry entry_of(const gate_row *row, u32 index, etlheap_scope scope);

/* Adds a row to a function, once. Rows of peaks have a function instead of a stack. */
static bool add_function(judge *j, u32 index, u32 frame)
{
    entry one = entry_of(&j->rows->list.at[index], index, ETLHEAP_SCOPE_FUNCTION);
    if (!gate_places_matches(&j->places, frame))
        return true;
    one.frame = frame;
    if (!gate_places_function(&j->places, frame, &one.place))
        return false;
    for (size_t i = j->entries.count; i > 0 && j->entries.at[i - 1].row == index; i--) {
        if (j->entries.at[i - 1].place == one.place)
            return true;
    }
    return ETLHEAP_PUSH(&j->entries, one);
}

/* Adds a row to its subjects, which are all functions of its stack if subjects are functions. */
static bool add_entry(judge *j, u32 index)
{
    const gate_row *const row = &j->rows->list.at[index];
    const etlheap_scope scope = j->budget->budget.scope;
    entry one = entry_of(row, index, scope);
    if (scope == ETLHEAP_SCOPE_FUNCTION) {
        u32 count;
        const u32 *const frames = gate_places_frames(&j->places, row, &count);
        bool ok = count > 0 || add_function(j, index, row->frame);
        for (u32 i = 0; ok && i < count; i++)
            ok = add_function(j, index, frames[i]);
        return ok;
    }
    if (scope == ETLHEAP_SCOPE_MODULE &&
        !gate_places_module(&j->places, gate_places_module_of(&j->places, row), &one.place))
        return false;
    return ETLHEAP_PUSH(&j->entries, one);
}

/* True if the scope divides processes: rows without memory are not subjects of it. */
static bool is_fine(etlheap_scope scope)
{
    return scope != ETLHEAP_SCOPE_TOTAL && scope != ETLHEAP_SCOPE_PROCESS &&
           scope != ETLHEAP_SCOPE_MARK;
}

/* Collects the rows of the budget. Rows without memory make subjects only if subjects are processes
 * or larger. */
static bool collect(judge *j)
{
    const u32 kinds = gate_kinds_of(j->gate, &j->budget->budget);
    const etlheap_scope scope = j->budget->budget.scope;
    for (size_t i = 0; i < j->rows->list.count; i++) {
        const gate_row *const row = &j->rows->list.at[i];
        const bool empty = row->now.count == 0 && row->baseline.count == 0 && !row->is_unknown;
        if (!(kinds >> row->kind & 1) || row->suppression != SUPPRESSION_NONE ||
            (empty && is_fine(scope)) || !gate_places_has(j->gate, &j->places, row))
            continue;
        if (!add_entry(j, (u32)i))
            return false;
    }
    if (j->entries.count > 0)
        qsort(j->entries.at, j->entries.count, sizeof *j->entries.at, by_place);
    return true;
}

static bool has_process(etlheap_scope scope)
{
    return scope != ETLHEAP_SCOPE_TOTAL && scope != ETLHEAP_SCOPE_MARK &&
           scope != ETLHEAP_SCOPE_POOL_TAG;
}

static entry entry_of(const gate_row *row, u32 index, etlheap_scope scope)
{
    return (entry){
        .kind = row->kind,
        .generation = row->generation,
        .process = has_process(scope) ? row->process : 0,
        .heap = scope == ETLHEAP_SCOPE_HEAP       ? row->heap
                : scope == ETLHEAP_SCOPE_POOL_TAG ? row->tag
                                                  : 0,
        .stack = scope == ETLHEAP_SCOPE_STACK ? row->stack : 0,
        .frame = ETLHEAP_NO_INDEX,
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
        order = compare_u64(left->place, right->place);
    if (order == 0)
        order = compare_u64(left->row_process, right->row_process);
    if (order == 0)
        order = compare_u64(left->row_stack, right->row_stack);
    return order != 0 ? order : compare_u64(left->row, right->row);
}

static bool is_same_subject(const entry *a, const entry *b)
{
    return a->kind == b->kind && a->generation == b->generation && a->process == b->process &&
           a->heap == b->heap && a->stack == b->stack && a->place == b->place;
}

/* Adds a row to a subject. Peaks of several rows have no sum: the subject's is not known. */
static void add_row(const judge *j, draft *to, const gate_row *row)
{
    const bool has_amount = row->now.count > 0 || row->baseline.count > 0 || row->is_unknown;
    const bool is_peak = j->budget->budget.quantity == ETLHEAP_QUANTITY_PEAK;
    to->subject.is_unknown |= row->is_unknown || (is_peak && has_amount && to->has_amount);
    to->has_amount |= has_amount;
    to->count++;
    to->now_ns = row->now_ns > to->now_ns ? row->now_ns : to->now_ns;
    to->baseline_ns = row->baseline_ns > to->baseline_ns ? row->baseline_ns : to->baseline_ns;
    gate_add_amount(&to->subject.now, &row->now);
    gate_add_amount(&to->subject.baseline, &row->baseline);
    gate_add_amount(&to->unsure, &row->unsure);
}

/* Sets what the rates of subjects are per second of that are more than parts of a process: the
 * recorded part of the window or interval. */
static void set_span(const judge *j, draft *of)
{
    const gate_source *const source = gate_source_of(j->gate, &j->budget->budget);
    const etlheap_kind kind = of->subject.kind;
    if (j->budget->budget.quantity != ETLHEAP_QUANTITY_ALLOC_RATE)
        return;
    if (j->budget->budget.scope == ETLHEAP_SCOPE_MARK) {
        const etlheap_time_range interval = { of->subject.from_ns, of->subject.to_ns };
        const etlheap_time_range part =
            etlheap_recorded_part(etlheap_result_trace(j->gate->now->result), 1u << kind, interval);
        of->now_ns = etl_span_i64(part.from_ns, part.to_ns);
    } else if (j->budget->budget.scope == ETLHEAP_SCOPE_TOTAL && source->diff != NULL) {
        of->now_ns = source->diff->totals[kind].new_ns;
        of->baseline_ns = source->diff->totals[kind].base_ns;
    } else if (j->budget->budget.scope == ETLHEAP_SCOPE_TOTAL) {
        of->now_ns = source->table->totals[kind].rates_ns;
    }
}

static bool sum_subjects(judge *j)
{
    for (size_t i = 0; i < j->entries.count; i++) {
        const entry *const at = &j->entries.at[i];
        const bool is_new = i == 0 || !is_same_subject(at, &j->entries.at[i - 1]);
        if (is_new &&
            !ETLHEAP_PUSH(&j->drafts, (draft){ .subject = subject_of(j, at), .first = (u32)i }))
            return false;
        add_row(j, &j->drafts.at[j->drafts.count - 1], &j->rows->list.at[at->row]);
    }
    for (size_t i = 0; i < j->drafts.count; i++)
        set_span(j, &j->drafts.at[i]);
    return true;
}

static void set_mark(const owned_gate *gate, u32 generation, etlheap_gate_subject *out)
{
    const etlheap_marks *const marks = etlheap_result_marks(gate->now->result);
    const etlheap_mark *const mark = &marks->at[generation - 1];
    const etlheap_time_range interval = gate_interval_of(gate, generation);
    out->mark = mark->name;
    out->mark_number = mark->number;
    out->from_ns = interval.from_ns;
    out->to_ns = interval.to_ns;
}

static void set_tag(const owned_gate *gate, u64 tag, etlheap_gate_subject *out)
{
    const etlheap_pool_tags *const tags = gate->now->query->pool_tags;
    pool_heap_tag_text(tag, out->pool_tag);
    if (tags != NULL)
        out->pool_tag_description = etlheap_pool_tags_describe(tags, out->pool_tag);
}

static etlheap_gate_subject subject_of(const judge *j, const entry *at)
{
    const gate_row *const row = &j->rows->list.at[at->row];
    const etlheap_scope scope = j->budget->budget.scope;
    etlheap_gate_subject subject = { .kind = (etlheap_kind)row->kind,
                                     .pid = ETL_NO_ID,
                                     .stack = ETLHEAP_NO_INDEX,
                                     .frame = at->frame };
    if (scope == ETLHEAP_SCOPE_MODULE)
        subject.module = gate_places_module_of(&j->places, row);
    if (scope == ETLHEAP_SCOPE_MARK)
        set_mark(j->gate, row->generation, &subject);
    if (has_process(scope)) {
        subject.process = row->name;
        subject.pid = row->pid;
    }
    if (scope == ETLHEAP_SCOPE_HEAP) {
        subject.has_heap = row->has_heap;
        subject.heap_handle = row->heap;
        subject.heap_name =
            logged_names_find(&j->gate->now->result->context.logged_names, row->heap);
    }
    if (scope == ETLHEAP_SCOPE_STACK)
        subject.stack = row->stack;
    if (scope == ETLHEAP_SCOPE_POOL_TAG)
        set_tag(j->gate, row->tag, &subject);
    return subject;
}

/* The value of a budget: bytes, allocations, or allocations per second. */
static i64 value_of(const etlheap_budget *budget, const etlheap_amount *amount, i64 ns)
{
    const u64 value = budget->is_count ? amount->count : amount->size_bytes;
    const i64 all = (i64)etl_min_u64(value, INT64_MAX);
    return budget->quantity == ETLHEAP_QUANTITY_ALLOC_RATE ? etlheap_per_second(all, ns) : all;
}

/* The limit for a subject. The share is cut to whole units: 5 % of 10 bytes allows no more.
 * Limits that do not fit become the largest i64. */
static i64 limit_of(const etlheap_budget *budget, i64 baseline)
{
    const u64 before = (u64)baseline;
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

/* All that the subject has, or what was added to the baseline. */
static void measure(const etlheap_budget *budget, draft *of)
{
    etlheap_gate_subject *const subject = &of->subject;
    const i64 now = value_of(budget, &subject->now, of->now_ns);
    const i64 before = value_of(budget, &subject->baseline, of->baseline_ns);
    subject->measured = budget->is_growth ? now - before : now;
    subject->limit = limit_of(budget, before);
    if (!subject->is_unknown)
        return;
    subject->measured = 0;
    subject->now = subject->baseline = (etlheap_amount){ 0, 0 };
}

static void judge_subjects(judge *j)
{
    etlheap_gate_budget *const budget = j->budget;
    for (size_t i = 0; i < j->drafts.count; i++) {
        draft *const of = &j->drafts.at[i];
        measure(&budget->budget, of);
        of->subject.outcome = judge_subject(j, of);
        budget->failed_count += of->subject.outcome == ETLHEAP_OUTCOME_FAIL;
    }
    budget->judged_count = (u32)j->drafts.count;
    budget->outcome = ETLHEAP_OUTCOME_PASS;
    if (j->drafts.count == 0)
        return;
    qsort(j->drafts.at, j->drafts.count, sizeof *j->drafts.at, by_outcome);
    budget->outcome = j->drafts.at[0].subject.outcome;
}

/* Memory that may have been freed unseen and that the subject may contain. Growth is of whole
 * stacks, and peaks have no parts, so all such memory of the kind may be in them. What is allocated
 * in the window was recorded. */
static etlheap_amount unsure_of(const judge *j, const draft *of)
{
    const etlheap_budget *const budget = &j->budget->budget;
    const etlheap_amount none = { 0, 0 };
    if (budget->quantity == ETLHEAP_QUANTITY_PEAK)
        return j->gate->unsure[of->subject.kind];
    if (budget->quantity != ETLHEAP_QUANTITY_OUTSTANDING)
        return none;
    return budget->is_growth ? j->gate->unsure[of->subject.kind] : of->unsure;
}

/* Is the limit exceeded only together with memory that may have been freed unseen? */
static bool depends_on_unsure(const judge *j, const draft *of)
{
    const etlheap_amount unsure = unsure_of(j, of);
    const u64 value = j->budget->budget.is_count ? unsure.count : unsure.size_bytes;
    return value > 0 && etl_sat_add_i64(of->subject.measured,
                                        -(i64)etl_min_u64(value, INT64_MAX)) <= of->subject.limit;
}

/* May suppressed stacks be part of the subject's peak? Stacks are told apart by themselves. */
static bool has_suppressed(const judge *j, const draft *of)
{
    const gate_source *const all = j->gate->all_stacks;
    const etlheap_gate_subject *const subject = &of->subject;
    if (all == NULL || j->budget->budget.quantity != ETLHEAP_QUANTITY_PEAK ||
        j->budget->budget.scope == ETLHEAP_SCOPE_STACK)
        return false;
    for (size_t i = 0; i < all->rows.list.count; i++) {
        const gate_row *const row = &all->rows.list.at[i];
        if (row->suppression != SUPPRESSION_NONE && row->kind == (u8)subject->kind &&
            (subject->process == NULL ||
             (row->pid == subject->pid && etl_name_same(row->name, subject->process))))
            return true;
    }
    return false;
}

/* Judges a subject. A lossy run still fails if it exceeds a limit: a gate that lets leaks pass
 * because events were lost is worse than one that fails for lost frees. A lossy baseline decides
 * nothing: lost allocations there make this run look larger, lost frees smaller. */
static etlheap_outcome judge_subject(judge *j, const draft *of)
{
    etlheap_gate_budget *const budget = j->budget;
    const etlheap_gate_subject *const subject = &of->subject;
    if (subject->is_unknown)
        budget->doubts |= 1u << ETLHEAP_DOUBT_PEAK_UNKNOWN;
    if (subject->is_unknown || (budget->doubts & 1u << ETLHEAP_DOUBT_BASELINE_LOSS))
        return ETLHEAP_OUTCOME_INCONCLUSIVE;
    const bool is_doubtful = (budget->doubts & 1u << ETLHEAP_DOUBT_LOSS) != 0 ||
                             (budget->is_unmeasured && !j->gate->options->allow_empty);
    if (subject->measured <= subject->limit)
        return is_doubtful ? ETLHEAP_OUTCOME_INCONCLUSIVE : ETLHEAP_OUTCOME_PASS;
    u32 doubts = budget->budget.is_growth ? gate_doubts_of_growth(j->gate, subject->kind) : 0;
    if (depends_on_unsure(j, of))
        doubts |= 1u << ETLHEAP_DOUBT_OVERWRITTEN;
    if (has_suppressed(j, of))
        doubts |= 1u << ETLHEAP_DOUBT_PEAK_SUPPRESSED;
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
    for (u32 i = 0; i < count; i++) {
        const etlheap_gate_stack *const stack = &out[i].stack;
        const i64 now = value_of(&j->budget->budget, &stack->now, from->now_ns);
        const i64 before = value_of(&j->budget->budget, &stack->baseline, from->baseline_ns);
        out[i].measured = j->budget->budget.is_growth ? now - before : now;
    }
    return count;
}

/* Lists the stacks to blame, without those that did not add to the measured value. */
static bool list_stacks(judge *j, const draft *from, etlheap_gate_subject *to,
                        etlheap_gate_stack **stacks)
{
    blame *const all = malloc(((size_t)from->count + 1) * sizeof *all);
    if (all == NULL)
        return false;
    const gate_source *const source = gate_source_of(j->gate, &j->budget->budget);
    const bool has_stacks =
        source == NULL || !source->is_peak || source->scope == ETLHEAP_SCOPE_STACK;
    const u32 count = has_stacks ? sum_stacks(j, from, all) : 0;
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
