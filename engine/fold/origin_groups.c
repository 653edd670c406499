/*
 * origin_groups.c - gives each origin, and each origin of rows in memory, the group that its blocks
 * belong to. All that depends on kind, process, heap and stack alone (names, culling, filters) is
 * done here once, not for each block.
 *
 * In: the origin table and the origins of a result, and the query of an aggregator. Out:
 * of_origin[origin], a number of a group or GROUP_NONE if the query filters the origin out; and the
 * key of each group.
 *
 *     origins with a known stack      ──place_of──▶ key ──find_key──▶ group
 *     origins with a provisional one  ──▶ their final stack ──▶ its origin's group, or as above
 *     origins, whose stacks are known  ──as the first──▶ group
 *
 * Invariant: the second step looks up groups of the first, so all origins with known stacks come
 * first. The type in a key is always 0, because blocks of one origin differ in it. So is an
 * impacting stack, because it depends on the type.
 */
#include "origin_groups.h"

#include <stdlib.h>

#include "engine/core/type_rule.h"

static bool resolve(origin_groups *r);

bool origin_groups_open(origin_groups *out, aggregator *a, const feed_rows *rows,
                        bool wants_origins)
{
    const origin_table *const origins = &a->result->origin_table;
    *out = (origin_groups){ .a = a, .origins = origins, .rows = rows };
    if (wants_origins && etlheap_result_is_for_questions(a->result))
        out->origin_count = (u32)origins->origins.count;
    const u32 first = rows == NULL ? out->origin_count + 1 : rows->origins.first;
    const size_t count = first + (rows == NULL ? 0 : rows->origins.list.count);
    out->of_origin = malloc(count * sizeof *out->of_origin);
    bool ok = out->of_origin != NULL;
    for (u32 i = 0; ok && i < first; i++)
        out->of_origin[i] = GROUP_NONE;
    if (ok && query_groups_by(a->query, ETLHEAP_KEY_IMPACTING_STACK)) {
        out->stack_of_origin = calloc(count, sizeof *out->stack_of_origin);
        ok = out->stack_of_origin != NULL;
    }
    return ok && resolve(out);
}

etl_status origin_groups_count(origin_groups *groups, etl_error *err)
{
    const feed_rows *const rows = groups->rows;
    const u64 numbers = (rows == NULL ? groups->origin_count + 1 : rows->origins.first) +
                        (rows == NULL ? (u64)0 : rows->origins.list.count);
    const u64 bytes = groups->keys.capacity * sizeof *groups->keys.at +
                      groups->finals.capacity * sizeof *groups->finals.at +
                      groups->first_keys.capacity * sizeof *groups->first_keys.at +
                      etlheap_index_bytes(&groups->key_index) +
                      etlheap_index_bytes(&groups->final_index) +
                      numbers * sizeof(u32) * (groups->stack_of_origin == NULL ? 1 : 2);
    return memory_hold(groups->a->plan.memory, &groups->held_bytes, bytes, err);
}

void origin_groups_close(origin_groups *groups)
{
    if (groups->a != NULL)
        (void)memory_hold(groups->a->plan.memory, &groups->held_bytes, 0, NULL);
    ETLHEAP_VECTOR_FREE(&groups->keys);
    ETLHEAP_VECTOR_FREE(&groups->first_keys);
    etlheap_index_free(&groups->key_index);
    ETLHEAP_VECTOR_FREE(&groups->finals);
    etlheap_index_free(&groups->final_index);
    free(groups->of_origin);
    free(groups->stack_of_origin);
    groups->of_origin = groups->stack_of_origin = NULL;
}

static bool same_key(const void *owner, u32 id, const void *key)
{
    const origin_groups *const r = owner;
    return memcmp(&r->keys.at[id - 1], key, sizeof(group_key)) == 0;
}

/* Finds or adds the group of a key. Nearly every stack has one key, which an array holds; only
 * further keys of a stack are hashed. */
static bool find_key(origin_groups *r, const group_key *key, u32 *group)
{
    u64 hash = 0;
    u32 *first = NULL;
    u32 id;
    if (key->stack != 0) {
        if (!table_ids_fit(&r->first_keys, r->a->frames.stacks.count + 1))
            return false;
        first = &r->first_keys.at[key->stack];
    }
    if (first != NULL && (*first == 0 || same_key(r, *first, key))) {
        id = *first;
    } else {
        hash = etlheap_hash_bytes(key, sizeof *key);
        id = etlheap_index_find(&r->key_index, hash, same_key, r, key);
        first = NULL;
    }
    *group = id - 1;
    if (id != 0)
        return true;
    *group = (u32)r->keys.count;
    if (!ETLHEAP_PUSH(&r->keys, *key))
        return false;
    if (first == NULL)
        return etlheap_index_add(&r->key_index, hash, *group + 1);
    *first = *group + 1;
    return true;
}

/* The place of a source's blocks of all types; GROUP_NONE if the query filters them out. */
static bool place_of(origin_groups *r, const block_source *source, origin_place *out)
{
    aggregator *const a = r->a;
    group_key key;
    *out = (origin_place){ GROUP_NONE, 0 };
    if (!query_select_owner(&a->plan, source->kind, source->process, source->heap))
        return true;
    if (!aggregate_key(a, source, ETLHEAP_TYPE_AIFO, &key))
        return false;
    if (r->stack_of_origin != NULL) {
        out->resolved = key.stack;
        key.stack = 0;
    }
    return key.unwanted || find_key(r, &key, &out->group);
}

/* Blocks of an origin with this final stack. */
static block_source source_of(const origin_groups *r, u32 stack, u32 owner)
{
    const owner_row *const row = &r->origins->owners.at[owner - 1];
    const heap_row *const heap = &r->origins->heaps.at[row->heap - 1];
    return (block_source){ .ticks = row->first_ticks,
                           .heap = heap->handle,
                           .process = r->a->result->process_ids[heap->process],
                           .stack = stack,
                           .kind = ETLHEAP_KIND_HEAP };
}

static bool same_final(const void *owner, u32 id, const void *key)
{
    const origin_groups *const r = owner;
    const final_origin *const a = &r->finals.at[id - 1], *const b = key;
    return a->stack == b->stack && a->owner == b->owner;
}

/* The place of an origin whose stack was provisional. Origins with known stacks have theirs
 * already. Very many provisional origins may share a few final stacks. */
static bool find_final(origin_groups *r, u32 stack, u32 owner, origin_place *out)
{
    const u32 known = origins_find(r->origins, stack, owner);
    if (known != 0) {
        const u32 resolved = r->stack_of_origin == NULL ? 0 : r->stack_of_origin[known];
        *out = (origin_place){ r->of_origin[known], resolved };
        return true;
    }
    final_origin wanted = { .stack = stack, .owner = owner };
    const u64 hash = etlheap_hash_u64((u64)owner << 32 | stack);
    const u32 id = etlheap_index_find(&r->final_index, hash, same_final, r, &wanted);
    if (id != 0) {
        *out = r->finals.at[id - 1].place;
        return true;
    }
    const block_source source = source_of(r, stack, owner);
    if (!place_of(r, &source, &wanted.place) || !ETLHEAP_PUSH(&r->finals, wanted))
        return false;
    *out = wanted.place;
    return etlheap_index_add(&r->final_index, hash, (u32)r->finals.count);
}

/* May the query select rows of the origin? */
static bool may_select(const origin_groups *r, const row_origin *origin)
{
    const query_plan *const plan = &r->a->plan;
    const origin_key *const key = &origin->key;
    return query_select_owner(plan, (etlheap_kind)key->kind, key->process, key->heap) &&
           type_touches(origin->first_ticks, origin->until_ticks, plan->from_ticks,
                        plan->kind_to_ticks[key->kind]);
}

/* Resolves the known stacks together. Provisional ones are few, or have the same final stacks. */
static bool resolve_stacks(const origin_groups *r)
{
    const origin_table *const origins = r->origins;
    const size_t more = r->rows == NULL ? 0 : r->rows->origins.list.count;
    stack_place *const places = malloc((r->origin_count + more + 1) * sizeof *places);
    size_t count = 0;
    for (size_t i = 0; places != NULL && i < r->origin_count; i++) {
        const origin_row *const origin = &origins->origins.at[i];
        const block_source source = source_of(r, origin->stack, origin->owner);
        if ((origin->stack & STACK_TAG_MASK) == 0 &&
            query_select_owner(&r->a->plan, source.kind, source.process, source.heap))
            places[count++] = (stack_place){ source.ticks, source.process, source.stack };
    }
    for (size_t i = 0; places != NULL && i < more; i++) {
        const row_origin *const origin = &r->rows->origins.list.at[i];
        if (may_select(r, origin))
            places[count++] =
                (stack_place){ origin->first_ticks, origin->key.process, origin->key.stack };
    }
    const bool ok = places != NULL && frames_resolve_all(&r->a->frames, places, count);
    free(places);
    return ok;
}

/* Places the origins whose stacks are known, or the others. */
static bool place_origins(origin_groups *r, bool are_known)
{
    const origin_table *const origins = r->origins;
    for (u32 i = 0; i < r->origin_count; i++) {
        const origin_row *const origin = &origins->origins.at[i];
        const block_source source = source_of(r, origin->stack, origin->owner);
        origin_place place;
        if (((origin->stack & STACK_TAG_MASK) == 0) != are_known)
            continue;
        const bool ok = are_known ? place_of(r, &source, &place)
                                  : find_final(r, result_final_stack(r->a->result, origin->stack),
                                               origin->owner, &place);
        if (!ok)
            return false;
        r->of_origin[i + 1] = place.group;
        if (r->stack_of_origin != NULL)
            r->stack_of_origin[i + 1] = place.resolved;
    }
    return true;
}

/* The last row of an origin may lie in a time in which frames of its stack are guesses: see
 * frames_guess.c. */
static bool note_last(const origin_groups *r, const row_origin *origin)
{
    u32 resolved;
    return !r->a->wants_stack || origin->last_ticks == origin->first_ticks ||
           frames_resolve(&r->a->frames, origin->key.process, origin->key.stack, origin->last_ticks,
                          &resolved);
}

static bool place_row_origins(origin_groups *r)
{
    for (u32 i = 0; r->rows != NULL && i < r->rows->origins.list.count; i++) {
        const row_origin *const origin = &r->rows->origins.list.at[i];
        const block_source source = { .ticks = origin->first_ticks,
                                      .heap = origin->key.heap,
                                      .process = origin->key.process,
                                      .stack = origin->key.stack,
                                      .kind = (u8)origin->key.kind };
        const u32 number = r->rows->origins.first + i;
        origin_place place = { GROUP_NONE, 0 };
        if (may_select(r, origin) && (!place_of(r, &source, &place) || !note_last(r, origin)))
            return false;
        r->of_origin[number] = place.group;
        if (r->stack_of_origin != NULL)
            r->stack_of_origin[number] = place.resolved;
    }
    return true;
}

static bool resolve(origin_groups *r)
{
    if (r->a->wants_stack && !resolve_stacks(r))
        return false;
    ETLHEAP_EXPECT(&r->keys, r->origin_count + (r->rows == NULL ? 0 : r->rows->origins.list.count));
    return place_origins(r, true) && place_origins(r, false) && place_row_origins(r);
}
