/*
 * result.c - completes the result of a run, says what a result can answer, and has the getters of
 * the public interface.
 *
 * In: what a run leaves: context, stacks, store or event list, and counts (result_parts). Out: a
 * result with final ids, modules and a description of the trace.
 *
 * During a run, processes are numbered as they appear, and stacks that came late have provisional
 * references. result_complete sorts processes by (pid, start) and rewrites every column once. The
 * table `refusals` has a sentence for each mode and question that do not go together. Invariants:
 * whatever keeps a process or stack id must be translated in result_complete. A row that is missing
 * in `refusals` means "can answer", so a new mode or question needs its rows.
 */
#include "result.h"

#include "engine/context/methods.h"
#include "engine/context/process_names.h"
#include "engine/context/services.h"
#include "engine/core/continued.h"
#include "summary.h"
#include "archive.h"
#include "spellings.h"

#include <stdlib.h>

static bool order_processes(etlheap_result *result, const result_parts *parts, u32 *new_ids);
void result_note_askers(etlheap_result *result)
{
    const u32 outliving = etlheap_kinds_with(ETLHEAP_KIND_OUTLIVES);
    for (size_t i = 0; i < result->store.segments.count; i++) {
        const store_segment *const segment = &result->store.segments.at[i];
        for (u32 row = 0; row < segment->rows; row++) {
            const u32 bit = 1u << segment->kind[row];
            if ((outliving & bit) != 0)
                result->processes.at[segment->process[row] - 1].asked_kinds |= bit;
        }
    }
}

static void rewrite_columns(etlheap_result *result, const u32 *new_ids);
static bool copy_inventory(etlheap_result *result, const record_inventory *inventory);
static bool describe_trace(etlheap_result *result, const result_parts *parts);
static void judge(etlheap_result *result, const result_parts *parts);

static bool build_modules(etlheap_result *result)
{
    const module_owners owners = { .ids = result->process_ids,
                                   .processes = result->processes.at,
                                   .count = result->processes.count };
    return modules_build(&result->modules, &result->context, &owners) &&
           methods_build(&result->modules, &result->context, &owners);
}

etl_status result_complete(etlheap_result *result, const result_parts *parts)
{
    u32 *const new_ids = calloc(result->context.processes.count + 1, sizeof *new_ids);
    result->process_ids = new_ids;
    if (new_ids == NULL || !process_names_repair(&result->context) ||
        !order_processes(result, parts, new_ids) ||
        !services_describe(&result->context, new_ids, result->processes.at) ||
        !copy_inventory(result, parts->inventory) || !build_modules(result) ||
        !spellings_set(result) || !describe_trace(result, parts))
        return ETL_ERR_MEMORY;
    heap_sizes_odd odd = { 0 };
    if (parts->heap_notes != NULL &&
        !heap_sizes_build(&result->heap_sizes, parts->heap_notes, &result->context, new_ids, &odd))
        return ETL_ERR_MEMORY;
    etl_diag_add(&result->diag, ETL_DIAG_heap_recreated, odd.recreated);
    etl_diag_add(&result->diag, ETL_DIAG_heap_size_differs, odd.differing);
    if (parts->memory_notes != NULL &&
        !meminfo_build(&result->memory, parts->memory_notes, &result->context, new_ids))
        return ETL_ERR_MEMORY;
    if (!file_names_finish(&result->context))
        return ETL_ERR_MEMORY;
    logged_names_finish(&result->context.logged_names);
    thread_names_sort(&result->thread_names);
    thread_names_own(&result->thread_names, result->processes.at, result->processes.count);
    if (!mark_list_make(&result->marks, &result->context.strings, result->base.base))
        return ETL_ERR_MEMORY;
    etl_diag_merge(&result->diag, &result->marks.marks.diagnostics);
    rewrite_columns(result, new_ids);
    judge(result, parts);
    return ETL_OK;
}

typedef struct process_order {
    u32 pid, id;
    i64 start_ticks;
} process_order;

static int by_pid_and_start(const void *a, const void *b)
{
    const process_order *const x = a, *const y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->start_ticks != y->start_ticks)
        return x->start_ticks < y->start_ticks ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static etlheap_process_info describe_process(const etlheap_result *result,
                                             const process_history *row,
                                             const process_counts *counts)
{
    const etlheap_strings *const strings = &result->context.strings;
    etlheap_process_info info = {
        .pid = row->pid,
        .parent_pid = row->parent_pid,
        .name = row->name == 0 ? RESULT_UNNAMED_PROCESS : etlheap_strings_get(strings, row->name),
        .command_line = etlheap_strings_get(strings, row->command_line),
        .start_ticks = row->start_ticks,
        .end_ticks = row->end_ticks,
        .pointer_bits = row->pointer_bits,
    };
    if (row->package != 0)
        info.package = etlheap_strings_get(strings, row->package);
    memcpy(info.events, counts->events, sizeof counts->events);
    memcpy(info.free_without_alloc, counts->free_without_alloc, sizeof counts->free_without_alloc);
    return info;
}

static bool order_processes(etlheap_result *result, const result_parts *parts, u32 *new_ids)
{
    const size_t count = result->context.processes.count;
    process_order *const order = calloc(count + 1, sizeof *order);
    if (order == NULL || !ETLHEAP_RESERVE(&result->processes, count)) {
        free(order);
        return false;
    }
    for (u32 i = 0; i < count; i++) {
        const process_history *const row = &result->context.processes.at[i];
        order[i] = (process_order){ row->pid, i + 1, row->start_ticks };
    }
    qsort(order, count, sizeof *order, by_pid_and_start);
    static const process_counts none;
    for (u32 i = 0; i < count; i++) {
        const u32 id = order[i].id;
        const process_counts *const counts =
            id <= parts->count_count ? &parts->counts[id - 1] : &none;
        const process_history *const row = &result->context.processes.at[id - 1];
        result->processes.at[i] = describe_process(result, row, counts);
        new_ids[id] = i + 1;
        const bool unnamed = row->name == 0 && etlheap_process_events(&result->processes.at[i]) > 0;
        etl_diag_add(&result->diag, ETL_DIAG_process_unknown, unnamed);
        for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++)
            etl_diag_add(&result->diag, ETL_DIAG_free_without_alloc,
                         counts->free_without_alloc[kind]);
    }
    result->processes.count = count;
    free(order);
    return true;
}

/* The thread of a lifetime; that of a late stack may have come with the stack. */
static u32 final_thread(const etlheap_result *result, stack_ref ref, u32 thread)
{
    const bool is_late = (ref & STACK_TAG_MASK) == STACK_TAG_WAITING;
    return is_late && thread == ETL_NO_ID ? result->origins[ref & STACK_NUMBER_MAX].tid : thread;
}

static void rewrite_columns(etlheap_result *result, const u32 *new_ids)
{
    for (size_t i = 0; i < result->foreign.count; i++)
        result->foreign.at[i].process = new_ids[result->foreign.at[i].process];
    for (size_t i = 0; i < result->store.segments.count; i++) {
        const store_segment *const segment = &result->store.segments.at[i];
        for (u32 row = 0; row < segment->rows; row++) {
            segment->process[row] = new_ids[segment->process[row]];
            segment->thread[row] = final_thread(result, segment->stack[row], segment->thread[row]);
            segment->stack[row] = result_final_stack(result, segment->stack[row]);
            segment->process[row] = foreign_asker(&result->foreign, segment->kind[row],
                                                  segment->stack[row], segment->process[row]);
            const bool bare = segment->stack[row] == 0 &&
                              segment->alloc_ticks[row] != ETLHEAP_TICKS_BEFORE &&
                              etlheap_kind_has(segment->kind[row], ETLHEAP_KIND_IS_ALLOCATED);
            etl_diag_add(&result->diag, ETL_DIAG_alloc_without_stack, bare);
        }
    }
    result_note_askers(result);
}

int result_by_guid(const void *a, const void *b)
{
    const etlheap_provider_count *const x = a, *const y = b;
    if (x->is_message != y->is_message)
        return x->is_message ? 1 : -1;
    char text_x[ETL_GUID_TEXT_SIZE], text_y[ETL_GUID_TEXT_SIZE];
    etl_guid_format(x->guid.bytes, text_x);
    etl_guid_format(y->guid.bytes, text_y);
    return strcmp(text_x, text_y);
}

static bool copy_hooks(etlheap_result *result, const inventory_count *page, u32 group)
{
    for (u32 type = 0; type < 256; type++) {
        if (page[type].count == 0)
            continue;
        const u16 hook = (u16)(group << 8 | type);
        const etlheap_hook_count row = { hook, etl_hook_name(hook), page[type].count,
                                         page[type].bytes };
        if (!ETLHEAP_PUSH(&result->hooks, row))
            return false;
    }
    return true;
}

static bool copy_inventory(etlheap_result *result, const record_inventory *inventory)
{
    for (u32 group = 0; group < ETL_COUNT_OF(inventory->pages); group++) {
        if (inventory->pages[group] != NULL && !copy_hooks(result, inventory->pages[group], group))
            return false;
    }
    for (size_t i = 0; i < inventory->providers.count; i++) {
        if (!ETLHEAP_PUSH(&result->providers, inventory->providers.at[i]))
            return false;
    }
    if (result->providers.count > 0)
        qsort(result->providers.at, result->providers.count, sizeof *result->providers.at,
              result_by_guid);
    if (!event_inventory_finish(&inventory->events, &result->context.strings, &result->events.at,
                                &result->events.count))
        return false;
    result->events.capacity = result->events.count;
    result->info.events = inventory->records;
    result->stack_counts.records = inventory->stack_records;
    return true;
}

static const char *clock_name(etl_clock clock)
{
    switch (clock) {
    case ETL_CLOCK_SYSTEM_TIME:
        return "system";
    case ETL_CLOCK_CPU_CYCLES:
        return "cpu";
    case ETL_CLOCK_QPC:
        break;
    }
    return "qpc";
}

static bool describe_trace(etlheap_result *result, const result_parts *parts)
{
    etlheap_trace_info *const info = &result->info;
    const etl_session *const session = result->base.base;
    u32 name;
    if (!etlheap_strings_add_utf16(&result->context.strings, session->name_utf16, &name))
        return false;
    for (u32 i = 0; i < parts->trace_count; i++) {
        const etl_trace *const trace = parts->traces[i];
        u32 file;
        if (!etlheap_strings_add(&result->context.strings, parts->names[i], strlen(parts->names[i]),
                                 &file) ||
            !ETLHEAP_PUSH(&result->files, etlheap_strings_get(&result->context.strings, file)))
            return false;
        info->buffers += etl_buffer_count(trace);
        info->bytes += etl_file_size(trace);
        for (u32 k = 0; k < etl_session_count(trace); k++) {
            info->events_lost += etl_session_of(trace, k)->events_lost;
            info->buffers_lost += etl_session_of(trace, k)->buffers_lost;
        }
        etl_diag_merge(&result->diag, etl_trace_diagnostics(trace));
    }
    continued_correct(parts->traces, parts->trace_count, &result->diag);
    info->files = result->files.at;
    info->file_count = parts->trace_count;
    info->session = etlheap_strings_get(&result->context.strings, name);
    info->computer = etlheap_strings_get(&result->context.strings, result->context.computer);
    info->os_build = session->os_build;
    info->pointer_bits = session->pointer_bytes * 8;
    info->cpus = session->cpu_count;
    info->clock = clock_name(session->clock);
    info->clock_hz = session->clock_hz;
    info->start_time_filetime = session->start_time_filetime;
    const i64 last = result->last_ticks == INT64_MIN ? session->header_ticks : result->last_ticks;
    info->duration_ns = etl_time_ns(session, last);
    info->end_ns = timebase_end_ns(session, last);
    return true;
}

/* Does the trace tell how much memory the system and processes use? An inventory keeps no rows of
 * it, and other runs do not count events by id, so both are looked at. */
static bool has_memory(const etlheap_result *result)
{
    bool has = result->memory.count > 0;
    for (size_t i = 0; i < result->hooks.count; i++)
        has |= result->hooks.at[i].hook == 0x0270 || result->hooks.at[i].hook == 0x027D;
    for (size_t i = 0; i < result->events.count; i++) {
        const etlheap_event_count *const event = &result->events.at[i];
        const char *const name = etl_provider_name(event->provider.bytes);
        has |= (event->id == 1 || event->id == 2) && !event->is_class && name != NULL &&
               strcmp(name, "Microsoft-Windows-Kernel-Memory") == 0;
    }
    return has;
}

/* Does the trace have starts, ends, rundowns or names of threads? */
static bool has_threads(const etlheap_result *result)
{
    bool has = false;
    for (size_t i = 0; i < result->hooks.count; i++) {
        const u32 hook = result->hooks.at[i].hook;
        has |= (hook >= 0x0501 && hook <= 0x0504) || hook == 0x0548;
    }
    return has;
}

/* Works out what can be analysed, and counts what the user should know about. */
static void judge(etlheap_result *result, const result_parts *parts)
{
    etlheap_abilities *const can = &result->abilities;
    const u32 seen = result_kinds_seen(result);
    can->kinds = seen & (result->keeps_named_kinds ? ETLHEAP_KINDS_ALL : ETLHEAP_KINDS_DEFAULT);
    can->stacks = parts->inventory->stack_records > 0 || parts->inventory->stack_items > 0;
    can->modules = modules_image_count(&result->modules) > 0;
    for (size_t i = 0; i < result->modules.list.count; i++)
        can->symbols |= result->modules.list.at[i].has_rsds;
    can->methods = etlheap_method_count(result) > 0;
    can->methods_missing = methods_are_missing(&result->modules);
    can->memory = has_memory(result);
    can->thread_names = result->thread_names.list.count > 0;
    can->heap_sizes = heap_sizes_are_known(&result->heap_sizes);
    can->free_stacks = parts->free_stacks > 0;
    can->threads_missing = !has_threads(result);
    etl_diag_add(&result->diag, ETL_DIAG_clock_mismatch, result->base.mismatch);
    for (u32 i = 0; i < parts->trace_count; i++)
        etl_diag_add(&result->diag, ETL_DIAG_file_changed, etl_trace_changed(parts->traces[i]));
    etl_diag_add(&result->diag, ETL_DIAG_trace_without_memory_events, seen == 0);
    etl_diag_add(&result->diag, ETL_DIAG_trace_without_modules, !can->modules && seen != 0);
}

void etlheap_result_free(etlheap_result *result)
{
    if (result == NULL)
        return;
    timebase_close(&result->base);
    context_close(&result->context);
    modules_free(&result->modules);
    stack_table_free(&result->stacks);
    ETLHEAP_VECTOR_FREE(&result->foreign);
    store_free(&result->store);
    store_free(&result->unmatched);
    event_list_free(&result->event_list);
    archive_free(result->archive);
    origins_free(&result->origin_table);
    origins_free(&result->freers);
    free(result->process_ids);
    free(result->keyed_ids);
    free(result->origins);
    ETLHEAP_VECTOR_FREE(&result->heap_sizes);
    ETLHEAP_VECTOR_FREE(&result->memory);
    thread_names_free(&result->thread_names);
    mark_list_free(&result->marks);
    told_names_free(&result->told);
    ETLHEAP_VECTOR_FREE(&result->processes);
    ETLHEAP_VECTOR_FREE(&result->hooks);
    ETLHEAP_VECTOR_FREE(&result->providers);
    ETLHEAP_VECTOR_FREE(&result->events);
    ETLHEAP_VECTOR_FREE(&result->files);
    ETLHEAP_VECTOR_FREE(&result->recorded);
    summary_data_free(result->summary);
    ETLHEAP_VECTOR_FREE(&result->part.words);
    ETLHEAP_VECTOR_FREE(&result->part.processes);
    free(result);
}

/* Why a mode cannot answer a question. Without a row, it can. */
typedef struct refusal {
    etl_status status;
    const char *sentence;
} refusal;

static const char facts_alone[] =
    "the result holds no allocations, because the analysis only counted records (inventory_only) "
    "or "
    "wrote a store: analyze the trace without these options, or open the store";
static const char one_window[] =
    "the analysis kept only what its questions need, and no single lifetimes: analyze the trace "
    "for all questions, including ETLHEAP_ASK_EVENTS, or for none";
static const char no_frees[] =
    "the analysis did not keep who freed: analyze the trace for a question that asks for it";
static const char no_frees_in_store[] =
    "the store does not say who freed memory; make it again, or use the trace that it was made "
    "from";
static const char in_file[] =
    "the lifetimes stay in the store's file: open the store without questions, or list them one "
    "by one";
static const char sums_alone[] = "a summary holds totals and no single allocations; use the traces "
                                 "or stores that it was made from, one recording at a time";

#define EACH(status, sentence)                                                                     \
    [RESULT_NEED_EACH] = { status, sentence }, [RESULT_NEED_LIST] = { status, sentence },          \
    [RESULT_NEED_COLUMNS] = { status, sentence }, [RESULT_NEED_ADDRESSES] = { status, sentence }

#define FREES(status, sentence)                                                                    \
    [RESULT_NEED_FREES] = { status, sentence }, [RESULT_NEED_FREE_THREADS] = { status, sentence }

static const refusal refusals[RESULT_MODE_COUNT][RESULT_NEED_COUNT] = {
    [RESULT_FACTS] = { [RESULT_NEED_ROWS] = { ETL_ERR_ARGUMENT, facts_alone },
                       [RESULT_NEED_THREADS] = { ETL_ERR_ARGUMENT, facts_alone },
                       FREES(ETL_ERR_ARGUMENT, facts_alone),
                       EACH(ETL_ERR_ARGUMENT, facts_alone) },
    [RESULT_LIFETIMES] = { FREES(ETL_ERR_ARGUMENT, no_frees) },
    [RESULT_SUMS] = { FREES(ETL_ERR_ARGUMENT, no_frees), EACH(ETL_ERR_ARGUMENT, one_window) },
    [RESULT_EVENT_LIST] = { FREES(ETL_ERR_ARGUMENT, no_frees), EACH(ETL_ERR_ARGUMENT, one_window) },
    [RESULT_STORE] = { [RESULT_NEED_COLUMNS] = { ETL_ERR_ARGUMENT, in_file } },
    [RESULT_SUMMARY] = { EACH(ETL_ERR_ARGUMENT, sums_alone) },
};

/* Why a store that lacks a column cannot answer some questions. A log lacks what the questions that
 * it was made for do not need. */
static const struct {
    u32 column; /* EHS_WANT_OPTIONAL */
    u32 needs;
    refusal of_store, of_log;
} unrecorded[] = {
    { EHS_WANT_THREAD,
      1u << RESULT_NEED_THREADS | 1u << RESULT_NEED_LIST | 1u << RESULT_NEED_COLUMNS,
      { ETL_ERR_ARGUMENT, "the store does not contain the threads of allocations; use the trace "
                          "that it was made from" },
      { ETL_ERR_ARGUMENT, "the analysis did not keep the threads of allocations: analyze the trace "
                          "for a question that asks for them" } },
    { EHS_WANT_FREER,
      1u << RESULT_NEED_FREES | 1u << RESULT_NEED_FREE_THREADS,
      { ETL_ERR_ARGUMENT, no_frees_in_store },
      { ETL_ERR_ARGUMENT, no_frees } },
    /* Lacking in a store, they make it lack all of who freed (archive.c). */
    { EHS_WANT_FREER_THREAD,
      1u << RESULT_NEED_FREE_THREADS,
      { ETL_ERR_ARGUMENT, no_frees_in_store },
      { ETL_ERR_ARGUMENT, "the analysis did not keep which threads freed: analyze the trace for a "
                          "question that asks for them" } },
    { EHS_WANT_ADDRESS,
      1u << RESULT_NEED_LIST | 1u << RESULT_NEED_COLUMNS | 1u << RESULT_NEED_ADDRESSES,
      { ETL_ERR_ARGUMENT, "the store does not contain the addresses of allocations; use the trace "
                          "that it was made from" },
      { ETL_ERR_ARGUMENT, "the analysis did not keep the addresses of allocations: analyze the "
                          "trace for a question that asks for them" } },
};

etl_status result_answers(const etlheap_result *result, result_need need, etl_error *err)
{
    const refusal *why = &refusals[result->mode][need];
    const u32 lacks = result->archive == NULL ? 0 : result->archive->lacks;
    for (size_t i = 0; why->sentence == NULL && i < ETL_COUNT_OF(unrecorded); i++) {
        if ((lacks & unrecorded[i].column) != 0 && (unrecorded[i].needs >> need & 1) != 0)
            why = result->archive->is_log ? &unrecorded[i].of_log : &unrecorded[i].of_store;
    }
    return why->sentence == NULL ? ETL_OK : etl_fail_with(err, why->status, 0, "%s", why->sentence);
}

bool etlheap_result_is_for_questions(const etlheap_result *result)
{
    return result->mode != RESULT_FACTS && result->mode != RESULT_LIFETIMES;
}

const etlheap_trace_info *etlheap_result_trace(const etlheap_result *result)
{
    return &result->info;
}

const char *etlheap_result_source(const etlheap_result *result, u32 index)
{
    const bool is_store = result->info.store_bytes > 0;
    return is_store && index < result->recorded.count ? result->recorded.at[index].name : NULL;
}

u32 etlheap_process_count(const etlheap_result *result)
{
    return (u32)result->processes.count;
}

const etlheap_process_info *etlheap_process_of(const etlheap_result *result, etlheap_process id)
{
    return id.v - 1 < result->processes.count ? &result->processes.at[id.v - 1] : NULL;
}

u32 etlheap_module_count(const etlheap_result *result)
{
    return modules_image_count(&result->modules);
}

u32 etlheap_method_count(const etlheap_result *result)
{
    const module_table *const modules = &result->modules;
    u32 count = modules->methods.function_count;
    for (size_t i = 0; result->mode == RESULT_SUMMARY && i < modules->list.count; i++)
        count += modules_function(&modules->list.at[i]) != NULL;
    return count;
}

const etlheap_module_info *etlheap_module_of(const etlheap_result *result, u32 index)
{
    return index < modules_image_count(&result->modules) ? &result->modules.list.at[index] : NULL;
}

bool etlheap_result_is_anonymised(const etlheap_result *result, u64 *key_check)
{
    *key_check = result->told.anonymised.key_check;
    return result->told.anonymised.scheme != 0;
}

const etlheap_marks *etlheap_result_marks(const etlheap_result *result)
{
    return &result->marks.marks;
}

u32 etlheap_hook_counts(const etlheap_result *result, const etlheap_hook_count **rows)
{
    *rows = result->hooks.at;
    return (u32)result->hooks.count;
}

u32 etlheap_provider_counts(const etlheap_result *result, const etlheap_provider_count **rows)
{
    *rows = result->providers.at;
    return (u32)result->providers.count;
}

u32 etlheap_event_counts(const etlheap_result *result, const etlheap_event_count **rows)
{
    *rows = result->events.at;
    return (u32)result->events.count;
}

const etlheap_stack_counts *etlheap_result_stacks(const etlheap_result *result)
{
    return &result->stack_counts;
}

const etl_diag_counts *etlheap_result_diagnostics(const etlheap_result *result)
{
    return &result->diag;
}

etlheap_abilities etlheap_result_abilities(const etlheap_result *result)
{
    return result->abilities;
}

static bool has_free_stack(const lifetime_table *store)
{
    for (size_t s = 0; s < store->segments.count; s++) {
        const etlheap_segment rows = store_view(&store->segments.at[s]);
        for (u32 at = 0; at < rows.rows; at++) {
            if (rows.free_stack[at] != 0)
                return true;
        }
    }
    return false;
}

bool etlheap_result_has_free_stacks(const etlheap_result *result)
{
    for (size_t i = 0; i < result->freers.origins.count; i++) {
        if (result_final_stack(result, result->freers.origins.at[i].stack) != 0)
            return true;
    }
    return has_free_stack(&result->store) || has_free_stack(&result->unmatched);
}

i64 etlheap_time_ns(const etlheap_result *result, i64 ticks)
{
    return etl_time_ns(result->base.base, ticks);
}

i64 etlheap_time_ticks(const etlheap_result *result, i64 ns)
{
    return etl_time_ticks(result->base.base, ns);
}

u32 etlheap_segment_count(const etlheap_result *result)
{
    return (u32)result->store.segments.count;
}

etlheap_segment etlheap_segment_of(const etlheap_result *result, u32 index)
{
    return index < etlheap_segment_count(result) ? store_view(&result->store.segments.at[index])
                                                 : (etlheap_segment){ .rows = 0 };
}

u32 etlheap_stack_count(const etlheap_result *result)
{
    return (u32)result->stacks.list.count;
}

etlheap_frames etlheap_stack_frames(const etlheap_result *result, etlheap_stack id)
{
    if (id.v == 0 || id.v > result->stacks.list.count)
        return (etlheap_frames){ .count = 0 };
    return stack_spell(&result->stacks, id.v);
}
