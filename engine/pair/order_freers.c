/*
 * order_freers.c - numbers who ended each block: pairs of (owner, freeing stack). order_freers.h
 * lists the cases.
 *
 * In: events of a bucket in order, with stacks of frees. Out: the freer and thread of each event,
 * by rank. Invariant: freers have their own numbers, so origins are the same whether or not anybody
 * asks who freed.
 */
#include "order_freers.h"

#include <stdlib.h>

static bool opens_by_realloc(const memory_event *event)
{
    return event != NULL && (event->op == OP_REALLOC_NEW || event->op == OP_REALLOC_UNSEEN ||
                             event->op == OP_REALLOC_SAME);
}

/* The event whose stack ended something; NULL: none did. The two events of a realloc are one
 * record, so they are neighbours. */
static const memory_event *acting_event(const freer_event *at)
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

static bool find_freer(const slice_order *order, order_bucket *bucket, const freer_event *at,
                       const memory_event *acting, u32 *freer)
{
    const stack_ref stack = acting->stack;
    *freer = 0;
    if (stack == STACK_NONE)
        return true;
    if ((stack & STACK_TAG_MASK) == STACK_TAG_WAITING) {
        const order_freer_wait wait = { stack & STACK_NUMBER_MAX, at->rank, at->owner,
                                        shard_of_wait(acting) };
        return ETLHEAP_PUSH(&bucket->freer_waits, wait);
    }
    if ((at->owner & ORDER_LOCAL) == 0)
        *freer = origins_find(order->freers, stack, at->owner);
    if (*freer != 0)
        return true;
    *freer = (u32)bucket->new_freers.count | ORDER_LOCAL;
    return ETLHEAP_PUSH(&bucket->new_freers, (origin_row){ stack, at->owner });
}

bool order_note_freer(const slice_order *order, order_bucket *bucket, const freer_event *at)
{
    const memory_event *const acting = acting_event(at);
    u32 freer = 0;
    const bool ok = acting == NULL || find_freer(order, bucket, at, acting, &freer);
    order->wide.freers[at->rank] = freer;
    order->wide.threads[at->rank] = at->event->tid;
    order->wide.addresses[at->rank] = at->event->address;
    return ok;
}

static u32 owner_number(const order_bucket *bucket, u32 owner)
{
    return (owner & ORDER_LOCAL) == 0 ? owner : bucket->owner_ids.at[owner & ~ORDER_LOCAL];
}

static bool expect(freer_table *freers, free_stacks *frees, const order_freer_wait *wait,
                   freer_place place)
{
    if (wait->shard == SHARDS) {
        sleeping_free *const row = &frees->sleeping.at[wait->number];
        row->rank = place.rank;
        row->owner = place.owner;
        return true;
    }
    while (freers->waits[wait->shard].count <= wait->number) {
        if (!ETLHEAP_PUSH(&freers->waits[wait->shard], (freer_place){ ENTRY_NO_RANK, 0 }))
            return false;
    }
    freers->waits[wait->shard].at[wait->number] = place;
    return true;
}

bool order_resolve_freers(order_bucket *bucket, freer_table *freers, free_stacks *frees,
                          u32 first_rank)
{
    bool ok = true;
    bucket->freer_ids.count = 0;
    for (size_t i = 0; ok && i < bucket->new_freers.count; i++) {
        const origin_row *const row = &bucket->new_freers.at[i];
        const u32 id = origins_add(&freers->origins, row->stack, owner_number(bucket, row->owner));
        ok = id != 0 && ETLHEAP_PUSH(&bucket->freer_ids, id);
    }
    for (size_t i = 0; ok && i < bucket->freer_waits.count; i++) {
        const order_freer_wait *const wait = &bucket->freer_waits.at[i];
        const freer_place place = { first_rank + wait->rank, owner_number(bucket, wait->owner) };
        ok = expect(freers, frees, wait, place);
    }
    return ok;
}

const order_freer_wait *order_find_wait(const order_bucket *bucket, u32 rank)
{
    const order_freer_wait *const waits = bucket->freer_waits.at; /* ranks ascend */
    size_t at;
    ETL_BISECT(at, 0, bucket->freer_waits.count, waits[at].rank < rank);
    return at < bucket->freer_waits.count && waits[at].rank == rank ? &waits[at] : NULL;
}

void order_move_wait(const order_bucket *bucket, freer_table *freers, free_stacks *frees,
                     u32 first_rank, rank_move move)
{
    const order_freer_wait *const wait = order_find_wait(bucket, move.from);
    if (wait == NULL)
        return;
    u32 *const rank = wait->shard == SHARDS ? &frees->sleeping.at[wait->number].rank
                                            : &freers->waits[wait->shard].at[wait->number].rank;
    if (*rank == first_rank + move.from)
        *rank = first_rank + move.to;
}

void order_number_freers(const slice_order *order, const order_bucket *bucket)
{
    u32 *const freers = order->wide.freers + bucket->first;
    for (u32 i = 0; bucket->new_freers.count > 0 && i < bucket->count; i++) {
        if ((freers[i] & ORDER_LOCAL) != 0)
            freers[i] = bucket->freer_ids.at[freers[i] & ~ORDER_LOCAL];
    }
}

void freer_table_free(freer_table *freers)
{
    origins_free(&freers->origins);
    for (u32 i = 0; i < HEAP_SHARDS; i++)
        ETLHEAP_VECTOR_FREE(&freers->waits[i]);
}

u64 freer_table_bytes(const freer_table *freers)
{
    u64 bytes = origins_bytes(&freers->origins);
    for (u32 i = 0; i < HEAP_SHARDS; i++)
        bytes += freers->waits[i].capacity * sizeof *freers->waits[i].at;
    return bytes;
}
