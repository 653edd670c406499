/*
 * replay.c - see replay.h.
 *
 * Each (stack, owner) pair is resolved to its group once, with names, culling and
 * filters as the query wants them. Then the journal is walked in time order and
 * added up: several threads
 * each walk the whole journal and take the groups that fall to them, which costs
 * little, because a walk is sequential, and needs no merging.
 *
 * Types are known at once: the run kept the window, frees after it are not in
 * the journal, and an allocation that nothing frees in time is a survivor. So
 * the curve of AIFI leaves survivors out, AIFO only grows, AOFO stands still and
 * AOFI only falls: a group needs no more than two running sums.
 */
#include "replay.h"

#include <stdlib.h>

#include "workers.h"

#define GROUP_NONE UINT32_MAX /* not selected */

/* A running sum with its maximum; a value counts once time moves on. */
typedef struct curve {
    i64 size, count;
    i64 peak_size, peak_count;
} curve;

typedef struct type_sums {
    i64 count, size, realloc_count;
} type_sums;

/* One group but for its type. */
typedef struct live_group {
    u64 time;     /* number of the tick of the latest step */
    curve all;    /* everything outstanding */
    curve inside; /* blocks that are allocated and freed inside */
    type_sums types[ETLHEAP_TYPE_COUNT];
} live_group;

/* The group of a stack's first pair, to save the way over the pairs. */
typedef struct quick_group {
    u32 owner; /* 0: no pair has the stack */
    u32 group;
} quick_group;

typedef struct replay {
    aggregator *a;
    const event_journal *journal;
    const journal_pairs *pairs;
    u32 *pair_groups;               /* by pair number: a live group or GROUP_NONE */
    quick_group *quick;             /* by stack */
    ETLHEAP_VECTOR(group_key) keys; /* of the live groups */
    etlheap_index key_index;
    live_group *groups;
    u32 task_count;
    bool by_type;
    _Atomic bool unreadable;
} replay;

static bool resolve_pairs(replay *r);
static void walk_task(void *context, u32 task);
static bool publish_groups(replay *r);

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
    const journal_pairs *const pairs = &a->result->pairs;
    replay r = { .a = a,
                 .journal = &a->result->journal,
                 .pairs = pairs,
                 .pair_groups = calloc(pairs->list.count + 1, sizeof *r.pair_groups),
                 .quick = calloc(a->result->stacks.list.count + 1, sizeof *r.quick),
                 .by_type = query_groups_by(a->query, ETLHEAP_KEY_TYPE),
                 .task_count =
                     a->query->jobs == 0 ? etlheap_workers_default_jobs() : a->query->jobs };
    etl_status status =
        r.pair_groups != NULL && r.quick != NULL && resolve_pairs(&r) ? ETL_OK : ETL_ERR_MEMORY;
    if (status == ETL_OK) {
        etlheap_workers_run(r.task_count, r.task_count, walk_task, &r);
        if (r.unreadable)
            status = ETL_ERR_IO;
        else if (!publish_groups(&r))
            status = ETL_ERR_MEMORY;
    }
    ETLHEAP_VECTOR_FREE(&r.keys);
    etlheap_index_free(&r.key_index);
    free(r.pair_groups);
    free(r.quick);
    free(r.groups);
    return status;
}

static bool same_key(const void *owner, u32 id, const void *key)
{
    const replay *const r = owner;
    return memcmp(&r->keys.at[id - 1], key, sizeof(group_key)) == 0;
}

/* The group of a pair's blocks, whatever their type; GROUP_NONE: filtered out. */
static bool group_of(replay *r, const pair_row *pair, u32 *group)
{
    aggregator *const a = r->a;
    const journal_owner_row *const owner = &r->pairs->owner_rows.at[pair->owner - 1];
    const u32 process = a->result->process_ids[owner->process];
    const u32 kind = ETLHEAP_KIND_HEAP, none = ETL_NO_ID;
    const u64 no_size = 0;
    const u8 no_free_type = 0;
    const u8 kind_byte = (u8)kind;
    const etlheap_segment one = { .rows = 1,
                                  .alloc_ticks = &owner->first_ticks,
                                  .process = &process,
                                  .stack = &pair->stack,
                                  .thread = &none,
                                  .heap_handle = &owner->heap,
                                  .size_bytes = &no_size,
                                  .free_type = &no_free_type,
                                  .kind = &kind_byte };
    group_key key;
    *group = GROUP_NONE;
    if (!query_select_owner(&a->plan, kind, process, owner->heap))
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

static bool resolve_pairs(replay *r)
{
    r->pair_groups[0] = GROUP_NONE;
    for (size_t i = 0; i < r->pairs->list.count; i++) {
        if (!group_of(r, &r->pairs->list.at[i], &r->pair_groups[i + 1]))
            return false;
    }
    for (size_t i = r->pairs->list.count; i > 0; i--) {
        const pair_row *const pair = &r->pairs->list.at[i - 1];
        r->quick[pair->stack] = (quick_group){ pair->owner, r->pair_groups[i] };
    }
    r->groups = calloc(r->keys.count + 1, sizeof *r->groups);
    return r->groups != NULL;
}

static inline void settle(curve *c)
{
    c->peak_size = c->size > c->peak_size ? c->size : c->peak_size;
    c->peak_count = c->count > c->peak_count ? c->count : c->peak_count;
}

static inline void move(curve *c, i64 size, i64 count)
{
    c->size = etl_sat_add_i64(c->size, size);
    c->count += count;
}

static inline void add_sums(type_sums *sums, i64 size, bool is_realloc)
{
    sums->count++;
    sums->size = etl_sat_add_i64(sums->size, size);
    sums->realloc_count += is_realloc;
}

/* The curves' values before this moment count if they lasted into the window. */
static inline void pass_time(live_group *group, u64 time, bool in_window)
{
    if (group->time == time)
        return;
    group->time = time;
    if (in_window) {
        settle(&group->all);
        settle(&group->inside);
    }
}

static void step(const replay *r, live_group *group, const journal_entry *entry, i64 size,
                 bool in_window)
{
    const u32 flags = entry->owner_flags;
    const bool is_inside = (flags & JOURNAL_INSIDE) != 0;
    if ((flags & JOURNAL_FREE) != 0) {
        move(&group->all, -size, -1);
        if (is_inside)
            move(&group->inside, -size, -1);
        else if (in_window)
            add_sums(&group->types[ETLHEAP_TYPE_AOFI], size, (flags & JOURNAL_REALLOC) != 0);
        return;
    }
    const bool survives = journal_survives(r->journal, entry);
    const etlheap_type type =
        is_inside ? (survives ? ETLHEAP_TYPE_AIFO : ETLHEAP_TYPE_AIFI) : ETLHEAP_TYPE_AOFO;
    const bool counts = is_inside || survives;
    if ((flags & JOURNAL_MARK) != 0) {
        group->types[type].realloc_count += counts;
        return;
    }
    move(&group->all, size, 1);
    if (type == ETLHEAP_TYPE_AIFI)
        move(&group->inside, size, 1);
    if (counts)
        add_sums(&group->types[type], size, (flags & JOURNAL_REALLOC) != 0);
}

static inline u32 group_number(const replay *r, const journal_entry *entry)
{
    const u32 stack = result_final_stack(r->a->result, entry->stack);
    const quick_group quick = r->quick[stack];
    return quick.owner == journal_pairs_owner(r->pairs, entry)
               ? quick.group
               : r->pair_groups[journal_pair_lookup(r->pairs, stack, entry)];
}

static void walk_chunk(replay *r, u32 task, const journal_entry *entries, u32 count, u64 index,
                       u64 *time)
{
    const etlheap_query *const query = r->a->query;
    for (u32 i = 0; i < count; i++) {
        const journal_entry *const entry = &entries[i];
        *time += (entry->owner_flags & JOURNAL_NEW_TICK) != 0;
        const u32 number = group_number(r, entry);
        if (number == GROUP_NONE || number % r->task_count != task)
            continue;
        const u64 size = journal_size(r->journal, entry);
        if (size < query->size_min_bytes || size > query->size_max_bytes)
            continue;
        const bool in_window = index + i >= r->journal->from_index;
        live_group *const group = &r->groups[number];
        if ((entry->owner_flags & JOURNAL_MARK) == 0)
            pass_time(group, *time, in_window);
        step(r, group, entry, size > INT64_MAX ? INT64_MAX : (i64)size, in_window);
    }
}

static void walk_task(void *context, u32 task)
{
    replay *const r = context;
    u64 time = 0;
    for (size_t c = 0; c < r->journal->chunks.count; c++) {
        const journal_entry *const entries = journal_map(r->journal, c);
        if (entries == NULL) {
            r->unreadable = true;
            return;
        }
        const journal_chunk *const chunk = &r->journal->chunks.at[c];
        walk_chunk(r, task, entries, chunk->count, chunk->first_index, &time);
        journal_release(r->journal, c, entries);
    }
    for (u32 g = task; g < r->keys.count; g += r->task_count) {
        settle(&r->groups[g].all);
        settle(&r->groups[g].inside);
    }
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
        const type_sums *const sums = &group->types[type];
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
            comes_and_goes ? group->inside.peak_size : sums->size;
        row.measures[ETLHEAP_MEASURE_PEAK_COUNT] =
            comes_and_goes ? group->inside.peak_count : sums->count;
        if (!ETLHEAP_PUSH(&a->groups, row))
            return false;
    }
    return true;
}

static bool publish_whole(replay *r, const live_group *group, group_key key)
{
    group_row row = { .key = key };
    for (u32 type = 0; type < ETLHEAP_TYPE_COUNT; type++) {
        add_type(row.measures, &group->types[type], (etlheap_type)type);
        add_type(r->a->totals[ETLHEAP_KIND_HEAP], &group->types[type], (etlheap_type)type);
    }
    if (row.measures[ETLHEAP_MEASURE_COUNT] == 0)
        return true;
    row.measures[ETLHEAP_MEASURE_PEAK_SIZE] = group->all.peak_size;
    row.measures[ETLHEAP_MEASURE_PEAK_COUNT] = group->all.peak_count;
    return ETLHEAP_PUSH(&r->a->groups, row);
}

static bool publish_groups(replay *r)
{
    for (size_t i = 0; i < r->keys.count; i++) {
        const group_key key = r->keys.at[i];
        const bool ok = r->by_type ? publish_typed(r, &r->groups[i], key)
                                   : publish_whole(r, &r->groups[i], key);
        if (!ok)
            return false;
    }
    return true;
}
