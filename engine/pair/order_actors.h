/*
 * order_actors.h - who ended blocks, for those who ask: the *actor* of each event.
 *
 * An actor is to a free what a slot is to an allocation: the reference of the stack that
 * freed, and the block's owner. Actors have numbers of their own, so that slots are the same
 * whether somebody asks for them or not. The event's place in the journal has the actor, by
 * rank, and its thread (journal_wide).
 *
 *     free                its own stack
 *     realloc, moving     its summary at the old address has the stack of that at the new one
 *     realloc in place    what it ends has the stack of what it opens
 *     heap or process     none
 *
 * A stack that may still come is waited for by the number that stands in its place: that of a
 * free that sleeps (free_stacks.h), or of an allocation in its shard (join.h).
 */
#ifndef ETLHEAP_ORDER_ACTORS_H
#define ETLHEAP_ORDER_ACTORS_H

#include "engine/read/free_stacks.h"
#include "order.h"

/* The event whose actor the stack of a waiting allocation is. */
typedef struct actor_place {
    u32 rank; /* in the run; JOURNAL_NO_RANK: none */
    u32 owner;
} actor_place;

/* Start from {0}. */
typedef struct actor_table {
    slot_table slots; /* of which owners and heaps are not used: those of blocks are theirs */
    ETLHEAP_VECTOR(actor_place) waits[HEAP_SHARDS]; /* by number */
} actor_table;

/* An event at its place, with those before and after it in the bucket; NULL: none. */
typedef struct actor_event {
    const memory_event *event, *before, *after;
    u32 owner; /* may be local */
    u32 rank;  /* in the slice */
} actor_event;

/* Notes the event's actor, thread and address at its rank. False without memory. */
bool order_note_actor(const slice_order *order, order_bucket *bucket, const actor_event *at);

/* Once the bucket's owners have their numbers: its actors get theirs, and what waits for
 * stacks is noted, by its rank in the run. False without memory. */
bool order_settle_actors(order_bucket *bucket, actor_table *actors, free_stacks *frees,
                         u32 first_rank);

/* Puts the numbers of new actors into the journal; each bucket by one task. */
void order_number_actors(const slice_order *order, const order_bucket *bucket);

void actor_table_free(actor_table *actors);
u64 actor_table_bytes(const actor_table *actors);

#endif
