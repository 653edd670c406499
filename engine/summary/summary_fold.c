/*
 * summary_fold.c - a summary into one that is being made.
 *
 * Numbers of the one are numbers of the other by content: modules by their build,
 * frames by module and offset, processes by name.
 */
#include <stdlib.h>

#include "summary_build.h"

/* A summary while it is taken in: numbers in the new one, by those in it. */
typedef struct folding {
    etlheap_summary *summary;
    const etlheap_result *result;
    u32 *modules, *processes, *stacks;
} folding;

static etl_status fold_traces(etlheap_summary *s, const etlheap_result *result, const char *origin,
                              etl_error *err);
static bool fold_names(folding *f);
static bool fold_entries(folding *f);
static bool fold_stack(folding *f, u32 from, u32 *to);
static u64 fold_address(const folding *f, u64 address);

etl_status summary_fold(etlheap_summary *s, const etlheap_result *result, const char *origin,
                        etl_error *err)
{
    folding f = { .summary = s, .result = result };
    s->input_file = s->files.count;
    etl_status status = summary_set_every(s, result->summary->every_ns, origin, err);
    if (status == ETL_OK)
        status = fold_traces(s, result, origin, err);
    if (status != ETL_OK)
        return status;
    f.modules = calloc(result->modules.list.count + 1, sizeof *f.modules);
    f.processes = calloc(result->processes.count + 1, sizeof *f.processes);
    f.stacks = calloc(result->stacks.list.count + 1, sizeof *f.stacks);
    const bool ok = f.modules != NULL && f.processes != NULL && f.stacks != NULL &&
                    fold_names(&f) && fold_entries(&f) && summary_add_records(s, result);
    free(f.modules);
    free(f.processes);
    free(f.stacks);
    return ok ? ETL_OK : etl_no_memory(err);
}

static etl_status fold_traces(etlheap_summary *s, const etlheap_result *result, const char *origin,
                              etl_error *err)
{
    const summary_data *const data = result->summary;
    etl_status status = ETL_OK;
    for (size_t i = 0; status == ETL_OK && i < data->traces.count; i++) {
        const summary_trace *const trace = &data->traces.at[i];
        status = summary_add_trace(s, trace, data->files.at + trace->first_file, origin, err);
    }
    return status;
}

static bool fold_names(folding *f)
{
    const etlheap_result *const result = f->result;
    bool ok = true;
    for (size_t i = 0; ok && i < result->modules.list.count; i++)
        ok = summary_intern_module(f->summary, &result->modules.list.at[i], &f->modules[i]);
    for (size_t i = 0; ok && i < result->processes.count; i++) {
        const etlheap_process_info *const info = &result->processes.at[i];
        ok = summary_add_process(f->summary, info) &&
             summary_intern_process(f->summary, info->name, &f->processes[i]);
    }
    return ok;
}

/* Rows and cells follow their entries. */
static bool fold_entries(folding *f)
{
    const summary_data *const data = f->result->summary;
    size_t row = 0, cell = 0;
    for (u32 i = 0; i < data->entries.count; i++) {
        const summary_entry *const from = &data->entries.at[i];
        u32 stack;
        if (!fold_stack(f, from->stack, &stack))
            return false;
        summary_build_entry *const to =
            summary_intern_entry(f->summary, from->kind, f->processes[from->process - 1], stack);
        if (to == NULL)
            return false;
        summary_entry *const head = &to->head;
        head->trace_count = etl_sat_add_u64(head->trace_count, from->trace_count);
        if (from->first_filetime < head->first_filetime)
            head->first_filetime = from->first_filetime;
        if (from->last_filetime > head->last_filetime)
            head->last_filetime = from->last_filetime;
        for (u32 rule = 0; rule < SUMMARY_RULES; rule++)
            summary_add_entry_peak(to, rule, &from->peaks[rule]);
        for (; row < data->rows.count && data->rows.at[row].entry == i; row++)
            summary_add_sum(&to->sums[data->rows.at[row].part], &data->rows.at[row].sum);
        const size_t first = cell;
        while (cell < data->cells.count && data->cells.at[cell].entry == i)
            cell++;
        if (!summary_add_entry_cells(f->summary, to, data->cells.at + first, cell - first))
            return false;
    }
    return true;
}

static bool fold_stack(folding *f, u32 from, u32 *to)
{
    u64 addresses[2 * STACK_FRAMES_MAX];
    const bool is_none = from == 0 || from == SUMMARY_ALL_STACKS;
    *to = is_none ? from : f->stacks[from];
    if (is_none || *to != 0)
        return true;
    const etlheap_frames frames = stack_get(&f->result->stacks, from);
    assert(frames.count > 0 && frames.count <= ETL_COUNT_OF(addresses));
    for (u32 i = 0; i < frames.count; i++)
        addresses[i] = fold_address(f, frames.addresses[i]);
    if (!stack_add(&f->summary->stacks, stack_hash(addresses, frames.count), addresses,
                   frames.count, to))
        return false;
    f->stacks[from] = *to;
    return true;
}

/* Modules lie in the order of their list. */
static u64 fold_address(const folding *f, u64 address)
{
    const module_table *const modules = &f->result->modules;
    size_t low;
    ETL_BISECT(low, 0, modules->list.count, modules->list.at[low].base <= address);
    if (low == 0)
        return SUMMARY_ADDRESS_UNKNOWN;
    const etlheap_module_info *const module = &modules->list.at[low - 1];
    const u64 offset = address - module->base;
    return offset < module->size_bytes ? summary_address(f->modules[low - 1], offset)
                                       : SUMMARY_ADDRESS_UNKNOWN;
}
