/*
 * summary_finish.c - puts a summary into the order of its content, and makes the result.
 *
 * In: a summary with numbers in the order in which things came. Out: a result with everything
 * sorted.
 *
 *     modules     sorted by build, laid out at made-up addresses one after the other
 *     processes   sorted by name
 *     stacks      sorted by their frames at the new addresses
 *     entries     sorted by kind, process, stack
 *     traces      sorted by id, files behind them
 *
 * Each step maps old numbers to new ones for the steps after it. Invariant: nothing in the result
 * may depend on the order in which things came, so that merging in any order gives the same bytes.
 */
#include <stdlib.h>

#include "engine/context/stack_numbering.h"
#include "engine/result/spellings.h"
#include "parser/system/name_fold.h"
#include "summary_build.h"

/* New numbers by the old ones. */
typedef struct finishing {
    etlheap_summary *summary;
    etlheap_result *result;
    u64 *bases;     /* addresses of modules by number */
    u32 *processes; /* by number */
    u32 *stacks;    /* by number */
} finishing;

/* A stack with its frames at their new addresses. */
typedef struct sorted_stack {
    const u64 *frames;
    u32 count, number;
} sorted_stack;

static etl_status finish_all(finishing *f, etl_error *err);
static bool finish_modules(finishing *f);
static bool place_modules(const finishing *f);
static bool finish_processes(finishing *f);
static bool finish_stacks(finishing *f);
static bool finish_entries(finishing *f);
static bool add_entry(finishing *f, const summary_build_entry *from);
static bool finish_traces(finishing *f);

etl_status summary_finish(etlheap_summary *s, etlheap_result **out, etl_error *err)
{
    finishing f = { .summary = s, .result = calloc(1, sizeof *f.result) };
    f.bases = calloc(s->modules.count + 1, sizeof *f.bases);
    f.processes = calloc(s->processes.count + 1, sizeof *f.processes);
    f.stacks = calloc(s->stacks.list.count + 1, sizeof *f.stacks);
    if (f.result != NULL)
        f.result->summary = calloc(1, sizeof *f.result->summary);
    etl_status status = f.result == NULL || f.result->summary == NULL || f.bases == NULL ||
                                f.processes == NULL || f.stacks == NULL
                            ? etl_no_memory(err)
                            : finish_all(&f, err);
    free(f.bases);
    free(f.processes);
    free(f.stacks);
    if (status == ETL_OK)
        *out = f.result;
    else
        etlheap_result_free(f.result);
    return status;
}

static etl_status finish_all(finishing *f, etl_error *err)
{
    etlheap_summary *const s = f->summary;
    etlheap_result *const result = f->result;
    result->context.strings = s->strings;
    s->strings = (etlheap_strings){ 0 };
    result->mode = RESULT_SUMMARY;
    result->summary->every_ns = s->every_ns < 0 ? 0 : s->every_ns;
    bool ok = finish_modules(f);
    if (ok && !place_modules(f))
        return etl_fail_with(err, ETL_ERR_LIMIT, 0, "the summary has too many modules");
    ok = ok && modules_index(&result->modules, &(module_owners){ 0 }) && finish_processes(f) &&
         spellings_set(result) && finish_stacks(f) && finish_entries(f) && finish_traces(f) &&
         summary_describe(result) && summary_sort_records(s, result);
    return ok ? ETL_OK : etl_no_memory(err);
}

static int by_build(const void *a, const void *b)
{
    return summary_compare_modules(a, b);
}

/* `base` holds the old number until places are given. */
static bool finish_modules(finishing *f)
{
    const etlheap_summary *const s = f->summary;
    module_table *const modules = &f->result->modules;
    if (!ETLHEAP_RESERVE(&modules->list, s->modules.count))
        return false;
    for (u32 i = 0; i < s->modules.count; i++) {
        modules->list.at[i] = s->modules.at[i];
        modules->list.at[i].base = i + 1;
    }
    modules->list.count = s->modules.count;
    if (modules->list.count > 0)
        qsort(modules->list.at, modules->list.count, sizeof *modules->list.at, by_build);
    return true;
}

static bool place_modules(const finishing *f)
{
    u64 base = SUMMARY_MODULE_ALIGNMENT;
    for (size_t i = 0; i < f->result->modules.list.count; i++) {
        etlheap_module_info *const module = &f->result->modules.list.at[i];
        f->bases[module->base] = base;
        module->base = base;
        base = summary_module_after(module);
        if (base > INT64_MAX)
            return false;
    }
    return true;
}

static int by_name(const void *a, const void *b)
{
    const etlheap_process_info *const x = a, *const y = b;
    return etl_name_compare(x->name, y->name);
}

/* `start_ticks` holds the old number while they are sorted. */
static bool finish_processes(finishing *f)
{
    const etlheap_summary *const s = f->summary;
    etlheap_result *const result = f->result;
    if (!ETLHEAP_RESERVE(&result->processes, s->processes.count))
        return false;
    for (u32 i = 0; i < s->processes.count; i++) {
        etlheap_process_info *const info = &result->processes.at[i];
        *info = s->processes.at[i].info;
        info->pointer_bits = info->pointer_bits == SUMMARY_BITS_UNSET ? 0 : info->pointer_bits;
        info->start_ticks = i + 1;
    }
    result->processes.count = s->processes.count;
    if (result->processes.count > 0)
        qsort(result->processes.at, result->processes.count, sizeof *result->processes.at, by_name);
    for (u32 i = 0; i < result->processes.count; i++) {
        etlheap_process_info *const info = &result->processes.at[i];
        f->processes[info->start_ticks] = i + 1;
        info->start_ticks = ETLHEAP_TICKS_BEFORE;
    }
    return true;
}

static int by_frames(const void *a, const void *b)
{
    const sorted_stack *const x = a, *const y = b;
    const u32 common = x->count < y->count ? x->count : y->count;
    for (u32 i = 0; i < common; i++) {
        if (x->frames[i] != y->frames[i])
            return x->frames[i] < y->frames[i] ? -1 : 1;
    }
    return (x->count > y->count) - (x->count < y->count);
}

/* The frames of one stack at their new addresses, or NULL. */
static u64 *move_frames(finishing *f, u32 number)
{
    const etlheap_frames from = stack_get(&f->summary->stacks, number);
    u64 *const to = etlheap_arena_alloc(&f->result->stacks.arena, from.count * sizeof *to);
    for (u32 i = 0; to != NULL && i < from.count; i++) {
        const u64 address = from.addresses[i];
        to[i] = address == SUMMARY_ADDRESS_UNKNOWN ? SUMMARY_ADDRESS_UNKNOWN
                                                   : f->bases[address >> 32] + (u32)address;
    }
    return to;
}

/* The table is for looking up by id only. */
static bool finish_stacks(finishing *f)
{
    const u32 count = (u32)f->summary->stacks.list.count;
    stack_table *const out = &f->result->stacks;
    sorted_stack *const sorted = calloc((size_t)count + 1, sizeof *sorted);
    bool ok = sorted != NULL && ETLHEAP_RESERVE(&out->list, count);
    for (u32 i = 0; ok && i < count; i++) {
        sorted[i] = (sorted_stack){ move_frames(f, i + 1),
                                    stack_get(&f->summary->stacks, i + 1).count, i + 1 };
        ok = sorted[i].frames != NULL;
    }
    if (ok && count > 0)
        qsort(sorted, count, sizeof *sorted, by_frames);
    for (u32 i = 0; ok && i < count; i++) {
        out->list.at[i] = (stack_entry){ .frames = sorted[i].frames, .count = sorted[i].count };
        f->stacks[sorted[i].number] = i + 1;
    }
    if (ok) {
        stack_numbering numbering = { .stack_count = 0 };
        out->list.count = count;
        ok = stack_numbering_finish(&numbering, out);
        stack_numbering_free(&numbering);
    }
    free(sorted);
    return ok;
}

static int by_entry(const void *a, const void *b)
{
    const summary_entry *const x = &((const summary_build_entry *)a)->head;
    const summary_entry *const y = &((const summary_build_entry *)b)->head;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return (x->stack > y->stack) - (x->stack < y->stack);
}

static bool finish_entries(finishing *f)
{
    const etlheap_summary *const s = f->summary;
    bool ok = ETLHEAP_RESERVE(&f->result->summary->entries, s->entries.count);
    for (size_t i = 0; i < s->entries.count; i++) {
        summary_entry *const head = &s->entries.at[i].head;
        head->process = f->processes[head->process];
        if (head->stack != 0 && head->stack != SUMMARY_ALL_STACKS)
            head->stack = f->stacks[head->stack];
    }
    if (s->entries.count > 0)
        qsort(s->entries.at, s->entries.count, sizeof *s->entries.at, by_entry);
    for (size_t i = 0; ok && i < s->entries.count; i++)
        ok = add_entry(f, &s->entries.at[i]);
    return ok;
}

static bool add_entry(finishing *f, const summary_build_entry *from)
{
    static const summary_sum nothing;
    summary_data *const data = f->result->summary;
    const u32 index = (u32)data->entries.count;
    bool ok = ETLHEAP_PUSH(&data->entries, from->head);
    for (u32 part = 0; ok && part < SUMMARY_PARTS; part++) {
        const summary_row row = { .entry = index, .part = part, .sum = from->sums[part] };
        if (memcmp(&row.sum, &nothing, sizeof nothing) != 0)
            ok = ETLHEAP_PUSH(&data->rows, row);
    }
    for (size_t i = 0; ok && i < from->cells.count; i++) {
        summary_cell cell = from->cells.at[i];
        cell.entry = index;
        ok = ETLHEAP_PUSH(&data->cells, cell);
    }
    return ok;
}

/* A trace and its files while they are put in order. */
typedef struct sorted_trace {
    const summary_trace *trace;
    const etlheap_summary_file *files;
} sorted_trace;

/* Sorts traces. One that is there twice may have different names of files. */
static int by_id(const void *a, const void *b)
{
    const sorted_trace *const x = a, *const y = b;
    int order = memcmp(x->trace->id, y->trace->id, sizeof x->trace->id);
    for (u32 i = 0; order == 0 && i < x->trace->file_count && i < y->trace->file_count; i++)
        order = strcmp(x->files[i].name, y->files[i].name);
    return order;
}

/* Files follow their traces. */
static bool finish_traces(finishing *f)
{
    const etlheap_summary *const s = f->summary;
    summary_data *const data = f->result->summary;
    sorted_trace *const sorted = calloc(s->traces.count + 1, sizeof *sorted);
    bool ok = sorted != NULL;
    for (size_t i = 0; ok && i < s->traces.count; i++)
        sorted[i] = (sorted_trace){ &s->traces.at[i], s->files.at + s->traces.at[i].first_file };
    if (ok && s->traces.count > 0)
        qsort(sorted, s->traces.count, sizeof *sorted, by_id);
    for (size_t i = 0; ok && i < s->traces.count; i++) {
        summary_trace trace = *sorted[i].trace;
        trace.first_file = (u32)data->files.count;
        ok = ETLHEAP_PUSH(&data->traces, trace);
        for (u32 k = 0; ok && k < trace.file_count; k++)
            ok = ETLHEAP_PUSH(&data->files, sorted[i].files[k]);
    }
    free(sorted);
    return ok;
}
