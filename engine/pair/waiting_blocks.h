/*
 * waiting_blocks.h - the blocks of one shard whose call stacks may still come.
 *
 * A block whose stack did not come in its slice opens with the slot of no stack. Meanwhile
 * the join waits for the stack (join.h). When it comes, the block gets the slot of the stack;
 * when nobody waits any longer, nothing has to be changed. A block that ends before that is
 * not counted in a tally yet, and the places of its words in the journal are known here.
 *
 *     open      rank ─▶ mark_rank, if a realloc marks it
 *     ended     end_rank, bin: what is to be counted once the slot is certain
 *     settled   the number is free for another block (late_stacks.h)
 *
 * A block keeps its number when it is settled without a stack, so the number may lead to
 * another block by then: ranks tell.
 */
#ifndef ETLHEAP_WAITING_BLOCKS_H
#define ETLHEAP_WAITING_BLOCKS_H

#include "engine/log/journal.h"
#include "block_pool.h"

/* In place of a slot, in an event of pairing: the block waits under a number. */
#define SLOT_OF_WAITING ((u32)1 << 30)

static_assert(SLOT_NUMBER_MAX < SLOT_OF_WAITING && STACK_NUMBER_MAX < SLOT_OF_WAITING,
              "a slot and a number fit below the flag");

#define WAITING_BIN_NONE UINT8_MAX

typedef struct waiting_block {
    u64 address, size;
    u32 heap;
    u32 slot;      /* that of no stack */
    u32 rank;      /* of the event that opened it, in the run; JOURNAL_NO_RANK: no block yet */
    u32 mark_rank; /* likewise, of the realloc that marked it */
    u32 end_rank;  /* likewise, of the event that ended it, if it is noted at its own place */
    u8 bin;        /* of the tally, once it ended; WAITING_BIN_NONE: it does not count */
    bool is_realloc;
    bool is_ended;
} waiting_block;

typedef struct waiting_blocks {
    ETLHEAP_VECTOR(waiting_block) at; /* by number */
} waiting_blocks;

/* The next event of the number may open a block with that slot. False without memory. */
bool waiting_blocks_expect(waiting_blocks *blocks, u32 number, u32 slot);

/* A block was opened that has a number in place of its slot, and gets both. */
void waiting_blocks_open(const waiting_blocks *blocks, block *opened);

/* Notes the end of a block that has a number. False without memory. */
bool waiting_blocks_note_end(const waiting_blocks *blocks, const block *ended,
                             shard_journal *journal, const journal_block *noted, journal_moment at);

/* The row of a block that waits; NULL: it does not. */
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
