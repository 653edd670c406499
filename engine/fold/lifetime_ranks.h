/*
 * lifetime_ranks.h - the median and 99th percentile of the lifetimes of groups.
 *
 * Uses the nearest rank: the smallest lifetime that at least that share of the group does not
 * exceed. So both are lifetimes that occurred, in whole ns, and the same in every run.
 */
#ifndef ETLHEAP_LIFETIME_RANKS_H
#define ETLHEAP_LIFETIME_RANKS_H

#include "lifetime_lists.h"

typedef struct lifetime_ranks {
    i64 median_ns, p99_ns;
} lifetime_ranks;

/* Sets ranks[g] for each group below group_count that has lifetimes. Groups are divided among
 * `jobs` threads. */
void lifetime_ranks_compute(const lifetime_lists *lifetimes, u32 group_count, u32 jobs,
                            lifetime_ranks *ranks);

#endif
