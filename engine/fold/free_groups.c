/*
 * free_groups.c - gives each actor of a log the group of its freeing stack: slot_groups.c for
 * frees.
 *
 * In: actors (stack and owner) and the query. Out: of_actor[actor], a number of a key. Invariant:
 * group 0 is "not freed in the window, or by an unknown stack", and actor 0 belongs to it.
 */
#include "free_groups.h"

#include <stdlib.h>

static const owner_row *owner_of(const aggregator *a, u32 actor)
{
    const slot_row *const row = &a->result->actors.slots.at[actor - 1];
    return &a->result->slot_table.owners.at[row->owner - 1];
}

static const heap_row *heap_of(const aggregator *a, u32 actor)
{
    return &a->result->slot_table.heaps.at[owner_of(a, actor)->heap - 1];
}

/* Whose addresses an actor's stack has, and when. */
static frame_question question_of(const aggregator *a, u32 actor)
{
    return (frame_question){ owner_of(a, actor)->first_ticks,
                             a->result->process_ids[heap_of(a, actor)->process],
                             a->result->actors.slots.at[actor - 1].stack };
}

static bool selects(const aggregator *a, u32 actor)
{
    const heap_row *const heap = heap_of(a, actor);
    return query_select_owner(&a->plan, ETLHEAP_KIND_HEAP, a->result->process_ids[heap->process],
                              heap->handle);
}

static bool resolve_all(aggregator *a, u32 count)
{
    frame_question *const questions = malloc((count + (size_t)1) * sizeof *questions);
    size_t asked = 0;
    for (u32 actor = 1; questions != NULL && actor <= count; actor++) {
        if (selects(a, actor))
            questions[asked++] = question_of(a, actor);
    }
    const bool ok = questions != NULL && frames_resolve_all(&a->frames, questions, asked);
    free(questions);
    return ok;
}

static bool same_key(const void *owner, u32 id, const void *key)
{
    const free_groups *const groups = owner;
    return memcmp(&groups->keys.at[id - 1], key, sizeof(free_key)) == 0;
}

static bool find_group(free_groups *groups, const free_key *key, u32 *group)
{
    const u64 hash = etlheap_hash_bytes(key, sizeof *key);
    const u32 id = etlheap_index_find(&groups->key_index, hash, same_key, groups, key);
    *group = id != 0 ? id - 1 : (u32)groups->keys.count;
    return id != 0 || (ETLHEAP_PUSH(&groups->keys, *key) &&
                       etlheap_index_add(&groups->key_index, hash, *group + 1));
}

static bool group_actor(free_groups *groups, aggregator *a, u32 actor)
{
    const frame_question asked = question_of(a, actor);
    u32 resolved;
    free_key key;
    if (!frames_resolve(&a->frames, asked.process, asked.stack, asked.ticks, &resolved))
        return false;
    if (a->is_collecting)
        return true;
    if (groups->stack_of_actor != NULL)
        groups->stack_of_actor[actor] = frames_settled(&a->frames, resolved);
    aggregate_free_key(a, resolved, &key);
    return find_group(groups, &key, &groups->of_actor[actor]);
}

bool free_groups_open(free_groups *out, aggregator *a)
{
    const u32 count = (u32)a->result->actors.slots.count;
    free_key none;
    u32 group;
    *out = (free_groups){ .of_actor = calloc(count + (size_t)1, sizeof *out->of_actor) };
    aggregate_free_key(a, 0, &none);
    bool ok = out->of_actor != NULL && find_group(out, &none, &group);
    if (ok && query_groups_by(a->query, ETLHEAP_KEY_IMPACTING_STACK)) {
        out->stack_of_actor = calloc(count + (size_t)1, sizeof *out->stack_of_actor);
        ok = out->stack_of_actor != NULL;
    }
    if (!ok || !a->wants_free_stack)
        return ok;
    ok = resolve_all(a, count);
    for (u32 actor = 1; ok && actor <= count; actor++) {
        if (selects(a, actor))
            ok = group_actor(out, a, actor);
    }
    return ok;
}

void free_groups_close(free_groups *groups)
{
    free(groups->of_actor);
    free(groups->stack_of_actor);
    ETLHEAP_VECTOR_FREE(&groups->keys);
    etlheap_index_free(&groups->key_index);
    groups->of_actor = groups->stack_of_actor = NULL;
}
