/*
 * lifetime_ranks.h - the mean, median, 90th and 99th percentile of the lifetimes of groups, or of
 * several groups together.
 *
 * Percentiles use the nearest rank: the smallest lifetime that at least that share of the group
 * does not exceed. So they are lifetimes that occurred, in whole ns, and the same in every run. The
 * mean is the exact sum over the count, rounded to the nearest ns.
 */
#ifndef ETLHEAP_LIFETIME_RANKS_H
#define ETLHEAP_LIFETIME_RANKS_H

#include "engine/engine.h"
#include "engine/table/lifetime_lists.h"

/* Start from LIFETIME_RANKS_UNKNOWN: a group without a lifetime keeps it. */
typedef struct lifetime_ranks {
    i64 mean_ns, median_ns, p90_ns, p99_ns;
} lifetime_ranks;

#define LIFETIME_RANKS_UNKNOWN                                                                     \
    ((lifetime_ranks){ ETLHEAP_NOT_KNOWN, ETLHEAP_NOT_KNOWN, ETLHEAP_NOT_KNOWN, ETLHEAP_NOT_KNOWN })

/* Sets the measures LIFETIME_* of a row. */
static inline void lifetime_ranks_put(const lifetime_ranks *ranks, i64 *measures)
{
    measures[ETLHEAP_MEASURE_LIFETIME_MEAN] = ranks->mean_ns;
    measures[ETLHEAP_MEASURE_LIFETIME_MEDIAN] = ranks->median_ns;
    measures[ETLHEAP_MEASURE_LIFETIME_P90] = ranks->p90_ns;
    measures[ETLHEAP_MEASURE_LIFETIME_P99] = ranks->p99_ns;
}

/* Sets of groups whose lifetimes are ranked together. Set i has groups[starts[i]] to
 * groups[starts[i + 1] - 1]; if `starts` is NULL, it has group i alone. */
typedef struct lifetime_sets {
    const u32 *starts, *groups;
    u32 count;
} lifetime_sets;

/* Sets ranks[i] for each set that has lifetimes, with `jobs` threads. */
void lifetime_ranks_compute(const lifetime_lists *lifetimes, const lifetime_sets *sets, u32 jobs,
                            lifetime_ranks *ranks);

#endif
