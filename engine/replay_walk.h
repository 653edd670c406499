/*
 * replay_walk.h - the walk over a journal: sums and peaks per group.
 */
#ifndef ETLHEAP_REPLAY_WALK_H
#define ETLHEAP_REPLAY_WALK_H

#include "slot_groups.h"

/* A running sum with its maximum; a value counts once time moves on. */
typedef struct curve {
    i64 size, count;
    i64 peak_size, peak_count;
} curve;

typedef struct type_sums {
    i64 count, size, realloc_count;
} type_sums;

/*
 * One group but for its type. Rows by type need the curve of AIFI alone: AIFO
 * only grows, AOFO stands still and AOFI only falls. Other rows need the curve of
 * everything. Most events are of blocks that come and go, and touch the first
 * cache line only: of the types, AIFI is first.
 */
typedef struct live_group {
    u64 time; /* number of the tick of the latest step */
    curve curve;
    type_sums types[ETLHEAP_TYPE_COUNT]; /* by live_type() */
    u64 unused[7];
} live_group;

static_assert(sizeof(live_group) == 192, "three cache lines");

static inline u32 live_type(etlheap_type type)
{
    static_assert((ETLHEAP_TYPE_AIFI ^ 1) == 0 && ETLHEAP_TYPE_COUNT == 4, "AIFI comes first");
    return (u32)type ^ 1;
}

typedef struct replay_walk {
    const event_journal *journal;
    const u32 *slot_groups; /* by slot number */
    u32 slot_count, group_count;
    u64 size_min_bytes, size_max_bytes;
    bool by_type; /* rows by type */
    u32 jobs;
} replay_walk;

/* The groups at the end of the window; free(*out). ETL_ERR_MEMORY, or
 * ETL_ERR_IO when the journal cannot be read back. */
etl_status replay_walk_run(const replay_walk *walk, live_group **out);

#endif
