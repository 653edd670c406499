/*
 * peak_moment.c - finds the moment at which most memory is outstanding, for each kind.
 *
 * In: lifetimes in memory (ranges, extents, custom blocks); heap events of a log. Out: a moment and
 * the size at it.
 *
 *     lifetimes    +size at the start, -size at the end ──sort by tick──▶ running sum ──▶ maximum
 *     log          events are in order: each thread adds up a segment (replay_walk.c); when
 *                  the position of the peak is known, its time is read from the log
 *
 * Invariant: only the sum after the last step of a tick counts, so steps need to be sorted by tick
 * alone, and a free and an allocation in one tick do not make a peak.
 */
#include <stdlib.h>

#include "engine/query/needs.h"
#include "folds.h"
#include "steps.h"

typedef struct moment_finder {
    etlheap_query query; /* of all types, not grouped */
    aggregator a;
    peak_rows rows[ETLHEAP_KIND_COUNT];
    etlheap_peak_moment peaks[ETLHEAP_KIND_CAPACITY];
    bool has_log;
    log_groups groups;
    event_want events;
} moment_finder;

static etl_status find_in_memory(moment_finder *finder, etl_error *err);
static bool list_row(void *user, const selected_row *selected);
static bool find_in_rows(moment_finder *finder, u32 kind);

static etl_status no_memory(etl_error *err)
{
    return etl_fail_with(err, ETL_ERR_MEMORY, 0, "out of memory");
}

static etl_status begin(void *state, const etlheap_result *result, const etlheap_question *question,
                        log_pass *pass, etl_error *err)
{
    moment_finder *const finder = state;
    const log_groups_wanted wanted = { .walks_events = true };
    etl_status status = query_read(question->query, &finder->query, err);
    if (status != ETL_OK)
        return status;
    finder->query.group_by_count = 0;
    finder->query.types = 0;
    finder->query.at_end = false;
    needs_drop_measures(&finder->query);
    finder->query.kind_to_ticks = NULL;
    finder->query.sort = ETLHEAP_MEASURE_SIZE;
    finder->has_log = result->mode == RESULT_STORE;
    status = result_answers(result, RESULT_ASK_EACH, err);
    if (status == ETL_OK)
        status = aggregate_prepare(&finder->a, result, &finder->query, err);
    if (status == ETL_OK)
        status = find_in_memory(finder, err);
    if (status == ETL_OK && finder->has_log)
        status = log_groups_begin(&finder->groups, &finder->a, &wanted, pass, err);
    return status;
}

/* All blocks are one group. */
static etl_status walk(void *state, log_pass *pass, etl_error *err)
{
    moment_finder *const finder = state;
    if (!finder->has_log)
        return ETL_OK;
    finder->events = (event_want){ .a = &finder->a,
                                   .groups = &finder->groups,
                                   .job.walk = { .curves_only = true, .finds_moment = true } };
    const etl_status status = log_groups_finish(&finder->groups, err);
    if (status != ETL_OK)
        return status;
    return ETLHEAP_PUSH(&pass->events, &finder->events) ? ETL_OK : no_memory(err);
}

/* The peak as a moment. Memory allocated before the window counts as allocated one tick before it.
 * If nothing is ever outstanding, the moment is the end of the window. */
static etlheap_peak_moment moment_at(const query_plan *plan, i64 ticks, i64 size, i64 count)
{
    const bool found = size > 0;
    const i64 before = etl_sat_add_i64(plan->from_ticks, -1);
    const i64 end_ticks = etl_time_ticks(plan->result->base.base, plan->to_ns);
    const i64 to_ticks = !found ? end_ticks : (ticks > before ? ticks : before) + 1;
    return (etlheap_peak_moment){ .found = found,
                                  .to_ticks = to_ticks,
                                  .at_ns = query_end_ns(plan, to_ticks),
                                  .size_bytes = size,
                                  .count = count };
}

static etl_status find_in_memory(moment_finder *finder, etl_error *err)
{
    etl_status status = aggregate_settle(&finder->a, err);
    if (status == ETL_OK && !aggregate_visit(&finder->a, list_row, finder))
        status = no_memory(err);
    for (u32 kind = 0; status == ETL_OK && kind < ETLHEAP_KIND_COUNT; kind++) {
        if (!find_in_rows(finder, kind))
            status = no_memory(err);
    }
    return status;
}

/* Lists the steps of a lifetime in memory. */
static bool list_row(void *user, const selected_row *selected)
{
    moment_finder *const finder = user;
    const etlheap_segment *const segment = selected->segment;
    const peak_row fresh = { selected->row.alloc_ticks, selected->row.free_ticks,
                             segment->size_bytes[selected->at], 0 };
    return ETLHEAP_PUSH(&finder->rows[segment->kind[selected->at]], fresh);
}

static bool sort_rows(const moment_finder *finder, u32 kind, step_list *steps,
                      const digit_row **sorted)
{
    const query_plan *const plan = &finder->a.plan;
    const i64 before = etl_sat_add_i64(plan->from_ticks, -1);
    const peak_rows *const rows = (const peak_rows *)&finder->rows[kind];
    for (size_t i = 0; i < rows->count; i++) {
        const peak_row *const row = &rows->at[i];
        const i64 start = row->alloc_ticks > before ? row->alloc_ticks : before;
        if (!steps_add(steps, start, i, false) ||
            (row->free_ticks < plan->to_ticks && !steps_add(steps, row->free_ticks, i, true)))
            return false;
    }
    *sorted = steps_sort(steps);
    return *sorted != NULL || steps->rows.count == 0;
}

/* All steps of a tick are applied before the sum is compared with the largest one. */
static bool find_in_rows(moment_finder *finder, u32 kind)
{
    const peak_row *const rows = finder->rows[kind].at;
    step_list steps = { 0 };
    const digit_row *sorted = NULL;
    const bool ok = sort_rows(finder, kind, &steps, &sorted);
    i64 size = 0, count = 0, best_ticks = 0, best_size = 0, best_count = 0;
    for (size_t i = 0; ok && i < steps.rows.count; i++) {
        const i64 bytes = (i64)etl_min_u64(rows[step_row(&sorted[i])].size, INT64_MAX);
        const bool is_end = step_is_end(&sorted[i]);
        size = etl_sat_add_i64(size, is_end ? -bytes : bytes);
        count += is_end ? -1 : 1;
        const bool is_last = i + 1 == steps.rows.count || sorted[i + 1].low != sorted[i].low;
        if (is_last && size > best_size) {
            best_ticks = step_ticks(&sorted[i]);
            best_size = size;
            best_count = count;
        }
    }
    finder->peaks[kind] = moment_at(&finder->a.plan, best_ticks, best_size, best_count);
    steps_free(&steps);
    return ok;
}

static etl_status answer(void *state, etlheap_answer *out, etl_error *err)
{
    moment_finder *const finder = state;
    const replay_moment *const moment = &finder->events.job.moment;
    (void)err;
    if (finder->has_log)
        finder->peaks[ETLHEAP_KIND_HEAP] =
            moment_at(&finder->a.plan, finder->events.peak_ticks, moment->size, moment->count);
    memcpy(out->peaks, finder->peaks, sizeof out->peaks);
    return ETL_OK;
}

static void close_finder(void *state)
{
    moment_finder *const finder = state;
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++)
        ETLHEAP_VECTOR_FREE(&finder->rows[kind]);
    log_groups_close(&finder->groups);
    aggregate_close(&finder->a);
}

const fold fold_peaks = { sizeof(moment_finder), begin, walk, answer, close_finder };
