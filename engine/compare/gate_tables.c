/*
 * gate_tables.c - asks for the tables of a gate, and names what the gate lists.
 *
 * In: the gate's sides with their queries. Out: outstanding memory by process and stack; a table of
 * what marks leave behind; a diff with the baseline.
 *
 * Frames are named before memory is judged only if names decide, that is, for suppressions and
 * comparisons. Otherwise only listed stacks get names, because with a symbol server each module may
 * be a download. For a failure, also the stacks in the same modules are named, since one of them
 * may show a function that hides who allocates. Invariant: naming must not change which rows exist.
 */
#include <stdlib.h>

#include "engine/query/needs.h"
#include "gate.h"

static etlheap_query stack_query(const owned_gate *gate, const etlheap_query *asked, bool by_heap);
static etl_status make_table(owned_gate *gate, bool by_heap, bool named, etl_error *err);
static etl_status make_plain(const owned_gate *gate, const etlheap_gate_side *side, bool named,
                             etlheap_table **out, etl_error *err);
static etl_status compare(owned_gate *gate, etl_error *err);
static etl_status make_left(const owned_gate *gate, bool named, etlheap_table **out,
                            etl_error *err);
static void mark_listed(const owned_gate *gate, const etlheap_table *table, bool *listed_stacks);
static bool mark_alike(const etlheap_table *table, bool *stacks);

etl_status gate_tables_open(owned_gate *gate, etl_error *err)
{
    const etlheap_gate_side *const baseline = gate->options->baseline;
    const bool by_heap = gate_has_scope(gate, ETLHEAP_SCOPE_HEAP);
    etl_error why = { .status = ETL_OK };
    const bool named = gate_needs_names(gate);
    etl_status status = make_table(gate, by_heap, named, err);
    if (status == ETL_OK && gate_has_scope(gate, ETLHEAP_SCOPE_MARK))
        status = make_left(gate, named, &gate->left_table, err);
    if (status == ETL_OK && baseline != NULL && (by_heap || gate->tells_unsure))
        status = make_plain(gate, gate->now, true, &gate->compared, err);
    if (status == ETL_OK && baseline != NULL)
        status =
            gate_of_baseline(make_plain(gate, baseline, true, &gate->baseline, &why), &why, err);
    if (status == ETL_OK && baseline != NULL)
        status = compare(gate, err);
    return status == ETL_OK ? gate_sources_open(gate, err) : status;
}

void gate_tables_close(owned_gate *gate)
{
    gate_sources_close(gate);
    etlheap_diff_free(gate->diff);
    etlheap_table_free(gate->baseline);
    etlheap_table_free(gate->compared);
    etlheap_table_free(gate->left_table);
    etlheap_table_free(gate->table);
}

static bool has_failed(const owned_gate *gate)
{
    bool failed = false;
    for (u32 b = 0; b < gate->gate.budget_count; b++)
        failed |= gate->budgets[b].failed_count > 0;
    return failed;
}

/* Names the listed stacks of a table. */
static etl_status name_listed(const owned_gate *gate, etlheap_table *table, etl_error *err)
{
    bool *const stacks = calloc((size_t)table->stack_count + 1, sizeof *stacks);
    bool *const rows = calloc((size_t)table->row_count + 1, sizeof *rows);
    etl_status status = ETL_OK;
    if (stacks != NULL)
        mark_listed(gate, table, stacks);
    if (stacks == NULL || rows == NULL || (has_failed(gate) && !mark_alike(table, stacks))) {
        status = etl_no_memory(err);
    } else {
        for (u32 i = 0; i < table->row_count; i++)
            rows[i] = table->rows[i].stack != ETLHEAP_NO_INDEX && stacks[table->rows[i].stack];
        status = etlheap_table_name(table, gate->now->query->symbols, rows, err);
    }
    free(stacks);
    free(rows);
    return status;
}

etl_status gate_tables_name(owned_gate *gate, etl_error *err)
{
    if (gate_needs_names(gate) || gate->now->query->symbols == NULL)
        return ETL_OK;
    etl_status status = name_listed(gate, gate->table, err);
    if (status == ETL_OK && gate->left_table != NULL)
        status = name_listed(gate, gate->left_table, err);
    for (u32 i = 0; status == ETL_OK && i < gate->source_count; i++) {
        if (gate->sources[i].table != NULL)
            status = name_listed(gate, gate->sources[i].table, err);
    }
    return status;
}

bool gate_has_scope(const owned_gate *gate, etlheap_scope scope)
{
    bool has = false;
    for (u32 i = 0; i < gate->options->budget_count; i++)
        has |= gate->options->budgets[i].scope == scope;
    return has;
}

bool gate_has_only_scope(const owned_gate *gate, etlheap_scope scope)
{
    bool has = true;
    for (u32 i = 0; i < gate->options->budget_count; i++)
        has &= gate->options->budgets[i].scope == scope;
    return has;
}

const etlheap_table *gate_table_of(const owned_gate *gate, const etlheap_budget *budget)
{
    const gate_source *const source = gate_source_of(gate, budget);
    if (source != NULL)
        return source->diff != NULL ? &source->diff->table : source->table;
    if (budget->is_growth)
        return gate->diff != NULL ? &gate->diff->table : NULL;
    return budget->scope == ETLHEAP_SCOPE_MARK ? gate->left_table : gate->table;
}

/* The query by stack. It sorts by count, because allocations of 0 bytes are outstanding too. */
static etlheap_query stack_query(const owned_gate *gate, const etlheap_query *asked, bool by_heap)
{
    etlheap_query query = *asked;
    query.types = 0;
    query.group_by_count = 0;
    query.group_by[query.group_by_count++] = ETLHEAP_KEY_KIND;
    query.group_by[query.group_by_count++] = ETLHEAP_KEY_PROCESS;
    if (by_heap)
        query.group_by[query.group_by_count++] = ETLHEAP_KEY_HEAP;
    if (gate_has_scope(gate, ETLHEAP_SCOPE_POOL_TAG))
        query.group_by[query.group_by_count++] = ETLHEAP_KEY_POOL_TAG;
    query.group_by[query.group_by_count++] = ETLHEAP_KEY_STACK;
    query.sort = ETLHEAP_MEASURE_OUTSTANDING_COUNT;
    query.sort_ascending = false;
    query.at_end = false;
    etlheap_query_drop_measures(&query);
    query.tags = NULL;
    return query;
}

static etl_status fetch_table(const etlheap_result *result, const etlheap_query *asked, bool named,
                              etlheap_table **out, etl_error *err)
{
    const etlheap_query query = *asked;
    etl_status status = etlheap_aggregate(result, &query, out, err);
    u32 outstanding = 0;
    while (status == ETL_OK && outstanding < (*out)->row_count &&
           (*out)->rows[outstanding].measures[ETLHEAP_MEASURE_OUTSTANDING_COUNT] > 0)
        outstanding++;
    if (status == ETL_OK)
        status = etlheap_table_keep_top(*out, outstanding, err);
    if (status == ETL_OK && named && query.symbols != NULL)
        status = etlheap_table_name(*out, query.symbols, NULL, err);
    return status;
}

static etl_status make_plain(const owned_gate *gate, const etlheap_gate_side *side, bool named,
                             etlheap_table **out, etl_error *err)
{
    const etlheap_query query = stack_query(gate, side->query, false);
    return fetch_table(side->result, &query, named, out, err);
}

/* Where the recorded part of the window begins: if kinds differ, that of the last one. */
static i64 recorded_from_ns(const owned_gate *gate)
{
    const etlheap_trace_info *const trace = etlheap_result_trace(gate->now->result);
    i64 from_ns = gate->plan.from_ns;
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        const etlheap_recorded *const span = &trace->recorded[kind];
        if (gate->gate.kinds >> kind & 1 && span->is_known && span->from_ns > from_ns)
            from_ns = span->from_ns;
    }
    return from_ns < gate->plan.to_ns ? from_ns : gate->plan.to_ns;
}

/* The table of this run. Of a ring, memory from before the recorded span has rows of its own: its
 * type says that it was allocated outside. */
static etl_status make_table(owned_gate *gate, bool by_heap, bool named, etl_error *err)
{
    const etlheap_gate_side *const side = gate->now;
    etlheap_query query = stack_query(gate, side->query, by_heap);
    if (gate->tells_unsure) {
        query.group_by[query.group_by_count++] = ETLHEAP_KEY_TYPE;
        query.from_ns = recorded_from_ns(gate);
        query.to_ns = gate->plan.to_ns;
    }
    return fetch_table(side->result, &query, named, &gate->table, err);
}

/* Asks for everything that generations leave behind, by stack. */
static etl_status make_left(const owned_gate *gate, bool named, etlheap_table **out, etl_error *err)
{
    const etlheap_gate_side *const side = gate->now;
    etlheap_query query = stack_query(gate, side->query, false);
    query.group_by[query.group_by_count++] = ETLHEAP_KEY_GENERATION;
    query.sort = ETLHEAP_MEASURE_COUNT;
    query.left_behind = query.sums_only = true;
    etl_status status = etlheap_aggregate(side->result, &query, out, err);
    if (status == ETL_OK && named && query.symbols != NULL)
        status = etlheap_table_name(*out, query.symbols, NULL, err);
    return status;
}

static etl_status compare(owned_gate *gate, etl_error *err)
{
    etlheap_diff_options options = etlheap_diff_options_default();
    options.keep_unchanged = true;
    options.base_result = gate->options->baseline->result;
    options.new_result = gate->now->result;
    return etlheap_diff_tables(gate->baseline, gate->compared ? gate->compared : gate->table,
                               &options, &gate->diff, err);
}

static void mark_listed(const owned_gate *gate, const etlheap_table *table, bool *listed_stacks)
{
    for (u32 b = 0; b < gate->gate.budget_count; b++) {
        const bool is_of = gate_table_of(gate, &gate->budgets[b].budget) == table;
        for (u32 s = 0; is_of && s < gate->budgets[b].subject_count; s++) {
            const etlheap_gate_subject *const subject = &gate->budgets[b].subjects[s];
            if (subject->stack != ETLHEAP_NO_INDEX)
                listed_stacks[subject->stack] = true;
            for (u32 i = 0; i < subject->stack_count; i++) {
                if (subject->stacks[i].stack != ETLHEAP_NO_INDEX)
                    listed_stacks[subject->stacks[i].stack] = true;
            }
        }
    }
}

static bool is_among(const char *const *modules, size_t count, const char *module)
{
    for (size_t i = 0; i < count; i++) {
        if (modules[i] == module || strcmp(modules[i], module) == 0)
            return true;
    }
    return false;
}

/* Collects the modules of the marked stacks. Each frame is looked at once, however many stacks it
 * is in. */
static size_t list_modules(const etlheap_table *table, const bool *stacks, bool *seen,
                           const char **modules)
{
    size_t count = 0;
    for (u32 s = 0; s < table->stack_count; s++) {
        for (u32 i = table->stack_starts[s]; stacks[s] && i < table->stack_starts[s + 1]; i++) {
            const u32 frame = table->frame_indices[i];
            const char *const module = seen[frame] ? NULL : table->frames[frame].module;
            if (module != NULL && !is_among(modules, count, module))
                modules[count++] = module;
            seen[frame] = true;
        }
    }
    return count;
}

/* Marks further stacks whose modules all occur in marked stacks. False without memory. */
static bool mark_alike(const etlheap_table *table, bool *stacks)
{
    const char **const modules = calloc((size_t)table->frame_count + 1, sizeof(const char *));
    bool *const foreign = calloc((size_t)table->frame_count + 1, sizeof *foreign);
    const bool ok = modules != NULL && foreign != NULL;
    const size_t count = ok ? list_modules(table, stacks, foreign, modules) : 0;
    for (u32 f = 0; ok && f < table->frame_count; f++) {
        const char *const module = table->frames[f].module;
        foreign[f] = module != NULL && !is_among(modules, count, module);
    }
    for (u32 s = 0; ok && s < table->stack_count; s++) {
        bool alike = true;
        for (u32 i = table->stack_starts[s]; alike && i < table->stack_starts[s + 1]; i++)
            alike = !foreign[table->frame_indices[i]];
        stacks[s] |= alike;
    }
    free(modules);
    free(foreign);
    return ok;
}
