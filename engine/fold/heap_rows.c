/*
 * heap_rows.c - makes groups of the blocks of an event list or a log, or of rows: sums, peaks and
 * growth.
 *
 * In: the group of each origin or origin (origin_groups.h), and the events of a source, or only
 * sums by origin. Out: groups of the aggregator with all their measures.
 *
 *     origins ──names, culling, filters──▶ groups
 *     events in time order, cut into segments ──▶ sum and peak of each group in each segment
 *
 *     joined    sum  = sum so far + the segment's sum
 *               peak = max(peak so far, sum so far + the segment's own peak)
 *
 * Each segment is walked as if nothing were outstanding at its start, so segments run in parallel.
 * Types are known without looking ahead: the run kept only the window, and an allocation that
 * nothing frees in it survives. So the curve of AIFI leaves survivors out, AIFO only grows, AOFO
 * never changes and AOFI only falls; a group needs just two running sums. Without peaks, sums by
 * origin are enough and there is no event list; if a store has them, only curves are walked.
 * Invariant: segments are cut only where time moves on, because events of one tick count together.
 */
#include "heap_rows.h"

#include <stdlib.h>

#include "engine/query/needs.h"

#include "churn_rows.h"
#include "window_sums.h"

static bool has_sums(const aggregator *a);
static etl_status add_sums(const aggregator *a, const log_groups *groups, live_group **live,
                           etl_error *err);
static bool publish_groups(aggregator *a, const log_groups *groups, const live_group *live);

etl_status heap_rows_begin(heap_rows *out, aggregator *a, feed_source source, log_pass *pass,
                           etl_error *err)
{
    const log_groups_wanted wanted = { .source = source,
                                       .walks_events = !a->query->sums_only ||
                                                       query_needs(a->query, NEEDS_TIMES),
                                       .churns = a->query->churn };
    *out = (heap_rows){ .a = a };
    return log_groups_begin(&out->groups, a, &wanted, pass, err);
}

etl_status heap_rows_walk(heap_rows *rows, u32 first_group, log_pass *pass, etl_error *err)
{
    const aggregator *const a = rows->a;
    const log_groups *const groups = &rows->groups;
    etl_status status = log_groups_finish(&rows->groups, first_group, err);
    const bool by_type = !groups->by_block && query_groups_by(a->query, ETLHEAP_KEY_TYPE);
    const bool knows_sums = groups->by_block || has_sums(a);
    const bool by_function = query_groups_by(a->query, ETLHEAP_KEY_FUNCTION);
    const bool walks = !knows_sums || !(a->query->sums_only || by_function);
    rows->events = (event_want){ .a = a,
                                 .groups = groups,
                                 .job.walk = { .by_type = by_type, .curves_only = knows_sums } };
    if (status == ETL_OK && knows_sums && !groups->by_block)
        status = add_sums(a, groups, &rows->sums, err);
    if (status == ETL_OK && walks && !ETLHEAP_PUSH(&pass->events, &rows->events))
        status = etl_no_memory(err);
    if (status == ETL_OK && by_function && !a->query->sums_only)
        status = function_curves_begin(&rows->functions, rows->a, groups, by_type, pass, err);
    if (status == ETL_OK && query_needs(a->query, NEEDS_TIMES))
        status = growth_walk_begin(&rows->growth, a, groups, pass, err);
    return status;
}

etl_status heap_rows_finish(heap_rows *rows, etl_error *err)
{
    const size_t first = rows->a->groups.count;
    const live_group *const walked = rows->events.job.groups;
    live_group *const sums = rows->sums;
    for (u32 i = 0; sums != NULL && walked != NULL && i < rows->groups.count; i++)
        sums[i].curve = walked[i].curve;
    if (!publish_groups(rows->a, &rows->groups, sums != NULL ? sums : walked))
        return etl_no_memory(err);
    return rows->a->query->growth ? growth_walk_finish(&rows->growth, rows->a, first, err) : ETL_OK;
}

void heap_rows_fill_functions(const heap_rows *rows)
{
    if (rows->functions.a != NULL)
        function_curves_finish(&rows->functions);
}

void heap_rows_close(heap_rows *rows)
{
    function_curves_close(&rows->functions);
    growth_walk_close(&rows->growth);
    log_groups_close(&rows->groups);
    free(rows->sums);
    replay_job_free(&rows->events.job);
}

/* Has the store sums by origin for this window? Only for its whole recording. */
static bool has_whole_sums(const aggregator *a)
{
    const etlheap_query *const query = a->query;
    return query_fits_typed_sums(query) && !query_needs(query, NEEDS_SIZES) &&
           query->from_ns == INT64_MIN && query->to_ns == INT64_MAX &&
           query->kind_to_ticks == NULL && a->result->archive->origins.sums.count > 0;
}

/* Are there sums without a walk? A run counts them for its window, a store for its whole recording,
 * and those of other windows of a store need no order of events. */
static bool has_sums(const aggregator *a)
{
    if (a->result->mode != RESULT_STORE)
        return a->result->event_list.is_tallied;
    return has_whole_sums(a) || window_sums_fit(a);
}

static void add_types(live_group *live, const type_sums *types)
{
    for (u32 type = 0; type < ETLHEAP_TYPE_COUNT; type++)
        tally_add_sums(&live->types[type], &types[type]);
}

/* The sums of a store's origin, by type, for a report of the whole recording. */
static void sums_of_archive(const aggregator *a, u32 origin, type_sums types[ETLHEAP_TYPE_COUNT])
{
    const ehs_origin_sums *const sums = &a->result->archive->origins.sums.at[origin - 1];
    const etlheap_type exited = a->query->at_exit_freed ? ETLHEAP_TYPE_AIFI : ETLHEAP_TYPE_AIFO;
    memset(types, 0, ETLHEAP_TYPE_COUNT * sizeof *types);
    types[ETLHEAP_TYPE_AIFI] = sums->of[TALLY_FREED];
    types[ETLHEAP_TYPE_AIFO] = sums->of[TALLY_IN_USE];
    tally_add_sums(&types[exited], &sums->of[TALLY_EXITED]);
}

/* Sums of a window, by origin if the store keeps them, and so for each group. */
static etl_status add_window_sums(const aggregator *a, const log_groups *groups, live_group *live,
                                  etl_error *err)
{
    kept_sums *const kept = a->result->archive->kept;
    kept_use use;
    type_sums *sums = NULL;
    if (kept == NULL) {
        const etl_status status = window_sums_make(a, groups->of_word, groups->count, &sums, err);
        for (u32 group = 0; status == ETL_OK && group < groups->count; group++)
            memcpy(live[group].types, &sums[(size_t)group * ETLHEAP_TYPE_COUNT],
                   sizeof live[group].types);
        free(sums);
        return status;
    }
    const etl_status status = window_sums_take(a, kept, &use, err);
    for (u32 origin = 1; status == ETL_OK && origin <= groups->word_count; origin++) {
        if (groups->of_word[origin] != GROUP_NONE)
            add_types(&live[groups->of_word[origin]],
                      &use.sums[(size_t)origin * ETLHEAP_TYPE_COUNT]);
    }
    kept_sums_give_back(kept, &use);
    return status;
}

static etl_status add_sums(const aggregator *a, const log_groups *groups, live_group **live,
                           etl_error *err)
{
    *live = calloc(groups->count + (size_t)1, sizeof **live);
    if (*live == NULL)
        return etl_no_memory(err);
    if (a->result->mode == RESULT_STORE && !has_whole_sums(a))
        return add_window_sums(a, groups, *live, err);
    for (u32 origin = 1; origin <= groups->word_count; origin++) {
        const u32 group = groups->of_word[origin];
        type_sums types[ETLHEAP_TYPE_COUNT];
        if (group == GROUP_NONE)
            continue;
        if (a->result->mode == RESULT_STORE)
            sums_of_archive(a, origin, types);
        else
            memcpy(types, &a->result->event_list.sums[(size_t)origin * TALLY_BINS], sizeof types);
        add_types(&(*live)[group], types);
    }
    return ETL_OK;
}

static bool publish_typed(aggregator *a, const live_group *group, group_key key)
{
    for (u32 type = 0; type < ETLHEAP_TYPE_COUNT; type++) {
        const type_sums *const sums = &group->types[type];
        const bool selected = (a->plan.types >> type & 1) != 0;
        if (sums->count == 0 || !selected)
            continue;
        group_row row = { .key = key };
        row.key.type = (u8)type;
        type_add_measures(row.measures, ETLHEAP_MEASURES_COUNT, (etlheap_type)type, sums);
        type_add_measures(a->totals[ETLHEAP_KIND_HEAP], ETLHEAP_MEASURES_COUNT, (etlheap_type)type,
                          sums);
        /* Only AIFI has a peak of its own; the other types are largest at one end of the window. */
        const bool comes_and_goes = type == ETLHEAP_TYPE_AIFI;
        if (!a->query->sums_only) {
            row.measures[ETLHEAP_MEASURE_PEAK_SIZE] =
                comes_and_goes ? group->curve.peak_size : sums->size;
            row.measures[ETLHEAP_MEASURE_PEAK_COUNT] =
                comes_and_goes ? group->curve.peak_count : sums->count;
        }
        if (!aggregate_push(a, &row))
            return false;
    }
    return true;
}

/* Publishes a group's sums. Without a curve there are no peaks, without churn no temporary
 * memory. */
static bool publish_whole(aggregator *a, const type_sums types[ETLHEAP_TYPE_COUNT],
                          const curve *peaks, const churn_sums *churn, group_key key)
{
    group_row row = { .key = key };
    for (u32 type = 0; type < ETLHEAP_TYPE_COUNT; type++) {
        if ((a->plan.types >> type & 1) == 0)
            continue;
        type_add_measures(row.measures, ETLHEAP_MEASURES_COUNT, (etlheap_type)type, &types[type]);
        type_add_measures(a->totals[key.kind], ETLHEAP_MEASURES_COUNT, (etlheap_type)type,
                          &types[type]);
    }
    if (row.measures[ETLHEAP_MEASURE_COUNT] == 0)
        return true;
    if (peaks != NULL) {
        row.measures[ETLHEAP_MEASURE_PEAK_SIZE] = peaks->peak_size;
        row.measures[ETLHEAP_MEASURE_PEAK_COUNT] = peaks->peak_count;
    }
    if (churn != NULL) {
        churn_add(row.measures, churn);
        churn_add(a->totals[key.kind], churn);
    }
    return aggregate_push(a, &row);
}

static void put_times(aggregator *a, size_t group, const block_group *of)
{
    const etl_session *const session = a->result->base.base;
    const bool is_known = of->first_ticks <= of->last_ticks;
    i64 *const measures = aggregate_measures(a, group);
    measures[ETLHEAP_MEASURE_FIRST] =
        is_known ? etl_time_ns(session, of->first_ticks) : ETLHEAP_NOT_KNOWN;
    measures[ETLHEAP_MEASURE_LAST] =
        is_known ? etl_time_ns(session, of->last_ticks) : ETLHEAP_NOT_KNOWN;
}

static bool publish_block(aggregator *a, const block_group *group, const curve *peaks,
                          const churn_sums *churn, group_key key)
{
    const size_t before = a->groups.count;
    type_sums types[ETLHEAP_TYPE_COUNT];
    for (u32 type = 0; type < ETLHEAP_TYPE_COUNT; type++)
        types[type] = block_sums_wide(&group->types[type]);
    if (!publish_whole(a, types, peaks, churn, key))
        return false;
    if (a->query->freed_by_other && a->groups.count > before)
        aggregate_add_freed_by_other(a, (u32)before, key.kind, group->freed_by_other);
    if (a->query->alloc_times && a->groups.count > before)
        put_times(a, before, group);
    return true;
}

static bool publish_groups(aggregator *a, const log_groups *groups, const live_group *live)
{
    const bool by_type = query_groups_by(a->query, ETLHEAP_KEY_TYPE);
    const bool has_peaks = !a->query->sums_only && !query_groups_by(a->query, ETLHEAP_KEY_FUNCTION);
    aggregate_expect(a, groups->count);
    for (u32 i = 0; i < groups->count; i++) {
        const group_key key = log_groups_key(groups, i);
        const curve *const peaks = has_peaks ? &live[i].curve : NULL;
        const churn_sums *const churn =
            a->query->churn && groups->by_block ? &groups->blocks.churn.sums.at[i] : NULL;
        const bool ok = groups->by_block
                            ? publish_block(a, &groups->blocks.groups.at[i], peaks, churn, key)
                        : by_type ? publish_typed(a, &live[i], key)
                                  : publish_whole(a, live[i].types, peaks, NULL, key);
        if (!ok)
            return false;
    }
    return true;
}
