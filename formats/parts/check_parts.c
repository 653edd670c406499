/*
 * check_parts.c - puts verdicts, limits and findings of a check into words, for text, Markdown,
 * JUnit and SARIF.
 *
 * In: an etlheap_check. Out: phrases appended to an etlheap_text. All four formats call these
 * functions, so that a verdict reads the same everywhere. Invariant: no phrase names a
 * command-line option; hints do.
 */
#include "check_parts.h"

#include "formats/io/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define PROCESSES_IN_SENTENCE 8u

const char etlheap_check_no_baseline[] = "no baseline yet to measure growth against";

static const char *const ratchet_words[] = {
#define RATCHET_WORD(name, word) [ETLHEAP_RATCHET_##name] = word,
    ETLHEAP_RATCHETS(RATCHET_WORD)
#undef RATCHET_WORD
};

static void add_percent(etlheap_text *text, u64 millionths);
static void add_size(etlheap_text *text, i64 size_bytes);
static void add_count(etlheap_text *text, i64 count, const char *one, const char *many);
static void add_amount(etlheap_text *text, u32 kind, const etlheap_amount *amount);
static void add_growth(etlheap_text *text, const etlheap_budget *budget,
                       const etlheap_gate_subject *subject);

const char *etlheap_ratchet_word(etlheap_ratchet ratchet)
{
    return ratchet_words[ratchet];
}

void etlheap_check_add_budget(etlheap_text *text, const etlheap_budget *budget)
{
    etlheap_text_add_string(text, budget->is_growth ? "growth of " : "");
    etlheap_text_add_string(text, etlheap_limit_at(etlheap_limit_of(budget))->words);
    etlheap_text_add_string(text, budget->scope == ETLHEAP_SCOPE_TOTAL ? " in " : " per ");
    etlheap_text_add_string(text, etlheap_scope_word(budget->scope));
    if (budget->name == NULL)
        return;
    etlheap_text_add_string(text, " '");
    etlheap_text_add_string(text, budget->name);
    etlheap_text_add_string(text, "'");
}

const char *etlheap_check_option(const etlheap_budget *budget)
{
    return etlheap_limit_at(etlheap_limit_of(budget))->option;
}

/* The budget for amounts that are not growth, without a sign. */
static etlheap_budget plain_of(const etlheap_budget *budget)
{
    return (etlheap_budget){ .is_count = budget->is_count, .quantity = budget->quantity };
}

void etlheap_check_add_limit(etlheap_text *text, const etlheap_budget *budget)
{
    const etlheap_budget plain = plain_of(budget);
    if (budget->limit > 0 || budget->baseline_millionths == 0)
        etlheap_check_add_value(text, &plain, (i64)etl_min_u64(budget->limit, INT64_MAX));
    if (budget->baseline_millionths > 0) {
        etlheap_text_add_string(text, budget->limit > 0 ? " + " : "");
        add_percent(text, budget->baseline_millionths);
    }
}

void etlheap_check_add_value(etlheap_text *text, const etlheap_budget *budget, i64 value)
{
    etlheap_text_add_string(text, budget->is_growth && value > 0 ? "+" : "");
    if (budget->is_count)
        add_count(text, value, "allocation", "allocations");
    else
        add_size(text, value);
    etlheap_text_add_string(text, etlheap_limit_at(etlheap_limit_of(budget))->unit);
}

void etlheap_check_add_owner(etlheap_text *text, const etlheap_gate_subject *subject, bool with_ids)
{
    etlheap_text_add_string(text, etlheap_kind_name(subject->kind));
    if (!subject->process && !subject->mark && subject->pool_tag[0] == '\0') {
        etlheap_text_add_string(text, " total");
        return;
    }
    etlheap_text_add_string(text, " ");
    etlheap_text_add_string(text, subject->pool_tag);
    if (with_ids && subject->pool_tag_description != NULL)
        etlheap_text_add_format(text, " (%s)", subject->pool_tag_description);
    etlheap_text_add_mark(text, subject->mark, subject->mark_number);
    if (subject->process)
        etlheap_text_add_string(text, subject->process);
    if (with_ids && subject->pid != ETL_NO_ID)
        etlheap_text_add_format(text, " (%" PRIu32 ")", subject->pid);
    if (!subject->has_heap)
        return;
    etlheap_text_add_string(text, " ");
    if (subject->heap_name != NULL)
        etlheap_text_add_string(text, subject->heap_name);
    else
        etlheap_text_add_heap(text, subject->heap_handle);
}

static void add_frames(etlheap_text *text, const etlheap_table *table, etlheap_indices frames,
                       u64 frames_max, bool with_lines)
{
    for (u32 i = 0; i < frames.count && i < frames_max; i++) {
        etlheap_text_add_string(text, i > 0 ? ", called by " : "");
        etlheap_text_add_frame(text, &table->frames[frames.at[i]]);
        if (with_lines)
            etlheap_text_add_source(text, &table->frames[frames.at[i]]);
    }
}

/* Adds a frame with a name that stays the same in the next build. */
static void add_stable_frame(etlheap_text *text, const etlheap_frame *frame)
{
    etlheap_frame stable = *frame;
    char *const name = frame->symbol ? malloc(strlen(frame->symbol) + 1) : NULL;
    text->failed |= frame->symbol && !name;
    if (name) {
        etlheap_stable_function(frame->symbol, name);
        stable.symbol = name;
    }
    etlheap_text_add_frame(text, &stable);
    free(name);
}

void etlheap_check_add_place(etlheap_text *text, const etlheap_gate_budget *budget,
                             const etlheap_gate_subject *subject, bool with_ids)
{
    if (budget->budget.scope == ETLHEAP_SCOPE_MODULE) {
        etlheap_text_add_string(text, " ");
        etlheap_text_add_string(text, subject->module ? subject->module : "(no module)");
    }
    if (budget->budget.scope != ETLHEAP_SCOPE_FUNCTION)
        return;
    etlheap_text_add_string(text, " ");
    if (subject->frame == ETLHEAP_NO_INDEX)
        etlheap_text_add_string(text, "(no stack)");
    else if (with_ids)
        etlheap_text_add_function(text, &budget->table->frames[subject->frame]);
    else
        add_stable_frame(text, &budget->table->frames[subject->frame]);
}

void etlheap_check_add_subject(etlheap_text *text, const etlheap_gate_budget *budget,
                               const etlheap_gate_subject *subject, bool with_ids)
{
    etlheap_check_add_owner(text, subject, with_ids);
    etlheap_check_add_place(text, budget, subject, with_ids);
    if (budget->budget.scope != ETLHEAP_SCOPE_STACK || !subject->process)
        return;
    const etlheap_indices frames = etlheap_check_frames(budget->table, subject->stack);
    etlheap_text_add_string(text, " ");
    if (frames.count == 0)
        etlheap_text_add_string(text, "(no stack)");
    else if (!with_ids)
        add_stable_frame(text, &budget->table->frames[frames.at[0]]);
    else
        add_frames(text, budget->table, frames, etl_max_u64(subject->frames_apart, 1), true);
}

void etlheap_check_add_site(etlheap_text *text, const etlheap_table *table,
                            const etlheap_gate_stack *stack)
{
    const etlheap_indices frames = etlheap_check_frames(table, stack->stack);
    if (frames.count == 0)
        etlheap_text_add_string(text, "code without a recorded stack");
    else
        add_frames(text, table, frames, etl_max_u64(stack->frames_apart, 2), false);
}

void etlheap_check_add_finding(etlheap_text *text, const etlheap_gate_budget *budget,
                               const etlheap_gate_subject *subject)
{
    const etlheap_budget plain = plain_of(&budget->budget);
    const bool exceeded = subject->measured > subject->limit;
    if (subject->is_unknown)
        etlheap_text_add_string(text, "an unknown amount");
    else if (budget->budget.is_growth)
        add_growth(text, &budget->budget, subject);
    else if (budget->budget.quantity == ETLHEAP_QUANTITY_OUTSTANDING)
        add_amount(text, subject->kind, &subject->now);
    else
        etlheap_check_add_value(text, &budget->budget, subject->measured);
    if (subject->is_unknown)
        return;
    etlheap_text_add_string(text, exceeded ? ", over the limit of " : ", within the limit of ");
    etlheap_check_add_value(text, &plain, subject->limit);
    if (!exceeded)
        return;
    etlheap_text_add_string(text, " by ");
    etlheap_check_add_value(text, &plain, subject->measured - subject->limit);
}

void etlheap_check_add_share(etlheap_text *text, const etlheap_budget *budget, u32 kind,
                             const etlheap_gate_stack *stack)
{
    if (budget->is_growth) {
        const u64 now = budget->is_count ? stack->now.count : stack->now.size_bytes;
        const u64 before = budget->is_count ? stack->baseline.count : stack->baseline.size_bytes;
        etlheap_budget sum = *budget;
        sum.quantity = ETLHEAP_QUANTITY_OUTSTANDING; /* of a rate: the allocations */
        etlheap_check_add_value(text, &sum, (i64)(now - before));
        etlheap_text_add_string(text, " to ");
    }
    add_amount(text, kind, &stack->now);
}

etlheap_indices etlheap_check_frames(const etlheap_table *table, u32 stack)
{
    const etlheap_row row = { .stack = stack };
    return etlheap_row_frames(table, &row);
}

bool etlheap_check_is_accepted(const etlheap_check *check)
{
    return check->ratchet == ETLHEAP_RATCHET_ACCEPTED;
}

u32 etlheap_check_failures(const etlheap_check *check, bool *grew)
{
    u32 failed = 0;
    *grew = false;
    for (u32 i = 0; i < check->gate->budget_count && !etlheap_check_is_accepted(check); i++) {
        const etlheap_gate_budget *const budget = &check->gate->budgets[i];
        failed += budget->failed_count;
        *grew |= budget->budget.is_growth && budget->failed_count > 0;
    }
    return failed;
}

const char *etlheap_check_verdict_word(const etlheap_check *check)
{
    return etlheap_check_is_accepted(check) ? etlheap_ratchet_word(ETLHEAP_RATCHET_ACCEPTED)
                                            : etlheap_outcome_word(check->gate->outcome);
}

void etlheap_check_add_kinds(etlheap_text *text, u32 kinds, const char *last)
{
    u32 left = 0, listed = 0;
    for (int kind = 0; kind < ETLHEAP_KIND_COUNT; kind++)
        left += kinds >> kind & 1;
    for (int kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        if (!(kinds >> kind & 1))
            continue;
        etlheap_text_add_string(text, listed == 0 ? "" : left == 1 ? last : ", ");
        etlheap_text_add_string(text, etlheap_kind_name((etlheap_kind)kind));
        listed++;
        left--;
    }
}

void etlheap_check_add_processes(etlheap_text *text, const etlheap_gate *gate, u32 most)
{
    const etlheap_gate_absence *const absence = &gate->absence;
    const u32 named = absence->process_count < most ? absence->process_count : most;
    for (u32 i = 0; i < named; i++) {
        const etlheap_gate_process *const process = &absence->processes[i];
        etlheap_text_add_string(text, i == 0 ? "" : ", ");
        etlheap_text_add_string(text, *process->name ? process->name : "(no name)");
        etlheap_text_add_string(text, " (");
        if (process->pid != ETL_NO_ID)
            etlheap_text_add_format(text, "%" PRIu32 ": ", process->pid);
        etlheap_check_add_kinds(text, process->kinds, ", ");
        etlheap_text_add_string(text, ")");
    }
    if (named < absence->process_count)
        etlheap_text_add_format(text, " and %" PRIu32 " more", absence->process_count - named);
}

static void add_events(etlheap_text *text, u32 kinds)
{
    if (kinds == 0 || kinds == ETLHEAP_KINDS_DEFAULT)
        etlheap_text_add_string(text, "memory");
    else
        etlheap_check_add_kinds(text, kinds, " or ");
    etlheap_text_add_string(text, " events");
}

static void add_patterns(etlheap_text *text, const etlheap_gate_absence *absence)
{
    etlheap_text_add_string(text, "no process with ");
    add_events(text, absence->pattern_kinds);
    etlheap_text_add_string(text, " matches ");
    for (u32 i = 0; i < absence->pattern_count; i++) {
        etlheap_text_add_string(text, i == 0 ? "'" : " or '");
        etlheap_text_add_string(text, absence->patterns[i]);
        etlheap_text_add_string(text, "'");
    }
}

void etlheap_check_add_absence(etlheap_text *text, const etlheap_gate *gate, u32 processes_max)
{
    const etlheap_gate_absence *const absence = &gate->absence;
    const char *separator = "";
    if (absence->no_marks && absence->mark_count == 0) {
        etlheap_text_add_string(text, "the window has no marks between which memory could be left "
                                      "behind");
        separator = "; ";
    }
    for (u32 i = 0; i < absence->mark_count; i++) {
        etlheap_text_add_string(text, separator);
        etlheap_text_add_format(text, "the window has no mark '%s'", absence->marks[i]);
        separator = "; ";
    }
    if (absence->kinds != 0) {
        etlheap_text_add_string(text, separator);
        etlheap_text_add_string(text, "the trace has no ");
        add_events(text, absence->process_count == 0 ? 0 : absence->kinds);
        separator = "; ";
    }
    if (absence->pattern_count > 0) {
        etlheap_text_add_string(text, separator);
        add_patterns(text, absence);
        separator = "; ";
    } else if (absence->other_kinds != 0) {
        etlheap_text_add_string(text, separator);
        etlheap_text_add_string(text, "the selected processes have no ");
        add_events(text, absence->other_kinds);
        separator = "; ";
    }
    if (absence->process_count == 0)
        return;
    etlheap_text_add_string(text, separator);
    etlheap_text_add_string(text, "processes with memory events: ");
    etlheap_check_add_processes(text, gate, processes_max);
}

void etlheap_check_absence_sentence(const etlheap_gate *gate, char *sentence, size_t size)
{
    etlheap_text text = { 0 };
    etlheap_text_add_string(&text, "nothing was measured: ");
    etlheap_check_add_absence(&text, gate, PROCESSES_IN_SENTENCE);
    snprintf(sentence, size, "%s", etlheap_text_of(&text));
    etlheap_text_free(&text);
}

/* Why a run did not become the baseline. */
static void add_reason_against(etlheap_text *text, const etlheap_check *check)
{
    const etlheap_gate *const gate = check->gate;
    const bool refused = check->ratchet == ETLHEAP_RATCHET_REFUSED;
    if (refused && gate->doubts >> ETLHEAP_DOUBT_MISSING_PROCESS & 1)
        etlheap_text_add_string(text, "a required process is missing");
    else if (refused && !gate->is_unmeasured)
        etlheap_text_add_string(text, "a run that lost events or is damaged is not accepted");
    else if (refused || (!gate->baseline && gate->is_unmeasured))
        etlheap_text_add_string(text, "nothing was measured");
    else if (gate->outcome != ETLHEAP_OUTCOME_PASS)
        etlheap_text_add_format(text, "the verdict is %s", etlheap_outcome_word(gate->outcome));
    else if (gate->grown_count > 0)
        etlheap_text_add_format(text, "%" PRIu32 " %s larger in this run", gate->grown_count,
                                gate->grown_count == 1 ? "subject is" : "subjects are");
    else if (gate->missing_count > 0)
        etlheap_text_add_format(text, "%" PRIu32 " of its processes did not run",
                                gate->missing_count);
    else
        etlheap_text_add_string(text, "nothing is smaller in this run");
}

void etlheap_check_add_ratchet(etlheap_text *text, const etlheap_check *check)
{
    const etlheap_gate *const gate = check->gate;
    switch (check->ratchet) {
    case ETLHEAP_RATCHET_CREATED:
        etlheap_text_add_string(text, "created from this run");
        return;
    case ETLHEAP_RATCHET_TIGHTENED:
        etlheap_text_add_string(text, "tightened: replaced by this run, which is larger nowhere");
        return;
    case ETLHEAP_RATCHET_ACCEPTED:
        etlheap_text_add_string(text, "accepted: this run is the new baseline");
        if (gate->grown_count > 0)
            etlheap_text_add_format(text, ", with %" PRIu32 " %s that grew", gate->grown_count,
                                    gate->grown_count == 1 ? "subject" : "subjects");
        return;
    case ETLHEAP_RATCHET_KEPT:
    case ETLHEAP_RATCHET_REFUSED:
        etlheap_text_add_string(text, gate->baseline ? "unchanged: " : "not written: ");
        add_reason_against(text, check);
        return;
    case ETLHEAP_RATCHET_NONE:
    case ETLHEAP_RATCHET_COUNT:
        return;
    }
}

/* Adds a percentage, without zeros at its end. */
static void add_percent(etlheap_text *text, u64 millionths)
{
    const u64 per_percent = ETLHEAP_BUDGET_MILLIONTHS / 100;
    u64 rest = millionths % per_percent;
    etlheap_text_add_format(text, "%" PRIu64, millionths / per_percent);
    if (rest > 0) {
        u32 digits = 4;
        for (; rest % 10 == 0; digits--)
            rest /= 10;
        etlheap_text_add_format(text, ".%0*" PRIu64, (int)digits, rest);
    }
    etlheap_text_add_string(text, " %");
}

static void add_size(etlheap_text *text, i64 size_bytes)
{
    char size[ETLHEAP_UNITS_SIZE];
    etlheap_units_size(size_bytes, size);
    etlheap_text_add_string(text, size);
}

static void add_count(etlheap_text *text, i64 count, const char *one, const char *many)
{
    char number[ETLHEAP_UNITS_SIZE];
    etlheap_units_count(count, number);
    etlheap_text_add_format(text, "%s %s", number, count == 1 || count == -1 ? one : many);
}

static void add_amount(etlheap_text *text, u32 kind, const etlheap_amount *amount)
{
    if (!etlheap_kinds_are_counted(1u << kind)) {
        add_size(text, (i64)etl_min_u64(amount->size_bytes, INT64_MAX));
        etlheap_text_add_string(text, " in ");
    }
    add_count(text, (i64)etl_min_u64(amount->count, INT64_MAX), "allocation", "allocations");
}

/* "+64.0 KiB, from 1.00 MiB to 1.06 MiB" */
static void add_growth(etlheap_text *text, const etlheap_budget *budget,
                       const etlheap_gate_subject *subject)
{
    const etlheap_budget plain = plain_of(budget);
    const u64 before = budget->is_count ? subject->baseline.count : subject->baseline.size_bytes;
    const u64 now = budget->is_count ? subject->now.count : subject->now.size_bytes;
    etlheap_check_add_value(text, budget, subject->measured);
    if (budget->quantity == ETLHEAP_QUANTITY_ALLOC_RATE) /* amounts are no rates */
        return;
    etlheap_text_add_string(text, " from ");
    etlheap_check_add_value(text, &plain, (i64)etl_min_u64(before, INT64_MAX));
    etlheap_text_add_string(text, " to ");
    etlheap_check_add_value(text, &plain, (i64)etl_min_u64(now, INT64_MAX));
}
