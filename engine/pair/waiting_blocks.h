/*
 * waiting_blocks.h - blocks of one shard whose call stacks may still come.
 *
 * A block whose stack did not come in its slice opens with the origin for no stack, and the join
 * waits for the stack (join.h). When it comes, the block gets the origin of the stack; if the join
 * gives up, nothing changes. A waiting block that ends is not yet counted in a tally, and this
 * table keeps the places of its words in the event list.
 *
 *     open      rank ─▶ realloc_rank, if a realloc opened it
 *     ended     end_rank, bin: what to count once the origin is final
 *     resolved  the number is free for another block (late_stacks.h)
 *
 * A block that is resolved without a stack keeps its number, which may then lead to another block.
 * Compare ranks to tell.
 */
#ifndef ETLHEAP_WAITING_BLOCKS_H
#define ETLHEAP_WAITING_BLOCKS_H

#include "engine/log/event_list.h"
#include "block_pool.h"

/* Marks a number here instead of an origin, in an event of pairing. */
#define ORIGIN_OF_WAITING ((u32)1 << 30)

static_assert(ORIGIN_NUMBER_MAX < ORIGIN_OF_WAITING && STACK_NUMBER_MAX < ORIGIN_OF_WAITING,
              "an origin and a number fit below the flag");

#define WAITING_BIN_NONE UINT8_MAX

typedef struct waiting_block {
    u64 address, size;
    u32 heap;
    u32 origin;       /* origin for no stack */
    u32 rank;         /* rank in the run of the event that opened it; ENTRY_NO_RANK: no block */
    u32 realloc_rank; /* the same, of the realloc that opened it */
    u32 end_rank;     /* the same, of the event that ended it, if it has a place */
    u8 bin;           /* bin of the tally, once it ended; WAITING_BIN_NONE: not counted */
    bool is_realloc;
    bool is_ended;
} waiting_block;

typedef struct waiting_blocks {
    ETLHEAP_VECTOR(waiting_block) at; /* by number */
} waiting_blocks;

/* Announces that the next event with this number may open a block with this origin. False if memory
 * runs out. */
bool waiting_blocks_expect(waiting_blocks *blocks, u32 number, u32 origin);

/* Records a new block that has a number instead of an origin, and gives it both. */
void waiting_blocks_open(const waiting_blocks *blocks, block *opened);

/* Records the end of a block with a number. False if memory runs out. */
bool waiting_blocks_note_end(const waiting_blocks *blocks, const block *ended, shard_events *events,
                             const entry_block *noted, entry_place at);

/* The row of a waiting block; NULL if it does not wait. */
static inline waiting_block *waiting_block_of(const waiting_blocks *blocks, const block *from)
{
    if (from->waiting == 0)
        return NULL;
    waiting_block *const row = &blocks->at.at[from->waiting - 1];
    return row->rank == from->rank ? row : NULL;
}

u64 waiting_blocks_bytes(const waiting_blocks *blocks);
void waiting_blocks_free(waiting_blocks *blocks);

#endif
