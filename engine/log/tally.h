/*
 * tally.h - sums of heap blocks by origin, without an order.
 *
 * Sums do not need the order of events, nor two events per block. When a block has ended, its type
 * in the window is known, and whether a realloc opened it. So a run that is asked only for sums
 * counts each block once, by origin and type. That gives no peaks; see event_list.h.
 *
 * A store counts the same way, by how blocks ended instead of by type, so a report on the whole
 * recording need not read its events.
 *
 * Each task has its own tally. Which blocks a tally counts may depend on threads, but their sum
 * does not, because nothing is rounded or cut off before the tallies are added up.
 */
#ifndef ETLHEAP_TALLY_H
#define ETLHEAP_TALLY_H

#include "engine/core/arena.h"
#include "engine/core/type_rule.h"
#include "engine/engine.h"
#include "engine/read/stages.h"

#define TALLY_BINS 4u /* for reports: by etlheap_type */

typedef enum tally_end { /* for stores */
                         TALLY_FREED,
                         TALLY_EXITED, /* ended with its process */
                         TALLY_IN_USE  /* outstanding at the end of the recording */
} tally_end;

/* The counters while counting: half the size, to fit into the cache. */
typedef struct tally_cell {
    u64 size;
    u32 count, realloc_count;
} tally_cell;

/* A block to be counted. */
typedef struct tally_block {
    tally_cell cell;
    u32 origin;
    u32 bin;
} tally_block;

#define TALLY_WAITING 16u /* a power of two */

typedef struct origin_tally {
    ETLHEAP_VECTOR(tally_cell) bins[TALLY_BINS]; /* by origin number */
    ETLHEAP_VECTOR(tally_block) unfit;           /* blocks that would overflow their cell */
    tally_block waiting[TALLY_WAITING];          /* blocks whose cells are being prefetched */
    u32 next_waiting;
    u8 padding[SHARD_PADDING];
} origin_tally;

/* Counts a block; the origin must not be 0. False if memory runs out. */
bool tally_add(origin_tally *tally, const tally_block *block);

/* Adds all counts to sums[origin * TALLY_BINS + bin], which must reach up to the largest origin
 * number. */
void tally_sum(const origin_tally *tally, type_sums *sums);

/* Adds sums, limited to the range of their types. */
void tally_add_sums(type_sums *to, const type_sums *from);

u64 tally_bytes(const origin_tally *tally);
void tally_free(origin_tally *tally);

#endif
