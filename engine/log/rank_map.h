/*
 * rank_map.h - maps the rank of an event to the ordinal of the block it opened.
 *
 * The event list names a block by the rank of the event that opened it, a store by the number of
 * blocks opened before. The two differ by the events that opened none. So the map has one bit per
 * rank and, for every 32 of them, the number of bits set before: 2 bits per event of the run, and
 * one access per look-up.
 */
#ifndef ETLHEAP_RANK_MAP_H
#define ETLHEAP_RANK_MAP_H

#include "event_list.h"

typedef struct rank_map {
    ETLHEAP_VECTOR(u64) words; /* low half: bits of 32 ranks; high half: bits set before them */
    u64 ranks;
    u64 opened;
} rank_map;

/* Appends the events of the next chunk, whose ranks follow. False if memory runs out. */
bool rank_map_add(rank_map *map, const event_chunk *chunk);
void rank_map_free(rank_map *map);
u64 rank_map_bytes(const rank_map *map);

/* Counts bits without the processor's instruction, which not all processors have; the compiler
 * would emit a call. */
static inline u32 rank_map_bits(u32 word)
{
    word -= word >> 1 & 0x55555555;
    word = (word & 0x33333333) + (word >> 2 & 0x33333333);
    return ((word + (word >> 4)) & 0x0F0F0F0F) * 0x01010101 >> 24;
}

/* The number of ranks below this one that opened a block: the ordinal of its block, if it opened
 * one. Any thread, while no thread adds. */
static inline u32 rank_map_ordinal(const rank_map *map, u64 rank)
{
    assert(rank <= map->ranks);
    if (rank == map->ranks)
        return (u32)map->opened;
    const u64 word = map->words.at[rank / 32];
    return (u32)(word >> 32) + rank_map_bits((u32)word & (((u32)1 << rank % 32) - 1));
}

/* Prefetches for a later look-up, which would miss the cache. */
static inline void rank_map_fetch(const rank_map *map, u64 rank)
{
    __builtin_prefetch(&map->words.at[rank / 32]);
}

#endif
