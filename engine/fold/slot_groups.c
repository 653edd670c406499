/*
 * slot_groups.c - gives each slot the group that its blocks belong to. All that depends on process,
 * heap and stack alone (names, culling, filters) is done here once, not for each block.
 *
 * In: the slot table of a result and the query of an aggregator. Out: of_slot[slot], a number of a
 * group or GROUP_NONE if the query filters the slot out; and the key of each group.
 *
 *     slots with a known stack      ──place_of──▶ key ──find_key──▶ group
 *     slots with a provisional one  ──▶ their final stack ──▶ its slot's group, or as above
 *
 * Invariant: the second step looks up groups of the first, so all slots with known stacks come
 * first. The type in a key is always 0, because blocks of one slot differ in type. So is an
 * impacting stack, because it depends on the type.
 */
#include "slot_groups.h"

#include <stdlib.h>

static bool resolve(slot_groups *r);

bool slot_groups_open(slot_groups *out, aggregator *a)
{
    const slot_table *const slots = &a->result->slot_table;
    *out = (slot_groups){ .a = a,
                          .slots = slots,
                          .of_slot = calloc(slots->slots.count + 1, sizeof *out->of_slot) };
    bool ok = out->of_slot != NULL;
    if (ok && query_groups_by(a->query, ETLHEAP_KEY_IMPACTING_STACK)) {
        out->stack_of_slot = calloc(slots->slots.count + 1, sizeof *out->stack_of_slot);
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

/* The place of a slot's blocks of all types; GROUP_NONE if the query filters them out. */
static bool place_of(slot_groups *r, u32 stack, u32 owner, slot_place *out)
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
    *out = (slot_place){ GROUP_NONE, 0 };
    if (!query_select_owner(&a->plan, kind, process, heap->handle))
        return true;
    if (!aggregate_key(a, &one, 0, ETLHEAP_TYPE_AIFO, &key))
        return false;
    if (r->stack_of_slot != NULL) {
        out->resolved = key.stack;
        key.stack = 0;
    }
    return key.unwanted || find_key(r, &key, &out->group);
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
    if (!place_of(r, stack, owner, &wanted.place) || !ETLHEAP_PUSH(&r->finals, wanted))
        return false;
    *out = wanted.place;
    return etlheap_index_add(&r->final_index, hash, (u32)r->finals.count);
}

/* Resolves the known stacks together. Provisional ones are few, or have the same final stacks. */
static bool resolve_stacks(const slot_groups *r)
{
    const slot_table *const slots = r->slots;
    frame_question *const questions = malloc((slots->slots.count + 1) * sizeof *questions);
    size_t count = 0;
    for (size_t i = 0; questions != NULL && i < slots->slots.count; i++) {
        const slot_row *const slot = &slots->slots.at[i];
        const owner_row *const owner = &slots->owners.at[slot->owner - 1];
        const heap_row *const heap = &slots->heaps.at[owner->heap - 1];
        const u32 process = r->a->result->process_ids[heap->process];
        if ((slot->stack & STACK_TAG_MASK) == 0 &&
            query_select_owner(&r->a->plan, ETLHEAP_KIND_HEAP, process, heap->handle))
            questions[count++] = (frame_question){ owner->first_ticks, process, slot->stack };
    }
    const bool ok = questions != NULL && frames_resolve_all(&r->a->frames, questions, count);
    free(questions);
    return ok;
}

/* Places the slots whose stacks are known, or the others. */
static bool place_slots(slot_groups *r, bool are_known)
{
    const slot_table *const slots = r->slots;
    for (u32 i = 0; i < slots->slots.count; i++) {
        const slot_row *const slot = &slots->slots.at[i];
        slot_place place;
        if (((slot->stack & STACK_TAG_MASK) == 0) != are_known)
            continue;
        const bool ok = are_known ? place_of(r, slot->stack, slot->owner, &place)
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

static bool resolve(slot_groups *r)
{
    if (r->a->wants_stack && !resolve_stacks(r))
        return false;
    r->of_slot[0] = GROUP_NONE;
    ETLHEAP_EXPECT(&r->keys, r->slots->slots.count);
    return place_slots(r, true) && place_slots(r, false);
}
