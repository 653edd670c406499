/*
 * rank_map.h - from the rank of an event to the ordinal of the block it opened.
 *
 * The journal names a block by the rank of the event that opened it, a store by
 * how many blocks were opened before. The two differ by the events that opened
 * none, so the map is one bit for each rank and, for each word of them, how many
 * were set before it: 1.5 bits for each event of the run.
 */
#ifndef ETLHEAP_RANK_MAP_H
#define ETLHEAP_RANK_MAP_H

#include "journal.h"

typedef struct rank_map {
    ETLHEAP_VECTOR(u64) words;
    ETLHEAP_VECTOR(u32) before; /* bits set before each word */
    u64 ranks;
    u64 opened;
} rank_map;

/* Appends the events of the next chunk, whose ranks follow. False without memory. */
bool rank_map_add(rank_map *map, const journal_chunk *chunk);
void rank_map_free(rank_map *map);
u64 rank_map_bytes(const rank_map *map);

/* How many ranks below this one opened a block: the ordinal of the block that it
 * opened, if it did. By any thread while nobody adds. */
static inline u32 rank_map_ordinal(const rank_map *map, u64 rank)
{
    assert(rank <= map->ranks);
    if (rank == map->ranks)
        return (u32)map->opened;
    const u64 below = map->words.at[rank / 64] & (((u64)1 << rank % 64) - 1);
    return map->before.at[rank / 64] + (u32)__builtin_popcountll(below);
}

#endif
