/*
 * gate_doubts.c - why a verdict may prove nothing.
 *
 * A gate that passes because it saw nothing is worse than none: a session that was
 * started for the wrong process, or lost its buffers, must not look like a program
 * without leaks.
 */
#include "gate.h"

static bool is_lossy(const etlheap_result *result);
static u32 kinds_selected(const etlheap_result *result, const query_plan *plan);
static etl_status find_kinds(const etlheap_gate_side *side, u32 *kinds, etl_error *err);
static etl_status try_patterns(owned_gate *gate, etl_error *err);
static u32 kinds_asked(const owned_gate *gate, const etlheap_budget *budget);

etl_status gate_find_events(owned_gate *gate, etl_error *err)
{
    const etlheap_gate_side *const baseline = gate->options->baseline;
    gate->gate.kinds = kinds_selected(gate->now->result, &gate->plan);
    gate->is_lossy = is_lossy(gate->now->result);
    gate->is_baseline_lossy = baseline != NULL && is_lossy(baseline->result);
    etl_status status = try_patterns(gate, err);
    etl_error why = { .status = ETL_OK };
    if (status == ETL_OK && baseline != NULL)
        status = gate_of_baseline(find_kinds(baseline, &gate->baseline_kinds, &why), &why, err);
    return status;
}

etl_status gate_of_baseline(etl_status status, const etl_error *why, etl_error *err)
{
    return status == ETL_OK ? ETL_OK
                            : etl_fail_with(err, status, 0, "the baseline cannot be asked: %.180s",
                                            why->message);
}

u32 gate_doubts_of(const owned_gate *gate, const etlheap_budget *budget)
{
    const u32 asked = kinds_asked(gate, budget);
    const bool any_kind = budget->kinds == 0 && gate->now->query->kinds == 0;
    const u32 present = asked & gate->gate.kinds;
    u32 doubts = 0;
    if (gate->is_lossy)
        doubts |= 1u << ETLHEAP_DOUBT_LOSS;
    if (any_kind ? present == 0 : present != asked)
        doubts |= 1u << ETLHEAP_DOUBT_NO_EVENTS;
    if (gate->lacks_process)
        doubts |= 1u << ETLHEAP_DOUBT_NO_PROCESS;
    return doubts;
}

u32 gate_doubts_of_growth(const owned_gate *gate, etlheap_kind kind)
{
    u32 doubts = 0;
    if (gate->is_baseline_lossy)
        doubts |= 1u << ETLHEAP_DOUBT_BASELINE_LOSS;
    if (!(gate->baseline_kinds >> kind & 1))
        doubts |= 1u << ETLHEAP_DOUBT_BASELINE_NO_EVENTS;
    return doubts;
}

u32 gate_kinds_of(const owned_gate *gate, const etlheap_budget *budget)
{
    const u32 present = gate->gate.kinds | (budget->is_growth ? gate->baseline_kinds : 0);
    return kinds_asked(gate, budget) & present;
}

u32 gate_kinds_of_process(const etlheap_process_info *process)
{
    u32 kinds = 0;
    if (process->heap_events > 0)
        kinds |= 1u << ETLHEAP_KIND_HEAP | 1u << ETLHEAP_KIND_EXTENT;
    if (process->virtualalloc_events > 0)
        kinds |= 1u << ETLHEAP_KIND_VIRTUALALLOC;
    return kinds;
}

static bool is_lossy(const etlheap_result *result)
{
    const etl_diag_counts *const counts = etlheap_result_diagnostics(result);
    /* Our limits leave totals whole, but for the one that skips buffers. */
    bool lossy = counts->of[ETL_DIAG_buffer_compression_unsupported] > 0;
    for (int i = 0; i < ETL_DIAG_COUNT; i++) {
        const etl_severity severity = etl_diag_describe((etl_diag)i)->severity;
        const bool bad = severity == ETL_SEVERITY_LOSS || severity == ETL_SEVERITY_DAMAGE;
        lossy |= bad && counts->of[i] > 0;
    }
    return lossy;
}

/* Extents and blocks have events of their own, and either may be without the other. */
static u32 kinds_selected(const etlheap_result *result, const query_plan *plan)
{
    const etlheap_abilities can = etlheap_result_abilities(result);
    const u32 asked = plan->query->kinds;
    u32 kinds = 0;
    for (u32 i = 0; i < etlheap_process_count(result); i++) {
        if (plan->process_selected[i + 1])
            kinds |= gate_kinds_of_process(etlheap_process_of(result, (etlheap_process){ i + 1 }));
    }
    if (!can.heap)
        kinds &= ~(1u << ETLHEAP_KIND_HEAP);
    if (!can.extent)
        kinds &= ~(1u << ETLHEAP_KIND_EXTENT);
    return asked == 0 ? kinds : kinds & asked;
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

/* Each pattern alone: that the others match must not hide that one does not. */
static etl_status try_patterns(owned_gate *gate, etl_error *err)
{
    const etlheap_query *const asked = gate->now->query;
    etl_status status = ETL_OK;
    for (u32 i = 0; status == ETL_OK && i < asked->process_count; i++) {
        etlheap_query query = *asked;
        u32 kinds = 0;
        query.processes = &asked->processes[i];
        query.process_count = 1;
        const etlheap_gate_side side = { gate->now->result, &query };
        status = find_kinds(&side, &kinds, err);
        gate->lacks_process |= status == ETL_OK && kinds == 0;
    }
    return status;
}

/* The query's filter comes before what a budget asks for. */
static u32 kinds_asked(const owned_gate *gate, const etlheap_budget *budget)
{
    const u32 every = (1u << ETLHEAP_KIND_COUNT) - 1;
    const u32 asked = gate->now->query->kinds;
    return (asked == 0 ? every : asked) & (budget->kinds == 0 ? every : budget->kinds);
}
