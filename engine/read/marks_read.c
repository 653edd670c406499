/*
 * marks_read.c - reads the marks of traces without analyzing them. etlheap_marks.h is its
 * interface.
 *
 * In: traces, and the events that the user described as marks. Out: marks by time.
 *
 *     plan of buffers    | stretch: N tasks, in parallel | stretch | ...
 *     join               marks of the tasks, in the order of the plan
 *
 * All threads go through the buffers in the order of the plan, one stretch at a time, and read each
 * record only as far as needed to see that it is not a mark. Invariant: stretches and tasks are
 * joined in order, so a stream's marks come in its order, as they do from the scan.
 */
#include <stdlib.h>

#include "engine/core/workers.h"
#include "engine/engine.h"
#include "mark_events.h"
#include "parser/sized.h"
#include "plan.h"
#include "plan_steps.h"

#define BUFFERS_A_TASK  16u
#define TASKS_A_STRETCH 64u

/* The marks that a task found. */
typedef struct mark_task {
    mark_notes notes;
    etlheap_arena arena;
    bool out_of_memory;
} mark_task;

typedef struct marks_run {
    etl_trace *const *traces;
    const etlheap_marks_options *options;
    timebase base;
    read_plan plan;
    mark_events events;
    etlheap_crew *crew;
    u32 first; /* buffer of the stretch */
    u64 done_bytes, total_bytes;
    mark_task tasks[TASKS_A_STRETCH];
} marks_run;

/* Marks with the memory behind them. */
typedef struct owned_marks {
    etlheap_marks marks;
    mark_list list;
    etlheap_strings strings;
} owned_marks;

static bool read_record(const marks_run *run, const etl_record *record, const mark_note *where,
                        mark_task *task)
{
    etl_diag_counts ignored = { { 0 } };
    etl_event event;
    if (etl_record_kind(record) != ETL_EVENT_MARK)
        return mark_events_note(&run->events, record, where, &task->notes, &task->arena);
    return !etl_decode(record, &event, &ignored) ||
           mark_notes_add(&task->notes, where, &event, &task->arena);
}

static bool read_buffer(marks_run *run, mark_task *task, const plan_buffer *planned,
                        etl_scratch *scratch)
{
    const etl_trace *const trace = run->traces[plan_trace(planned->stream)];
    etl_diag_counts ignored = { { 0 } };
    etl_buffer buffer;
    etl_record record;
    if (etl_buffer_load(trace, planned->buffer, scratch, &ignored, &buffer) != ETL_OK)
        return false;
    const tick_map *const map =
        timebase_map(&run->base, plan_trace(planned->stream), buffer.session);
    bool ok = true;
    while (ok && etl_record_next(&buffer, &record)) {
        const mark_note where = { .ticks = tick_map_apply(map, record.ticks),
                                  .stream = planned->stream };
        ok = read_record(run, &record, &where, task);
    }
    return ok;
}

static void read_task(void *context, u32 number)
{
    marks_run *const run = context;
    mark_task *const task = &run->tasks[number];
    const u32 first = run->first + number * BUFFERS_A_TASK;
    etl_scratch scratch = { 0 };
    for (u32 i = first; i < first + BUFFERS_A_TASK && i < run->plan.count; i++) {
        const plan_buffer *const planned = &run->plan.buffers[i];
        const etl_trace *const trace = run->traces[plan_trace(planned->stream)];
        const etl_buffer_info *const info = etl_buffer_info_of(trace, planned->buffer);
        task->out_of_memory |= !read_buffer(run, task, planned, &scratch);
        etl_trace_release(trace, info->offset, info->stored_size);
    }
    etl_scratch_free(&scratch);
}

static bool join_task(mark_task *task, owned_marks *out)
{
    bool ok = !task->out_of_memory;
    for (size_t i = 0; ok && i < task->notes.count; i++)
        ok = mark_list_add(&out->list, &task->notes.at[i], &out->strings);
    ETLHEAP_VECTOR_FREE(&task->notes);
    etlheap_arena_free(&task->arena);
    return ok;
}

/* Reads the buffers of a stretch and joins what they hold. */
static etl_status read_stretch(marks_run *run, owned_marks *out)
{
    const u32 left = run->plan.count - run->first;
    const u32 wanted = (left + BUFFERS_A_TASK - 1) / BUFFERS_A_TASK;
    const u32 count = wanted < TASKS_A_STRETCH ? wanted : TASKS_A_STRETCH;
    bool ok = true;
    etlheap_crew_run(run->crew, count, read_task, run);
    for (u32 i = 0; i < count; i++)
        ok = join_task(&run->tasks[i], out) && ok;
    const u32 end = run->first + (u32)etl_min_u64(left, (u64)count * BUFFERS_A_TASK);
    for (u32 i = run->first; i < end; i++)
        run->done_bytes += run->plan.buffers[i].bytes;
    run->first = end;
    if (!ok)
        return ETL_ERR_MEMORY;
    return run->options->progress == NULL ||
                   run->options->progress(run->options->progress_user, run->done_bytes,
                                          run->total_bytes)
               ? ETL_OK
               : ETL_ERR_CANCELLED;
}

static etl_status open_run(marks_run *run, u32 trace_count)
{
    const etlheap_marks_options *const options = run->options;
    const u32 jobs = etlheap_workers_jobs(options->jobs);
    run->crew = etlheap_crew_open(jobs);
    if (run->crew == NULL || !timebase_open(&run->base, run->traces, trace_count) ||
        !plan_open(&run->plan, run->traces, trace_count, &run->base, 1) ||
        !mark_events_open(&run->events, options->events, options->event_count, run->traces,
                          trace_count))
        return ETL_ERR_MEMORY;
    for (u32 i = 0; i < run->plan.count; i++)
        run->total_bytes += run->plan.buffers[i].bytes;
    return ETL_OK;
}

static void close_run(marks_run *run)
{
    if (run == NULL)
        return;
    etlheap_crew_close(run->crew);
    mark_events_close(&run->events);
    plan_close(&run->plan);
    timebase_close(&run->base);
    free(run);
}

etl_status etlheap_marks_read(etl_trace *const *traces, u32 trace_count,
                              const etlheap_marks_options *options, etlheap_marks **out,
                              etl_error *err)
{
    etlheap_marks_options own = { .size = sizeof own };
    *out = NULL;
    etl_status status = etl_read_sized(options, "etlheap_marks_options", &own, sizeof own, err);
    if (status != ETL_OK)
        return status;
    if (trace_count == 0)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "no trace to read");
    status = traces_index_rest(traces, trace_count, err);
    if (status != ETL_OK)
        return status;
    marks_run *const run = calloc(1, sizeof *run);
    owned_marks *const made = calloc(1, sizeof *made);
    status = run == NULL || made == NULL ? ETL_ERR_MEMORY : ETL_OK;
    if (status == ETL_OK) {
        run->traces = traces;
        run->options = &own;
        status = open_run(run, trace_count);
    }
    while (status == ETL_OK && run->first < run->plan.count)
        status = read_stretch(run, made);
    if (status == ETL_OK && !mark_list_make(&made->list, &made->strings, run->base.base))
        status = ETL_ERR_MEMORY;
    close_run(run);
    if (status == ETL_OK) {
        made->marks = made->list.marks;
        *out = &made->marks;
        return ETL_OK;
    }
    if (made != NULL)
        etlheap_marks_free(&made->marks);
    return etl_fail_with(err, status, 0, "%s",
                         status == ETL_ERR_MEMORY ? "out of memory" : "cancelled");
}

void etlheap_marks_free(etlheap_marks *marks)
{
    owned_marks *const owned = (owned_marks *)marks;
    static_assert(offsetof(owned_marks, marks) == 0, "marks are the begin of what owns them");
    if (owned == NULL)
        return;
    mark_list_free(&owned->list);
    etlheap_strings_free(&owned->strings);
    free(owned);
}
