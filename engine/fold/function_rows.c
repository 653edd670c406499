/*
 * function_rows.c - makes groups by function of groups by stack.
 *
 *     main > load > parse > parse    3 blocks  ──▶  main 3   load 3   parse 3 (exclusive 3)
 *     main > load                    2 blocks  ──▶  main 5   load 5 (exclusive 2)
 *
 * In: groups by stack, with all sums. Out: groups by function. A block counts once in each function
 * of its stack, so groups add up to more than the totals, which are made before. Invariant: peaks
 * are largest values of running sums and do not add up; those that need the events again are left
 * unknown here (function_curves.c).
 */
#include "function_rows.h"

#include <stdlib.h>

#include "engine/query/keys.h"

typedef struct function_maker {
    aggregator *a;
    ETLHEAP_VECTOR(group_head) groups; /* by stack */
    ETLHEAP_VECTOR(i64) measures;
    function_steps steps;
    u32 *latest; /* by frame: the group of its function that was met last, + 1 */
} function_maker;

/* Takes the groups by stack out of the aggregator. */
static bool begin(function_maker *maker, aggregator *a)
{
    *maker = (function_maker){ .a = a };
    maker->groups.at = a->groups.at;
    maker->groups.count = a->groups.count;
    maker->groups.capacity = a->groups.capacity;
    maker->measures.at = a->measures.at;
    maker->measures.count = a->measures.count;
    maker->measures.capacity = a->measures.capacity;
    memset(&a->groups, 0, sizeof a->groups);
    memset(&a->measures, 0, sizeof a->measures);
    ETLHEAP_VECTOR_FREE(&a->by_stack);
    etlheap_index_free(&a->index);
    maker->latest = calloc(a->frames.frames.count + 1, sizeof *maker->latest);
    return maker->latest != NULL && function_steps_open(&maker->steps, &a->frames);
}

/* Finds or makes the group of a function. It is nearly always the one met last with this frame. */
static bool find_group(const function_maker *maker, const group_key *key, u32 *number)
{
    aggregator *const a = maker->a;
    u32 *const latest = key->frame == FRAME_NONE ? NULL : &maker->latest[key->frame];
    if (latest != NULL && *latest != 0 &&
        memcmp(&a->groups.at[*latest - 1].key, key, sizeof *key) == 0) {
        *number = *latest - 1;
        return true;
    }
    if (!aggregate_group(a, key, number))
        return false;
    if (latest != NULL)
        *latest = *number + 1;
    return true;
}

static i64 sum_of(i64 x, i64 y)
{
    return x == ETLHEAP_NOT_KNOWN || y == ETLHEAP_NOT_KNOWN ? ETLHEAP_NOT_KNOWN
                                                            : etl_sat_add_i64(x, y);
}

/* Are peaks of these groups sums? Blocks of one type other than AIFI only come or only go. */
static bool peaks_add_up(const aggregator *a, const group_key *key)
{
    return !a->query->sums_only && query_groups_by(a->query, ETLHEAP_KEY_TYPE) &&
           key->type != ETLHEAP_TYPE_AIFI;
}

/* The value of both groups together; `is_first`: there is only the second one. */
static i64 joined(etlheap_measure measure, i64 x, i64 y, bool is_first)
{
    if (is_first)
        return y;
    if (measure == ETLHEAP_MEASURE_FIRST)
        return x == ETLHEAP_NOT_KNOWN || (y != ETLHEAP_NOT_KNOWN && y < x) ? y : x;
    if (measure == ETLHEAP_MEASURE_LAST)
        return x == ETLHEAP_NOT_KNOWN || y > x ? y : x;
    return sum_of(x, y);
}

static bool add(const function_maker *maker, size_t group, u32 frame, bool is_site)
{
    aggregator *const a = maker->a;
    const i64 *const from = maker->measures.at + group * a->measure_count;
    const size_t before = a->groups.count;
    group_key key = maker->groups.at[group].key;
    u32 number;
    key.stack = 0;
    key.frame = frame;
    if (!find_group(maker, &key, &number))
        return false;
    if (a->exclusive.count < a->groups.count &&
        !ETLHEAP_PUSH(&a->exclusive, (exclusive_sums){ .count = 0 }))
        return false;
    i64 *const to = aggregate_measures(a, number);
    for (u32 i = 0; i < a->measure_count; i++)
        to[i] = joined((etlheap_measure)i, to[i], from[i], a->groups.count > before);
    if (!peaks_add_up(a, &key))
        to[ETLHEAP_MEASURE_PEAK_COUNT] = to[ETLHEAP_MEASURE_PEAK_SIZE] = ETLHEAP_NOT_KNOWN;
    if (is_site) {
        exclusive_sums *const own = &a->exclusive.at[number];
        own->count = etl_sat_add_i64(own->count, from[ETLHEAP_MEASURE_COUNT]);
        own->size = etl_sat_add_i64(own->size, from[ETLHEAP_MEASURE_SIZE]);
    }
    return true;
}

/* Groups of functions are all over memory: those that the frames of a stack had last are fetched
 * before any is written. Always inlined, because compilers drop a function that only prefetches. */
__attribute__((always_inline)) static inline void fetch_stack(const function_maker *maker,
                                                              u32 stack)
{
    const aggregator *const a = maker->a;
    u32 count;
    const u32 *const frames = frames_functions(&a->frames, stack, &count);
    for (u32 i = 0; i < count; i++) {
        const u32 latest = frames[i] == FRAME_NONE ? 0 : maker->latest[frames[i]];
        if (latest == 0)
            continue;
        __builtin_prefetch(&a->groups.at[latest - 1]);
        __builtin_prefetch((const u8 *)&a->groups.at[latest - 1] + sizeof(group_key) - 1);
        __builtin_prefetch(aggregate_measures(a, latest - 1), 1);
    }
}

static bool add_stack(function_maker *maker, size_t group)
{
    u32 frame;
    bool ok = true;
    fetch_stack(maker, maker->groups.at[group].key.stack);
    function_steps_begin(&maker->steps, maker->groups.at[group].key.stack);
    for (bool is_site = true; ok && function_steps_next(&maker->steps, &frame); is_site = false)
        ok = add(maker, group, frame, is_site);
    return ok;
}

bool function_rows(aggregator *a)
{
    if (!query_groups_by(a->query, ETLHEAP_KEY_FUNCTION))
        return true;
    function_maker maker;
    bool ok = begin(&maker, a);
    for (size_t i = 0; ok && i < maker.groups.count; i++)
        ok = add_stack(&maker, i);
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        i64 *const total = a->totals[kind];
        total[ETLHEAP_MEASURE_EXCLUSIVE_COUNT] = total[ETLHEAP_MEASURE_COUNT];
        total[ETLHEAP_MEASURE_EXCLUSIVE_SIZE] = total[ETLHEAP_MEASURE_SIZE];
    }
    aggregate_trim(a);
    ETLHEAP_VECTOR_FREE(&maker.groups);
    ETLHEAP_VECTOR_FREE(&maker.measures);
    function_steps_close(&maker.steps);
    free(maker.latest);
    return ok;
}
