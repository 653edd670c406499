/*
 * function_curves.c - peaks of groups by function.
 *
 * In: groups by stack, and the events of their blocks in time order. Out: the peaks of the groups
 * by function that function_rows.c makes. Peaks do not add up, so they cannot be made of the peaks
 * of stacks: each event moves the curve of every function of its stack, once, however often the
 * function calls itself.
 *
 *     group by stack   main > load > parse > parse   ──▶  set { main, load, parse }
 *     event of it      + 48 bytes                    ──▶  three curves move
 */
#include "function_curves.h"

static bool same_key(const void *owner, u32 id, const void *key)
{
    const function_curves *const curves = owner;
    return memcmp(&curves->keys.at[id - 1], key, sizeof(group_key)) == 0;
}

static u32 find(const function_curves *curves, const group_key *key)
{
    return etlheap_index_find(&curves->index, etlheap_hash_bytes(key, sizeof *key), same_key,
                              curves, key);
}

/* Adds a function to the set of the current group. */
static bool add(function_curves *curves, const group_key *of_stack, u32 frame)
{
    group_key key = *of_stack;
    key.stack = 0;
    key.frame = frame;
    u32 id = find(curves, &key);
    if (id == 0) {
        id = (u32)curves->keys.count + 1;
        if (!ETLHEAP_PUSH(&curves->keys, key) ||
            !etlheap_index_add(&curves->index, etlheap_hash_bytes(&key, sizeof key), id))
            return false;
    }
    return ETLHEAP_PUSH(&curves->members, id - 1);
}

static bool add_set(function_curves *curves, function_steps *steps, const group_key *key)
{
    u32 frame;
    bool ok = true;
    function_steps_begin(steps, key->stack);
    while (ok && function_steps_next(steps, &frame))
        ok = add(curves, key, frame);
    return ok && ETLHEAP_PUSH(&curves->first, (u32)curves->members.count);
}

etl_status function_curves_begin(function_curves *out, aggregator *a, const log_groups *groups,
                                 bool by_type, log_pass *pass, etl_error *err)
{
    *out = (function_curves){ .a = a, .by_type = by_type };
    function_steps steps;
    bool ok = function_steps_open(&steps, &a->frames) && ETLHEAP_PUSH(&out->first, 0);
    for (u32 i = 0; ok && i < groups->count; i++) {
        const group_key key = log_groups_key(groups, i);
        ok = add_set(out, &steps, &key);
    }
    function_steps_close(&steps);
    if (!ok)
        return etl_no_memory(err);
    out->sets = (replay_sets){ out->first.at, out->members.at, groups->count };
    out->events = (event_want){ .a = a,
                                .groups = groups,
                                .job.walk = { .by_type = by_type,
                                              .curves_only = true,
                                              .sets = &out->sets,
                                              .group_count = (u32)out->keys.count } };
    const u64 bytes = out->keys.count * sizeof *out->keys.at + etlheap_index_bytes(&out->index) +
                      (out->members.count + out->first.count) * sizeof(u32);
    const etl_status status = memory_hold(a->plan.memory, &out->held_bytes, bytes, err);
    return status != ETL_OK || ETLHEAP_PUSH(&pass->events, &out->events) ? status
                                                                         : etl_no_memory(err);
}

/* A row by type has a curve only if it is one of AIFI; peaks of the other types are sums. */
void function_curves_finish(const function_curves *curves)
{
    const aggregator *const a = curves->a;
    const live_group *const walked = curves->events.job.groups;
    for (size_t i = 0; walked != NULL && i < a->groups.count; i++) {
        group_key key = a->groups.at[i].key;
        if (curves->by_type && key.type != ETLHEAP_TYPE_AIFI)
            continue;
        key.type = curves->by_type ? 0 : key.type;
        const u32 id = find(curves, &key);
        if (id == 0)
            continue;
        i64 *const measures = aggregate_measures(a, i);
        measures[ETLHEAP_MEASURE_PEAK_SIZE] = walked[id - 1].curve.peak_size;
        measures[ETLHEAP_MEASURE_PEAK_COUNT] = walked[id - 1].curve.peak_count;
    }
}

void function_curves_close(function_curves *curves)
{
    if (curves->a != NULL)
        (void)memory_hold(curves->a->plan.memory, &curves->held_bytes, 0, NULL);
    ETLHEAP_VECTOR_FREE(&curves->keys);
    ETLHEAP_VECTOR_FREE(&curves->members);
    ETLHEAP_VECTOR_FREE(&curves->first);
    etlheap_index_free(&curves->index);
    replay_job_free(&curves->events.job);
}
