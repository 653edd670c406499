/*
 * lifetimes_fold.c - hands every heap block of a log to a step function, in batches, by all
 * threads. lifetimes_source.h declares it and explains chunks.
 *
 * In: a source, which finds the ends of a chunk's blocks. Out: calls of the step with a
 * lifetimes_batch; each task passes its own state.
 *
 *     chunk        blocks of the checkpoint | segment | segment | segment | segment
 *     pieces       \_________________ piece 0 ____/ \____ 1 ____/ \____ 2 ____/ ...
 *     ends         end_ticks[i] of block i of the chunk; a batch points into these arrays
 *
 * A task takes the next piece whenever it is done with one, because blocks of some segments take
 * longer than others. The allocations of a batch of events lie in consecutive rows, so most columns
 * are used where they were decoded. Invariant: within a chunk, ordinals ascend within each task.
 * Folds that need the order of allocations (churn.c) rely on it.
 */
#include <stdlib.h>

#include "engine/core/workers.h"
#include "lifetimes_source.h"

#define PIECES_PER_TASK 16u

#define WANTED (EHS_WANT_TICKS | EHS_WANT_ORIGIN | EHS_WANT_SIZE | EHS_WANT_IS_REALLOC)

/* One task: its reader, and the arrays that its batches point to. */
typedef struct fold_task {
    log_reader reader;
    u32 ordinal[LOG_BATCH_ROWS];
    i64 alloc_ticks[LOG_BATCH_ROWS];
    task_end outcome;
} fold_task;

typedef struct fold_work {
    const lifetimes_source *source;
    u32 task_count;
    fold_task *tasks;
    lifetimes_step_fn *step;
    const lifetimes_states *states;
    u32 piece_count;
    u32 next; /* piece of the chunk */
} fold_work;

static etl_status fold_chunk(fold_work *work, etl_error *err);
static void run_task(void *context, u32 number);
static etl_status fold_open(fold_work *work, u32 number);
static etl_status fold_segment(fold_work *work, u32 number, u32 segment);
static bool gather(const lifetimes_source *source, const log_batch *from, fold_task *own,
                   lifetimes_batch *out);

etl_status lifetimes_source_fold(lifetimes_source *source, u32 task_count, lifetimes_step_fn *step,
                                 const lifetimes_states *states, etl_error *err)
{
    fold_work work = { .source = source,
                       .task_count = task_count,
                       .tasks = calloc(task_count, sizeof *work.tasks),
                       .step = step,
                       .states = states,
                       .piece_count = task_count == 1 ? 1 : task_count * PIECES_PER_TASK };
    etl_status status = ETL_OK;
    if (work.tasks == NULL)
        return etl_no_memory(err);
    for (u32 i = 0; status == ETL_OK && i < task_count; i++)
        status = archive_read(source->archive, WANTED | source->wanted.more, source->wanted.cancel,
                              &work.tasks[i].reader, err);
    for (u32 first = source->first; status == ETL_OK; first = source->chunk.end) {
        lifetimes_source_seek(source, first);
        if (source->chunk.count == 0 && source->chunk.end == source->end)
            break;
        status = lifetimes_source_find_ends(source, err);
        if (status == ETL_OK)
            status = fold_chunk(&work, err);
        if (source->chunk.end == source->end)
            break;
    }
    for (u32 i = 0; i < task_count; i++)
        log_reader_close(&work.tasks[i].reader);
    free(work.tasks);
    return status;
}

static etl_status fold_chunk(fold_work *work, etl_error *err)
{
    work->next = 0;
    etlheap_workers_run(work->source->wanted.jobs, work->task_count, run_task, work);
    return task_ends_first(&work->tasks->outcome, sizeof *work->tasks, work->task_count, err);
}

/* The first segment of a piece. */
static u32 first_of_piece(const fold_work *work, u32 piece)
{
    const lifetimes_chunk *const chunk = &work->source->chunk;
    const u64 segments = chunk->end - chunk->first;
    return chunk->first + (u32)(segments * piece / work->piece_count);
}

/* The first piece also has the blocks of the checkpoint, which come before all others. */
static void run_piece(fold_work *work, u32 task, u32 piece)
{
    const lifetimes_source *const source = work->source;
    const u32 first = first_of_piece(work, piece), end = first_of_piece(work, piece + 1);
    fold_task *const own = &work->tasks[task];
    if (piece == 0)
        own->outcome.status = fold_open(work, task);
    for (u32 segment = first; own->outcome.status == ETL_OK && segment < end; segment++) {
        if (lifetimes_source_wants(source, segment))
            own->outcome.status = fold_segment(work, task, segment);
    }
}

static void run_task(void *context, u32 task)
{
    fold_work *const work = context;
    work->tasks[task].outcome.status = ETL_OK;
    for (;;) {
        const u32 piece = __atomic_fetch_add(&work->next, 1, __ATOMIC_RELAXED);
        if (piece >= work->piece_count || work->tasks[task].outcome.status != ETL_OK)
            return;
        run_piece(work, task, piece);
    }
}

static inline bool wants_threads(const lifetimes_source *source)
{
    return (source->wanted.more & EHS_WANT_THREAD) != 0;
}

static etl_status fold_open(fold_work *work, u32 number)
{
    const lifetimes_source *const source = work->source;
    const ehs_open_rows *const open = &source->open;
    etl_status status = ETL_OK;
    for (u64 at = 0; status == ETL_OK && at < source->chunk.open_count; at += LOG_BATCH_ROWS) {
        const lifetimes_batch batch = {
            .count = (u32)etl_min_u64(LOG_BATCH_ROWS, source->chunk.open_count - at),
            .ordinal = open->ordinal + at,
            .origin = open->origin + at,
            .size = open->size + at,
            .thread = wants_threads(source) ? open->thread + at : NULL,
            .address = open->address + at,
            .alloc_ticks = open->ticks + at,
            .free_ticks = source->end_ticks + at,
            .is_realloc = open->is_realloc + at,
            .is_marked = source->is_marked + at,
            .how = source->end_how + at,
            .freer = source->end_freer == NULL ? NULL : source->end_freer + at,
            .free_thread = source->end_thread == NULL ? NULL : source->end_thread + at,
            .end_allocs = source->end_allocs == NULL ? NULL : source->end_allocs + at,
        };
        status = work->step(lifetimes_state_of(work->states, number), &batch,
                            &work->tasks[number].outcome.err);
    }
    return status;
}

static etl_status fold_segment(fold_work *work, u32 number, u32 segment)
{
    fold_task *const own = &work->tasks[number];
    const log_batch *from = NULL;
    log_reader_seek(&own->reader, segment, segment + 1);
    etl_status status = log_next(&own->reader, &from, &own->outcome.err);
    while (status == ETL_OK && from != NULL) {
        lifetimes_batch batch;
        if (!gather(work->source, from, own, &batch))
            return etl_fail_with(&own->outcome.err, ETL_ERR_CORRUPT, 0,
                                 "segment %u names an origin that does not exist", segment);
        if (batch.count > 0)
            status =
                work->step(lifetimes_state_of(work->states, number), &batch, &own->outcome.err);
        if (status == ETL_OK)
            status = log_next(&own->reader, &from, &own->outcome.err);
    }
    return status;
}

/* The blocks that a batch of events opens. Their rows are consecutive, so the columns are used in
 * place. False if a block names an origin that does not exist. */
static bool gather(const lifetimes_source *source, const log_batch *from, fold_task *own,
                   lifetimes_batch *out)
{
    const lifetimes_chunk *const chunk = &source->chunk;
    const size_t origins = source->archive->origins.origins.count;
    u32 count = 0, row = 0;
    bool is_right = true;
    for (u32 i = 0; i < from->count; i++) {
        own->ordinal[count] = from->ordinal[i];
        own->alloc_ticks[count] = from->ticks[i];
        row = log_opens(from, i) ? from->row[i] : row;
        count += log_opens(from, i);
    }
    *out = (lifetimes_batch){ .count = count };
    if (count == 0)
        return true;
    const u32 first = row + 1 - count;
    for (u32 i = 0; i < count; i++)
        is_right &= from->origin[first + i] - (u64)1 < origins;
    const u64 at = chunk->open_count + (own->ordinal[0] - chunk->first_ordinal);
    *out = (lifetimes_batch){ .count = count,
                              .ordinal = own->ordinal,
                              .origin = from->origin + first,
                              .size = from->size + first,
                              .thread = wants_threads(source) ? from->thread + first : NULL,
                              .address = from->address + first,
                              .alloc_ticks = own->alloc_ticks,
                              .free_ticks = source->end_ticks + at,
                              .is_realloc = from->is_realloc + first,
                              .is_marked = source->is_marked + at,
                              .how = source->end_how + at,
                              .freer = source->end_freer == NULL ? NULL : source->end_freer + at,
                              .free_thread =
                                  source->end_thread == NULL ? NULL : source->end_thread + at,
                              .end_allocs =
                                  source->end_allocs == NULL ? NULL : source->end_allocs + at };
    return is_right;
}
