/*
 * block_pool.h - open heap blocks, found by heap and address.
 *
 * Blocks lie in a pool; an index leads to them by hash. What a trace has open at once
 * is far larger than the cache, so what counts is how many lines of it an event
 * touches, and how often the processor guesses wrong on the way:
 *
 *  - places of the index are in groups of one cache line with their tags
 *    (tag_groups.h): one comparison tells which of them are worth a look, mostly the
 *    one that is looked for or none, and there is no run of places to go through;
 *  - an alloc gets the place of the pool that was left last, which is still in the
 *    cache; a free touches its block, and no block is ever moved.
 *
 * A block whose group is full goes to the next one that is not. Each group counts the
 * blocks that went past it, so a probe ends at a group that nobody has passed, and a
 * block that leaves is taken from the counts: no tombstone is needed.
 */
#ifndef ETLHEAP_BLOCK_POOL_H
#define ETLHEAP_BLOCK_POOL_H

#include "engine/core/tag_groups.h"
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
    u32 hash;    /* of heap and address; of a free place, number of the next one */
    u32 waiting; /* number + 1 in waiting_blocks, which may be another block's by now; 0: none */
} block;

static_assert(sizeof(block) == 48, "open blocks are what a long trace keeps in memory");

#define BLOCK_GROUP_PLACES 11u

typedef struct block_group {
    u8 tags[TAG_GROUP_SIZE];         /* the last ones are not used */
    u32 passed;                      /* blocks that belong here or before, and lie behind */
    u32 numbers[BLOCK_GROUP_PLACES]; /* block n is blocks[n - 1] */
} block_group;

static_assert(sizeof(block_group) == 64, "a look-up reads one line of the index");

/* Start from {0}. */
typedef struct block_pool {
    block *blocks;
    block_group *groups; /* NULL while empty */
    u32 mask;            /* groups - 1 */
    u32 used;            /* blocks that were ever used: all open ones are before it */
    u32 capacity;        /* blocks */
    u32 free;            /* number of the one that was left last */
    u32 count;           /* open blocks */
} block_pool;

static inline u32 block_hash(u32 heap, u64 address)
{
    return (u32)(etlheap_hash_u64(address ^ (u64)heap << 45) >> 20);
}

/* The group where the probe for a hash starts; the tag has the bits below. */
static inline u32 block_pool_home(const block_pool *pool, u32 hash)
{
    return hash >> 7 & pool->mask;
}

/* Bit i: place i has the tag. */
static inline u32 block_group_match(const block_group *group, u8 tag)
{
    return tag_match(group->tags, tag) & ((1u << BLOCK_GROUP_PLACES) - 1);
}

/* The first block of that tag where the probe starts, NULL when there is none: nearly
 * always the one that is looked for, but not looked at. */
static inline const block *block_pool_guess(const block_pool *pool, u32 hash)
{
    if (pool->groups == NULL)
        return NULL;
    const block_group *const group = &pool->groups[block_pool_home(pool, hash)];
    const u32 matches = block_group_match(group, tag_of(hash));
    return matches == 0 ? NULL : &pool->blocks[group->numbers[__builtin_ctz(matches)] - 1];
}

static inline block *block_pool_find(const block_pool *pool, const ordered_event *event)
{
    if (pool->groups == NULL)
        return NULL;
    u32 at = block_pool_home(pool, event->hash);
    for (u32 probed = 0; probed <= pool->mask; probed++) {
        const block_group *const group = &pool->groups[at];
        u32 matches = block_group_match(group, tag_of(event->hash));
        for (; matches != 0; matches &= matches - 1) {
            block *const found = &pool->blocks[group->numbers[__builtin_ctz(matches)] - 1];
            if (found->address == event->address && found->heap == event->heap)
                return found;
        }
        if (group->passed == 0)
            return NULL;
        at = (at + 1) & pool->mask;
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
