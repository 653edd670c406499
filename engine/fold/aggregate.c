/*
 * aggregate.c - opens and closes an aggregator: what a query reads of blocks, which processes and
 * threads have the same name, and the names that decide about frames.
 *
 * In: a result and a query. Out: an aggregator, whose keys and groups are in group_keys.c.
 * Invariant: names that decide about frames are known (aggregate_finish_stacks) before the first
 * key is.
 */
#include "aggregate.h"

#include <stdlib.h>

#include "engine/query/keys.h"
#include "engine/query/needs.h"
#include "free_groups.h"
#include "summary_answer.h"
#include "row_spans.h"
#include "origin_groups.h"

static bool is_answered(const aggregator *a);
static bool group_thread_names(aggregator *a);

etl_status aggregate_open(aggregator *a, const etlheap_result *result, const etlheap_query *query,
                          etl_error *err)
{
    const etl_status status = aggregate_prepare(a, result, query, err);
    if (status == ETL_OK && result->summary == NULL && etlheap_result_is_for_questions(result) &&
        !is_answered(a))
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "the analysis kept no lifetimes, which this question needs");
    return status;
}

etl_status aggregate_prepare(aggregator *a, const etlheap_result *result,
                             const etlheap_query *query, etl_error *err)
{
    const u32 of_stacks = KEY_READS(STACK) | KEY_READS(FRAME) | KEY_READS(MODULE) |
                          KEY_READS(TYPE_NAME) | KEY_READS(TAG) | KEY_READS(IMPACT) |
                          KEY_READS(SOURCE_LINE) | KEY_READS(FUNCTION);
    *a = (aggregator){ .result = result, .query = query };
    etl_status status = query_open(&a->plan, result, query, err);
    if (status != ETL_OK)
        return status;
    aggregate_keep_measure(a, ETLHEAP_MEASURE_PEAK_SIZE);
    const etlheap_measure_set measures = etlheap_query_measures(query);
    const etlheap_measure_set apart = /* function_rows.c */
        ETLHEAP_MEASURE_BIT(EXCLUSIVE_COUNT) | ETLHEAP_MEASURE_BIT(EXCLUSIVE_SIZE);
    for (u32 i = 0; i < ETLHEAP_MEASURES_COUNT; i++) {
        if (((measures & ~apart) >> i & 1) != 0)
            aggregate_keep_measure(a, (etlheap_measure)i);
    }
    a->wants_stack = query_selects_frames(query) || query_reads(query, of_stacks);
    a->wants_free_stack = query_needs(query, NEEDS_FREE_STACKS);
    a->spans = calloc(1, sizeof *a->spans);
    if (a->spans == NULL || !aggregate_same_names(a) || !row_spans_open(a->spans, a, false) ||
        !group_thread_names(a) || !frames_open(&a->frames, result, query))
        return etl_no_memory(err);
    return ETL_OK;
}

void aggregate_close(aggregator *a)
{
    frames_close(&a->frames);
    query_close(&a->plan);
    ETLHEAP_VECTOR_FREE(&a->groups);
    ETLHEAP_VECTOR_FREE(&a->measures);
    ETLHEAP_VECTOR_FREE(&a->exclusive);
    ETLHEAP_VECTOR_FREE(&a->by_stack);
    lifetime_lists_free(&a->lifetimes);
    etlheap_index_free(&a->index);
    if (a->spans != NULL)
        row_spans_close(a->spans);
    free(a->spans);
    free(a->same_name);
    free(a->order);
    free(a->thread_name_groups);
    a->spans = NULL;
    a->same_name = a->order = a->thread_name_groups = NULL;
}

/* Can the result answer? An event list answers only for its own window, a store for any. */
static bool is_answered(const aggregator *a)
{
    const event_list *const list = &a->result->event_list;
    if (a->result->mode == RESULT_STORE)
        return true;
    if (list->cuts.session != NULL || (query_needs(a->query, NEEDS_TIMES) && !list->keeps_clock))
        return false;
    const bool same_start = list->from_ticks == a->plan.from_ticks ||
                            (list->from_ticks == INT64_MIN && a->query->from_ns == INT64_MIN);
    const bool same_end = list->to_ticks == a->plan.to_ticks ||
                          (list->to_ticks == INT64_MAX && a->query->to_ns == INT64_MAX);
    if (list->is_tallied && !query_asks_sums(a->query))
        return false;
    return !query_needs(a->query, NEEDS_BLOCKS) && a->query->kind_to_ticks == NULL && same_start &&
           same_end && list->exit_frees == a->query->at_exit_freed;
}

static int by_name(const void *a, const void *b)
{
    const named_process *const x = a, *const y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    const int order = strcmp(x->name, y->name);
    return order != 0 ? order : (x->id > y->id) - (x->id < y->id);
}

/* Finds, for each process, the first one with the same name and id: both are one row. */
bool aggregate_same_names(aggregator *a)
{
    const size_t count = a->result->processes.count;
    const bool names_only = a->query != NULL && a->query->processes_by_name;
    named_process *const sorted = calloc(count + 1, sizeof *sorted);
    a->same_name = calloc(count + 1, sizeof *a->same_name);
    if (sorted == NULL || a->same_name == NULL) {
        free(sorted);
        return false;
    }
    for (u32 i = 0; i < count; i++) {
        const etlheap_process_info *const info = &a->result->processes.at[i];
        sorted[i] = (named_process){ info->name, names_only ? ETL_NO_ID : info->pid, i + 1 };
    }
    qsort(sorted, count, sizeof *sorted, by_name);
    for (size_t i = 0; i < count; i++) {
        const bool same = i > 0 && sorted[i - 1].pid == sorted[i].pid &&
                          strcmp(sorted[i - 1].name, sorted[i].name) == 0;
        a->same_name[sorted[i].id] = same ? a->same_name[sorted[i - 1].id] : sorted[i].id;
    }
    free(sorted);
    return true;
}

/* For qsort: the names of a result, by text. */
static int by_text(const void *a, const void *b)
{
    const named_process *const x = a, *const y = b;
    const int order = strcmp(x->name, y->name);
    return order != 0 ? order : (x->id > y->id) - (x->id < y->id);
}

/* Gives threads of the same name the same number, so that they become one row. */
static bool group_thread_names(aggregator *a)
{
    const thread_names *const names = &a->result->thread_names;
    const size_t count = names->list.count;
    if (!query_groups_by(a->query, ETLHEAP_KEY_THREAD_NAME))
        return true;
    named_process *const sorted = calloc(count + 1, sizeof *sorted);
    a->thread_name_groups = calloc(count + 1, sizeof *a->thread_name_groups);
    const bool ok = sorted != NULL && a->thread_name_groups != NULL;
    for (u32 i = 0; ok && i < count; i++)
        sorted[i] = (named_process){ .name = names->list.at[i].name, .id = i };
    if (ok && count > 0)
        qsort(sorted, count, sizeof *sorted, by_text);
    for (size_t i = 0, first = 0; ok && i < count; i++) {
        first = strcmp(sorted[first].name, sorted[i].name) == 0 ? first : i;
        a->thread_name_groups[sorted[i].id] = sorted[first].id + 1;
    }
    free(sorted);
    return ok;
}

etl_status aggregate_finish_stacks(aggregator *a, const feed_rows *rows, etl_error *err)
{
    if (a->query->symbols == NULL || !(a->wants_stack || a->wants_free_stack))
        return ETL_OK;
    origin_groups origins = { .of_origin = NULL };
    free_groups frees = { .of_freer = NULL };
    a->is_collecting = true;
    const bool ok = a->result->summary != NULL
                        ? summary_rows(a)
                        : origin_groups_open(&origins, a, rows, true) &&
                              (!a->wants_free_stack || free_groups_open(&frees, a, rows));
    origin_groups_close(&origins);
    free_groups_close(&frees);
    a->is_collecting = false;
    if (!ok)
        return etl_no_memory(err);
    return frames_finish(&a->frames, err);
}
