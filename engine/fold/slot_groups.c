/*
 * slot_groups.c - gives each slot, and each origin of rows in memory, the group that its blocks
 * belong to. All that depends on kind, process, heap and stack alone (names, culling, filters) is
 * done here once, not for each block.
 *
 * In: the slot table and the origins of a result, and the query of an aggregator. Out:
 * of_slot[slot], a number of a group or GROUP_NONE if the query filters the slot out; and the key
 * of each group.
 *
 *     slots with a known stack      ──place_of──▶ key ──find_key──▶ group
 *     slots with a provisional one  ──▶ their final stack ──▶ its slot's group, or as above
 *     origins, whose stacks are known  ──as the first──▶ group
 *
 * Invariant: the second step looks up groups of the first, so all slots with known stacks come
 * first. The type in a key is always 0, because blocks of one slot differ in it. So is an impacting
 * stack, because it depends on the type.
 */
#include "slot_groups.h"

#include <stdlib.h>

#include "engine/core/type_rule.h"

static bool resolve(slot_groups *r);

bool slot_groups_open(slot_groups *out, aggregator *a, const feed_rows *rows, bool wants_slots)
{
    const slot_table *const slots = &a->result->slot_table;
    *out = (slot_groups){ .a = a, .slots = slots, .rows = rows };
    if (wants_slots && etlheap_result_is_for_questions(a->result))
        out->slot_count = (u32)slots->slots.count;
    const u32 first = rows == NULL ? out->slot_count + 1 : rows->origins.first;
    const size_t count = first + (rows == NULL ? 0 : rows->origins.list.count);
    out->of_slot = malloc(count * sizeof *out->of_slot);
    bool ok = out->of_slot != NULL;
    for (u32 i = 0; ok && i < first; i++)
        out->of_slot[i] = GROUP_NONE;
    if (ok && query_groups_by(a->query, ETLHEAP_KEY_IMPACTING_STACK)) {
        out->stack_of_slot = calloc(count, sizeof *out->stack_of_slot);
        ok = out->stack_of_slot != NULL;
    }
    return ok && resolve(out);
}

void slot_groups_close(slot_groups *groups)
{
    ETLHEAP_VECTOR_FREE(&groups->keys);
    ETLHEAP_VECTOR_FREE(&groups->first_keys);
    etlheap_index_free(&groups->key_index);
    ETLHEAP_VECTOR_FREE(&groups->finals);
    etlheap_index_free(&groups->final_index);
    free(groups->of_slot);
    free(groups->stack_of_slot);
    groups->of_slot = groups->stack_of_slot = NULL;
}

static bool same_key(const void *owner, u32 id, const void *key)
{
    const slot_groups *const r = owner;
    return memcmp(&r->keys.at[id - 1], key, sizeof(group_key)) == 0;
}

/* Finds or adds the group of a key. Nearly every stack has one key, which an array holds; only
 * further keys of a stack are hashed. */
static bool find_key(slot_groups *r, const group_key *key, u32 *group)
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
static bool place_of(slot_groups *r, const block_source *source, slot_place *out)
{
    aggregator *const a = r->a;
    group_key key;
    *out = (slot_place){ GROUP_NONE, 0 };
    if (!query_select_owner(&a->plan, source->kind, source->process, source->heap))
        return true;
    if (!aggregate_key(a, source, ETLHEAP_TYPE_AIFO, &key))
        return false;
    if (r->stack_of_slot != NULL) {
        out->resolved = key.stack;
        key.stack = 0;
    }
    return key.unwanted || find_key(r, &key, &out->group);
}

/* Blocks of a slot with this final stack. */
static block_source source_of(const slot_groups *r, u32 stack, u32 owner)
{
    const owner_row *const row = &r->slots->owners.at[owner - 1];
    const heap_row *const heap = &r->slots->heaps.at[row->heap - 1];
    return (block_source){ .ticks = row->first_ticks,
                           .heap = heap->handle,
                           .process = r->a->result->process_ids[heap->process],
                           .stack = stack,
                           .kind = ETLHEAP_KIND_HEAP };
}

static bool same_final(const void *owner, u32 id, const void *key)
{
    const slot_groups *const r = owner;
    const final_slot *const a = &r->finals.at[id - 1], *const b = key;
    return a->stack == b->stack && a->owner == b->owner;
}

/* The place of a slot whose stack was provisional. Slots with known stacks have theirs already.
 * Very many provisional slots may share a few final stacks. */
static bool find_final(slot_groups *r, u32 stack, u32 owner, slot_place *out)
{
    const u32 known = slots_find(r->slots, stack, owner);
    if (known != 0) {
        const u32 resolved = r->stack_of_slot == NULL ? 0 : r->stack_of_slot[known];
        *out = (slot_place){ r->of_slot[known], resolved };
        return true;
    }
    final_slot wanted = { .stack = stack, .owner = owner };
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
static bool may_select(const slot_groups *r, const row_origin *origin)
{
    const query_plan *const plan = &r->a->plan;
    const origin_key *const key = &origin->key;
    return query_select_owner(plan, (etlheap_kind)key->kind, key->process, key->heap) &&
           type_touches(origin->first_ticks, origin->until_ticks, plan->from_ticks,
                        plan->kind_to_ticks[key->kind]);
}

/* Resolves the known stacks together. Provisional ones are few, or have the same final stacks. */
static bool resolve_stacks(const slot_groups *r)
{
    const slot_table *const slots = r->slots;
    const size_t origins = r->rows == NULL ? 0 : r->rows->origins.list.count;
    frame_question *const questions = malloc((r->slot_count + origins + 1) * sizeof *questions);
    size_t count = 0;
    for (size_t i = 0; questions != NULL && i < r->slot_count; i++) {
        const slot_row *const slot = &slots->slots.at[i];
        const block_source source = source_of(r, slot->stack, slot->owner);
        if ((slot->stack & STACK_TAG_MASK) == 0 &&
            query_select_owner(&r->a->plan, source.kind, source.process, source.heap))
            questions[count++] = (frame_question){ source.ticks, source.process, source.stack };
    }
    for (size_t i = 0; questions != NULL && i < origins; i++) {
        const row_origin *const origin = &r->rows->origins.list.at[i];
        if (may_select(r, origin))
            questions[count++] =
                (frame_question){ origin->first_ticks, origin->key.process, origin->key.stack };
    }
    const bool ok = questions != NULL && frames_resolve_all(&r->a->frames, questions, count);
    free(questions);
    return ok;
}

/* Places the slots whose stacks are known, or the others. */
static bool place_slots(slot_groups *r, bool are_known)
{
    const slot_table *const slots = r->slots;
    for (u32 i = 0; i < r->slot_count; i++) {
        const slot_row *const slot = &slots->slots.at[i];
        const block_source source = source_of(r, slot->stack, slot->owner);
        slot_place place;
        if (((slot->stack & STACK_TAG_MASK) == 0) != are_known)
            continue;
        const bool ok = are_known ? place_of(r, &source, &place)
                                  : find_final(r, result_final_stack(r->a->result, slot->stack),
                                               slot->owner, &place);
        if (!ok)
            return false;
        r->of_slot[i + 1] = place.group;
        if (r->stack_of_slot != NULL)
            r->stack_of_slot[i + 1] = place.resolved;
    }
    return true;
}

/* The last row of an origin may lie in a time in which frames of its stack are guesses: see
 * frames_guess.c. */
static bool note_last(const slot_groups *r, const row_origin *origin)
{
    u32 resolved;
    return !r->a->wants_stack || origin->last_ticks == origin->first_ticks ||
           frames_resolve(&r->a->frames, origin->key.process, origin->key.stack, origin->last_ticks,
                          &resolved);
}

static bool place_origins(slot_groups *r)
{
    for (u32 i = 0; r->rows != NULL && i < r->rows->origins.list.count; i++) {
        const row_origin *const origin = &r->rows->origins.list.at[i];
        const block_source source = { .ticks = origin->first_ticks,
                                      .heap = origin->key.heap,
                                      .process = origin->key.process,
                                      .stack = origin->key.stack,
                                      .kind = (u8)origin->key.kind };
        const u32 number = r->rows->origins.first + i;
        slot_place place = { GROUP_NONE, 0 };
        if (may_select(r, origin) && (!place_of(r, &source, &place) || !note_last(r, origin)))
            return false;
        r->of_slot[number] = place.group;
        if (r->stack_of_slot != NULL)
            r->stack_of_slot[number] = place.resolved;
    }
    return true;
}

static bool resolve(slot_groups *r)
{
    if (r->a->wants_stack && !resolve_stacks(r))
        return false;
    ETLHEAP_EXPECT(&r->keys, r->slot_count + (r->rows == NULL ? 0 : r->rows->origins.list.count));
    return place_slots(r, true) && place_slots(r, false) && place_origins(r);
}
