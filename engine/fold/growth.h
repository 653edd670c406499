/*
 * growth.h - the measures GROWTH_RATE and STEADINESS: how fast and how steadily the outstanding
 * size of a group grows over its span (row_spans.h).
 *
 * The span is cut into GROWTH_SAMPLES - 1 equal pieces. The outstanding size at each cut, and at
 * the start and end, is a sample. Each two samples make a pair:
 *
 *     rate        bytes per second: for each sample the median of its slopes to all
 *                 others, and then the median of these (Siegel's repeated median);
 *                 of two values in the middle the one nearer to zero, or 0 if their signs differ
 *     steadiness  100 * (pairs that rise - pairs that fall) / all pairs
 *                 (Kendall's rank correlation with time)
 *
 *                        rate         steadiness
 *     leak    ___--‾‾    its slope    100: every pair rises
 *     cache   __/‾‾‾‾    0            at most 51: the other pairs stand still
 *     waves   _/\_/\_    about 0      about 0: as many fall as rise
 *     shrinks ‾‾--__     negative     -100: every pair falls
 *
 * So neither a single step nor the phase of a wave decides. A line through the ends, or a
 * least-squares line, would take a cache for a leak.
 */
#ifndef ETLHEAP_GROWTH_H
#define ETLHEAP_GROWTH_H

#include "aggregate.h"
#include "row_spans.h"

#define GROWTH_SAMPLES 33u
#define GROWTH_WIDTH   36u

typedef struct growth_rating {
    i64 rate; /* bytes per second */
    i64 steadiness;
} growth_rating;

/* A number for each sample, padded with zeros for vectors of two or four. */
typedef struct sample_row {
    double at[GROWTH_WIDTH];
} sample_row;

/* The times of samples, ascending. */
typedef struct sample_times {
    i64 ticks[GROWTH_SAMPLES], times_ns[GROWTH_SAMPLES];
    sample_row per_second[GROWTH_SAMPLES]; /* 1 s / time between two samples */
    u32 others[GROWTH_SAMPLES];            /* number of samples at other times */
    u32 all, pairs;                        /* samples that have others; sum of others */
} sample_times;

/* The times of the samples of a span. */
sample_times sample_times_between(const query_plan *plan, i64 from_ns, i64 to_ns);

/* The time of one sample. */
i64 sample_time_ns(i64 from_ns, i64 to_ns, u32 sample);
i64 sample_time_ticks(const query_plan *plan, const etlheap_time_range *span, u32 sample);

/* Computes the members that depend on times_ns. */
void sample_times_prepare(sample_times *times);

/* Prepares the sizes of a group of a kind to be rated: those that are numbers of things grow so
 * slowly that they are rated per hour. */
void growth_scale(u8 kind, i64 sizes[GROWTH_SAMPLES]);

/* Rates the sizes. Samples at the same time make no pair. */
growth_rating growth_rate(const sample_times *times, const i64 sizes[GROWTH_SAMPLES]);

/* Sets the measures of a row from a rating. */
void growth_set(i64 *measures, growth_rating rating);

#endif
