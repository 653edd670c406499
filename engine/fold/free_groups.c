/*
 * free_groups.c - gives each freer of a log the group of its freeing stack: origin_groups.c for
 * frees.
 *
 * In: freers (stack and owner), freers of rows, and the query. Out: of_freer[freer], a number of a
 * key. Invariant: group 0 is "not freed in the window, or by an unknown stack", and freer 0 belongs
 * to it.
 */
#include "free_groups.h"

#include <stdlib.h>

/* Stacks that freed: of the freers of a log, and of the freers of rows after them. */
typedef struct freeings {
    const aggregator *a;
    const feed_rows *rows;
    u32 freers, count; /* of the log, and of both */
} freeings;

/* Whose addresses a stack has that freed, and when. */
typedef struct freeing {
    stack_place asked;
    i64 last_ticks;
} freeing;

/* False if the query selects nothing that it freed. */
static bool freeing_of(const freeings *of, u32 number, freeing *out)
{
    const query_plan *const plan = &of->a->plan;
    const etlheap_result *const result = of->a->result;
    if (number > of->freers) {
        const row_origin *const freer = &of->rows->freers.list.at[number - of->freers - 1];
        const origin_key *const key = &freer->key;
        *out = (freeing){ { freer->first_ticks, key->process, key->stack }, freer->last_ticks };
        return query_select_owner(plan, (etlheap_kind)key->kind, key->process, key->heap) &&
               freer->first_ticks < plan->kind_to_ticks[key->kind] &&
               freer->last_ticks >= plan->from_ticks;
    }
    const origin_row *const row = &result->freers.origins.at[number - 1];
    const owner_row *const owner = &result->origin_table.owners.at[row->owner - 1];
    const heap_row *const heap = &result->origin_table.heaps.at[owner->heap - 1];
    const u32 process = result->process_ids[heap->process];
    *out = (freeing){ { owner->first_ticks, process, row->stack }, owner->first_ticks };
    return query_select_owner(plan, ETLHEAP_KIND_HEAP, process, heap->handle);
}

static bool resolve_all(aggregator *a, const freeings *of)
{
    stack_place *const places = malloc((of->count + (size_t)1) * sizeof *places);
    size_t asked = 0;
    for (u32 number = 1; places != NULL && number <= of->count; number++) {
        freeing one;
        if (freeing_of(of, number, &one))
            places[asked++] = one.asked;
    }
    const bool ok = places != NULL && frames_resolve_all(&a->frames, places, asked);
    free(places);
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

/* The last free may lie in a time in which frames of the stack are guesses: see frames_guess.c. */
static bool group_freeing(free_groups *groups, aggregator *a, u32 number, const freeing *one)
{
    const stack_place *const asked = &one->asked;
    u32 resolved, last;
    free_key key;
    if (!frames_resolve(&a->frames, asked->process, asked->stack, asked->ticks, &resolved) ||
        (one->last_ticks != asked->ticks &&
         !frames_resolve(&a->frames, asked->process, asked->stack, one->last_ticks, &last)))
        return false;
    if (a->is_collecting)
        return true;
    if (groups->stack_of_freer != NULL)
        groups->stack_of_freer[number] = frames_finished(&a->frames, resolved);
    aggregate_free_key(a, resolved, &key);
    return find_group(groups, &key, &groups->of_freer[number]);
}

bool free_groups_open(free_groups *out, aggregator *a, const feed_rows *rows)
{
    const u32 freers =
        etlheap_result_is_for_questions(a->result) ? (u32)a->result->freers.origins.count : 0;
    const u32 row_freers = rows == NULL ? 0 : (u32)rows->freers.list.count;
    const freeings of = { a, rows, freers, freers + row_freers };
    free_key none;
    u32 group;
    *out = (free_groups){ .of_freer = calloc(of.count + (size_t)1, sizeof *out->of_freer) };
    aggregate_free_key(a, 0, &none);
    bool ok = out->of_freer != NULL && find_group(out, &none, &group);
    if (ok && query_groups_by(a->query, ETLHEAP_KEY_IMPACTING_STACK)) {
        out->stack_of_freer = calloc(of.count + (size_t)1, sizeof *out->stack_of_freer);
        ok = out->stack_of_freer != NULL;
    }
    if (!ok || !a->wants_free_stack)
        return ok;
    ok = resolve_all(a, &of);
    for (u32 number = 1; ok && number <= of.count; number++) {
        freeing one;
        if (freeing_of(&of, number, &one))
            ok = group_freeing(out, a, number, &one);
    }
    return ok;
}

void free_groups_close(free_groups *groups)
{
    free(groups->of_freer);
    free(groups->stack_of_freer);
    ETLHEAP_VECTOR_FREE(&groups->keys);
    etlheap_index_free(&groups->key_index);
    groups->of_freer = groups->stack_of_freer = NULL;
}
