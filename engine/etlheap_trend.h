/*
 * etlheap_trend.h - how memory develops over several runs: engine.h includes this.
 *
 *     tables of runs 0, 1, 2 ... ──▶ etlheap_trend_tables ──▶ a curve for each group,
 *                                                             a value a run
 *
 * etlheap_diff.h defines when rows of different runs are the same group, with one
 * addition: an offset means something in one build of a module only, so runs are put into
 * groups by their builds of it, and offsets are compared within these.
 *
 * Any thread may read a trend.
 */
#ifndef ETLHEAP_TREND_H
#define ETLHEAP_TREND_H

#include "engine.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ETLHEAP_TREND_RUNS_MAX 1000u

/*
 * X(enumerator, word) - what a curve does. The first that fits:
 *
 *     steady   all values are the same
 *     step     one jump explains the curve: if it is cut in two, the distances of all values
 *              from the median of their part add up to at most a quarter of their distances
 *              from the median of all. Of several such cuts it is the best, then the earliest.
 *              It is `new` if there is nothing before the cut and something in the last run,
 *              `gone` if there is something in the first run and nothing behind the cut
 *     drift    the pairs of runs that rise exceed those that fall by at least half of all pairs, or
 *              the reverse, and the slope has that direction
 *     new      nothing up to a run, and something in it and in all that follow
 *     gone     something up to a run, and nothing in all that follow
 *     steady   no two values differ by more than a hundredth of the largest amount
 *     noise    anything else
 *
 * "Something" is a value that is not 0, or whose partner (etlheap_diff_partner) is not.
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

const char *etlheap_trend_pattern_word(etlheap_trend_pattern pattern); /* "" for what is none */

typedef struct etlheap_trend_options {
    size_t size;             /* sizeof(etlheap_trend_options) */
    etlheap_measure measure; /* of the curves: one that etlheap_diff_compares */
    bool ascending;          /* smallest change first */
    bool keep_steady;        /* else groups that are steady are left out */
} etlheap_trend_options;

/* By outstanding size, without what is steady. */
static inline etlheap_trend_options etlheap_trend_options_default(void)
{
    etlheap_trend_options options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.measure = ETLHEAP_MEASURE_OUTSTANDING_SIZE;
    return options;
}

/* Runs are indices, ETLHEAP_NO_INDEX: none. Amounts stop at the ends of i64. */
typedef struct etlheap_trend_curve {
    u8 pattern;              /* etlheap_trend_pattern */
    u32 first_run, last_run; /* with something */
    u32 turn_run;            /* of a step, and of what is new or gone: the first one behind it */
    /* Siegel's repeated median, per run: for each run the median of the slopes to all others,
     * each cut to a whole number, and of these the median. Nearly half of the runs can be
     * odd without tilting it. Of an even number, a median is what lies nearest to 0 between
     * the two in the middle. */
    i64 slope;
    /* What the pattern explains: the median behind the turn less that before it, the slope
     * times one less than there are runs for drift and noise, 0 for what is steady. */
    i64 change;
} etlheap_trend_curve;

typedef struct etlheap_trend {
    /* One row for each group: its keys as the latest run has them that has the group; names of
     * processes and modules are written as in the first. pid and thread are ETL_NO_ID, there is
     * no heap, and all measures are 0. Sorted by the magnitude of the change, then by that of the
     * last value less the first, then by keys: the order is total. Frames and stacks are
     * numbered in order of first use. Totals say which kinds are present. */
    etlheap_table table;
    u32 run_count;
    etlheap_measure measure;
    /* Of a row, run_count values each: values[row * run_count + run]. */
    const i64 *values, *partners;
    const etlheap_trend_curve *curves; /* of the rows */
    /* The same of everything selected: [kind * run_count + run]. */
    const i64 *total_values, *total_partners;
    etlheap_trend_curve totals[ETLHEAP_KIND_CAPACITY];
    u32 steady_count; /* groups, kept or not */
    /* Modules of which runs have different builds and some frame has no name: groups with such a
     * frame are one for each build. In order of name. */
    const char *const *rebuilt;
    u32 rebuilt_count;
} etlheap_trend;

/*
 * Compares the tables of 2 to ETLHEAP_TREND_RUNS_MAX runs, in the order in which they are given.
 * Tables are borrowed; the trend borrows strings from them and from what they borrow from. Name
 * their frames before (etlheap_table_name). results are where the tables come from, for
 * the builds of modules; NULL: builds are taken to be the same. options may be NULL. *out is owned
 * by the caller (etlheap_trend_free). Errors: as etlheap_diff_tables.
 */
etl_status etlheap_trend_tables(const etlheap_table *const *tables,
                                const etlheap_result *const *results, u32 count,
                                const etlheap_trend_options *options, etlheap_trend **out,
                                etl_error *err);

void etlheap_trend_free(etlheap_trend *trend); /* NULL is allowed */

/* Keeps the first rows and only the frames and stacks that they refer to. */
void etlheap_trend_keep_top(etlheap_trend *trend, u32 rows);

#ifdef __cplusplus
}
#endif

#endif
