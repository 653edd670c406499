/*
 * block_pool.h - the open heap blocks of a shard, found by heap and address.
 *
 * Blocks lie in a pool; a hash index leads to them. The open blocks of a trace are far larger than
 * the cache, so the cost is the number of cache lines that an event touches, and the number of
 * mispredicted branches:
 *
 * - places of the index are in groups of one cache line with their tags (tag_groups.h). One
 *   comparison shows which places may match, usually one or none, so no run of places is walked;
 * - an alloc gets the most recently freed place of the pool, which is still in the cache; a free
 *   touches only its block; no block ever moves.
 *
 * A block whose group is full goes to the next group with a free place. Each group counts the
 * blocks that went past it, so a probe ends at a group that no block has passed. A removed block is
 * subtracted from these counts, so no tombstones are needed.
 */
#ifndef ETLHEAP_BLOCK_POOL_H
#define ETLHEAP_BLOCK_POOL_H

#include "engine/core/tag_groups.h"
#include "order.h"

typedef struct block {
    u64 address;
    i64 alloc_ticks;
    u32 heap;   /* number in origins.heaps, which implies the process; 0: free place */
    u32 origin; /* number in origins.origins */
    u32 size;   /* BLOCK_SIZE_BIG: the size is in the table's list */
    u32 tid;
    u32 rank;           /* rank in the run of the event that opened it */
    u32 displaced : 31; /* index + 1 of the block that this one displaced */
    u32 is_realloc : 1;
    u32 hash;    /* of heap and address; in a free place: number of the next one */
    u32 waiting; /* number + 1 in waiting_blocks, which may have been reused; 0: none */
} block;

static_assert(sizeof(block) == 48, "open blocks are what a long trace keeps in memory");

#define BLOCK_GROUP_PLACES 11u

typedef struct block_group {
    u8 tags[TAG_GROUP_SIZE];         /* the last ones are not used */
    u32 passed;                      /* blocks that belong here or before, but lie after */
    u32 numbers[BLOCK_GROUP_PLACES]; /* block n is blocks[n - 1] */
} block_group;

static_assert(sizeof(block_group) == 64, "a look-up reads one line of the index");

/* Start from {0}. */
typedef struct block_pool {
    block *blocks;
    block_group *groups; /* NULL while empty */
    u32 mask;            /* groups - 1 */
    u32 used;            /* places ever used; all open blocks are before it */
    u32 capacity;        /* blocks */
    u32 free;            /* number of the most recently freed place */
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

/* Bit i is set if place i has the tag. */
static inline u32 block_group_match(const block_group *group, u8 tag)
{
    return tag_match(group->tags, tag) & ((1u << BLOCK_GROUP_PLACES) - 1);
}

/* The first block with this tag in the group where the probe starts, or NULL. It is nearly always
 * the right one, but its key was not compared. */
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

/* Adds a block for a key that is not in the pool. Sets only its hash; the caller sets all other
 * members. Invalidates pointers to blocks. NULL if memory runs out. */
block *block_pool_add(block_pool *pool, u32 hash);

/* Removes the block; its key no longer leads to it. */
void block_pool_remove(block_pool *pool, block *from);

u64 block_pool_bytes(const block_pool *pool);
void block_pool_free(block_pool *pool);

#endif
