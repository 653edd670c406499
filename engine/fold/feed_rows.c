/*
 * feed_rows.c - numbers the origins of rows in memory, and hands the rows out in batches.
 *
 * In: the segments of a result's store: all memory of a result without a log, else ranges, extents
 * and custom blocks. Out: an origin for each row, and calls of a step with a lifetimes_batch that
 * points into the columns of a segment.
 *
 *     segment      alloc_ticks | free_ticks | size | ... | kind    columns of the store
 *     origin_of    one number a row, made here once for all questions
 *
 * Rows of one stack come one after the other and mostly have one origin, so the last origin of each
 * stack is tried before the hash. Invariant: numbers follow the order of rows, which does not
 * depend on threads. What a fold makes of batches must not depend on their order, because any task
 * may get any segment.
 */
#include "feed_rows.h"

#include <stdlib.h>

#include "engine/core/cancel.h"
#include "engine/core/workers.h"
#include "engine/table/table.h"

/* Has a process, or the kernel, several epochs? Most have one, and then no search is needed. */
typedef enum epochs_known { EPOCHS_UNKNOWN, EPOCHS_ONE, EPOCHS_MANY } epochs_known;

/* The numbering of origins. */
typedef struct origin_maker {
    const etlheap_result *result;
    row_origins *out;
    bool by_free; /* of frees */
    etlheap_index index;
    table_ids latest; /* by stack: the origin of its last row + 1; 0: none yet */
    u8 *epochs;       /* by process: epochs_known */
    bool kernel_has_epochs;
} origin_maker;

static bool same_origin(const void *owner, u32 id, const void *key)
{
    const row_origins *const origins = owner;
    return memcmp(&origins->list.at[id - 1].key, key, sizeof(origin_key)) == 0;
}

static u32 epoch_of(const origin_maker *maker, u32 process, i64 ticks)
{
    const module_table *const modules = &maker->result->modules;
    const u32 pid = maker->result->processes.at[process - 1].pid;
    u8 *const known = &maker->epochs[process];
    if (*known == EPOCHS_UNKNOWN)
        *known = modules_has_epochs(modules, pid) ? EPOCHS_MANY : EPOCHS_ONE;
    return *known == EPOCHS_MANY ? modules_epoch(modules, pid, ticks) : 0;
}

static i64 ticks_of(const origin_maker *maker, const store_segment *segment, u32 at)
{
    return maker->by_free ? segment->free_ticks[at] : segment->alloc_ticks[at];
}

static origin_key key_of(const origin_maker *maker, const store_segment *segment, u32 at)
{
    const i64 ticks = ticks_of(maker, segment, at);
    origin_key key = { .heap = segment->heap_handle[at],
                       .process = segment->process[at],
                       .stack = maker->by_free ? segment->free_stack[at] : segment->stack[at],
                       .kind = segment->kind[at] };
    if (maker->epochs != NULL) {
        const u32 of = foreign_process(&maker->result->foreign, key.stack, key.process);
        key.epoch = epoch_of(maker, of, ticks);
        key.kernel_epoch =
            maker->kernel_has_epochs ? modules_epoch(&maker->result->modules, 0, ticks) : 0;
    }
    return key;
}

/* Finds or adds the origin of a key: its index. False if memory runs out. */
static bool find_origin(origin_maker *maker, const origin_key *key, u32 *origin)
{
    row_origins *const out = maker->out;
    if (!table_ids_fit(&maker->latest, key->stack + (size_t)1))
        return false;
    u32 *const latest = &maker->latest.at[key->stack];
    if (*latest == 0 || !same_origin(out, *latest, key)) {
        const u64 hash = etlheap_hash_bytes(key, sizeof *key);
        u32 id = etlheap_index_find(&maker->index, hash, same_origin, out, key);
        if (id == 0) {
            const row_origin made = { .key = *key,
                                      .first_ticks = INT64_MAX,
                                      .last_ticks = INT64_MIN,
                                      .until_ticks = INT64_MIN };
            id = (u32)out->list.count + 1;
            if (!ETLHEAP_PUSH(&out->list, made) || !etlheap_index_add(&maker->index, hash, id))
                return false;
        }
        *latest = id;
    }
    *origin = *latest - 1;
    return true;
}

static void note_row(row_origin *origin, const store_segment *segment, u32 at, i64 ticks)
{
    const bool is_exited = segment->free_type[at] == ETLHEAP_FREE_PROCESS_EXIT;
    const i64 end_ticks = is_exited ? ETLHEAP_TICKS_NEVER : segment->free_ticks[at];
    if (ticks < origin->first_ticks)
        origin->first_ticks = ticks;
    if (ticks > origin->last_ticks)
        origin->last_ticks = ticks;
    if (end_ticks > origin->until_ticks)
        origin->until_ticks = end_ticks;
    origin->has_outstanding |= segment->free_ticks[at] == ETLHEAP_TICKS_NEVER;
    origin->has_exited |= is_exited;
}

static bool number_segment(origin_maker *maker, const store_segment *segment, u32 *of_row)
{
    row_origins *const out = maker->out;
    for (u32 at = 0; at < segment->rows; at++) {
        of_row[at] = 0;
        if (maker->by_free && segment->free_stack[at] == 0)
            continue;
        const origin_key key = key_of(maker, segment, at);
        u32 origin;
        if (!find_origin(maker, &key, &origin))
            return false;
        note_row(&out->list.at[origin], segment, at, ticks_of(maker, segment, at));
        of_row[at] = out->first + origin;
    }
    return true;
}

static bool number_rows(const feed_rows *rows, row_origins *out, u32 first, bool by_free,
                        const u32 *cancel)
{
    const etlheap_result *const result = rows->result;
    const u64 count = feed_rows_count(rows);
    origin_maker maker = { .result = result, .out = out, .by_free = by_free };
    *out = (row_origins){ .first = first, .of_row = malloc((count + 1) * sizeof *out->of_row) };
    bool ok = out->of_row != NULL;
    if (ok && result->modules.epochs.count > 0) {
        maker.epochs = calloc(result->processes.count + 1, sizeof *maker.epochs);
        maker.kernel_has_epochs = modules_has_epochs(&result->modules, 0);
        ok = maker.epochs != NULL;
    }
    for (size_t s = 0; ok && s < result->store.segments.count; s++)
        ok = !cancel_is_set(cancel) &&
             number_segment(&maker, &result->store.segments.at[s], out->of_row + rows->starts[s]);
    etlheap_index_free(&maker.index);
    ETLHEAP_VECTOR_FREE(&maker.latest);
    free(maker.epochs);
    return ok;
}

bool feed_rows_open(feed_rows *out, const etlheap_result *result, u32 first, const u32 *cancel)
{
    const lifetime_table *const store = &result->store;
    *out = (feed_rows){ .result = result,
                        .starts = calloc(store->segments.count + 1, sizeof *out->starts) };
    for (size_t s = 0; out->starts != NULL && s < store->segments.count; s++)
        out->starts[s + 1] = out->starts[s] + store->segments.at[s].rows;
    return out->starts != NULL && number_rows(out, &out->origins, first, false, cancel);
}

bool feed_rows_number_freers(feed_rows *rows, u32 first, const u32 *cancel)
{
    return rows->freers.of_row != NULL || number_rows(rows, &rows->freers, first, true, cancel);
}

static void free_origins(row_origins *origins)
{
    ETLHEAP_VECTOR_FREE(&origins->list);
    free(origins->of_row);
}

void feed_rows_close(feed_rows *rows)
{
    free_origins(&rows->origins);
    free_origins(&rows->freers);
    free(rows->starts);
    *rows = (feed_rows){ .result = NULL };
}

i64 feed_rows_alloc_ticks(const feed_rows *rows, u64 ordinal)
{
    size_t next;
    ETL_BISECT(next, 1, rows->result->store.segments.count, rows->starts[next] <= ordinal);
    return rows->result->store.segments.at[next - 1].alloc_ticks[ordinal - rows->starts[next - 1]];
}

/* --- batches -------------------------------------------------------------------------- */

typedef struct rows_work {
    const feed_rows *rows;
    lifetimes_step_fn *step;
    const lifetimes_states *states;
    task_end *tasks;
    u32 next; /* segment */
} rows_work;

/* A whole segment. Its columns are used in place. */
static lifetimes_batch batch_of(const feed_rows *rows, u32 number)
{
    const store_segment *const segment = &rows->result->store.segments.at[number];
    const u64 first = rows->starts[number];
    return (lifetimes_batch){ .count = segment->rows,
                              .first_row = first,
                              .origin = rows->origins.of_row + first,
                              .size = segment->size_bytes,
                              .thread = segment->thread,
                              .address = segment->address,
                              .alloc_ticks = segment->alloc_ticks,
                              .free_ticks = segment->free_ticks,
                              .is_realloc = segment->is_realloc,
                              .is_marked = segment->is_realloc,
                              .how = segment->free_type,
                              .freer =
                                  rows->freers.of_row == NULL ? NULL : rows->freers.of_row + first,
                              .free_thread = segment->free_thread,
                              .kind = segment->kind,
                              .process = segment->process };
}

/* A task takes the next segment whenever it is done with one. */
static void run_task(void *context, u32 number)
{
    rows_work *const work = context;
    task_end *const own = &work->tasks[number];
    while (own->status == ETL_OK) {
        const u32 segment = __atomic_fetch_add(&work->next, 1, __ATOMIC_RELAXED);
        if (segment >= work->rows->result->store.segments.count)
            return;
        const lifetimes_batch batch = batch_of(work->rows, segment);
        if (batch.count > 0)
            own->status = work->step(lifetimes_state_of(work->states, number), &batch, &own->err);
    }
}

etl_status feed_rows_fold(const feed_rows *rows, u32 task_count, lifetimes_step_fn *step,
                          const lifetimes_states *states, etl_error *err)
{
    rows_work work = { .rows = rows,
                       .step = step,
                       .states = states,
                       .tasks = calloc(task_count, sizeof *work.tasks) };
    if (work.tasks == NULL)
        return etl_no_memory(err);
    etlheap_workers_run(task_count, task_count, run_task, &work);
    const etl_status status = task_ends_first(work.tasks, sizeof *work.tasks, task_count, err);
    free(work.tasks);
    return status;
}
