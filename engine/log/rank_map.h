/*
 * rank_map.h - from the rank of an event to the ordinal of the block it opened.
 *
 * The journal names a block by the rank of the event that opened it, a store by
 * how many blocks were opened before. The two differ by the events that opened
 * none, so the map is one bit for each rank and, beside each 32 of them, how many were set
 * before: 2 bits for each event of the run, and one look for each that is asked for.
 */
#ifndef ETLHEAP_RANK_MAP_H
#define ETLHEAP_RANK_MAP_H

#include "journal.h"

typedef struct rank_map {
    ETLHEAP_VECTOR(u64) words; /* low half: of 32 ranks; high half: how many before them */
    u64 ranks;
    u64 opened;
} rank_map;

/* Appends the events of the next chunk, whose ranks follow. False without memory. */
bool rank_map_add(rank_map *map, const journal_chunk *chunk);
void rank_map_free(rank_map *map);
u64 rank_map_bytes(const rank_map *map);

/* Without what processors have for it, which not all of them do; the compiler's own way
 * would be a call. */
static inline u32 rank_map_bits(u32 word)
{
    word -= word >> 1 & 0x55555555;
    word = (word & 0x33333333) + (word >> 2 & 0x33333333);
    return ((word + (word >> 4)) & 0x0F0F0F0F) * 0x01010101 >> 24;
}

/* How many ranks below this one opened a block: the ordinal of the block that it
 * opened, if it did. By any thread while nobody adds. */
static inline u32 rank_map_ordinal(const rank_map *map, u64 rank)
{
    assert(rank <= map->ranks);
    if (rank == map->ranks)
        return (u32)map->opened;
    const u64 word = map->words.at[rank / 32];
    return (u32)(word >> 32) + rank_map_bits((u32)word & (((u32)1 << rank % 32) - 1));
}

/* A look misses the cache: many at hand are announced. */
static inline void rank_map_fetch(const rank_map *map, u64 rank)
{
    __builtin_prefetch(&map->words.at[rank / 32]);
}

#endif
