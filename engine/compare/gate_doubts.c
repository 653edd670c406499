/*
 * gate_doubts.c - finds out why a verdict may prove nothing.
 *
 * In: both results and the query's patterns. Out: doubts of each budget, as bits.
 *
 * A gate that passes because it saw nothing is worse than none: a session that was started for the
 * wrong process, or that lost its buffers, must not look like a program without leaks.
 *
 *     kinds of the selected processes          ─┐
 *     kinds of all processes of the trace      ─┼─▶ doubts of a budget
 *     patterns that match no process with events┘
 *
 * If the selected processes lack events of a kind that others have, the pattern is to blame
 * (NO_PROCESS), not the trace (NO_EVENTS). Invariant: a new way to see nothing needs a doubt here.
 */
#include "gate.h"

#include <stdlib.h>

#include "engine/query/process_words.h"

static bool is_lossy(const etlheap_result *result, u32 kinds);
static u32 kinds_of_budgets(const owned_gate *gate);
static u32 kinds_selected(const etlheap_result *result, const query_plan *plan);
static u32 kinds_recorded(const etlheap_result *result, const bool *selected, u32 asked);
static etl_status find_kinds(const etlheap_gate_side *side, u32 *kinds, etl_error *err);
static etl_status try_patterns(owned_gate *gate, etl_error *err);
static bool list_processes(owned_gate *gate);
static u32 kinds_asked(const owned_gate *gate, const etlheap_budget *budget);
static u32 kinds_missing(const owned_gate *gate, const etlheap_budget *budget);

/* Were older buffers overwritten? A summary does not know what was allocated before its spans. */
static bool is_ring(const etlheap_result *result)
{
    return etlheap_recorded_is_ring(result) && !etlheap_result_is_summary(result);
}

etl_status gate_find_events(owned_gate *gate, etl_error *err)
{
    const etlheap_gate_side *const baseline = gate->options->baseline;
    gate->gate.kinds = kinds_selected(gate->now->result, &gate->plan);
    gate->trace_kinds = kinds_recorded(gate->now->result, NULL, 0);
    gate->gate.is_lossy = is_lossy(gate->now->result, kinds_of_budgets(gate));
    gate->is_ring = is_ring(gate->now->result);
    gate->tells_unsure = gate->is_ring && (gate->now->result->mode == RESULT_STORE ||
                                           gate->now->result->mode == RESULT_LIFETIMES);
    gate->is_baseline_lossy =
        baseline != NULL && is_lossy(baseline->result, kinds_of_budgets(gate));
    etl_status status = try_patterns(gate, err);
    etl_error why = { .status = ETL_OK };
    if (status == ETL_OK && baseline != NULL)
        status = gate_of_baseline(find_kinds(baseline, &gate->baseline_kinds, &why), &why, err);
    return status;
}

etl_status gate_of_baseline(etl_status status, const etl_error *why, etl_error *err)
{
    return status == ETL_OK ? ETL_OK
                            : etl_fail_hint(err, status, why->hint,
                                            "the baseline cannot be used: %.180s", why->message);
}

/* Are there marks of this name, and so intervals to judge? NULL: of any name. */
static bool has_marks(const owned_gate *gate, const char *name)
{
    const etlheap_marks *const marks = etlheap_result_marks(gate->now->result);
    for (u32 generation = 1; generation <= marks->count; generation++) {
        if (gate_judges_generation(gate, generation) &&
            (name == NULL || gate_names_mark(name, &marks->at[generation - 1])))
            return true;
    }
    return false;
}

/* Has a selected process of this name events of the kinds of the budget? */
static bool has_process(const owned_gate *gate, const etlheap_budget *budget)
{
    const etlheap_result *const result = gate->now->result;
    const u32 kinds = kinds_asked(gate, budget);
    for (u32 i = 0; i < etlheap_process_count(result); i++) {
        const etlheap_process_info *const process =
            etlheap_process_of(result, (etlheap_process){ i + 1 });
        if (gate->plan.process_selected[i + 1] && (etlheap_process_kinds(process) & kinds) != 0 &&
            etlheap_word_names_process(budget->name, process))
            return true;
    }
    return false;
}

/* True if the budget names a process or a mark that is not there. */
static bool lacks_named(const owned_gate *gate, const etlheap_budget *budget, etlheap_scope scope)
{
    if (budget->name == NULL || budget->scope != scope)
        return false;
    return scope == ETLHEAP_SCOPE_MARK ? !has_marks(gate, budget->name)
                                       : !has_process(gate, budget);
}

u32 gate_doubts_of(const owned_gate *gate, const etlheap_budget *budget)
{
    const u32 missing = kinds_missing(gate, budget);
    u32 doubts = 0;
    if (is_lossy(gate->now->result, kinds_asked(gate, budget)))
        doubts |= 1u << ETLHEAP_DOUBT_LOSS;
    if (budget->is_growth && gate->is_baseline_lossy)
        doubts |= 1u << ETLHEAP_DOUBT_BASELINE_LOSS;
    if ((missing & ~gate->trace_kinds) != 0)
        doubts |= 1u << ETLHEAP_DOUBT_NO_EVENTS;
    if ((missing & gate->trace_kinds) != 0 || (gate->unmatched.count > 0 && gate->trace_kinds != 0))
        doubts |= 1u << ETLHEAP_DOUBT_NO_PROCESS;
    if (lacks_named(gate, budget, ETLHEAP_SCOPE_PROCESS))
        doubts |= 1u << ETLHEAP_DOUBT_NO_PROCESS;
    if (budget->scope == ETLHEAP_SCOPE_MARK && !has_marks(gate, budget->name))
        doubts |= 1u << ETLHEAP_DOUBT_NO_MARKS;
    return doubts;
}

bool gate_explain_absence(owned_gate *gate)
{
    etlheap_gate_absence *const out = &gate->gate.absence;
    if ((gate->gate.doubts >> ETLHEAP_DOUBT_MISSING_PROCESS & 1) != 0 && !list_processes(gate))
        return false;
    if (!gate->gate.is_unmeasured)
        return true;
    for (u32 i = 0; i < gate->options->budget_count; i++) {
        const u32 missing = kinds_missing(gate, &gate->options->budgets[i]);
        out->kinds |= missing & ~gate->trace_kinds;
        out->other_kinds |= missing & gate->trace_kinds;
    }
    out->no_marks = (gate->gate.doubts >> ETLHEAP_DOUBT_NO_MARKS & 1) != 0;
    out->pattern_kinds = gate->now->query->kinds;
    const size_t count = gate->unmatched.count + gate->options->budget_count;
    const char **const patterns = etlheap_arena_alloc(&gate->arena, (count + 1) * sizeof *patterns);
    const char **const marks = etlheap_arena_alloc(&gate->arena, (count + 1) * sizeof *marks);
    if (patterns == NULL || marks == NULL)
        return false;
    for (size_t i = 0; i < gate->unmatched.count; i++)
        patterns[out->pattern_count++] = gate->unmatched.at[i];
    for (u32 i = 0; i < gate->options->budget_count; i++) {
        const etlheap_budget *const budget = &gate->options->budgets[i];
        if (lacks_named(gate, budget, ETLHEAP_SCOPE_PROCESS))
            patterns[out->pattern_count++] = budget->name;
        if (lacks_named(gate, budget, ETLHEAP_SCOPE_MARK))
            marks[out->mark_count++] = budget->name;
    }
    out->patterns = patterns;
    out->marks = marks;
    return list_processes(gate);
}

u32 gate_doubts_of_growth(const owned_gate *gate, etlheap_kind kind)
{
    return gate->baseline_kinds >> kind & 1 ? 0 : 1u << ETLHEAP_DOUBT_BASELINE_NO_EVENTS;
}

u32 gate_kinds_of(const owned_gate *gate, const etlheap_budget *budget)
{
    const u32 present = gate->gate.kinds | (budget->is_growth ? gate->baseline_kinds : 0);
    return kinds_asked(gate, budget) & present;
}

static u32 kinds_of_budgets(const owned_gate *gate)
{
    u32 kinds = 0;
    for (u32 i = 0; i < gate->options->budget_count; i++)
        kinds |= kinds_asked(gate, &gate->options->budgets[i]);
    return kinds;
}

static u32 kinds_of_keys(void)
{
    u32 kinds = 0;
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++)
        kinds |= (u32)(etlheap_kind_at((etlheap_kind)kind)->space != ETLHEAP_SPACE_NONE) << kind;
    return kinds;
}

/* Some diagnostics are about a few kinds, and say nothing of others. */
static bool is_about(etl_diag diag, u32 kinds)
{
    const struct {
        etl_diag diag;
        u32 kinds;
    } rows[] = {
        { ETL_DIAG_key_over_live, kinds_of_keys() },
        { ETL_DIAG_handle_process_unknown, 1u << ETLHEAP_KIND_HANDLE },
    };
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        if (rows[i].diag == diag)
            return (rows[i].kinds & kinds) != 0;
    }
    return true;
}

/* Are the totals of these kinds in doubt? */
static bool is_lossy(const etlheap_result *result, u32 kinds)
{
    const etl_diag_counts *const counts = etlheap_result_diagnostics(result);
    /* Of this program's own limits, only the one that skips buffers makes totals incomplete. */
    bool lossy = counts->of[ETL_DIAG_buffer_compression_unsupported] > 0;
    for (int i = 0; i < ETL_DIAG_COUNT; i++) {
        const etl_severity severity = etl_diag_describe((etl_diag)i)->severity;
        const bool bad = severity == ETL_SEVERITY_LOSS || severity == ETL_SEVERITY_DAMAGE;
        lossy |= bad && counts->of[i] > 0 && is_about((etl_diag)i, kinds);
    }
    return lossy;
}

/* Was there damage when names were looked up? A table counts it on top of what its result has. */
static bool are_names_damaged(const etlheap_result *result, const etlheap_table *table)
{
    const etl_diag_counts *const before = etlheap_result_diagnostics(result);
    bool are = false;
    for (int i = 0; i < ETL_DIAG_COUNT; i++) {
        const bool is_damage = etl_diag_describe((etl_diag)i)->severity == ETL_SEVERITY_DAMAGE;
        are |= is_damage && table->diagnostics.of[i] > before->of[i];
    }
    return are;
}

void gate_doubt_symbols(owned_gate *gate)
{
    const u32 doubt = 1u << ETLHEAP_DOUBT_SYMBOLS;
    const etlheap_gate_side *const baseline = gate->options->baseline;
    if (!are_names_damaged(gate->now->result, gate->table) &&
        (baseline == NULL || !are_names_damaged(baseline->result, gate->baseline)))
        return;
    for (size_t i = 0; i < gate->listed.count; i++) {
        etlheap_gate_subject *const subject = gate->listed.at[i].subject;
        if (subject->outcome == ETLHEAP_OUTCOME_PASS)
            subject->outcome = ETLHEAP_OUTCOME_INCONCLUSIVE;
    }
    for (u32 i = 0; i < gate->gate.budget_count; i++) {
        etlheap_gate_budget *const budget = &gate->budgets[i];
        budget->doubts |= doubt;
        if (budget->outcome != ETLHEAP_OUTCOME_FAIL)
            budget->outcome = ETLHEAP_OUTCOME_INCONCLUSIVE;
    }
    gate->gate.doubts |= doubt;
    if (gate->gate.outcome != ETLHEAP_OUTCOME_FAIL)
        gate->gate.outcome = ETLHEAP_OUTCOME_INCONCLUSIVE;
}

static u32 kinds_selected(const etlheap_result *result, const query_plan *plan)
{
    return kinds_recorded(result, plan->process_selected, plan->query->kinds);
}

/* The kinds that processes have events of. `selected` by id; NULL selects all. `asked`: a bit for
 * each kind, 0 for every kind. */
static u32 kinds_recorded(const etlheap_result *result, const bool *selected, u32 asked)
{
    u32 kinds = 0;
    for (u32 i = 0; i < etlheap_process_count(result); i++) {
        if (selected == NULL || selected[i + 1])
            kinds |= etlheap_process_kinds(etlheap_process_of(result, (etlheap_process){ i + 1 }));
    }
    return kinds & etlheap_result_kinds(result) & (asked == 0 ? ETLHEAP_KINDS_DEFAULT : asked);
}

static etl_status find_kinds(const etlheap_gate_side *side, u32 *kinds, etl_error *err)
{
    query_plan plan;
    const etl_status status = query_open(&plan, side->result, side->query, err);
    if (status == ETL_OK)
        *kinds = kinds_selected(side->result, &plan);
    query_close(&plan);
    return status;
}

/* Says of each word whether it names a process with events of a kind that is judged. */
static bool find_uses(const owned_gate *gate, const char *const *texts, u32 count,
                      etlheap_word_use *uses)
{
    const u32 asked = gate->now->query->kinds;
    const u32 kinds =
        etlheap_result_kinds(gate->now->result) & (asked == 0 ? ETLHEAP_KINDS_DEFAULT : asked);
    process_words words;
    const bool ok = process_words_open(&words, texts, count) &&
                    process_words_uses(gate->now->result, &words, &kinds, uses);
    process_words_close(&words);
    return ok;
}

/* Lists the words that name no such process. */
static bool list_unmatched(owned_gate *gate)
{
    const etlheap_query *const asked = gate->now->query;
    etlheap_word_use *const uses = calloc(asked->process_count, sizeof *uses);
    bool ok = uses != NULL && find_uses(gate, asked->processes, asked->process_count, uses);
    for (u32 i = 0; ok && i < asked->process_count; i++)
        ok = uses[i] != ETLHEAP_WORD_MISSING || ETLHEAP_PUSH(&gate->unmatched, asked->processes[i]);
    free(uses);
    return ok;
}

static void require(owned_gate *gate, etlheap_gate_requirement *list, const char *process,
                    bool is_met)
{
    const etlheap_doubt doubt =
        process == NULL ? ETLHEAP_DOUBT_NO_BASELINE : ETLHEAP_DOUBT_MISSING_PROCESS;
    list[gate->gate.requirement_count++] = (etlheap_gate_requirement){ process, is_met };
    if (is_met)
        return;
    gate->gate.unmet_count++;
    gate->gate.doubts |= 1u << doubt;
    gate->gate.outcome = ETLHEAP_OUTCOME_FAIL;
}

bool gate_judge_requirements(owned_gate *gate)
{
    const etlheap_gate_options *const options = gate->options;
    const u32 count = options->required_process_count;
    etlheap_gate_requirement *const list =
        etlheap_arena_alloc(&gate->arena, (count + (size_t)1) * sizeof *list);
    etlheap_word_use *const uses = calloc(count + (size_t)1, sizeof *uses);
    const bool ok = list != NULL && uses != NULL &&
                    (count == 0 || find_uses(gate, options->required_processes, count, uses));
    gate->gate.requirements = list;
    if (ok && options->requires_baseline)
        require(gate, list, NULL, options->baseline != NULL);
    for (u32 i = 0; ok && i < count; i++) {
        if (uses[i] != ETLHEAP_WORD_OTHER)
            require(gate, list, options->required_processes[i], uses[i] == ETLHEAP_WORD_NAMES);
    }
    free(uses);
    return ok;
}

/* Tries each word alone, so that one without a match is not hidden by the others. What this run
 * cannot answer is refused here, before the baseline is looked at. */
static etl_status try_patterns(owned_gate *gate, etl_error *err)
{
    u32 kinds = 0;
    if (gate->now->query->process_count == 0)
        return ETL_OK;
    const etl_status status = find_kinds(gate->now, &kinds, err);
    return status == ETL_OK && !list_unmatched(gate) ? etl_no_memory(err) : status;
}

static int by_events(const void *a, const void *b)
{
    const etlheap_gate_process *const x = a, *const y = b;
    if (x->events != y->events)
        return x->events > y->events ? -1 : 1;
    const int order = strcmp(x->name, y->name);
    return order != 0 ? order : (x->pid > y->pid) - (x->pid < y->pid);
}

static bool list_processes(owned_gate *gate)
{
    const etlheap_result *const result = gate->now->result;
    const u32 count = etlheap_process_count(result);
    const u32 able = etlheap_result_kinds(result);
    /* A store can answer for kinds that nobody names; a trace cannot. */
    const u32 shown = ETLHEAP_KINDS_DEFAULT | gate->now->query->kinds;
    u32 listed = 0;
    etlheap_gate_process *const processes =
        etlheap_arena_alloc(&gate->arena, (count + (size_t)1) * sizeof *processes);
    for (u32 i = 0; processes != NULL && i < count; i++) {
        const etlheap_process_info *const info =
            etlheap_process_of(result, (etlheap_process){ i + 1 });
        const u32 kinds = etlheap_process_kinds(info) & able & shown;
        const u64 events = etlheap_process_events(info);
        if (kinds != 0)
            processes[listed++] = (etlheap_gate_process){ info->name, info->pid, kinds, events };
    }
    if (listed > 0)
        qsort(processes, listed, sizeof *processes, by_events);
    gate->gate.absence.processes = processes;
    gate->gate.absence.process_count = listed;
    return processes != NULL;
}

/* The kinds that a budget is about, within the query's filter. A budget without a kind is about
 * memory, and about kinds that are selected only by name if nothing else is selected. */
static u32 kinds_asked(const owned_gate *gate, const etlheap_budget *budget)
{
    const u32 asked = query_kinds(gate->now->query);
    const u32 memory = asked & ETLHEAP_KINDS_DEFAULT;
    if (budget->kinds != 0)
        return asked & budget->kinds;
    return memory != 0 ? memory : asked;
}

/* Does the list name all that is judged without being named, and what is recorded with it? Kinds
 * that take a recording of their own may be missing in it. */
static bool names_all(u32 kinds)
{
    bool all = true;
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++)
        all &= (kinds >> kind & 1) != 0 ||
               !etlheap_kind_has(etlheap_kind_at((etlheap_kind)kind)->recorded_with,
                                 ETLHEAP_KIND_DEFAULT);
    return all;
}

/* The kinds that are asked for but that no selected process has events of. If the budget takes any
 * kind, one is enough. */
static u32 kinds_missing(const owned_gate *gate, const etlheap_budget *budget)
{
    const u32 asked = kinds_asked(gate, budget);
    const u32 selected = gate->now->query->kinds;
    const bool any_kind = budget->kinds == 0 && (selected == 0 || names_all(selected));
    const u32 present = asked & gate->gate.kinds;
    if (any_kind)
        return present != 0                       ? 0
               : (asked & gate->trace_kinds) != 0 ? asked & gate->trace_kinds
                                                  : asked;
    return asked & ~present;
}

etlheap_time_range gate_interval_of(const owned_gate *gate, u32 generation)
{
    const etlheap_marks *const marks = etlheap_result_marks(gate->now->result);
    const query_plan *const plan = &gate->plan;
    const etlheap_mark *const mark = &marks->at[generation - 1];
    etlheap_time_range out = { .from_ns =
                                   mark->time_ns > plan->from_ns ? mark->time_ns : plan->from_ns,
                               .to_ns = plan->to_ns };
    if (generation < marks->count && marks->at[generation].time_ns < plan->to_ns)
        out.to_ns = marks->at[generation].time_ns;
    return out;
}

/* The first mark is that of generation 1. */
bool gate_judges_generation(const owned_gate *gate, u32 generation)
{
    const etlheap_marks *const marks = etlheap_result_marks(gate->now->result);
    const query_plan *const plan = &gate->plan;
    if (generation == 0 || marks->at[generation - 1].is_end)
        return false;
    const i64 begin = marks->at[generation - 1].ticks;
    const i64 end = generation < marks->count ? marks->at[generation].ticks : plan->to_ticks;
    return begin < plan->to_ticks && (begin >= plan->from_ticks || end > plan->from_ticks);
}
