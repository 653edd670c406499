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
 */
#include "replay.h"

#include <stdlib.h>

#include "replay_walk.h"
#include "workers.h"

/* A tagged stack's slot is that of the stack it turned out to be. */
typedef struct final_slot {
    u32 stack, owner;
    u32 group;
} final_slot;

typedef struct replay {
    aggregator *a;
    const event_journal *journal;
    const slot_table *slots;
    ETLHEAP_VECTOR(group_key) keys; /* of the live groups */
    etlheap_index key_index;
    ETLHEAP_VECTOR(final_slot) finals;
    etlheap_index final_index;
    u32 *slot_groups; /* by slot number: a live group or GROUP_NONE */
    bool by_type;
} replay;

static bool resolve_slots(replay *r);
static bool publish_groups(replay *r, const live_group *groups);

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
    return query->thread_count == 0 && query->lifetime_min_ns <= 0 &&
           query->lifetime_max_ns == INT64_MAX && (query->types == 0 || by_type);
}

etl_status replay_run(aggregator *a)
{
    const slot_table *const slots = &a->result->slot_table;
    replay r = { .a = a,
                 .journal = &a->result->journal,
                 .slots = slots,
                 .slot_groups = calloc(slots->slots.count + 1, sizeof *r.slot_groups),
                 .by_type = query_groups_by(a->query, ETLHEAP_KEY_TYPE) };
    live_group *groups = NULL;
    etl_status status = r.slot_groups != NULL && resolve_slots(&r) ? ETL_OK : ETL_ERR_MEMORY;
    if (status == ETL_OK) {
        const replay_walk walk = { .journal = r.journal,
                                   .slot_groups = r.slot_groups,
                                   .slot_count = (u32)slots->slots.count,
                                   .group_count = (u32)r.keys.count,
                                   .size_min_bytes = a->query->size_min_bytes,
                                   .size_max_bytes = a->query->size_max_bytes,
                                   .by_type = r.by_type,
                                   .jobs = a->query->jobs == 0 ? etlheap_workers_default_jobs()
                                                               : a->query->jobs };
        status = replay_walk_run(&walk, &groups);
    }
    if (status == ETL_OK && !publish_groups(&r, groups))
        status = ETL_ERR_MEMORY;
    ETLHEAP_VECTOR_FREE(&r.keys);
    etlheap_index_free(&r.key_index);
    ETLHEAP_VECTOR_FREE(&r.finals);
    etlheap_index_free(&r.final_index);
    free(r.slot_groups);
    free(groups);
    return status;
}

static bool same_key(const void *owner, u32 id, const void *key)
{
    const replay *const r = owner;
    return memcmp(&r->keys.at[id - 1], key, sizeof(group_key)) == 0;
}

/* The group of a slot's blocks, whatever their type; GROUP_NONE: filtered out. */
static bool group_of(replay *r, u32 stack, u32 owner, u32 *group)
{
    aggregator *const a = r->a;
    const owner_row *const row = &r->slots->owners.at[owner - 1];
    const heap_row *const heap = &r->slots->heaps.at[row->heap - 1];
    const u32 process = a->result->process_ids[heap->process];
    const u32 kind = ETLHEAP_KIND_HEAP, none = ETL_NO_ID;
    const u64 no_size = 0;
    const u8 no_free_type = 0;
    const u8 kind_byte = (u8)kind;
    const etlheap_segment one = { .rows = 1,
                                  .alloc_ticks = &row->first_ticks,
                                  .process = &process,
                                  .stack = &stack,
                                  .thread = &none,
                                  .heap_handle = &heap->handle,
                                  .size_bytes = &no_size,
                                  .free_type = &no_free_type,
                                  .kind = &kind_byte };
    group_key key;
    *group = GROUP_NONE;
    if (!query_select_owner(&a->plan, kind, process, heap->handle))
        return true;
    if (!aggregate_key(a, &one, 0, ETLHEAP_TYPE_AIFO, &key))
        return false;
    if (key.unwanted)
        return true;
    const u64 hash = etlheap_hash_bytes(&key, sizeof key);
    u32 id = etlheap_index_find(&r->key_index, hash, same_key, r, &key);
    if (id == 0) {
        if (!ETLHEAP_PUSH(&r->keys, key))
            return false;
        id = (u32)r->keys.count;
        if (!etlheap_index_add(&r->key_index, hash, id))
            return false;
    }
    *group = id - 1;
    return true;
}

static bool same_final(const void *owner, u32 id, const void *key)
{
    const replay *const r = owner;
    const final_slot *const a = &r->finals.at[id - 1], *const b = key;
    return a->stack == b->stack && a->owner == b->owner;
}

/* The group of a slot whose stack was provisional. Slots of untagged stacks have
 * theirs already; there may be very many of these for few stacks. */
static bool find_final(replay *r, u32 stack, u32 owner, u32 *group)
{
    const u32 known = slots_find(r->slots, stack, owner);
    if (known != 0) {
        *group = r->slot_groups[known];
        return true;
    }
    final_slot wanted = { stack, owner, GROUP_NONE };
    const u64 hash = etlheap_hash_u64((u64)owner << 32 | stack);
    const u32 id = etlheap_index_find(&r->final_index, hash, same_final, r, &wanted);
    if (id != 0) {
        *group = r->finals.at[id - 1].group;
        return true;
    }
    if (!group_of(r, stack, owner, &wanted.group) || !ETLHEAP_PUSH(&r->finals, wanted))
        return false;
    *group = wanted.group;
    return etlheap_index_add(&r->final_index, hash, (u32)r->finals.count);
}

static bool resolve_slots(replay *r)
{
    const slot_table *const slots = r->slots;
    r->slot_groups[0] = GROUP_NONE;
    for (u32 i = 0; i < slots->slots.count; i++) {
        const slot_row *const slot = &slots->slots.at[i];
        if ((slot->stack & STACK_TAG_MASK) == 0 &&
            !group_of(r, slot->stack, slot->owner, &r->slot_groups[i + 1]))
            return false;
    }
    for (u32 i = 0; i < slots->slots.count; i++) {
        const slot_row *const slot = &slots->slots.at[i];
        if ((slot->stack & STACK_TAG_MASK) != 0 &&
            !find_final(r, result_final_stack(r->a->result, slot->stack), slot->owner,
                        &r->slot_groups[i + 1]))
            return false;
    }
    return true;
}

static void add_type(i64 measures[ETLHEAP_MEASURES_COUNT], const type_sums *sums, etlheap_type type)
{
    const bool outstanding = type == ETLHEAP_TYPE_AIFO || type == ETLHEAP_TYPE_AOFO;
    const i64 impact = type == ETLHEAP_TYPE_AIFO   ? sums->size
                       : type == ETLHEAP_TYPE_AOFI ? -sums->size
                                                   : 0;
    measures[ETLHEAP_MEASURE_COUNT] += sums->count;
    measures[ETLHEAP_MEASURE_SIZE] = etl_sat_add_i64(measures[ETLHEAP_MEASURE_SIZE], sums->size);
    measures[ETLHEAP_MEASURE_IMPACTING_SIZE] =
        etl_sat_add_i64(measures[ETLHEAP_MEASURE_IMPACTING_SIZE], impact);
    if (outstanding) {
        measures[ETLHEAP_MEASURE_OUTSTANDING_COUNT] += sums->count;
        measures[ETLHEAP_MEASURE_OUTSTANDING_SIZE] =
            etl_sat_add_i64(measures[ETLHEAP_MEASURE_OUTSTANDING_SIZE], sums->size);
    }
    measures[ETLHEAP_MEASURE_REALLOC_COUNT] += sums->realloc_count;
}

static bool publish_typed(replay *r, const live_group *group, group_key key)
{
    aggregator *const a = r->a;
    for (u32 type = 0; type < ETLHEAP_TYPE_COUNT; type++) {
        const type_sums *const sums = &group->types[live_type((etlheap_type)type)];
        const bool selected = a->query->types == 0 || (a->query->types >> type & 1) != 0;
        if (sums->count == 0 || !selected)
            continue;
        group_row row = { .key = key };
        row.key.type = (u8)type;
        add_type(row.measures, sums, (etlheap_type)type);
        add_type(a->totals[ETLHEAP_KIND_HEAP], sums, (etlheap_type)type);
        /* Only what comes and goes has a peak of its own; the others are at their
         * largest at one end of the window. */
        const bool comes_and_goes = type == ETLHEAP_TYPE_AIFI;
        row.measures[ETLHEAP_MEASURE_PEAK_SIZE] =
            comes_and_goes ? group->curve.peak_size : sums->size;
        row.measures[ETLHEAP_MEASURE_PEAK_COUNT] =
            comes_and_goes ? group->curve.peak_count : sums->count;
        if (!ETLHEAP_PUSH(&a->groups, row))
            return false;
    }
    return true;
}

static bool publish_whole(replay *r, const live_group *group, group_key key)
{
    group_row row = { .key = key };
    for (u32 type = 0; type < ETLHEAP_TYPE_COUNT; type++) {
        add_type(row.measures, &group->types[live_type((etlheap_type)type)], (etlheap_type)type);
        add_type(r->a->totals[ETLHEAP_KIND_HEAP], &group->types[live_type((etlheap_type)type)],
                 (etlheap_type)type);
    }
    if (row.measures[ETLHEAP_MEASURE_COUNT] == 0)
        return true;
    row.measures[ETLHEAP_MEASURE_PEAK_SIZE] = group->curve.peak_size;
    row.measures[ETLHEAP_MEASURE_PEAK_COUNT] = group->curve.peak_count;
    return ETLHEAP_PUSH(&r->a->groups, row);
}

static bool publish_groups(replay *r, const live_group *groups)
{
    for (size_t i = 0; i < r->keys.count; i++) {
        const group_key key = r->keys.at[i];
        const bool ok =
            r->by_type ? publish_typed(r, &groups[i], key) : publish_whole(r, &groups[i], key);
        if (!ok)
            return false;
    }
    return true;
}
