/* block_pool.c - see block_pool.h. */
#include "block_pool.h"

#include <stdlib.h>

#define PLACES_MIN 64u
#define PLACES_MAX ((u32)1 << 31)

static bool grow_blocks(block_pool *pool);
static bool grow_places(block_pool *pool);
static void put(block_pool *pool, block_place place);

block *block_pool_add(block_pool *pool, u32 hash)
{
    if ((pool->places == NULL || pool->count >= pool->mask / 4 * 3) && !grow_places(pool))
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
    put(pool, (block_place){ hash, number });
    pool->count++;
    return added;
}

/* There are fewer blocks than places, whose number is bounded. */
static bool grow_blocks(block_pool *pool)
{
    const u32 capacity = pool->capacity == 0 ? PLACES_MIN : pool->capacity * 2;
    block *const blocks = realloc(pool->blocks, capacity * sizeof *blocks);
    if (blocks == NULL)
        return false;
    pool->blocks = blocks;
    pool->capacity = capacity;
    return true;
}

static bool grow_places(block_pool *pool)
{
    const u32 old_count = pool->places == NULL ? 0 : pool->mask + 1;
    if (old_count >= PLACES_MAX)
        return false;
    const u32 new_count = old_count == 0 ? PLACES_MIN : old_count * 2;
    block_place *const old = pool->places;
    block_place *const places = etlheap_touched_calloc(new_count, sizeof *places);
    if (places == NULL)
        return false;
    pool->places = places;
    pool->mask = new_count - 1;
    for (u32 i = 0; i < old_count; i++) {
        if (old[i].number != 0)
            put(pool, old[i]);
    }
    free(old);
    return true;
}

static void put(block_pool *pool, block_place place)
{
    u32 at = place.hash & pool->mask;
    while (pool->places[at].number != 0)
        at = (at + 1) & pool->mask;
    pool->places[at] = place;
}

/* Moves later members of the probe run back, so that no tombstone is needed. */
void block_pool_remove(block_pool *pool, block *from)
{
    block_place *const places = pool->places;
    const u32 number = (u32)(from - pool->blocks) + 1, mask = pool->mask;
    u32 hole = from->hash & mask;
    while (places[hole].number != number)
        hole = (hole + 1) & mask;
    for (u32 at = (hole + 1) & mask; places[at].number != 0; at = (at + 1) & mask) {
        if (((at - places[at].hash) & mask) >= ((at - hole) & mask)) {
            places[hole] = places[at];
            hole = at;
        }
    }
    places[hole].number = 0;
    from->heap = 0;
    from->hash = pool->free;
    pool->free = number;
    pool->count--;
}

u64 block_pool_bytes(const block_pool *pool)
{
    const u64 places = pool->places == NULL ? 0 : pool->mask + (u64)1;
    return pool->capacity * sizeof *pool->blocks + places * sizeof *pool->places;
}

void block_pool_free(block_pool *pool)
{
    free(pool->blocks);
    free(pool->places);
    *pool = (block_pool){ 0 };
}
