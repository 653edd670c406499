/*
 * growth.h - the measures GROWTH_RATE and STEADINESS: how fast the outstanding size
 * of a group grows over the window, and how constantly.
 *
 * The window is cut into GROWTH_SAMPLES - 1 equal pieces. At each cut, its start and
 * its end, what is outstanding is a sample. Each two samples make a pair:
 *
 *     rate        bytes per second: of each sample the median of its slopes to all
 *                 others, and of these medians the median (Siegel's repeated median);
 *                 of two values in the middle the one nearer to zero
 *     steadiness  100 * (pairs that rise - pairs that fall) / all pairs, at least 0
 *                 (Kendall's rank correlation with time)
 *
 *                        rate         steadiness
 *     leak    ___--‾‾    its slope    100: every pair rises
 *     cache   __/‾‾‾‾    0            at most 51: the other pairs stand still
 *     waves   _/\_/\_    about 0      about 0: as many fall as rise
 *
 * Neither a step nor where a wave is cut decides. A line through the ends, or one of
 * least squares, would call a cache a leak.
 */
#ifndef ETLHEAP_GROWTH_H
#define ETLHEAP_GROWTH_H

#include "aggregate.h"
#include "peaks.h"

#define GROWTH_SAMPLES 33u
#define GROWTH_LANES   36u

typedef struct growth_rating {
    i64 rate; /* bytes per second */
    i64 steadiness;
} growth_rating;

/* A number for each sample, then zeros, so that vectors of two or four come out even. */
typedef struct sample_lanes {
    double at[GROWTH_LANES];
} sample_lanes;

/* When samples are taken, in ascending order. */
typedef struct growth_moments {
    i64 ticks[GROWTH_SAMPLES], times_ns[GROWTH_SAMPLES];
    sample_lanes per_second[GROWTH_SAMPLES]; /* from sample to sample: 1 s by the time between */
    u32 others[GROWTH_SAMPLES];              /* samples of another time */
    u32 all, pairs;                          /* samples that have others; others of all samples */
} growth_moments;

/* Of the plan's window, and of any part of it. */
growth_moments growth_moments_of(const query_plan *plan);
growth_moments growth_moments_between(const query_plan *plan, i64 from_ns, i64 to_ns);

/* The time of one of them. */
i64 growth_moment_ns(i64 from_ns, i64 to_ns, u32 sample);

/* Fills in what follows from times_ns. */
void growth_moments_settle(growth_moments *moments);

/* Samples of the same time make no pair. */
growth_rating growth_rate(const growth_moments *moments, const i64 sizes[GROWTH_SAMPLES]);

/* Puts a rating into a row. */
void growth_set(group_row *row, growth_rating rating);

/* The measures of all groups so far, from the lifetimes that the query selects; groups
 * of steps are numbers of groups. False without memory. */
bool growth_fill(aggregator *a, const peak_row *steps, size_t count);

#endif
