/*
 * block_pool.c - the pool of open heap blocks, with an index by heap and address. block_pool.h
 * explains its shape.
 *
 * In: blocks to add and remove. Out: pointers that stay valid until the pool grows. Invariant: the
 * count of blocks that went past a group must be kept exact on removal, or probes end too early.
 */
#include "block_pool.h"

#include <stdlib.h>

#include "engine/core/machine.h"

#define GROUPS_MIN  4u
#define GROUPS_MAX  ((u32)1 << 25) /* a hash names no more */
#define FILL_PLACES 8u             /* blocks for each group, before there are more groups */

static bool grow_blocks(block_pool *pool);
static bool grow_groups(block_pool *pool);
static void put(block_pool *pool, u32 hash, u32 number);

block *block_pool_add(block_pool *pool, u32 hash)
{
    const u32 group_count = pool->groups == NULL ? 0 : pool->mask + 1;
    if (pool->count >= group_count * FILL_PLACES && !grow_groups(pool))
        return NULL;
    u32 number = pool->free;
    if (number == 0) {
        if (pool->used == pool->capacity && !grow_blocks(pool))
            return NULL;
        number = ++pool->used;
    } else {
        pool->free = pool->blocks[number - 1].hash;
    }
    block *const added = &pool->blocks[number - 1];
    added->hash = hash;
    put(pool, hash, number);
    pool->count++;
    return added;
}

/* There are fewer blocks than places of groups, whose number is bounded. */
static bool grow_blocks(block_pool *pool)
{
    const u32 capacity = pool->capacity == 0 ? GROUPS_MIN * FILL_PLACES : pool->capacity * 2;
    block *const blocks = realloc(pool->blocks, capacity * sizeof *blocks);
    if (blocks == NULL)
        return false;
    pool->blocks = blocks;
    pool->capacity = capacity;
    return true;
}

/* Blocks are in the pool one after the other, so they are what is gone through. */
static bool grow_groups(block_pool *pool)
{
    const u32 old_count = pool->groups == NULL ? 0 : pool->mask + 1;
    if (old_count >= GROUPS_MAX)
        return false;
    const u32 new_count = old_count == 0 ? GROUPS_MIN : old_count * 2;
    const size_t size = new_count * sizeof *pool->groups;
    block_group *const groups = machine_alloc_aligned(sizeof *groups, size);
    if (groups == NULL)
        return false;
    memset(groups, 0, size);
    machine_free_aligned(pool->groups);
    pool->groups = groups;
    pool->mask = new_count - 1;
    for (u32 i = 0; i < pool->used; i++) {
        if (pool->blocks[i].heap != 0)
            put(pool, pool->blocks[i].hash, i + 1);
    }
    return true;
}

static void put(block_pool *pool, u32 hash, u32 number)
{
    u32 at = block_pool_home(pool, hash);
    u32 free_places;
    while ((free_places = block_group_match(&pool->groups[at], TAG_FREE)) == 0) {
        pool->groups[at].passed++;
        at = (at + 1) & pool->mask;
    }
    const u32 place = (u32)__builtin_ctz(free_places);
    pool->groups[at].tags[place] = tag_of(hash);
    pool->groups[at].numbers[place] = number;
}

/* Frees the place of the block in the group; false when it is in another one. */
static bool clear(block_group *group, u8 tag, u32 number)
{
    u32 matches = block_group_match(group, tag);
    for (; matches != 0; matches &= matches - 1) {
        const u32 place = (u32)__builtin_ctz(matches);
        if (group->numbers[place] == number) {
            group->tags[place] = TAG_FREE;
            return true;
        }
    }
    return false;
}

void block_pool_remove(block_pool *pool, block *from)
{
    const u32 number = (u32)(from - pool->blocks) + 1;
    u32 at = block_pool_home(pool, from->hash);
    while (!clear(&pool->groups[at], tag_of(from->hash), number)) {
        pool->groups[at].passed--;
        at = (at + 1) & pool->mask;
    }
    from->heap = 0;
    from->hash = pool->free;
    pool->free = number;
    pool->count--;
}

u64 block_pool_bytes(const block_pool *pool)
{
    const u64 groups = pool->groups == NULL ? 0 : pool->mask + (u64)1;
    return pool->capacity * sizeof *pool->blocks + groups * sizeof *pool->groups;
}

void block_pool_free(block_pool *pool)
{
    free(pool->blocks);
    machine_free_aligned(pool->groups);
    *pool = (block_pool){ 0 };
}
