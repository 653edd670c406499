/*
 * order_freers.h - records who ended each block: the *freer* of each event.
 *
 * Only for questions about who freed. A freer is for a free what an origin is for an allocation:
 * the reference of the stack that freed, and the block's owner. Freers have their own numbers, so
 * origins are the same whether or not freers are recorded. The event's place in the event list, by
 * rank, has the freer and its thread (chunk_columns).
 *
 *     free                its own stack
 *     realloc, moving     the stack of its summary at the new address
 *     realloc in place    the stack of the block that it opens
 *     heap or process     none
 *
 * While a stack may still come, a number stands for it: that of a sleeping free (free_stacks.h), or
 * of an allocation in its shard (join.h).
 */
#ifndef ETLHEAP_ORDER_FREERS_H
#define ETLHEAP_ORDER_FREERS_H

#include "engine/read/free_stacks.h"
#include "order.h"
#include "shard.h"

/* The event whose freer gets the stack of a waiting allocation. */
typedef struct freer_place {
    u32 rank; /* in the run; ENTRY_NO_RANK: none */
    u32 owner;
} freer_place;

/* Start from {0}. */
typedef struct freer_table {
    origin_table origins; /* owners and heaps are not used here: they are those of blocks */
    ETLHEAP_VECTOR(freer_place) waits[HEAP_SHARDS]; /* by number */
} freer_table;

/* An event with those before and after it in the bucket; NULL: none. */
typedef struct freer_event {
    const memory_event *event, *before, *after;
    u32 owner; /* may be local */
    u32 rank;  /* in the slice */
} freer_event;

/* Records the event's freer, thread and address at its rank. False if memory runs out. */
bool order_note_freer(const slice_order *order, order_bucket *bucket, const freer_event *at);

/* Call it when the bucket's owners have their numbers. Numbers its freers, and records those that
 * wait for stacks by their rank in the run. False if memory runs out. */
bool order_resolve_freers(order_bucket *bucket, freer_table *freers, free_stacks *frees,
                          u32 first_rank);

/* The wait of an event; NULL if its freer is known. */
const order_freer_wait *order_find_wait(const order_bucket *bucket, u32 rank);

/* An event took over another rank of the slice: so does its wait, if it has one. */
void order_move_wait(const order_bucket *bucket, freer_table *freers, free_stacks *frees,
                     u32 first_rank, rank_move move);

/* Writes the numbers of new freers into the event list. Different buckets may be written in
 * parallel. */
void order_number_freers(const slice_order *order, const order_bucket *bucket);

void freer_table_free(freer_table *freers);
u64 freer_table_bytes(const freer_table *freers);

#endif
