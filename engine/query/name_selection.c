/*
 * name_selection.c - the processes and threads that the words of a query name.
 *
 * In: the words, and the processes and named threads of a result. Out: a flag for each process, and
 * a sorted list of threads, in the plan.
 *
 * A trace may have a million processes, and a list thousands of words. Names are searched in an
 * index of the words (pattern_index.h), and ids in a sorted list. Invariant: what is selected is
 * what trying every word on every name selects.
 */
#include <stdlib.h>

#include "engine/core/pattern_index.h"
#include "parser/system/name_fold.h"
#include "query.h"

static bool process_matches(const void *patterns, u32 pattern, const char *name)
{
    const etlheap_query *const query = patterns;
    return query_word_names_file(query->processes[pattern], name);
}

static bool thread_matches(const void *patterns, u32 pattern, const char *name)
{
    const etlheap_query *const query = patterns;
    return etl_name_glob(query->thread_names[pattern], name);
}

static int by_id(const void *a, const void *b)
{
    const u64 x = *(const u64 *)a, y = *(const u64 *)b;
    return (x > y) - (x < y);
}

/* Selects processes by ids, which ascend, and by the search of names. */
static void mark_processes(query_plan *plan, const u64 *ids, size_t id_count,
                           pattern_search *search)
{
    const etlheap_result *const result = plan->result;
    for (size_t i = 0; i < result->processes.count; i++) {
        const u64 pid = result->processes.at[i].pid;
        plan->process_selected[i + 1] =
            (id_count > 0 && bsearch(&pid, ids, id_count, sizeof *ids, by_id) != NULL) ||
            pattern_search_first(search, result->processes.at[i].name) != PATTERN_NONE;
    }
    plan->name_steps += search->steps;
}

static bool mark_named_processes(query_plan *plan)
{
    const etlheap_query *const query = plan->query;
    pattern_index index = { .ignores_case = true };
    pattern_search search = { .index = NULL };
    u64 *const ids = malloc(query->process_count * sizeof *ids);
    size_t id_count = 0;
    bool ok = ids != NULL;
    for (u32 i = 0; ok && i < query->process_count; i++) {
        if (query_word_is_pid(query->processes[i], &ids[id_count]))
            id_count++;
        else
            ok = pattern_index_add_glob(&index, i, query->processes[i]);
    }
    ok = ok && pattern_index_finish(&index) &&
         pattern_search_open(&search, &index, process_matches, query);
    if (ok && id_count > 1)
        qsort(ids, id_count, sizeof *ids, by_id);
    if (ok)
        mark_processes(plan, ids, id_count, &search);
    pattern_search_close(&search);
    pattern_index_free(&index);
    free(ids);
    return ok;
}

bool query_select_processes(query_plan *plan)
{
    const size_t count = plan->result->processes.count;
    plan->process_selected = calloc(count + 1, sizeof *plan->process_selected);
    if (plan->process_selected == NULL)
        return false;
    if (plan->query->process_count > 0)
        return mark_named_processes(plan);
    for (size_t i = 1; i <= count; i++)
        plan->process_selected[i] = true;
    return true;
}

static bool add_named_threads(query_plan *plan)
{
    const etlheap_query *const query = plan->query;
    const thread_names *const names = &plan->result->thread_names;
    pattern_index index = { .ignores_case = true };
    pattern_search search = { .index = NULL };
    bool ok = true;
    for (u32 i = 0; ok && i < query->thread_name_count; i++)
        ok = pattern_index_add_glob(&index, i, query->thread_names[i]);
    ok = ok && pattern_index_finish(&index) &&
         pattern_search_open(&search, &index, thread_matches, query);
    for (size_t i = 0; ok && i < names->list.count; i++) {
        const thread_name *const name = &names->list.at[i];
        if (name->process != 0 && pattern_search_first(&search, name->name) != PATTERN_NONE)
            plan->threads[plan->thread_count++] = (selected_thread){ name->tid, name->process };
    }
    plan->name_steps += search.steps;
    pattern_search_close(&search);
    pattern_index_free(&index);
    return ok;
}

static int by_tid_and_process(const void *a, const void *b)
{
    const selected_thread *const x = a, *const y = b;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    return (x->process > y->process) - (x->process < y->process);
}

bool query_select_threads(query_plan *plan)
{
    const etlheap_query *const query = plan->query;
    if (!query_selects_threads(query))
        return true;
    const size_t most = plan->result->thread_names.list.count + query->thread_count;
    plan->threads = calloc(most + 1, sizeof *plan->threads);
    if (plan->threads == NULL)
        return false;
    for (u32 i = 0; i < query->thread_count; i++)
        plan->threads[plan->thread_count++] = (selected_thread){ .tid = query->threads[i] };
    if (query->thread_name_count > 0 && !add_named_threads(plan))
        return false;
    if (plan->thread_count > 1)
        qsort(plan->threads, plan->thread_count, sizeof *plan->threads, by_tid_and_process);
    return true;
}

static bool lists_thread(const query_plan *plan, u32 process, u32 thread)
{
    const selected_thread wanted = { thread, process };
    return plan->thread_count > 0 && bsearch(&wanted, plan->threads, plan->thread_count,
                                             sizeof wanted, by_tid_and_process) != NULL;
}

bool query_selects_thread(const query_plan *plan, u32 process, u32 thread)
{
    return !query_selects_threads(plan->query) || lists_thread(plan, 0, thread) ||
           lists_thread(plan, process, thread);
}
