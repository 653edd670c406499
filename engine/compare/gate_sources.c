/*
 * gate_sources.c - asks for what budgets measure besides the memory at the end: peaks, allocations,
 * temporary allocations.
 *
 * In: the gate's sides with their queries, and its budgets. Out: a source for each set of budgets
 * that read the same rows.
 *
 *     allocations, temporary ones   rows by stack; heaps, marks and tags have rows of their own,
 *                                   and all other scopes add the rows of stacks up
 *     peaks                         rows by the keys of the scope: the row's own curve
 *     peaks of marks                windows from mark to mark
 *
 * Invariant: peaks never come from adding rows. A peak that no row has is not known.
 */
#include <stdlib.h>

#include "engine/query/needs.h"
#include "gate.h"

bool gate_needs_names(const owned_gate *gate)
{
    bool needs = gate->options->suppressions != NULL || gate->options->baseline != NULL;
    for (u32 i = 0; i < gate->options->budget_count; i++) {
        const etlheap_budget *const budget = &gate->options->budgets[i];
        needs |= budget->scope == ETLHEAP_SCOPE_FUNCTION ||
                 (budget->scope == ETLHEAP_SCOPE_STACK && budget->name != NULL);
    }
    return needs;
}

/* The scope whose rows a budget reads. */
static etlheap_scope scope_of_rows(const etlheap_budget *budget)
{
    const bool adds_up = budget->quantity != ETLHEAP_QUANTITY_PEAK;
    const bool has_own = budget->scope == ETLHEAP_SCOPE_HEAP ||
                         budget->scope == ETLHEAP_SCOPE_MARK ||
                         budget->scope == ETLHEAP_SCOPE_POOL_TAG;
    return adds_up && !has_own ? ETLHEAP_SCOPE_STACK : budget->scope;
}

static gate_source *find(const owned_gate *gate, const gate_source *like)
{
    for (u32 i = 0; i < gate->source_count; i++) {
        gate_source *const source = &gate->sources[i];
        if (source->reads.count == like->reads.count && source->scope == like->scope &&
            source->is_growth == like->is_growth)
            return source;
    }
    return NULL;
}

static gate_source source_like(const etlheap_budget *budget)
{
    return (gate_source){ .reads = etlheap_quantity_reads(budget->quantity),
                          .scope = scope_of_rows(budget),
                          .is_growth = budget->is_growth,
                          .is_peak = budget->quantity == ETLHEAP_QUANTITY_PEAK };
}

gate_source *gate_source_of(const owned_gate *gate, const etlheap_budget *budget)
{
    const gate_source like = source_like(budget);
    return budget->quantity == ETLHEAP_QUANTITY_OUTSTANDING ? NULL : find(gate, &like);
}

static void add_key(etlheap_query *query, etlheap_key key)
{
    query->group_by[query->group_by_count++] = key;
}

/* The key of a scope's subjects beside kind and process; ETLHEAP_KEY_COUNT: none. */
static etlheap_key key_of(etlheap_scope scope)
{
    static const u8 keys[ETLHEAP_SCOPE_COUNT] = {
        [ETLHEAP_SCOPE_TOTAL] = ETLHEAP_KEY_COUNT,
        [ETLHEAP_SCOPE_PROCESS] = ETLHEAP_KEY_COUNT,
        [ETLHEAP_SCOPE_HEAP] = ETLHEAP_KEY_HEAP,
        [ETLHEAP_SCOPE_MODULE] = ETLHEAP_KEY_MODULE,
        [ETLHEAP_SCOPE_STACK] = ETLHEAP_KEY_STACK,
        [ETLHEAP_SCOPE_FUNCTION] = ETLHEAP_KEY_FUNCTION,
        [ETLHEAP_SCOPE_MARK] = ETLHEAP_KEY_GENERATION,
        [ETLHEAP_SCOPE_POOL_TAG] = ETLHEAP_KEY_POOL_TAG,
    };
    return (etlheap_key)keys[scope];
}

/* True if all processes with memory have a name, by which runs can be compared. */
static bool are_named(const etlheap_result *result)
{
    bool named = true;
    for (u32 i = 0; i < etlheap_process_count(result); i++) {
        const etlheap_process_info *const process =
            etlheap_process_of(result, (etlheap_process){ i + 1 });
        named &= etlheap_process_kinds(process) == 0 || etlheap_process_is_named(process->name);
    }
    return named;
}

/* The query of a source. Rows of marks are by stack, too, as are those of heaps and tags that add
 * up. The peak of a tag is that of all processes together. */
static etlheap_query query_of(const gate_source *source, const etlheap_gate_side *side)
{
    etlheap_query query = *side->query;
    const bool by_interval = source->is_peak && source->scope == ETLHEAP_SCOPE_MARK;
    const bool is_whole = source->is_peak && source->scope == ETLHEAP_SCOPE_POOL_TAG;
    const etlheap_key key = key_of(source->scope);
    query.types = 0;
    query.group_by_count = 0;
    add_key(&query, ETLHEAP_KEY_KIND);
    if (source->scope != ETLHEAP_SCOPE_TOTAL && !by_interval && !is_whole)
        add_key(&query, ETLHEAP_KEY_PROCESS);
    if (key != ETLHEAP_KEY_COUNT && !by_interval)
        add_key(&query, key);
    if (!source->is_peak && source->scope != ETLHEAP_SCOPE_STACK)
        add_key(&query, ETLHEAP_KEY_STACK);
    query.at_end = false;
    etlheap_query_drop_measures(&query);
    query.sums_only = !source->is_peak;
    query.rates = source->reads.count == ETLHEAP_MEASURE_ALLOC_COUNT;
    query.churn = source->reads.count == ETLHEAP_MEASURE_TEMPORARY_COUNT;
    query.sort = source->is_peak ? ETLHEAP_MEASURE_OUTSTANDING_COUNT : source->reads.count;
    query.sort_ascending = false;
    query.tags = NULL;
    query.processes_by_name = source->is_growth && are_named(side->result);
    return query;
}

/* Drops rows that add nothing. */
static etl_status keep_rows(const gate_source *source, etlheap_table *table, etl_error *err)
{
    u32 kept = 0;
    if (source->is_peak)
        return ETL_OK;
    while (kept < table->row_count && table->rows[kept].measures[source->reads.count] > 0)
        kept++;
    return etlheap_table_keep_top(table, kept, err);
}

static etl_status fetch(const owned_gate *gate, const gate_source *source,
                        const etlheap_gate_side *side, etlheap_table **out, etl_error *err)
{
    const etlheap_query query = query_of(source, side);
    etl_status status = etlheap_aggregate(side->result, &query, out, err);
    if (status == ETL_OK)
        status = keep_rows(source, *out, err);
    if (status == ETL_OK && gate_needs_names(gate) && query.symbols != NULL)
        status = etlheap_table_name(*out, query.symbols, NULL, err);
    return status;
}

/* Peaks from mark to mark. */
static etl_status fetch_windows(const owned_gate *gate, gate_source *source, etl_error *err)
{
    const etlheap_marks *const marks = etlheap_result_marks(gate->now->result);
    const etlheap_query query = query_of(source, gate->now);
    etlheap_time_range *const ranges = calloc((size_t)marks->count + 1, sizeof *ranges);
    if (ranges == NULL)
        return etl_no_memory(err);
    for (u32 i = 0; i < marks->count; i++)
        ranges[i] = gate_interval_of(gate, i + 1);
    const etlheap_windows_options options = { .size = sizeof options,
                                              .ranges = ranges,
                                              .range_count = marks->count };
    const etl_status status =
        marks->count == 0
            ? ETL_OK
            : etlheap_windows_make(gate->now->result, &query, &options, &source->windows, err);
    free(ranges);
    return status;
}

static etl_status compare(const owned_gate *gate, gate_source *source, etl_error *err)
{
    etlheap_diff_options options = etlheap_diff_options_default();
    options.measure = source->is_peak ? ETLHEAP_MEASURE_COUNT : source->reads.count;
    options.keep_unchanged = true;
    options.base_result = gate->options->baseline->result;
    options.new_result = gate->now->result;
    return etlheap_diff_tables(source->baseline, source->table, &options, &source->diff, err);
}

static etl_status open_source(const owned_gate *gate, gate_source *source, etl_error *err)
{
    const etlheap_gate_side *const baseline = gate->options->baseline;
    etl_error why = { .status = ETL_OK };
    if (source->is_growth && baseline == NULL)
        return ETL_OK;
    if (source->is_peak && source->scope == ETLHEAP_SCOPE_MARK)
        return fetch_windows(gate, source, err);
    etl_status status = fetch(gate, source, gate->now, &source->table, err);
    if (status == ETL_OK && source->is_growth)
        status =
            gate_of_baseline(fetch(gate, source, baseline, &source->baseline, &why), &why, err);
    if (status == ETL_OK && source->is_growth)
        status = compare(gate, source, err);
    return status;
}

static etl_status add_source(owned_gate *gate, const gate_source *like, etl_error *err)
{
    if (find(gate, like) != NULL)
        return ETL_OK;
    gate_source *const source = &gate->sources[gate->source_count++];
    *source = *like;
    return open_source(gate, source, err);
}

etl_status gate_sources_open(owned_gate *gate, etl_error *err)
{
    static const gate_source all = { .reads = { ETLHEAP_MEASURE_SIZE, ETLHEAP_MEASURE_COUNT },
                                     .scope = ETLHEAP_SCOPE_STACK };
    bool needs_all = false;
    gate->sources = calloc(gate->options->budget_count + (size_t)1, sizeof *gate->sources);
    etl_status status = gate->sources == NULL ? etl_no_memory(err) : ETL_OK;
    for (u32 i = 0; status == ETL_OK && i < gate->options->budget_count; i++) {
        const etlheap_budget *const budget = &gate->options->budgets[i];
        const gate_source like = source_like(budget);
        if (budget->quantity != ETLHEAP_QUANTITY_OUTSTANDING)
            status = add_source(gate, &like, err);
        needs_all |= like.is_peak && gate->options->suppressions != NULL;
    }
    if (status == ETL_OK && needs_all) {
        status = add_source(gate, &all, err);
        gate->all_stacks = find(gate, &all);
    }
    return status;
}

void gate_sources_close(owned_gate *gate)
{
    for (u32 i = 0; i < gate->source_count; i++) {
        gate_source *const source = &gate->sources[i];
        etlheap_diff_free(source->diff);
        etlheap_table_free(source->baseline);
        etlheap_table_free(source->table);
        etlheap_windows_free(source->windows);
        ETLHEAP_VECTOR_FREE(&source->rows.list);
    }
    free(gate->sources);
    gate->sources = NULL;
    gate->source_count = 0;
}
