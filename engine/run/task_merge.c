/*
 * task_merge.c - puts together what the tasks of a slice found, on one thread, between scanning and
 * ordering.
 *
 * In: the scan_output of each task. Out: definitions of stack keys, system events in order of time,
 * and notes, in merged_tasks; new stacks with their final numbers, diagnostics, thread names and
 * marks in the result.
 *
 * Tasks are taken in their order, never in the order in which they finished, so numbers and lists
 * do not depend on threads. A stream's tasks follow each other, so the position in the merged list
 * (`order`) decides ties within one tick of a stream. Invariant: mended times come first
 * (tasks_mend_times); later code relies on no event being earlier than any record can be.
 */
#include "task_merge.h"

#include <stdlib.h>

static bool merge_task(merged_tasks *merged, const scan_output *task);
static bool merge_thread_names(etlheap_result *result, const scan_output *task);
static bool merge_marks(etlheap_result *result, const scan_output *task);
static bool ensure_span(etlheap_result *result, const memory_event *events, const pid_span *span,
                        bool is_unsorted);

static int by_time(const void *a, const void *b)
{
    const system_event *const x = a, *const y = b;
    if (x->ticks != y->ticks)
        return x->ticks < y->ticks ? -1 : 1;
    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Some records become two events. */
static bool is_second(const memory_event *event)
{
    return (event->op >= OP_REALLOC_OLD && event->op <= OP_REALLOC_CLOSE) ||
           event->op == OP_RESERVE;
}

static void mend(i64 *ticks, i64 earliest_ticks, i64 to_ticks)
{
    *ticks = *ticks < earliest_ticks ? to_ticks : *ticks;
}

/* Mends the times of one task. Its events may be out of order afterwards, because the following
 * ones may lie before time zero too. */
static u64 mend_task(scan_output *task, i64 earliest_ticks, i64 to_ticks)
{
    u64 count = 0;
    i64 latest = INT64_MIN;
    for (size_t i = 0; i < task->events.count; i++) {
        memory_event *const event = &task->events.at[i];
        count += event->ticks < earliest_ticks && !is_second(event);
        mend(&event->ticks, earliest_ticks, to_ticks);
        task->is_unsorted |= event->ticks < latest;
        latest = event->ticks;
    }
    for (size_t i = 0; i < task->spans.count; i++) {
        mend(&task->spans.at[i].first_ticks, earliest_ticks, to_ticks);
        mend(&task->spans.at[i].last_ticks, earliest_ticks, to_ticks);
    }
    for (size_t i = 0; i < task->sample.count; i++)
        mend(&task->sample.at[i], earliest_ticks, to_ticks);
    return count;
}

void tasks_mend_times(scan_output *tasks, u32 task_count, i64 earliest_ticks,
                      etlheap_result *result)
{
    const i64 to_ticks = result->base.base->header_ticks;
    u64 count = 0;
    for (u32 i = 0; i < task_count; i++) {
        scan_output *const task = &tasks[i];
        const bool may_have = task->spans.count > 0 &&
                              (task->is_unsorted || task->spans.at[0].first_ticks < earliest_ticks);
        const u64 mended = may_have ? mend_task(task, earliest_ticks, to_ticks) : 0;
        /* The trace ends after them, too. */
        if (mended > 0 && task->last_ticks < to_ticks)
            task->last_ticks = to_ticks;
        count += mended;
    }
    for (u32 i = 0; i < task_count && count > 0; i++) {
        for (size_t k = 0; k < tasks[i].pieces.count; k++)
            mend(&tasks[i].pieces.at[k].event_ticks, earliest_ticks, to_ticks);
        for (size_t k = 0; k < tasks[i].targets.count; k++)
            mend(&tasks[i].targets.at[k].ticks, earliest_ticks, to_ticks);
    }
    etl_diag_add(&result->diag, ETL_DIAG_time_before_start, count);
}

bool tasks_merge(merged_tasks *merged, scan_output *tasks, u32 task_count, etlheap_result *result)
{
    merged->definitions.count = 0;
    merged->system.count = 0;
    for (u32 i = 0; i < task_count; i++) {
        scan_output *const task = &tasks[i];
        if (task->status != ETL_OK || !scan_merge_stacks(task, &result->stacks))
            return false;
        etl_diag_merge(&result->diag, &task->diag);
        if (task->last_ticks > result->last_ticks)
            result->last_ticks = task->last_ticks;
        if (!merge_task(merged, task) || !merge_thread_names(result, task) ||
            !merge_marks(result, task))
            return false;
    }
    if (merged->system.count > 0)
        qsort(merged->system.at, merged->system.count, sizeof *merged->system.at, by_time);
    return true;
}

/* Appends the lists of one task. A stream's tasks follow each other, so the position of a row
 * decides the order within one tick of its stream. */
static bool merge_task(merged_tasks *merged, const scan_output *task)
{
    for (size_t i = 0; i < task->definitions.count; i++) {
        key_definition row = task->definitions.at[i];
        row.order = (u32)merged->definitions.count;
        if (!ETLHEAP_PUSH(&merged->definitions, row))
            return false;
    }
    for (size_t i = 0; i < task->system.count; i++) {
        system_event row = task->system.at[i];
        row.order = (u32)merged->system.count;
        if (!ETLHEAP_PUSH(&merged->system, row))
            return false;
    }
    for (size_t i = 0; i < task->heap_notes.count; i++) {
        if (!ETLHEAP_PUSH(&merged->heap_notes, task->heap_notes.at[i]))
            return false;
    }
    for (size_t i = 0; i < task->memory_notes.count; i++) {
        if (!ETLHEAP_PUSH(&merged->memory_notes, task->memory_notes.at[i]))
            return false;
    }
    return true;
}

static bool merge_thread_names(etlheap_result *result, const scan_output *task)
{
    for (size_t i = 0; i < task->thread_names.count; i++) {
        if (!thread_names_add(&result->thread_names, &task->thread_names.at[i],
                              &result->context.strings))
            return false;
    }
    return true;
}

static bool merge_marks(etlheap_result *result, const scan_output *task)
{
    for (size_t i = 0; i < task->marks.count; i++) {
        if (!mark_list_add(&result->marks, &task->marks.at[i], &result->context.strings))
            return false;
    }
    return true;
}

static bool ensure_processes(const scan_output *tasks, u32 task_count, etlheap_result *result)
{
    for (u32 i = 0; i < task_count; i++) {
        const scan_output *const task = &tasks[i];
        const memory_event *events = task->events.at;
        for (size_t k = 0; k < task->spans.count; k++) {
            if (!ensure_span(result, events, &task->spans.at[k], task->is_unsorted))
                return false;
            events += task->spans.at[k].count;
        }
    }
    return true;
}

bool tasks_apply_context(const merged_tasks *merged, scan_output *tasks, u32 task_count,
                         etlheap_result *result)
{
    trace_context *const context = &result->context;
    return context_apply(context, merged->system.at, merged->system.count) &&
           (!result->keeps_named_kinds || scan_name_views(tasks, task_count, &context->files)) &&
           ensure_processes(tasks, task_count, result);
}

/* Makes sure that the process of each event of a span exists. An answer holds up to `until_ticks`,
 * so few events have to ask. */
static bool ensure_span(etlheap_result *result, const memory_event *events, const pid_span *span,
                        bool is_unsorted)
{
    i64 until_ticks = INT64_MIN;
    for (u32 i = 0; i < span->count; i++) {
        const i64 ticks = events[i].ticks;
        result->first_ticks = ticks < result->first_ticks ? ticks : result->first_ticks;
        if (i == 0 || is_unsorted || ticks > until_ticks) {
            if (!context_ensure_until(&result->context, span->pid, ticks, &until_ticks))
                return false;
        }
        if (!is_unsorted && until_ticks >= span->last_ticks)
            break;
    }
    return true;
}

void tasks_note_ends(const merged_tasks *merged, const trace_context *context, i64 *until_ticks)
{
    for (size_t i = 0; i < merged->system.count; i++) {
        const system_event *const row = &merged->system.at[i];
        const i64 wanted_ticks =
            etl_sat_add_i64(context_counts_from(context, row->ticks), context->after_end_ticks);
        const bool ends_something = row->event.kind == ETL_EVENT_PROCESS_END ||
                                    row->event.kind == ETL_EVENT_PROCESS_START ||
                                    row->event.kind == ETL_EVENT_HEAP_DESTROY;
        if (ends_something && wanted_ticks > *until_ticks)
            *until_ticks = wanted_ticks;
    }
}

void merged_tasks_free(merged_tasks *merged)
{
    ETLHEAP_VECTOR_FREE(&merged->definitions);
    ETLHEAP_VECTOR_FREE(&merged->system);
    ETLHEAP_VECTOR_FREE(&merged->heap_notes);
    ETLHEAP_VECTOR_FREE(&merged->memory_notes);
}
