/*
 * name_selection.c - the processes and threads that the words of a query name.
 *
 * In: the words, and the processes and named threads of a result. Out: a flag for each process, and
 * a sorted list of threads, in the plan.
 *
 * Names are searched in an index of the words (process_words.h, globs.h). Invariant: what is
 * selected is what trying every word on every name selects.
 */
#include <stdlib.h>

#include "globs.h"
#include "engine/result/result_part.h"
#include "process_words.h"
#include "query.h"

static bool mark_named_processes(query_plan *plan)
{
    process_words words;
    const bool ok = process_words_open(&words, plan->query->processes, plan->query->process_count);
    if (ok)
        process_words_select(&words, plan->result, plan->process_selected + 1);
    plan->name_steps += words.names.steps;
    process_words_close(&words);
    return ok;
}

bool query_select_processes(query_plan *plan)
{
    const size_t count = plan->result->processes.count;
    plan->process_selected = calloc(count + 1, sizeof *plan->process_selected);
    if (plan->process_selected == NULL)
        return false;
    if (plan->query->process_count > 0 && !mark_named_processes(plan))
        return false;
    for (size_t i = 1; i <= count; i++) {
        plan->process_selected[i] |= plan->query->process_count == 0;
        plan->process_selected[i] &= result_part_has(&plan->result->part, (u32)i);
    }
    return true;
}

static bool add_named_threads(query_plan *plan)
{
    const etlheap_query *const query = plan->query;
    const thread_names *const names = &plan->result->thread_names;
    etlheap_globs *const globs = etlheap_globs_open(query->thread_names, query->thread_name_count);
    for (size_t i = 0; globs != NULL && i < names->list.count; i++) {
        const thread_name *const name = &names->list.at[i];
        if (name->process != 0 && etlheap_globs_match(globs, name->name))
            plan->threads[plan->thread_count++] = (selected_thread){ name->tid, name->process };
    }
    plan->name_steps += globs == NULL ? 0 : globs_steps(globs);
    const bool ok = globs != NULL;
    etlheap_globs_free(globs);
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
