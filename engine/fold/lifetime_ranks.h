/*
 * lifetime_ranks.h - the median and 99th percentile of the lifetimes of groups.
 *
 * By nearest rank: the smallest lifetime that at least so many of the group do not
 * exceed. So both are lifetimes that really occur, whole ns, and the same for
 * every run.
 */
#ifndef ETLHEAP_LIFETIME_RANKS_H
#define ETLHEAP_LIFETIME_RANKS_H

#include "lifetime_lists.h"

typedef struct lifetime_ranks {
    i64 median_ns, p99_ns;
} lifetime_ranks;

/* ranks[g] for each group below group_count; those without a lifetime keep what is
 * there. Groups are spread over `jobs` threads. */
void lifetime_ranks_compute(const lifetime_lists *lifetimes, u32 group_count, u32 jobs,
                            lifetime_ranks *ranks);

#endif
