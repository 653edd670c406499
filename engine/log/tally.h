/*
 * tally.h - sums of heap blocks by slot, without an order.
 *
 * Sums need neither the order of events nor that a block is told of twice: when
 * it has come to its end, its type in the window is known, and so is whether a
 * realloc opened it. So a run that is asked for sums alone counts each block
 * once, by slot and type. Peaks cannot be had from that; see journal.h.
 *
 * A store counts likewise, by how blocks ended in place of their type, so that a
 * report of the whole recording need not go through its events.
 *
 * Each task has a tally of its own. Which blocks it counts may depend on threads;
 * what all of them come to does not, for nothing is rounded or cut off before
 * they are added up.
 */
#ifndef ETLHEAP_TALLY_H
#define ETLHEAP_TALLY_H

#include "engine/core/arena.h"
#include "engine/core/type_rule.h"
#include "engine/engine.h"
#include "engine/read/stages.h"

#define TALLY_BINS 4u /* a report's: by etlheap_type */

typedef enum tally_end { /* a store's */
                         TALLY_FREED,
                         TALLY_EXITED, /* with its process */
                         TALLY_IN_USE  /* at the end of the recording */
} tally_end;

/* The same while it is counted: half the size, for the cache's sake. */
typedef struct tally_cell {
    u64 size;
    u32 count, realloc_count;
} tally_cell;

/* A block to be counted. */
typedef struct tally_block {
    tally_cell cell;
    u32 slot;
    u32 bin;
} tally_block;

#define TALLY_WAITING 16u /* a power of two */

typedef struct slot_tally {
    ETLHEAP_VECTOR(tally_cell) bins[TALLY_BINS]; /* by slot number */
    ETLHEAP_VECTOR(tally_block) unfit;           /* what would overflow its cell */
    tally_block waiting[TALLY_WAITING];          /* blocks whose cells are on their way */
    u32 next_waiting;
    u8 padding[SHARD_PADDING];
} slot_tally;

/* Counts a block; the slot is not 0. False without memory. */
bool tally_add(slot_tally *tally, const tally_block *block);

/* Adds all that was counted to sums[slot * TALLY_BINS + bin], which reach up
 * to the largest slot number. */
void tally_sum(const slot_tally *tally, type_sums *sums);

/* Adds without exceeding what a sum holds. */
void tally_add_sums(type_sums *to, const type_sums *from);

u64 tally_bytes(const slot_tally *tally);
void tally_free(slot_tally *tally);

#endif
