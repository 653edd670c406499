/*
 * order_actors.c - numbers who ended each block: pairs of (owner, freeing stack). order_actors.h
 * lists the cases.
 *
 * In: events of a bucket in order, with stacks of frees. Out: the actor and thread of each event,
 * by rank. Invariant: actors have their own numbers, so slots are the same whether or not anybody
 * asks who freed.
 */
#include "order_actors.h"

#include <stdlib.h>

static bool opens_by_realloc(const memory_event *event)
{
    return event != NULL && (event->op == OP_REALLOC_NEW || event->op == OP_REALLOC_UNSEEN ||
                             event->op == OP_REALLOC_SAME);
}

/* The event whose stack ended something; NULL: none did. The two events of a realloc are one
 * record, so they are neighbours. */
static const memory_event *acting_event(const actor_event *at)
{
    switch ((memory_op)at->event->op) {
    case OP_FREE:
        return at->event;
    case OP_REALLOC_OLD:
    case OP_REALLOC_ALONE:
        return opens_by_realloc(at->before) ? at->before : NULL;
    case OP_REALLOC_CLOSE:
        return opens_by_realloc(at->after) ? at->after : NULL;
    default:
        return NULL;
    }
}

/* SHARDS: a free that sleeps. */
static u8 shard_of_wait(const memory_event *acting)
{
    return acting->op == OP_FREE ? SHARDS : acting->shard;
}

static bool find_actor(const slice_order *order, order_bucket *bucket, const actor_event *at,
                       const memory_event *acting, u32 *actor)
{
    const stack_ref stack = acting->stack;
    *actor = 0;
    if (stack == STACK_NONE)
        return true;
    if ((stack & STACK_TAG_MASK) == STACK_TAG_WAITING) {
        const order_actor_wait wait = { stack & STACK_NUMBER_MAX, at->rank, at->owner,
                                        shard_of_wait(acting) };
        return ETLHEAP_PUSH(&bucket->actor_waits, wait);
    }
    if ((at->owner & ORDER_LOCAL) == 0)
        *actor = slots_find(order->actors, stack, at->owner);
    if (*actor != 0)
        return true;
    *actor = (u32)bucket->new_actors.count | ORDER_LOCAL;
    return ETLHEAP_PUSH(&bucket->new_actors, (slot_row){ stack, at->owner });
}

bool order_note_actor(const slice_order *order, order_bucket *bucket, const actor_event *at)
{
    const memory_event *const acting = acting_event(at);
    u32 actor = 0;
    const bool ok = acting == NULL || find_actor(order, bucket, at, acting, &actor);
    order->wide.actors[at->rank] = actor;
    order->wide.threads[at->rank] = at->event->tid;
    order->wide.addresses[at->rank] = at->event->address;
    return ok;
}

static u32 owner_number(const order_bucket *bucket, u32 owner)
{
    return (owner & ORDER_LOCAL) == 0 ? owner : bucket->owner_ids.at[owner & ~ORDER_LOCAL];
}

static bool expect(actor_table *actors, free_stacks *frees, const order_actor_wait *wait,
                   actor_place place)
{
    if (wait->shard == SHARDS) {
        sleeping_free *const row = &frees->sleeping.at[wait->number];
        row->rank = place.rank;
        row->owner = place.owner;
        return true;
    }
    while (actors->waits[wait->shard].count <= wait->number) {
        if (!ETLHEAP_PUSH(&actors->waits[wait->shard], (actor_place){ JOURNAL_NO_RANK, 0 }))
            return false;
    }
    actors->waits[wait->shard].at[wait->number] = place;
    return true;
}

bool order_settle_actors(order_bucket *bucket, actor_table *actors, free_stacks *frees,
                         u32 first_rank)
{
    bool ok = true;
    bucket->actor_ids.count = 0;
    for (size_t i = 0; ok && i < bucket->new_actors.count; i++) {
        const slot_row *const row = &bucket->new_actors.at[i];
        const u32 id = slots_add(&actors->slots, row->stack, owner_number(bucket, row->owner));
        ok = id != 0 && ETLHEAP_PUSH(&bucket->actor_ids, id);
    }
    for (size_t i = 0; ok && i < bucket->actor_waits.count; i++) {
        const order_actor_wait *const wait = &bucket->actor_waits.at[i];
        const actor_place place = { first_rank + wait->rank, owner_number(bucket, wait->owner) };
        ok = expect(actors, frees, wait, place);
    }
    return ok;
}

const order_actor_wait *order_find_wait(const order_bucket *bucket, u32 rank)
{
    size_t low = 0, high = bucket->actor_waits.count; /* ranks ascend */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (bucket->actor_waits.at[middle].rank < rank)
            low = middle + 1;
        else
            high = middle;
    }
    const bool is_there =
        low < bucket->actor_waits.count && bucket->actor_waits.at[low].rank == rank;
    return is_there ? &bucket->actor_waits.at[low] : NULL;
}

void order_move_wait(const order_bucket *bucket, actor_table *actors, free_stacks *frees,
                     u32 first_rank, rank_move move)
{
    const order_actor_wait *const wait = order_find_wait(bucket, move.from);
    if (wait == NULL)
        return;
    u32 *const rank = wait->shard == SHARDS ? &frees->sleeping.at[wait->number].rank
                                            : &actors->waits[wait->shard].at[wait->number].rank;
    if (*rank == first_rank + move.from)
        *rank = first_rank + move.to;
}

void order_number_actors(const slice_order *order, const order_bucket *bucket)
{
    u32 *const actors = order->wide.actors + bucket->first;
    for (u32 i = 0; bucket->new_actors.count > 0 && i < bucket->count; i++) {
        if ((actors[i] & ORDER_LOCAL) != 0)
            actors[i] = bucket->actor_ids.at[actors[i] & ~ORDER_LOCAL];
    }
}

void actor_table_free(actor_table *actors)
{
    slots_free(&actors->slots);
    for (u32 i = 0; i < HEAP_SHARDS; i++)
        ETLHEAP_VECTOR_FREE(&actors->waits[i]);
}

u64 actor_table_bytes(const actor_table *actors)
{
    u64 bytes = slots_bytes(&actors->slots);
    for (u32 i = 0; i < HEAP_SHARDS; i++)
        bytes += actors->waits[i].capacity * sizeof *actors->waits[i].at;
    return bytes;
}
