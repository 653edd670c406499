/*
 * order_actors.h - records who ended each block: the *actor* of each event.
 *
 * Only for questions about who freed. An actor is for a free what a slot is for an allocation: the
 * reference of the stack that freed, and the block's owner. Actors have their own numbers, so slots
 * are the same whether or not actors are recorded. The event's place in the journal, by rank, has
 * the actor and its thread (journal_wide).
 *
 *     free                its own stack
 *     realloc, moving     the stack of its summary at the new address
 *     realloc in place    the stack of the block that it opens
 *     heap or process     none
 *
 * While a stack may still come, a number stands for it: that of a sleeping free (free_stacks.h), or
 * of an allocation in its shard (join.h).
 */
#ifndef ETLHEAP_ORDER_ACTORS_H
#define ETLHEAP_ORDER_ACTORS_H

#include "engine/read/free_stacks.h"
#include "order.h"
#include "shard.h"

/* The event whose actor gets the stack of a waiting allocation. */
typedef struct actor_place {
    u32 rank; /* in the run; JOURNAL_NO_RANK: none */
    u32 owner;
} actor_place;

/* Start from {0}. */
typedef struct actor_table {
    slot_table slots; /* owners and heaps are not used here: they are those of blocks */
    ETLHEAP_VECTOR(actor_place) waits[HEAP_SHARDS]; /* by number */
} actor_table;

/* An event with those before and after it in the bucket; NULL: none. */
typedef struct actor_event {
    const memory_event *event, *before, *after;
    u32 owner; /* may be local */
    u32 rank;  /* in the slice */
} actor_event;

/* Records the event's actor, thread and address at its rank. False if memory runs out. */
bool order_note_actor(const slice_order *order, order_bucket *bucket, const actor_event *at);

/* Call it when the bucket's owners have their numbers. Numbers its actors, and records those that
 * wait for stacks by their rank in the run. False if memory runs out. */
bool order_settle_actors(order_bucket *bucket, actor_table *actors, free_stacks *frees,
                         u32 first_rank);

/* The wait of an event; NULL if its actor is known. */
const order_actor_wait *order_find_wait(const order_bucket *bucket, u32 rank);

/* An event took over another rank of the slice: so does its wait, if it has one. */
void order_move_wait(const order_bucket *bucket, actor_table *actors, free_stacks *frees,
                     u32 first_rank, rank_move move);

/* Writes the numbers of new actors into the journal. Different buckets may be written in
 * parallel. */
void order_number_actors(const slice_order *order, const order_bucket *bucket);

void actor_table_free(actor_table *actors);
u64 actor_table_bytes(const actor_table *actors);

#endif
