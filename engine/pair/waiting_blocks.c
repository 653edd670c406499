/*
 * waiting_blocks.c - remembers the blocks of a shard whose stacks may still come. waiting_blocks.h
 * has their states.
 *
 * In: numbers of waits. Out: for each the block's ranks, and what to count once its origin is
 * final. Invariant: a number that was resolved may be used again, so ranks must be compared.
 */
#include "waiting_blocks.h"

#include <stdlib.h>

bool waiting_blocks_expect(waiting_blocks *blocks, u32 number, u32 origin)
{
    const waiting_block fresh = { .origin = origin,
                                  .rank = ENTRY_NO_RANK,
                                  .realloc_rank = ENTRY_NO_RANK,
                                  .end_rank = ENTRY_NO_RANK,
                                  .bin = WAITING_BIN_NONE };
    while (blocks->at.count <= number) {
        if (!ETLHEAP_PUSH(&blocks->at, fresh))
            return false;
    }
    blocks->at.at[number] = fresh;
    return true;
}

void waiting_blocks_open(const waiting_blocks *blocks, block *opened)
{
    const u32 number = opened->origin & ~ORIGIN_OF_WAITING;
    waiting_block *const row = &blocks->at.at[number];
    opened->origin = row->origin;
    opened->waiting = number + 1;
    row->address = opened->address;
    row->heap = opened->heap;
    row->rank = opened->rank;
}

bool waiting_blocks_note_end(const waiting_blocks *blocks, const block *ended, shard_events *events,
                             const entry_block *noted, entry_place at)
{
    waiting_block *const row = waiting_block_of(blocks, ended);
    u32 bin;
    if (row == NULL)
        return shard_events_note_end(events, noted, at);
    row->is_ended = true;
    row->is_realloc = noted->is_realloc;
    row->size = noted->size;
    if (!entry_place_is_late(at))
        row->end_rank = events->first_rank + at.rank;
    if (shard_events_counts(events, noted, at, &bin))
        row->bin = (u8)bin;
    return shard_events_note_uncounted_end(events, noted, at);
}

u64 waiting_blocks_bytes(const waiting_blocks *blocks)
{
    return blocks->at.capacity * sizeof *blocks->at.at;
}

void waiting_blocks_free(waiting_blocks *blocks)
{
    ETLHEAP_VECTOR_FREE(&blocks->at);
}
