/*
 * gate.c - the leak gate: judges budgets against a result and a baseline. gate.h lists its parts.
 *
 * In: the results of this run and maybe of a baseline, budgets, suppressions. Out: an etlheap_gate:
 * an outcome for each budget, its subjects with the stacks to blame, doubts, and what was
 * suppressed.
 *
 *     tables ──▶ rows, known leaks marked ──▶ subjects of each budget, judged ──▶ verdict
 *                                               doubts, fingerprints, wrappers ──┘
 *
 * Invariant: an exceeded budget stays exceeded, whatever else is in doubt (outcome_of). Names may
 * move tables in memory, so pointers into them are set last (finish).
 */
#include "gate.h"
#include "parser/sized.h"

#include <stdlib.h>

static etl_status judge(owned_gate *gate, etl_error *err);
static etl_status check_budgets(const etlheap_gate_options *options, etl_error *err);
static bool judge_budgets(owned_gate *gate);
static void add_fingerprints(owned_gate *gate);
static bool sum_suppressions(owned_gate *gate);
static void count_stacks(const gate_rows *rows, etlheap_suppression_use *uses, bool *counted);
static void finish(owned_gate *gate);

/* One side, with the query in this library's version. */
typedef struct gate_side_read {
    etlheap_gate_side side;
    etlheap_query query;
} gate_side_read;

static etl_status read_side(const etlheap_gate_side **side, gate_side_read *own, etl_error *err)
{
    if (*side == NULL)
        return ETL_OK;
    own->side = (etlheap_gate_side){ (*side)->result, &own->query };
    const etl_status status = query_read_for((*side)->result, (*side)->query, &own->query, err);
    *side = &own->side;
    return status;
}

etl_status etlheap_gate_judge(const etlheap_gate_side *now, const etlheap_gate_options *options,
                              const etlheap_gate **out, etl_error *err)
{
    etlheap_gate_options own = { .size = sizeof own };
    gate_side_read sides[2];
    *out = NULL;
    etl_status status = etl_read_sized(options, "etlheap_gate_options", &own, sizeof own, err);
    if (status == ETL_OK)
        status = check_budgets(&own, err);
    if (status == ETL_OK)
        status = read_side(&now, &sides[0], err);
    if (status == ETL_OK)
        status = read_side(&own.baseline, &sides[1], err);
    if (status != ETL_OK)
        return status;
    owned_gate *const gate = calloc(1, sizeof *gate);
    if (gate == NULL)
        return etl_no_memory(err);
    gate->now = now;
    gate->options = &own;
    status = judge(gate, err);
    gate_rows_close(gate);
    ETLHEAP_VECTOR_FREE(&gate->listed);
    ETLHEAP_VECTOR_FREE(&gate->unmatched);
    query_close(&gate->plan);
    gate->options = NULL;
    gate->now = NULL;
    if (status == ETL_OK)
        *out = &gate->gate;
    else
        etlheap_gate_free(&gate->gate);
    return status;
}

/* Gates are handed out as const, but the engine allocated them. */
void etlheap_gate_free(const etlheap_gate *gate)
{
    owned_gate *const owned = (owned_gate *)(uintptr_t)gate;
    static_assert(offsetof(owned_gate, gate) == 0, "a gate is the begin of what owns it");
    if (owned == NULL)
        return;
    gate_tables_close(owned);
    ETLHEAP_VECTOR_FREE(&owned->missing);
    etlheap_arena_free(&owned->arena);
    free(owned);
}

static etl_status judge(owned_gate *gate, etl_error *err)
{
    etl_status status = query_open(&gate->plan, gate->now->result, gate->now->query, err);
    if (status == ETL_OK)
        status = gate_find_events(gate, err);
    if (status == ETL_OK)
        status = gate_tables_open(gate, err);
    if (status == ETL_OK &&
        (!gate_rows_open(gate) || !judge_budgets(gate) || !gate_judge_requirements(gate) ||
         !gate_explain_absence(gate) || !sum_suppressions(gate)))
        status = etl_no_memory(err);
    if (status == ETL_OK)
        status = gate_tables_name(gate, err);
    if (status == ETL_OK)
        finish(gate);
    if (status == ETL_OK && (!gate_tell_apart(gate) || !gate_find_wrappers(gate)))
        status = etl_no_memory(err);
    return status;
}

static etl_status check_budgets(const etlheap_gate_options *options, etl_error *err)
{
    for (u32 i = 0; i < options->budget_count; i++) {
        const etlheap_budget *const budget = &options->budgets[i];
        if ((u32)budget->scope >= ETLHEAP_SCOPE_COUNT || budget->kinds >> ETLHEAP_KIND_COUNT ||
            (u32)budget->quantity >= ETLHEAP_QUANTITY_COUNT)
            return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "unknown quantity, scope or kind");
        if (budget->is_growth && budget->quantity == ETLHEAP_QUANTITY_PEAK &&
            options->suppressions != NULL)
            return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                                 "the growth of a peak cannot be limited with suppressions: the "
                                 "peak without the suppressed stacks is not known in both runs");
        if (budget->name != NULL && budget->scope == ETLHEAP_SCOPE_TOTAL)
            return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "a limit in total has no name");
        if (budget->is_growth && budget->scope == ETLHEAP_SCOPE_HEAP)
            return etl_fail_with(
                err, ETL_ERR_ARGUMENT, 0,
                "growth cannot be limited per heap, because heap handles differ from run to run");
        if (budget->is_growth && budget->scope == ETLHEAP_SCOPE_MARK)
            return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                                 "growth cannot be limited per mark: a limit per mark is for what "
                                 "its interval leaves behind");
    }
    return ETL_OK;
}

/* The outcome of a budget whose subjects have been judged, by the table in etlheap_gate.h: a
 * failure stays a failure, whatever else is in doubt. */
static etlheap_outcome outcome_of(const owned_gate *gate, const etlheap_gate_budget *budget)
{
    const u32 lossy = 1u << ETLHEAP_DOUBT_LOSS | 1u << ETLHEAP_DOUBT_BASELINE_LOSS;
    if (budget->is_unmeasured && !gate->options->allow_empty)
        return ETLHEAP_OUTCOME_FAIL;
    if (budget->outcome != ETLHEAP_OUTCOME_FAIL && (budget->doubts & lossy) != 0)
        return ETLHEAP_OUTCOME_INCONCLUSIVE;
    return budget->outcome;
}

static bool judge_budget(owned_gate *gate, etlheap_gate_budget *budget)
{
    static const u32 unmeasured = 1u << ETLHEAP_DOUBT_NO_EVENTS | 1u << ETLHEAP_DOUBT_NO_PROCESS |
                                  1u << ETLHEAP_DOUBT_NO_MARKS;
    const bool is_judged = !budget->budget.is_growth || gate->diff != NULL;
    budget->doubts = gate_doubts_of(gate, &budget->budget);
    budget->is_unmeasured = (budget->doubts & unmeasured) != 0;
    const gate_rows *const rows = gate_rows_for(gate, &budget->budget);
    if (is_judged && !gate_subjects_judge(gate, rows, budget))
        return false;
    budget->outcome = outcome_of(gate, budget);
    return true;
}

static bool judge_budgets(owned_gate *gate)
{
    const u32 count = gate->options->budget_count;
    gate->budgets = etlheap_arena_alloc(&gate->arena, (count + (size_t)1) * sizeof *gate->budgets);
    if (gate->budgets == NULL)
        return false;
    gate->gate.outcome = ETLHEAP_OUTCOME_PASS;
    for (u32 i = 0; i < count; i++) {
        etlheap_gate_budget *const budget = &gate->budgets[i];
        const etlheap_budget asked = gate->options->budgets[i];
        *budget = (etlheap_gate_budget){ .budget = asked, .outcome = ETLHEAP_OUTCOME_SKIPPED };
        if (!judge_budget(gate, budget))
            return false;
        gate->gate.doubts |= budget->doubts;
        gate->gate.is_unmeasured |= budget->is_unmeasured;
        if (budget->outcome != ETLHEAP_OUTCOME_SKIPPED)
            gate->gate.judged_kinds |= gate_kinds_of(gate, &asked);
        gate->gate.may_found |=
            asked.is_growth && (gate->gate.kinds & gate_kinds_of(gate, &asked)) != 0;
        if (budget->outcome > gate->gate.outcome)
            gate->gate.outcome = budget->outcome;
    }
    gate->gate.budgets = gate->budgets;
    gate->gate.budget_count = count;
    return true;
}

/* The rows that suppressions apply to. If only marks are judged, these are the rows of what their
 * intervals leave behind. */
static const gate_rows *suppressed_rows(const owned_gate *gate)
{
    return gate_has_only_scope(gate, ETLHEAP_SCOPE_MARK) && gate->left_table != NULL
               ? &gate->left
               : &gate->absolute;
}

/* Lists all suppressions, also those that matched nothing, because the user can remove these. */
static bool sum_suppressions(owned_gate *gate)
{
    const etlheap_suppressions *const suppressions = gate->options->suppressions;
    const size_t count = suppressions ? suppressions->list.count : 0;
    etlheap_suppression_use *const uses =
        etlheap_arena_alloc(&gate->arena, (count + 1) * sizeof *uses);
    const gate_rows *const judged = suppressed_rows(gate);
    bool *const counted = calloc((size_t)judged->table->stack_count + 1, sizeof *counted);
    const bool ok = uses != NULL && counted != NULL;
    for (size_t i = 0; ok && i < count; i++) {
        const suppression *const from = &suppressions->list.at[i];
        uses[i] = (etlheap_suppression_use){ .pattern = from->pattern,
                                             .file = from->file,
                                             .line = from->line };
    }
    if (ok)
        count_stacks(judged, uses, counted);
    for (size_t i = 0; ok && i < gate->absolute.list.count; i++) {
        const gate_row *const row = &gate->absolute.list.at[i];
        gate_add_amount(row->suppression != SUPPRESSION_NONE ? &gate->gate.suppressed[row->kind]
                                                             : &gate->gate.outstanding[row->kind],
                        &row->now);
    }
    for (size_t i = 0; ok && i < judged->list.count; i++) {
        const gate_row *const row = &judged->list.at[i];
        if (row->suppression != SUPPRESSION_NONE)
            gate_add_amount(&uses[row->suppression].of[row->kind], &row->now);
    }
    gate->gate.suppressions = uses;
    gate->gate.suppression_count = (u32)count;
    free(counted);
    return ok;
}

/* Counts each stack once, though it may have rows of several processes, heaps and kinds. */
static void count_stacks(const gate_rows *rows, etlheap_suppression_use *uses, bool *counted)
{
    for (size_t i = 0; i < rows->list.count; i++) {
        const gate_row *const row = &rows->list.at[i];
        if (row->suppression == SUPPRESSION_NONE || counted[row->stack])
            continue;
        counted[row->stack] = true;
        uses[row->suppression].stacks++;
    }
}

/* Sets pointers into tables. This comes last, because naming frames moves the tables. */
static void finish(owned_gate *gate)
{
    etlheap_gate *const out = &gate->gate;
    const etlheap_gate_options *const options = gate->options;
    out->from_ns = gate->plan.from_ns;
    out->to_ns = gate->plan.to_ns;
    out->diagnostics = gate->table->diagnostics;
    for (u32 i = 0; i < out->budget_count; i++)
        gate->budgets[i].table = gate_table_of(gate, &gate->budgets[i].budget);
    add_fingerprints(gate);
    gate_doubt_symbols(gate);
    if (gate->diff == NULL)
        return;
    out->baseline = etlheap_result_trace(options->baseline->result);
    out->baseline_diagnostics = gate->baseline->diagnostics;
    out->rebuilt = gate->diff->rebuilt;
    out->rebuilt_count = gate->diff->rebuilt_count;
    out->merged_count = gate->diff->merged_count;
    out->missing = gate->missing.at;
    out->missing_count = (u32)gate->missing.count;
    out->may_tighten = out->grown_count == 0 && out->missing_count == 0;
}

/* Fingerprints contain functions, so they are made after naming. */
static void add_fingerprints(owned_gate *gate)
{
    for (size_t i = 0; i < gate->listed.count; i++) {
        const gate_unsigned *const listed = &gate->listed.at[i];
        const etlheap_table *const table = listed->budget->table;
        listed->subject->fingerprint =
            gate_subject_fingerprint(table, &listed->budget->budget, listed->subject);
        for (u32 k = 0; k < listed->subject->stack_count; k++) {
            etlheap_gate_stack *const stack = &listed->stacks[k];
            stack->fingerprint = gate_stack_fingerprint(table, stack->process, stack->stack);
        }
    }
}
