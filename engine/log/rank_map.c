/* rank_map.c - see rank_map.h. */
#include "rank_map.h"

#include <stdlib.h>

bool rank_map_add(rank_map *map, const journal_chunk *chunk)
{
    assert(chunk->first_rank == map->ranks);
    const size_t words = (size_t)((map->ranks + chunk->count + 63) / 64);
    const size_t more = words - map->words.count;
    if (!ETLHEAP_RESERVE(&map->words, more) || !ETLHEAP_RESERVE(&map->before, more))
        return false;
    for (u32 i = 0; i < chunk->count; map->ranks++, i++) {
        const bool opens = journal_kind_of(chunk->entries[i]) == JOURNAL_ALLOC;
        if (map->ranks % 64 == 0) {
            map->before.at[map->before.count++] = (u32)map->opened;
            map->words.at[map->words.count++] = 0;
        }
        map->words.at[map->words.count - 1] |= (u64)opens << map->ranks % 64;
        map->opened += opens;
    }
    return true;
}

void rank_map_free(rank_map *map)
{
    ETLHEAP_VECTOR_FREE(&map->words);
    ETLHEAP_VECTOR_FREE(&map->before);
    map->ranks = map->opened = 0;
}

u64 rank_map_bytes(const rank_map *map)
{
    return map->words.capacity * sizeof *map->words.at +
           map->before.capacity * sizeof *map->before.at;
}
