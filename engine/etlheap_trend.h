/*
 * etlheap_trend.h - how memory develops over several runs. Part of engine.h.
 *
 *     tables of runs 0, 1, 2 ... ──▶ etlheap_trend_tables ──▶ a curve for each group,
 *                                                             one value per run
 *
 * Rows of different runs are the same group under the rules of etlheap_diff.h, with one addition:
 * because an offset is valid only within one build of a module, offsets are compared only among
 * runs with the same build. Any thread may read a trend.
 */
#ifndef ETLHEAP_TREND_H
#define ETLHEAP_TREND_H

#include "engine.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ETLHEAP_TREND_RUNS_MAX 1000u

/*
 * X(enumerator, word): the pattern of a curve. The first that fits:
 *
 *     steady   all values are equal
 *     step     one jump explains the curve: if the curve is cut in two, the distances of all values
 *              from the median of their part add up to at most a quarter of their distances from
 *              the overall median. The best such cut counts, then the earliest. It is `new` if
 *              there is nothing before the cut and something in the last run, `gone` if there is
 *              something in the first run and nothing after the cut
 *     drift    the pairs of runs that rise outnumber those that fall by at least half of all pairs,
 *              or the reverse, and the slope has the same direction
 *     new      nothing before some run, and something in it and in all later ones
 *     gone     something up to some run, and nothing in all later ones
 *     steady   no two values differ by more than a hundredth of the largest
 *     noise    anything else
 *
 * "Something" is a nonzero value, or a value with a nonzero partner (etlheap_diff_partner).
 */
#define ETLHEAP_TREND_PATTERNS(X)                                                                  \
    X(STEADY, "steady")                                                                            \
    X(DRIFT, "drift")                                                                              \
    X(STEP, "step")                                                                                \
    X(NEW, "new")                                                                                  \
    X(GONE, "gone")                                                                                \
    X(NOISE, "noise")

typedef enum etlheap_trend_pattern {
#define ETLHEAP_TREND_PATTERN_ENUM(name, word) ETLHEAP_TREND_##name,
    ETLHEAP_TREND_PATTERNS(ETLHEAP_TREND_PATTERN_ENUM)
#undef ETLHEAP_TREND_PATTERN_ENUM
        ETLHEAP_TREND_PATTERN_COUNT
} etlheap_trend_pattern;

const char *etlheap_trend_pattern_word(etlheap_trend_pattern pattern); /* "" if out of range */

/* Options of etlheap_trend_tables. Start from etlheap_trend_options_default(). */
typedef struct etlheap_trend_options {
    size_t size;             /* sizeof(etlheap_trend_options) */
    etlheap_measure measure; /* a measure that etlheap_diff_compares accepts */
    bool ascending;          /* smallest change first */
    bool keep_steady;        /* include groups that are steady */
} etlheap_trend_options;

/* [stable] Fills options of `size` bytes with the defaults: by outstanding size, without steady
 * groups. Does nothing if the size is impossible. */
void etlheap_trend_options_init(etlheap_trend_options *options, size_t size);

/* The default options, inline, so that `size` is that of the caller's structure. */
static inline etlheap_trend_options etlheap_trend_options_default(void)
{
    etlheap_trend_options options;
    etlheap_trend_options_init(&options, sizeof options);
    return options;
}

/* The curve of a group. Runs are indices; ETLHEAP_NO_INDEX: none. Amounts stay within int64_t. */
typedef struct etlheap_trend_curve {
    uint8_t pattern;              /* etlheap_trend_pattern */
    uint32_t first_run, last_run; /* the first and last run with something */
    uint32_t turn_run;            /* step, new and gone: the first run after the jump */
    /* The change per run, as Siegel's repeated median: for each run the median of the slopes to all
     * other runs, and then the median of these, truncated to a whole number. Outliers in nearly
     * half of the runs do not affect it. If two values are in the middle, the median is the one
     * closer to 0, or 0 if their signs differ. */
    int64_t slope;
    /* The change that the pattern explains: for a jump, the median after it less the median before
     * it; for drift and noise, the slope, before it is truncated, times one less than the number of
     * runs; 0 for steady. Not 0 for drift, even if the slope is below one per run. */
    int64_t change;
} etlheap_trend_curve;

/* The curves of all groups. Freed with etlheap_trend_free. */
typedef struct etlheap_trend {
    /*
     * One row per group, with the keys of the latest run that has the group; names are spelled as
     * in the first. pid and thread are ETL_NO_ID, has_heap is false, and all measures are 0. Sorted
     * by the magnitude of the change, then by that of the last value less the first, then by keys.
     * Frames and stacks are numbered in order of first use. Totals only say which kinds are
     * present.
     */
    etlheap_table table;
    uint32_t run_count;
    etlheap_measure measure;
    /* The values of a row, and of its partner measure: values[row * run_count + run]. */
    const int64_t *values, *partners;
    const etlheap_trend_curve *curves; /* curves[i] belongs to row i */
    /* The values of everything selected: total_values[kind * run_count + run]. */
    const int64_t *total_values, *total_partners;
    etlheap_trend_curve totals[ETLHEAP_KIND_CAPACITY];
    uint32_t steady_count; /* groups, included or not */
    /* Modules that differ in build between runs and have frames without a name: groups with such
     * frames are separate for each build. Ordered by name. */
    const char *const *rebuilt;
    uint32_t rebuilt_count;
    uint32_t merged_count; /* as in etlheap_diff */
} etlheap_trend;

/*
 * [stable] Compares the tables of 2 to ETLHEAP_TREND_RUNS_MAX runs, in the given order. The tables,
 * and what they borrow from, must outlive the trend. Call etlheap_table_name on them first.
 * `results` are the results of the tables, to compare the builds of modules; NULL: assume the same
 * builds. options may be NULL. The caller owns *out (etlheap_trend_free). Errors as for
 * etlheap_diff_tables.
 */
etl_status etlheap_trend_tables(const etlheap_table *const *tables,
                                const etlheap_result *const *results, uint32_t count,
                                const etlheap_trend_options *options, etlheap_trend **out,
                                etl_error *err);

/* [stable] NULL is allowed. */
void etlheap_trend_free(etlheap_trend *trend);

/* Keeps the first `rows` rows, and only the frames and stacks they refer to. */
void etlheap_trend_keep_top(etlheap_trend *trend, uint32_t rows);

#ifdef __cplusplus
}
#endif

#endif
