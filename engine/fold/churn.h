/*
 * churn.h - which blocks are temporary: freed before their thread allocates again.
 *
 * Blocks come in the order of their allocations, and each knows how many allocations, of
 * whatever thread, there had been when it was freed: its end. A block is temporary if its end
 * is not behind the number of its thread's next allocation:
 *
 *     number     0    1    2    3    4
 *     thread     A    B    B    A    B
 *     end        3    2    5    -    -      0 and 1 are temporary: 3 <= 3, 2 <= 2
 *
 * So no event is looked at twice, and a thread's last ten blocks are all that is kept. Runs of
 * blocks are looked at by different tasks. What a run cannot know is what its first allocations
 * of a thread mean for the blocks before it, and what becomes of its last ones: it keeps both
 * for each thread, and the runs are joined in order.
 */
#ifndef ETLHEAP_CHURN_H
#define ETLHEAP_CHURN_H

#include "engine/core/intern.h"

#define CHURN_NEAR   10u /* "within 10": freed before the thread's tenth next allocation */
#define CHURN_NO_END UINT32_MAX
#define CHURN_1MS_NS 1000000

/* Temporary blocks of a group. */
typedef struct churn_sums {
    i64 count, size;
    i64 near_count; /* within CHURN_NEAR */
    i64 fast_count; /* within 1 ms */
} churn_sums;

typedef ETLHEAP_VECTOR(churn_sums) churn_list; /* by group */

/* A block whose thread has not allocated often enough to tell. */
typedef struct churn_pending {
    u32 end;
    u32 group; /* + 1; 0: it does not count */
    u64 size;
} churn_pending;

/* A thread in a run, or in all runs joined so far. */
typedef struct churn_thread {
    u64 id;
    u32 count;             /* allocations, at most CHURN_NEAR */
    u32 at;                /* place of the next one in the ring */
    u32 heads[CHURN_NEAR]; /* numbers of the first ones */
    churn_pending ring[CHURN_NEAR];
} churn_thread;

typedef struct churn_threads {
    ETLHEAP_VECTOR(churn_thread) list;
    etlheap_index index;
    u32 latest; /* the one met last, + 1 */
} churn_threads;

/* Blocks with consecutive numbers. */
typedef struct churn_run {
    u64 first;
    churn_threads threads;
} churn_run;

/* What one task saw. Start from {0}. */
typedef struct churn_track {
    churn_list sums;
    u64 next; /* the number that continues the last run */
    ETLHEAP_VECTOR(churn_run) runs;
} churn_track;

/* An allocation in the window. */
typedef struct churn_block {
    u64 thread;
    u64 size;
    u32 number;
    u32 end;   /* CHURN_NO_END: it is not freed inside the window */
    u32 group; /* + 1; 0: it is not selected, but its thread allocates */
    bool is_fast;
} churn_block;

/* Blocks of one track come in the order of their numbers. False without memory. */
bool churn_note(churn_track *track, const churn_block *block);
void churn_track_free(churn_track *track);

/* The tracks of all tasks together. Start from {0}. */
typedef struct churn_join {
    churn_list sums;
    ETLHEAP_VECTOR(churn_run) runs;
} churn_join;

/* Takes what a track has, whose groups have other numbers here: `groups` by group of the track.
 * False without memory. */
bool churn_join_take(churn_join *join, churn_track *track, const u32 *groups, u32 group_count);

/* Joins all runs; then there are sums of `group_count` groups. False without memory. */
bool churn_join_finish(churn_join *join, u32 group_count);
void churn_join_free(churn_join *join);

#endif
