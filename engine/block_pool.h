/*
 * block_pool.h - open heap blocks, found by heap and address.
 *
 * Blocks lie in a pool; an index of eight bytes each, open addressing with linear
 * probing, leads to them by hash. What a trace has open at once is far larger than the
 * cache, so what counts is how many lines of it an event touches:
 *
 *  - places of the index hold the whole hash, so that nobody else's block is looked at,
 *    and none at all to open one or to close the gap that another leaves;
 *  - an alloc gets the place of the pool that was left last, which is still in the
 *    cache; a free touches its block, and no block is ever moved.
 */
#ifndef ETLHEAP_BLOCK_POOL_H
#define ETLHEAP_BLOCK_POOL_H

#include "order.h"

typedef struct block {
    u64 address;
    i64 alloc_ticks;
    u32 heap; /* number in slots.heaps, which tells the process; 0: a free place */
    u32 slot; /* number in slots.slots */
    u32 size; /* BLOCK_SIZE_BIG: in the table's list of big sizes */
    u32 tid;
    u32 rank;           /* of the event that opened it, in the run */
    u32 displaced : 31; /* index + 1 of the block this one displaced */
    u32 is_realloc : 1;
    u32 hash; /* of heap and address; of a free place, number of the next one */
} block;

static_assert(sizeof(block) == 48, "open blocks are what a long trace keeps in memory");

typedef struct block_place {
    u32 hash;
    u32 number; /* block n is blocks[n - 1]; 0: nobody's place */
} block_place;

/* Start from {0}. */
typedef struct block_pool {
    block *blocks;
    block_place *places;
    u32 mask;     /* places - 1 */
    u32 used;     /* blocks that were ever used: all open ones are before it */
    u32 capacity; /* blocks */
    u32 free;     /* number of the one that was left last */
    u32 count;    /* open blocks */
} block_pool;

static inline u32 block_hash(u32 heap, u64 address)
{
    return (u32)(etlheap_hash_u64(address ^ (u64)heap << 45) >> 20);
}

/* From `at` on, the first place of that hash, or else an empty one. */
static inline u32 block_pool_seek(const block_pool *pool, u32 hash, u32 at)
{
    while (pool->places[at & pool->mask].number != 0 && pool->places[at & pool->mask].hash != hash)
        at++;
    return at & pool->mask;
}

/* The first block of that hash, NULL when there is none: nearly always the one that is
 * looked for, but not looked at. */
static inline const block *block_pool_guess(const block_pool *pool, u32 hash)
{
    if (pool->count == 0)
        return NULL;
    const u32 number = pool->places[block_pool_seek(pool, hash, hash)].number;
    return number == 0 ? NULL : &pool->blocks[number - 1];
}

static inline block *block_pool_find(const block_pool *pool, const ordered_event *event)
{
    if (pool->count == 0)
        return NULL;
    u32 at = block_pool_seek(pool, event->hash, event->hash);
    while (pool->places[at].number != 0) {
        block *const found = &pool->blocks[pool->places[at].number - 1];
        if (found->address == event->address && found->heap == event->heap)
            return found;
        at = block_pool_seek(pool, event->hash, at + 1);
    }
    return NULL;
}

/* A block for a key that is not in the pool, with its hash; all other members are the
 * caller's to set. Pointers to other blocks end. NULL without memory. */
block *block_pool_add(block_pool *pool, u32 hash);

/* The block is free from now on; its key no longer leads to it. */
void block_pool_remove(block_pool *pool, block *from);

u64 block_pool_bytes(const block_pool *pool);
void block_pool_free(block_pool *pool);

#endif
