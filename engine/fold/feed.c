/*
 * feed.c - reads the blocks of a result once for all folds that want them. feed.h draws the
 * sources.
 *
 * In: wants of blocks, from several questions. Out: batches, handed to the step of each want.
 *
 *     wants ──▶ those of one source ──▶ same number of tasks ──▶ same selection ──▶ one reading
 *
 * Invariant: the types in a batch (block_selection.h) are filled in once for each run of wants that
 * select alike, so wants of one selection must follow each other.
 */
#include "feed.h"

#include <stdlib.h>

#include "block_selection.h"
#include "engine/core/cancel.h"
#include "engine/core/workers.h"
#include "engine/query/needs.h"

#define SLICE 512u /* blocks that all wants look at while their columns are in the cache */

/* Wants of blocks that share a reading, and how a task finds their states. */
typedef struct shared_step {
    const block_want *wants;
    const bool *is_first; /* of each want: it selects other blocks than the one before */
    u32 count;
    u32 task;
    u8 types[SLICE];
} shared_step;

void feed_close(block_feed *feed)
{
    feed_rows_close(&feed->rows);
    ETLHEAP_VECTOR_FREE(&feed->wants);
}

u32 feed_tasks(const etlheap_query *query)
{
    return etlheap_workers_jobs(query->jobs);
}

etl_status feed_number(block_feed *feed, const aggregator *a, etl_error *err)
{
    const u32 *const cancel = a->query->cancel;
    const etlheap_result *const result = a->result;
    const bool has_log = etlheap_result_is_for_questions(result);
    const u32 origins = has_log ? (u32)result->origin_table.origins.count : 0;
    const u32 freers = has_log ? (u32)result->freers.origins.count : 0;
    assert(feed->result == NULL || feed->result == result);
    u64 own = 0;
    if (feed->result == NULL) {
        const u64 bytes = result->store.rows * sizeof *feed->rows.origins.of_row;
        const etl_status status = memory_hold(a->plan.memory, &own, bytes, err);
        if (status != ETL_OK)
            return status;
    }
    bool ok = feed->result != NULL || feed_rows_open(&feed->rows, result, origins + 1, cancel);
    feed->result = ok ? result : NULL;
    if (ok && query_needs(a->query, NEEDS_FREES))
        ok = feed_rows_number_freers(&feed->rows, freers + 1, cancel);
    return ok ? ETL_OK : cancelled_or_no_memory(cancel, err);
}

etl_status feed_groups(block_feed *feed, aggregator *a, origin_groups *out, etl_error *err)
{
    etl_status status = feed_number(feed, a, err);
    if (status == ETL_OK)
        status = aggregate_finish_stacks(a, &feed->rows, err);
    if (status == ETL_OK && !origin_groups_open(out, a, &feed->rows, true))
        return etl_no_memory(err);
    return status == ETL_OK ? origin_groups_count(out, err) : status;
}

/* --- what wants share ------------------------------------------------------------------ */

static lifetimes_wanted wanted_by(const block_want *want)
{
    lifetimes_wanted wanted = lifetimes_wanted_for(want->plan);
    if (want->churns) {
        wanted.counts_allocs = true;
        wanted.size_min_bytes = 0;
        wanted.size_max_bytes = UINT64_MAX;
    }
    wanted.more |= want->more;
    return wanted;
}

/* Can wants share a reading? */
static bool read_alike(const block_want *a, const block_want *b)
{
    return feed_tasks(a->plan->query) == feed_tasks(b->plan->query) &&
           a->plan->query->cancel == b->plan->query->cancel;
}

static bool selects_alike(const block_want *a, const block_want *b)
{
    return block_selections_equal(a->plan, b->plan);
}

/* Moves the wants that are the same as the first one to the front; returns how many there are. */
static u32 gather_blocks(block_want *wants, u32 count,
                         bool (*is_same)(const block_want *a, const block_want *b))
{
    u32 shared = 1;
    for (u32 i = 1; i < count; i++) {
        if (!is_same(&wants[0], &wants[i]))
            continue;
        const block_want other = wants[shared];
        wants[shared++] = wants[i];
        wants[i] = other;
    }
    return shared;
}

/* Opens the log for all that one of the wants looks at: each selects its own blocks. */
static etl_status open_log(lifetimes_source *out, const block_want *wants, u32 count,
                           etl_error *err)
{
    const query_plan *const plan = wants[0].plan;
    lifetimes_wanted wanted = wanted_by(&wants[0]);
    for (u32 i = 1; i < count; i++) {
        const lifetimes_wanted own = wanted_by(&wants[i]);
        wanted.from_ticks = own.from_ticks < wanted.from_ticks ? own.from_ticks : wanted.from_ticks;
        wanted.to_ticks = own.to_ticks > wanted.to_ticks ? own.to_ticks : wanted.to_ticks;
        wanted.size_min_bytes = etl_min_u64(wanted.size_min_bytes, own.size_min_bytes);
        wanted.size_max_bytes = etl_max_u64(wanted.size_max_bytes, own.size_max_bytes);
        wanted.more |= own.more;
        wanted.has_frees |= own.has_frees;
        wanted.has_free_threads |= own.has_free_threads;
        wanted.counts_allocs |= own.counts_allocs;
    }
    return lifetimes_source_open(out, plan->result->archive, &wanted, err);
}

/* Sorts wants so that those that select alike follow each other, and marks the first of each such
 * run. */
static void sort_alike(block_want *wants, u32 count, bool *is_first)
{
    for (u32 first = 0; first < count;) {
        is_first[first] = true;
        first += gather_blocks(wants + first, count - first, selects_alike);
    }
}

/* A part of a batch. */
static lifetimes_batch slice_of(const lifetimes_batch *batch, u32 first)
{
    lifetimes_batch out = *batch;
    out.count = (u32)etl_min_u64(batch->count - first, SLICE);
    out.ordinal = batch->ordinal == NULL ? NULL : batch->ordinal + first;
    out.first_row += first;
    out.origin += first;
    out.size += first;
    out.thread = batch->thread == NULL ? NULL : batch->thread + first;
    out.address = batch->address == NULL ? NULL : batch->address + first;
    out.alloc_ticks += first;
    out.free_ticks += first;
    out.is_realloc += first;
    out.is_marked += first;
    out.how += first;
    out.freer = batch->freer == NULL ? NULL : batch->freer + first;
    out.free_thread = batch->free_thread == NULL ? NULL : batch->free_thread + first;
    out.end_allocs = batch->end_allocs == NULL ? NULL : batch->end_allocs + first;
    out.kind = batch->kind == NULL ? NULL : batch->kind + first;
    out.process = batch->process == NULL ? NULL : batch->process + first;
    return out;
}

static etl_status step_all(void *state, const lifetimes_batch *batch, etl_error *err)
{
    shared_step *const own = state;
    const u32 *const cancel = own->wants[0].plan->query->cancel;
    etl_status status = ETL_OK;
    for (u32 first = 0; status == ETL_OK && first < batch->count; first += SLICE) {
        lifetimes_batch slice = slice_of(batch, first);
        slice.type = own->types;
        status = cancel_check(cancel, err);
        for (u32 i = 0; status == ETL_OK && i < own->count; i++) {
            const block_want *const want = &own->wants[i];
            if (own->is_first[i])
                block_selection_fill(want->plan, &slice, own->types);
            status = want->step(lifetimes_state_of(&want->states, own->task), &slice, err);
        }
    }
    return status;
}

/* --- sources ------------------------------------------------------------------------ */

static bool wants_source(const block_feed *feed, const block_want *want, feed_source source)
{
    if (want->of_origin == NULL)
        return source == FEED_LOG;
    const u32 first = source == FEED_LOG ? 1 : feed->rows.origins.first;
    const u32 end =
        source == FEED_LOG ? feed->rows.origins.first : first + (u32)feed->rows.origins.list.count;
    bool wants = false;
    for (u32 i = first; i < end && !wants; i++)
        wants = want->of_origin[i] != GROUP_NONE;
    return wants;
}

static etl_status read_log(const block_want *wants, u32 count, const lifetimes_states *states,
                           etl_error *err)
{
    lifetimes_source source = { .archive = NULL };
    etl_status status = open_log(&source, wants, count, err);
    if (status == ETL_OK)
        status =
            lifetimes_source_fold(&source, feed_tasks(wants[0].plan->query), step_all, states, err);
    lifetimes_source_close(&source);
    return status;
}

/* Reads a source for wants that read alike. */
static etl_status read_shared(const block_feed *feed, feed_source source, block_want *wants,
                              u32 count, etl_error *err)
{
    const u32 tasks = feed_tasks(wants[0].plan->query);
    shared_step *const steps = calloc(tasks, sizeof *steps);
    bool *const is_first = calloc(count, sizeof *is_first);
    const lifetimes_states states = { steps, sizeof *steps };
    etl_status status = steps == NULL || is_first == NULL ? etl_no_memory(err) : ETL_OK;
    if (status == ETL_OK)
        sort_alike(wants, count, is_first);
    for (u32 i = 0; status == ETL_OK && i < tasks; i++)
        steps[i] = (shared_step){ .wants = wants, .is_first = is_first, .count = count, .task = i };
    if (status == ETL_OK)
        status = source == FEED_LOG ? read_log(wants, count, &states, err)
                                    : feed_rows_fold(&feed->rows, tasks, step_all, &states, err);
    free(is_first);
    free(steps);
    return status;
}

static etl_status read_source(const block_feed *feed, feed_source source, block_want *wants,
                              etl_error *err)
{
    u32 count = 0;
    etl_status status = ETL_OK;
    for (size_t i = 0; i < feed->wants.count; i++) {
        if (wants_source(feed, &feed->wants.at[i], source))
            wants[count++] = feed->wants.at[i];
    }
    for (u32 first = 0; status == ETL_OK && first < count;) {
        const u32 shared = gather_blocks(wants + first, count - first, read_alike);
        status = read_shared(feed, source, wants + first, shared, err);
        first += shared;
    }
    return status;
}

etl_status feed_blocks(block_feed *feed, etl_error *err)
{
    block_want *const wants = calloc(feed->wants.count + 1, sizeof *wants);
    etl_status status = wants == NULL ? etl_no_memory(err) : ETL_OK;
    for (u32 i = 0; status == ETL_OK && i < FEED_SOURCE_COUNT; i++)
        status = read_source(feed, (feed_source)i, wants, err);
    feed->wants.count = 0;
    free(wants);
    return status;
}
