/*
 * summary_collect.c - takes a full result into the entries of a summary.
 *
 * In: a result of a trace or a store. Out: entries, rows and cells in an etlheap_summary.
 *
 * The result is asked for tables as a report would be: by kind, process and whole stack; with
 * types, and without them for the peaks; under both rules of what the end of a process means. So a
 * summary says what the trace says. From a store, such a table is one walk over its events, and
 * lifetimes are never in memory. Invariant: no culling and no symbols here; these are for readers
 * of the summary.
 */
#include <stdlib.h>

#include "engine/fold/windows.h"
#include "engine/table/table.h"
#include "summary_build.h"

/* A table while its rows are added. */
typedef struct taking {
    etlheap_summary *summary;
    const etlheap_result *result;
    const owned_table *table;
    u32 *stacks; /* number in the summary by index in the table; 0: not yet */
    u32 rule;
    bool by_type, by_stack;
} taking;

static etl_status take_trace(etlheap_summary *s, const etlheap_result *result, const char *origin,
                             etl_error *err);
static etl_status take_tables(etlheap_summary *s, const etlheap_result *result, etl_error *err);
static bool take_rows(taking *t);
static bool find_entry(taking *t, const etlheap_row *row, summary_build_entry **entry);
static bool find_stack(taking *t, u32 index, u32 *stack);
static etl_status take_windows(etlheap_summary *s, const etlheap_result *result, etl_error *err);
static bool take_cells(taking *t, const etlheap_windows *windows, u32 row);
static bool take_processes(etlheap_summary *s, const etlheap_result *result);

etl_status summary_collect(etlheap_summary *s, const etlheap_result *result, const char *origin,
                           etl_error *err)
{
    s->input_file = s->files.count;
    etl_status status = take_trace(s, result, origin, err);
    if (status == ETL_OK)
        status = take_tables(s, result, err);
    if (status == ETL_OK && s->every_ns > 0)
        status = take_windows(s, result, err);
    if (status == ETL_OK && (!take_processes(s, result) || !summary_add_records(s, result)))
        status = etl_no_memory(err);
    return status;
}

static int by_id(const void *a, const void *b)
{
    return memcmp(((const etlheap_summary_file *)a)->id, ((const etlheap_summary_file *)b)->id,
                  sizeof(u64[2]));
}

/* The id of a recording: that of its only file, or a hash of all files' ids. */
static void identify(const etlheap_summary_file *files, size_t count, u64 id[2])
{
    u64 words[2] = { 0, 0 };
    for (size_t i = 0; i < count; i++) {
        for (u32 k = 0; k < 2; k++)
            words[k] = count == 1 ? files[i].id[k] : etlheap_mix_u64(words[k] ^ files[i].id[k]);
    }
    memcpy(id, words, sizeof words);
}

static etl_status take_trace(etlheap_summary *s, const etlheap_result *result, const char *origin,
                             etl_error *err)
{
    const i64 first_ns = etl_time_ns(result->base.base, result->first_ticks);
    summary_trace trace = { .info = result->info,
                            .from_ns = first_ns < 0 ? first_ns : 0,
                            .stacks = result->stack_counts,
                            .can = result->abilities,
                            .file_count = (u32)result->recorded.count,
                            .diag = result->diag,
                            .inventory_diag = result->inventory_diag };
    if (result->recorded.count == 0 || result->recorded.at[0].id[0] == 0)
        return etl_fail_with(
            err, ETL_ERR_ARGUMENT, 0,
            "%s does not state which trace it holds; make the store again from its trace",
            summary_path(origin));
    etlheap_summary_file *const files = malloc(result->recorded.count * sizeof *files);
    if (files == NULL)
        return etl_no_memory(err);
    memcpy(files, result->recorded.at, result->recorded.count * sizeof *files);
    qsort(files, result->recorded.count, sizeof *files, by_id);
    identify(files, result->recorded.count, trace.id);
    const etl_status status = summary_add_trace(s, &trace, files, origin, err);
    free(files);
    return status;
}

/* The query: whole stacks, because readers cull; processes by name, so that the peak of a name is
 * that of its processes together. */
static etlheap_query query_of(const taking *t)
{
    etlheap_query query = etlheap_query_default();
    query.at_exit_freed = t->rule != 0;
    query.processes_by_name = true;
    query.kinds = ETLHEAP_KINDS_DEFAULT | etlheap_result_kinds(t->result);
    query.jobs = t->summary->options.jobs;
    query.group_by_count = 0;
    query.group_by[query.group_by_count++] = ETLHEAP_KEY_KIND;
    query.group_by[query.group_by_count++] = ETLHEAP_KEY_PROCESS;
    if (t->by_type)
        query.group_by[query.group_by_count++] = ETLHEAP_KEY_TYPE;
    if (t->by_stack)
        query.group_by[query.group_by_count++] = ETLHEAP_KEY_STACK;
    return query;
}

static etl_status take_table(taking *t, etl_error *err)
{
    etlheap_table *table;
    const etlheap_query query = query_of(t);
    const etl_status status = etlheap_aggregate(t->result, &query, &table, err);
    if (status != ETL_OK)
        return status;
    /* Frames are looked up once; each table would count the same diagnostics again. */
    u64 *const guessed =
        &t->summary->traces.at[t->summary->traces.count - 1].diag.of[ETL_DIAG_module_guessed];
    *guessed = etl_max_u64(*guessed, table->diagnostics.of[ETL_DIAG_module_guessed]);
    t->table = table_owned(table);
    t->stacks = calloc((size_t)table->stack_count + 1, sizeof *t->stacks);
    const bool ok = t->stacks != NULL && take_rows(t);
    free(t->stacks);
    etlheap_table_free(table);
    return ok ? ETL_OK : etl_no_memory(err);
}

static etl_status take_tables(etlheap_summary *s, const etlheap_result *result, etl_error *err)
{
    etl_status status = ETL_OK;
    for (u32 i = 0; status == ETL_OK && i < 4 * SUMMARY_RULES; i++) {
        taking t = { .summary = s,
                     .result = result,
                     .rule = i / 4,
                     .by_type = (i & 1) != 0,
                     .by_stack = (i & 2) != 0 };
        status = take_table(&t, err);
    }
    return status;
}

/* A measure of a row. Only the impacting size can be negative. */
static u64 measure_of(const etlheap_row *row, etlheap_measure measure)
{
    return row->measures[measure] < 0 ? 0 : (u64)row->measures[measure];
}

static bool take_rows(taking *t)
{
    for (u32 i = 0; i < t->table->table.row_count; i++) {
        const etlheap_row *const row = &t->table->table.rows[i];
        summary_build_entry *entry;
        if (!find_entry(t, row, &entry))
            return false;
        const summary_sum sum = { .count = measure_of(row, ETLHEAP_MEASURE_COUNT),
                                  .size_bytes = measure_of(row, ETLHEAP_MEASURE_SIZE),
                                  .realloc_count = measure_of(row, ETLHEAP_MEASURE_REALLOC_COUNT),
                                  .peak = { measure_of(row, ETLHEAP_MEASURE_PEAK_COUNT),
                                            measure_of(row, ETLHEAP_MEASURE_PEAK_SIZE) } };
        if (t->by_type)
            summary_add_sum(&entry->sums[t->rule * ETLHEAP_TYPE_COUNT + row->type], &sum);
        else
            summary_add_entry_peak(entry, t->rule, &sum.peak);
    }
    return true;
}

/* Finds the entry of a row and counts the trace in it once. */
static bool find_entry(taking *t, const etlheap_row *row, summary_build_entry **entry)
{
    etlheap_summary *const s = t->summary;
    u32 process, stack;
    if (!summary_intern_process(s, row->process, &process) || !find_stack(t, row->stack, &stack))
        return false;
    *entry = summary_intern_entry(s, row->kind, process, stack);
    if (*entry == NULL)
        return false;
    const u32 trace = (u32)s->traces.count;
    s->processes.at[process - 1].counted = trace;
    if ((*entry)->counted == trace)
        return true;
    summary_entry *const head = &(*entry)->head;
    const i64 start = s->traces.at[trace - 1].info.start_time_filetime;
    (*entry)->counted = trace;
    head->trace_count++;
    head->first_filetime = start < head->first_filetime ? start : head->first_filetime;
    head->last_filetime = start > head->last_filetime ? start : head->last_filetime;
    return true;
}

static bool find_stack(taking *t, u32 index, u32 *stack)
{
    u64 frames[2 * STACK_FRAMES_MAX];
    *stack = t->by_stack ? 0 : SUMMARY_ALL_STACKS;
    if (index == ETLHEAP_NO_INDEX)
        return true;
    *stack = t->stacks[index];
    if (*stack != 0)
        return true;
    const owned_table *const table = t->table;
    const u32 start = table->stack_starts.at[index];
    const u32 count = table->stack_starts.at[index + 1] - start;
    assert(count > 0 && count <= ETL_COUNT_OF(frames));
    for (u32 i = 0; i < count; i++) {
        const table_place *const place = &table->places.at[table->frame_indices.at[start + i]];
        u32 module = 0;
        if (place->module != FRAME_NONE &&
            !summary_intern_module(t->summary, &t->result->modules.list.at[place->module], &module))
            return false;
        frames[i] = summary_address(module, place->offset);
    }
    if (!stack_add(&t->summary->stacks, stack_hash(frames, count), frames, count, stack))
        return false;
    t->stacks[index] = *stack;
    return true;
}

/* --- windows ------------------------------------------------------------------- */

static etl_status take_grouped_windows(taking *t, etl_error *err)
{
    const etlheap_windows_options options = { .size = sizeof options,
                                              .every_ns = t->summary->every_ns };
    const etlheap_query query = query_of(t);
    etlheap_windows *windows;
    const etl_status status = etlheap_windows_make(t->result, &query, &options, &windows, err);
    if (status != ETL_OK)
        return status;
    t->table = table_owned(windows->table);
    t->stacks = calloc((size_t)windows->table->stack_count + 1, sizeof *t->stacks);
    bool ok = t->stacks != NULL;
    for (u32 i = 0; ok && i < windows->table->row_count; i++)
        ok = take_cells(t, windows, i);
    free(t->stacks);
    etlheap_windows_free(windows);
    return ok ? ETL_OK : etl_no_memory(err);
}

/* Takes the windows, with the default rule of `windows`. */
static etl_status take_windows(etlheap_summary *s, const etlheap_result *result, etl_error *err)
{
    taking t = { .summary = s, .result = result, .rule = 1 };
    const etl_status status = take_grouped_windows(&t, err);
    t.by_stack = true;
    return status == ETL_OK ? take_grouped_windows(&t, err) : status;
}

static u64 amount(i64 value)
{
    return value < 0 ? 0 : (u64)value;
}

static bool push_cell(taking *t, const etlheap_windows *windows, u32 row, u32 window, u32 count)
{
    etlheap_cell cell;
    if (!etlheap_windows_cell(windows, row, window, &cell))
        return true;
    summary_cell fresh = { .window = summary_window_number(windows->windows[window].from_ns,
                                                           t->summary->every_ns),
                           .window_count = count,
                           .amounts.peak = { amount(cell.peak_count), amount(cell.peak_size) } };
    for (u32 type = 0; type < ETLHEAP_TYPE_COUNT; type++) {
        fresh.amounts.count[type] = amount(cell.count[type]);
        fresh.amounts.size_bytes[type] = amount(cell.size[type]);
    }
    return ETLHEAP_PUSH(&t->summary->fresh, fresh);
}

/* Takes the cells of a row. Windows in which nothing happens become one run. */
static bool take_cells(taking *t, const etlheap_windows *windows, u32 row)
{
    summary_cells *const fresh = &t->summary->fresh;
    summary_build_entry *entry;
    if (!find_entry(t, &windows->table->rows[row], &entry))
        return false;
    fresh->count = 0;
    for (u32 w = 0; w < windows->window_count;) {
        const u32 news = etlheap_windows_next_news(windows, row, w);
        const u32 count = news > w ? news - w : 1;
        if (!push_cell(t, windows, row, w, count))
            return false;
        w += count;
    }
    return summary_add_entry_cells(t->summary, entry, fresh->at, fresh->count);
}

/* --- processes ------------------------------------------------------------------- */

/* Takes only the processes that use memory in the trace. */
static bool take_processes(etlheap_summary *s, const etlheap_result *result)
{
    bool ok = true;
    for (size_t i = 0; ok && i < result->processes.count; i++) {
        const etlheap_process_info *const info = &result->processes.at[i];
        bool is_used = etlheap_process_events(info) > 0;
        for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++)
            is_used |= info->free_without_alloc[kind] > 0;
        if (is_used || summary_has_rows(s, info->name))
            ok = summary_add_process(s, info);
    }
    return ok;
}
