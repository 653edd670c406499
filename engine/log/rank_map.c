/*
 * rank_map.c - maps ranks of events to ordinals of blocks: a bit for each rank, and a count for
 * every 32 bits. Invariant: ranks are added in order, without gaps.
 */
#include "rank_map.h"

#include <stdlib.h>

bool rank_map_add(rank_map *map, const event_chunk *chunk)
{
    assert(chunk->first_rank == map->ranks);
    const size_t words = (size_t)((map->ranks + chunk->count + 31) / 32);
    if (!ETLHEAP_RESERVE(&map->words, words - map->words.count))
        return false;
    for (u32 i = 0; i < chunk->count; map->ranks++, i++) {
        const bool opens = entry_kind_of(chunk->entries[i]) == ENTRY_ALLOC;
        if (map->ranks % 32 == 0)
            map->words.at[map->words.count++] = map->opened << 32;
        map->words.at[map->words.count - 1] |= (u64)opens << map->ranks % 32;
        map->opened += opens;
    }
    return true;
}

void rank_map_free(rank_map *map)
{
    ETLHEAP_VECTOR_FREE(&map->words);
    map->ranks = map->opened = 0;
}

u64 rank_map_bytes(const rank_map *map)
{
    return map->words.capacity * sizeof *map->words.at;
}
