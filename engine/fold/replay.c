/*
 * replay.c - see replay.h.
 *
 * Each slot is resolved to its group once, with names, culling and filters as the
 * query wants them. Then the journal is walked in time order and added up. It is
 * cut into segments of about equal length, wherever time moves on; each is
 * walked on its own, as if nothing were in use when it begins, and then added to
 * what came before: a sum is a sum, and the peak is the larger one of the peak so
 * far and the sum so far plus the segment's own peak.
 *
 * Types are known at once: the run kept the window, frees after it are not in
 * the journal, and an allocation that nothing frees in time is a survivor. So
 * the curve of AIFI leaves survivors out, AIFO only grows, AOFO stands still and
 * AOFI only falls: a group needs no more than two running sums.
 *
 * Where no peaks are wanted there may be sums by slot already, and no journal.
 */
#include "replay.h"

#include <stdlib.h>

#include "engine/core/workers.h"
#include "archive_walk.h"

static etl_status walk_journal(const aggregator *a, replay_walk *walk, live_group **groups,
                               etl_error *err);
static etl_status walk_archive(const aggregator *a, replay_walk *walk, live_group **groups,
                               etl_error *err);
static bool has_sums(const aggregator *a);
static etl_status add_sums(const aggregator *a, const replay_walk *walk, live_group **groups,
                           etl_error *err);
static bool publish_groups(aggregator *a, const slot_groups *slots, const live_group *groups);

bool replay_can(const etlheap_query *query)
{
    bool by_type = false;
    for (u32 i = 0; i < query->group_by_count; i++) {
        const etlheap_key key = query->group_by[i];
        if (key == ETLHEAP_KEY_THREAD || key == ETLHEAP_KEY_FREE_TYPE ||
            key == ETLHEAP_KEY_SIZE_CLASS)
            return false;
        by_type |= key == ETLHEAP_KEY_TYPE;
    }
    if (query->lifetime_ranks || query->needs_lifetimes)
        return false;
    return query->thread_count == 0 && query->lifetime_min_ns <= 0 &&
           query->lifetime_max_ns == INT64_MAX &&
           ((query->types == 0 && !query->at_end) || by_type);
}

bool replay_needs_sums_only(const etlheap_query *query)
{
    return replay_can(query) && query->sums_only && !query->growth && query->size_min_bytes == 0 &&
           query->size_max_bytes == UINT64_MAX;
}

bool etlheap_query_needs_lifetimes(const etlheap_query *query)
{
    etlheap_query own;
    return query_read(query, &own, NULL) != ETL_OK || !replay_can(&own) || own.growth;
}

etl_status replay_run(aggregator *a, etl_error *err)
{
    slot_groups slots;
    etl_status status = ETL_OK;
    if (!slot_groups_open(&slots, a))
        status = etl_fail_with(err, ETL_ERR_MEMORY, 0, "out of memory");
    replay_walk walk = { .slot_groups = slots.of_slot,
                         .slot_count = (u32)slots.slots->slots.count,
                         .group_count = (u32)slots.keys.count,
                         .size_min_bytes = a->query->size_min_bytes,
                         .size_max_bytes = a->query->size_max_bytes,
                         .by_type = query_groups_by(a->query, ETLHEAP_KEY_TYPE),
                         .jobs = a->query->jobs == 0 ? etlheap_workers_default_jobs()
                                                     : a->query->jobs };
    live_group *groups = NULL;
    if (status == ETL_OK && has_sums(a))
        status = add_sums(a, &walk, &groups, err);
    else if (status == ETL_OK)
        status = a->result->mode == RESULT_STORE ? walk_archive(a, &walk, &groups, err)
                                                 : walk_journal(a, &walk, &groups, err);
    if (status == ETL_OK && !publish_groups(a, &slots, groups))
        status = etl_fail_with(err, ETL_ERR_MEMORY, 0, "out of memory");
    slot_groups_close(&slots);
    free(groups);
    return status;
}

static etl_status walk_journal(const aggregator *a, replay_walk *walk, live_group **groups,
                               etl_error *err)
{
    const replay_source source = replay_journal_source(&a->result->journal);
    walk->survivors = a->result->journal.survivor_bits;
    const etl_status status = replay_walk_run(walk, &source, groups);
    if (status == ETL_ERR_IO)
        return etl_fail_with(err, status, 0, "the temporary file cannot be read back");
    return status == ETL_OK ? status : etl_fail_with(err, status, 0, "out of memory");
}

static etl_status walk_archive(const aggregator *a, replay_walk *walk, live_group **groups,
                               etl_error *err)
{
    archive_walk window;
    etl_status status = archive_walk_open(&window, a->result->archive, a, err);
    if (status == ETL_OK) {
        const replay_source source = archive_source(&window);
        walk->survivors = window.survivors;
        status = replay_walk_run(walk, &source, groups);
        if (status == ETL_ERR_CORRUPT)
            etl_fail_with(err, status, 0, "the store is damaged");
        else if (status != ETL_OK)
            etl_fail_with(err, status, 0, "out of memory");
    }
    archive_walk_close(&window);
    return status;
}

/* Sums instead of events: a run's were counted for its window, a store's are of
 * everything. */
static bool has_sums(const aggregator *a)
{
    const etlheap_query *const query = a->query;
    if (a->result->mode != RESULT_STORE)
        return a->result->journal.is_tallied;
    return replay_needs_sums_only(query) && query->from_ns == INT64_MIN &&
           query->to_ns == INT64_MAX && query->kind_to_ticks == NULL &&
           a->result->archive->slots.sums.count > 0;
}

/* What a store says of a slot, as a report of its whole recording has it. */
static void sums_of_archive(const aggregator *a, u32 slot, type_sums types[ETLHEAP_TYPE_COUNT])
{
    const ehs_slot_sums *const sums = &a->result->archive->slots.sums.at[slot - 1];
    const etlheap_type exited = a->query->at_exit_freed ? ETLHEAP_TYPE_AIFI : ETLHEAP_TYPE_AIFO;
    memset(types, 0, ETLHEAP_TYPE_COUNT * sizeof *types);
    types[ETLHEAP_TYPE_AIFI] = sums->of[TALLY_FREED];
    types[ETLHEAP_TYPE_AIFO] = sums->of[TALLY_IN_USE];
    tally_add_sums(&types[exited], &sums->of[TALLY_EXITED]);
}

static etl_status add_sums(const aggregator *a, const replay_walk *walk, live_group **groups,
                           etl_error *err)
{
    *groups = calloc(walk->group_count + (size_t)1, sizeof **groups);
    if (*groups == NULL)
        return etl_fail_with(err, ETL_ERR_MEMORY, 0, "out of memory");
    for (u32 slot = 1; slot <= walk->slot_count; slot++) {
        const u32 group = walk->slot_groups[slot];
        type_sums types[ETLHEAP_TYPE_COUNT];
        if (group == GROUP_NONE)
            continue;
        if (a->result->mode == RESULT_STORE)
            sums_of_archive(a, slot, types);
        else
            memcpy(types, &a->result->journal.sums[(size_t)slot * TALLY_BINS], sizeof types);
        for (u32 type = 0; type < ETLHEAP_TYPE_COUNT; type++)
            tally_add_sums(&(*groups)[group].types[type], &types[type]);
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
        type_add_measures(row.measures, (etlheap_type)type, sums);
        type_add_measures(a->totals[ETLHEAP_KIND_HEAP], (etlheap_type)type, sums);
        /* Only what comes and goes has a peak of its own; the others are at their
         * largest at one end of the window. */
        const bool comes_and_goes = type == ETLHEAP_TYPE_AIFI;
        if (!a->query->sums_only) {
            row.measures[ETLHEAP_MEASURE_PEAK_SIZE] =
                comes_and_goes ? group->curve.peak_size : sums->size;
            row.measures[ETLHEAP_MEASURE_PEAK_COUNT] =
                comes_and_goes ? group->curve.peak_count : sums->count;
        }
        if (!ETLHEAP_PUSH(&a->groups, row))
            return false;
    }
    return true;
}

static bool publish_whole(aggregator *a, const live_group *group, group_key key)
{
    group_row row = { .key = key };
    for (u32 type = 0; type < ETLHEAP_TYPE_COUNT; type++) {
        type_add_measures(row.measures, (etlheap_type)type, &group->types[type]);
        type_add_measures(a->totals[ETLHEAP_KIND_HEAP], (etlheap_type)type, &group->types[type]);
    }
    if (row.measures[ETLHEAP_MEASURE_COUNT] == 0)
        return true;
    if (!a->query->sums_only) {
        row.measures[ETLHEAP_MEASURE_PEAK_SIZE] = group->curve.peak_size;
        row.measures[ETLHEAP_MEASURE_PEAK_COUNT] = group->curve.peak_count;
    }
    return ETLHEAP_PUSH(&a->groups, row);
}

static bool publish_groups(aggregator *a, const slot_groups *slots, const live_group *groups)
{
    const bool by_type = query_groups_by(a->query, ETLHEAP_KEY_TYPE);
    ETLHEAP_EXPECT(&a->groups, slots->keys.count);
    for (size_t i = 0; i < slots->keys.count; i++) {
        const group_key key = slots->keys.at[i];
        const bool ok =
            by_type ? publish_typed(a, &groups[i], key) : publish_whole(a, &groups[i], key);
        if (!ok)
            return false;
    }
    return true;
}
