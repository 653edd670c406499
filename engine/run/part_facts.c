/*
 * part_facts.c - the facts that a store of a part has: those of the recording, without processes
 * that are not part of it.
 *
 * In: the result of a store, and the processes to keep. Out: tables of the new store.
 *
 * Counts of records, losses and diagnostics stay those of the whole recording, because a part of a
 * recording with losses may have lost as much. Modules, methods and names of threads are found by
 * the id that Windows gives a process, so all processes with the id of a kept one are kept. The
 * kernel's modules, which every process uses, are those of the ids 0 and 4. Invariant: the list
 * only gets shorter, so every table stays in its order.
 */
#include "store_part.h"

#include <stdlib.h>

#include "engine/context/methods.h"
#include "engine/result/ehs_facts.h"
#include "engine/result/result_part.h"

/* Marks all processes that have the id of a marked one. Processes are in the order of their ids. */
static void mark_same_ids(const store_part *part)
{
    const etlheap_process_info *const list = part->from->processes.at;
    const size_t count = part->from->processes.count;
    for (size_t first = 0, next; first < count; first = next) {
        u32 is_marked = 0;
        for (next = first; next < count && list[next].pid == list[first].pid; next++)
            is_marked |= part->processes.of[next + 1];
        for (size_t i = first; i < next; i++)
            part->processes.of[i + 1] = is_marked;
    }
}

void part_facts_mark(store_part *part)
{
    const etlheap_result *const from = part->from;
    const bool is_all = part->part->process_count == 0 && !from->part.by_process;
    for (size_t i = 0; i < from->processes.count; i++) {
        const u32 pid = from->processes.at[i].pid;
        if (is_all || part->plan.process_selected[i + 1] || pid == MODULES_KERNEL_PID ||
            pid == SYSTEM_PID)
            part->processes.of[i + 1] = 1;
    }
    for (size_t i = 0; i < from->foreign.count; i++) {
        if (part->stacks.of[from->foreign.at[i].stack] != 0)
            part->processes.of[from->foreign.at[i].process] = 1;
    }
    mark_same_ids(part);
}

/* Is a process with this id kept? */
static bool has_pid(const store_part *part, u32 pid)
{
    const etlheap_process_info *const list = part->from->processes.at;
    const size_t count = part->from->processes.count;
    size_t at;
    ETL_BISECT(at, 0, count, list[at].pid < pid);
    const bool is_known = at < count && list[at].pid == pid;
    return is_known ? part->processes.of[at + 1] != 0
                    : part->processes.kept == part->processes.count || pid == MODULES_KERNEL_PID;
}

/* Processes that only explain stacks have no events in the store. */
static bool keep_processes(const store_part *part, etlheap_result *to)
{
    bool ok = true;
    for (size_t i = 0; ok && i < part->from->processes.count; i++) {
        etlheap_process_info row = part->from->processes.at[i];
        if (!part->plan.process_selected[i + 1]) {
            memset(row.events, 0, sizeof row.events);
            memset(row.free_without_alloc, 0, sizeof row.free_without_alloc);
        }
        ok = part->processes.of[i + 1] == 0 || ETLHEAP_PUSH(&to->processes, row);
    }
    return ok;
}

/* Methods are the last modules; ranges name them by their index. */
static bool keep_modules(const store_part *part, etlheap_result *to)
{
    const module_table *const from = &part->from->modules;
    const u32 images = modules_image_count(from);
    bool ok = true;
    for (u32 i = 0; ok && i < from->list.count; i++) {
        etlheap_module_info row = from->list.at[i];
        row.process.v = part->processes.of[row.process.v];
        ok = (i < images && !has_pid(part, row.pid)) || ETLHEAP_PUSH(&to->modules.list, row);
    }
    const u32 dropped = (u32)(from->list.count - to->modules.list.count);
    for (size_t i = 0; ok && i < from->methods.list.count; i++) {
        method_range row = from->methods.list.at[i];
        row.process = part->processes.of[row.process];
        row.module -= dropped;
        ok = !has_pid(part, row.pid) || ETLHEAP_PUSH(&to->modules.methods.list, row);
    }
    to->modules.methods.function_count = from->methods.function_count;
    return ok;
}

static bool keep_foreign(const store_part *part, etlheap_result *to)
{
    bool ok = true;
    for (size_t i = 0; ok && i < part->from->foreign.count; i++) {
        foreign_stack row = part->from->foreign.at[i];
        row.stack = part->stacks.of[row.stack];
        row.process = part->processes.of[row.process];
        ok = row.stack == 0 || ETLHEAP_PUSH(&to->foreign, row);
    }
    return ok;
}

static bool keep_sizes(const store_part *part, etlheap_result *to)
{
    bool ok = true;
    for (size_t i = 0; ok && i < part->from->heap_sizes.count; i++) {
        heap_size row = part->from->heap_sizes.at[i];
        row.process = part->processes.of[row.process];
        ok = row.process == 0 || ETLHEAP_PUSH(&to->heap_sizes, row);
    }
    for (size_t i = 0; ok && i < part->from->memory.count; i++) {
        memory_row row = part->from->memory.at[i];
        const bool is_kept = row.process == 0 || part->processes.of[row.process] != 0;
        row.process = part->processes.of[row.process];
        ok = !is_kept || ETLHEAP_PUSH(&to->memory, row);
    }
    return ok;
}

static bool keep_threads(const store_part *part, etlheap_result *to)
{
    const thread_names *const from = &part->from->thread_names;
    bool ok = true;
    for (size_t i = 0; ok && i < from->list.count; i++)
        ok = !has_pid(part, from->list.at[i].pid) ||
             ETLHEAP_PUSH(&to->thread_names.list, from->list.at[i]);
    return ok;
}

/* The window is what both parts have in common; words are those of the last cut that names any. */
static bool keep_part(const store_part *part, result_part *to)
{
    const etlheap_part *const asked = part->part;
    const result_part *const before = &part->from->part;
    const bool is_named = asked->process_count > 0;
    const u32 words = is_named ? asked->process_count : (u32)before->words.count;
    bool ok = true;
    to->is_part = true;
    to->as_public.from_ns = asked->from_ns;
    to->as_public.to_ns = asked->to_ns;
    to->as_public.kinds = asked->kinds;
    for (u32 i = 0; ok && i < words; i++)
        ok = ETLHEAP_PUSH(&to->words, is_named ? asked->processes[i] : before->words.at[i]);
    for (u32 i = 1; ok && words > 0 && i <= part->processes.count; i++)
        ok = !part->plan.process_selected[i] || ETLHEAP_PUSH(&to->processes, part->processes.of[i]);
    result_part_complete(to);
    return ok;
}

static void free_kept(etlheap_result *kept)
{
    ETLHEAP_VECTOR_FREE(&kept->processes);
    ETLHEAP_VECTOR_FREE(&kept->modules.list);
    ETLHEAP_VECTOR_FREE(&kept->modules.methods.list);
    ETLHEAP_VECTOR_FREE(&kept->foreign);
    ETLHEAP_VECTOR_FREE(&kept->heap_sizes);
    ETLHEAP_VECTOR_FREE(&kept->memory);
    ETLHEAP_VECTOR_FREE(&kept->thread_names.list);
    ETLHEAP_VECTOR_FREE(&kept->part.words);
    ETLHEAP_VECTOR_FREE(&kept->part.processes);
}

bool part_facts_save(ehs_saver *saver, const store_part *part)
{
    etlheap_result kept = *part->from; /* borrows what is not replaced here */
    memset(&kept.processes, 0, sizeof kept.processes);
    memset(&kept.modules, 0, sizeof kept.modules);
    memset(&kept.foreign, 0, sizeof kept.foreign);
    memset(&kept.heap_sizes, 0, sizeof kept.heap_sizes);
    memset(&kept.memory, 0, sizeof kept.memory);
    memset(&kept.thread_names, 0, sizeof kept.thread_names);
    memset(&kept.part, 0, sizeof kept.part);
    kept.abilities.kinds &= part->kinds;
    const bool ok = keep_processes(part, &kept) && keep_modules(part, &kept) &&
                    keep_foreign(part, &kept) && keep_sizes(part, &kept) &&
                    keep_threads(part, &kept) && keep_part(part, &kept.part) &&
                    ehs_facts_save(saver, &kept) && ehs_strings_save(saver);
    free_kept(&kept);
    return ok;
}
