/*
 * churn.h - finds temporary blocks: freed before their thread allocates again.
 *
 * Blocks come in the order of their allocations. Each has its end: the number of allocations, by
 * any thread, before it was freed. A block is temporary if its end is not after the number of its
 * thread's next allocation:
 *
 *     number     0    1    2    3    4
 *     thread     A    B    B    A    B
 *     end        3    2    5    -    -      0 and 1 are temporary: 3 <= 3, 2 <= 2
 *
 * So no event is read twice, and only the last ten blocks of each thread are kept. Different tasks
 * process runs of blocks. A run does not know how its first allocations of a thread affect earlier
 * blocks, and when its last blocks end. It keeps both for each thread, and the runs are joined in
 * order.
 */
#ifndef ETLHEAP_CHURN_H
#define ETLHEAP_CHURN_H

#include "engine/core/intern.h"

#define CHURN_NEAR   10u /* "within 10": freed before the thread's tenth next allocation */
#define CHURN_NO_END UINT32_MAX
#define CHURN_1MS_NS 1000000
#define CHURN_RECENT 64u /* a power of two */

/* Temporary blocks of a group. */
typedef struct churn_sums {
    i64 count, size;
    i64 near_count; /* within CHURN_NEAR */
    i64 fast_count; /* within 1 ms */
} churn_sums;

typedef ETLHEAP_VECTOR(churn_sums) churn_list; /* by group */

/* A block whose thread has not allocated often enough yet to decide. */
typedef struct churn_pending {
    u32 end;
    u32 group; /* group + 1; 0: not counted */
    u64 size;
} churn_pending;

/* A thread in a run, or in all runs joined so far. */
typedef struct churn_thread {
    u64 id;
    u32 count;             /* allocations, at most CHURN_NEAR */
    u32 at;                /* place of the next one in the ring */
    u32 heads[CHURN_NEAR]; /* numbers of the first allocations */
    churn_pending ring[CHURN_NEAR];
} churn_thread;

typedef struct churn_threads {
    ETLHEAP_VECTOR(churn_thread) list;
    etlheap_index index;
    u32 recent[CHURN_RECENT]; /* by bits of the id: the last such thread seen, + 1 */
} churn_threads;

/* Blocks with consecutive numbers. */
typedef struct churn_run {
    u64 first;
    churn_threads threads;
} churn_run;

/* The blocks of one task. Start from {0}. */
typedef struct churn_track {
    churn_list sums;
    u64 next; /* the number that continues the last run */
    ETLHEAP_VECTOR(churn_run) runs;
} churn_track;

static inline u64 churn_track_bytes(const churn_track *track)
{
    return track->sums.capacity * sizeof *track->sums.at +
           track->runs.capacity * sizeof *track->runs.at;
}

/* An allocation in the window. */
typedef struct churn_block {
    u64 thread;
    u64 size;
    u32 number;
    u32 end;   /* CHURN_NO_END: not freed inside the window */
    u32 group; /* group + 1; 0: not selected, but its thread allocates */
    bool is_fast;
} churn_block;

/* Adds a block. Blocks of one track must come in the order of their numbers. False if memory runs
 * out. */
bool churn_note(churn_track *track, const churn_block *block);

/* Prefetches the sums of a group, as in a churn_block. Always inlined, because compilers drop a
 * function that only prefetches. */
__attribute__((always_inline)) static inline void churn_fetch(const churn_track *track, u32 group)
{
    if (group - 1 < track->sums.count)
        __builtin_prefetch(&track->sums.at[group - 1], 1);
}

void churn_track_free(churn_track *track);

/* The joined tracks of all tasks. Start from {0}. */
typedef struct churn_join {
    churn_list sums;
    ETLHEAP_VECTOR(churn_run) runs;
} churn_join;

/* Adds a track, whose groups have different numbers here: `groups` by group of the track. False if
 * memory runs out. */
bool churn_join_take(churn_join *join, churn_track *track, const u32 *groups, u32 group_count);

/* Joins all runs, and makes the sums of `group_count` groups. False if memory runs out. */
bool churn_join_finish(churn_join *join, u32 group_count);
void churn_join_free(churn_join *join);

#endif
