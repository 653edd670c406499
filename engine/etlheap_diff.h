/*
 * etlheap_diff.h - what changed between two tables: engine.h includes this.
 *
 *     base table, new table ──▶ etlheap_diff_tables ──▶ one row for each group
 *                                                       that changed
 *
 * The tables may come from different runs, boots and machines, where process ids
 * and addresses mean nothing. A group is the same on both sides when its keys are:
 *
 *     process    the name in any case; processes of one name are one group
 *     stack      frame by frame: module (its name in any case) and function when
 *                that is known, else module and offset; frames outside of modules
 *                are all alike
 *     frame, site    as a frame of a stack
 *     all others     the value itself
 *
 * An offset means something in one build only. When the sides have different builds
 * of a module, its frames without a name match nothing of the other side, and
 * etlheap_diff.rebuilt says so. A guess, the nearest symbol, counts as a name only
 * in such modules. Rows of one table that are the same are summed.
 *
 * Heap handles and threads are numbers of one run: tables grouped by them cannot be
 * compared, and neither can tables that are grouped differently.
 *
 * Any thread may read a diff.
 */
#ifndef ETLHEAP_DIFF_H
#define ETLHEAP_DIFF_H

#include "engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* X(enumerator, word) - of a group, by the measure that was asked for */
#define ETLHEAP_DIFF_STATES(X)                                                                     \
    X(UNCHANGED, "unchanged")                                                                      \
    X(ADDED, "added")     /* nothing of it before */                                               \
    X(REMOVED, "removed") /* nothing of it any more */                                             \
    X(GROWN, "grown")                                                                              \
    X(SHRUNK, "shrunk")

typedef enum etlheap_diff_state {
#define ETLHEAP_DIFF_STATE_ENUM(name, word) ETLHEAP_DIFF_##name,
    ETLHEAP_DIFF_STATES(ETLHEAP_DIFF_STATE_ENUM)
#undef ETLHEAP_DIFF_STATE_ENUM
        ETLHEAP_DIFF_STATE_COUNT
} etlheap_diff_state;

const char *etlheap_diff_state_word(etlheap_diff_state state); /* "" for what is none */

typedef struct etlheap_diff_options {
    size_t size; /* sizeof(etlheap_diff_options) */
    /* Whose change gives the state and, by its magnitude, the order. Only what adds
     * up over rows: no peak, no median. A size is joined by its count and a count by its
     * size: when one is equal, the other decides. */
    etlheap_measure measure;
    bool ascending;      /* smallest change first */
    bool by_direction;   /* largest increase first, largest decrease last; not by magnitude */
    bool keep_unchanged; /* else groups that are equal on both sides are left out */
    /* Compare amounts per second of each side's window; a thousandth is no change, as
     * windows do not end to the tick at the same place. */
    bool per_second;
    /* Where the tables come from, for the builds of modules; NULL: builds are taken
     * to be the same. Borrowed for the call. */
    const etlheap_result *base_result, *new_result;
} etlheap_diff_options;

/* Whether tables can be compared by it: it adds up over rows. */
bool etlheap_diff_compares(etlheap_measure measure);

/* Whether rows that are grouped by it can be: handles and thread ids differ from run to run, and
 * what freed is not compared. */
bool etlheap_diff_compares_key(etlheap_key key);

/* The size of a count and the count of a size; else the measure itself. */
etlheap_measure etlheap_diff_partner(etlheap_measure measure);

/* By outstanding size, absolute, changed groups only. */
static inline etlheap_diff_options etlheap_diff_options_default(void)
{
    etlheap_diff_options options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.measure = ETLHEAP_MEASURE_OUTSTANDING_SIZE;
    return options;
}

/* Amounts of both sides. Sums that do not fit stop at the ends of i64. */
typedef struct etlheap_change {
    u8 state; /* etlheap_diff_state */
    i64 base[ETLHEAP_MEASURES_CAPACITY];
    i64 now[ETLHEAP_MEASURES_CAPACITY]; /* of the new side */
} etlheap_change;

typedef struct etlheap_diff {
    /* One row for each group: its keys as the new side has them, or the base when it
     * is gone. Names of processes and modules that differ in case alone are one, and
     * written as the base writes them where it has them. pid and thread are ETL_NO_ID, there is no heap. Measures are now less base;
     * table.measures says which both sides have.
     * Sorted by magnitude, ties by keys: the order is total. Frames and stacks are
     * numbered in order of first use. Window and diagnostics are those of the new
     * table; totals are now less base. */
    etlheap_table table;
    const etlheap_change *changes;                /* of the rows */
    etlheap_change totals[ETLHEAP_KIND_CAPACITY]; /* of everything selected */
    u32 unchanged_count;                          /* groups, kept or not */
    u32 matched_count;                            /* groups that both sides have */
    etlheap_measure measure;                      /* what states and order go by */
    bool per_second;                              /* and whether by its amount per second */
    i64 base_ns, new_ns;                          /* lengths of the windows, at least 1 */
    /* Modules of which the sides have different builds and some frame has no name:
     * groups with such a frame match nothing. In order of name. */
    const char *const *rebuilt;
    u32 rebuilt_count;
} etlheap_diff;

/*
 * Compares two tables, which are borrowed; the diff borrows strings from them and
 * from what they borrow from. Name their frames before (etlheap_table_name): names
 * decide what is the same. options may be NULL. *out is owned by the caller
 * (etlheap_diff_free). Errors: ETL_ERR_ARGUMENT (different or unfit groupings, a
 * measure that does not add up or that a table has not; the message says why), ETL_ERR_MEMORY.
 */
etl_status etlheap_diff_tables(const etlheap_table *base, const etlheap_table *now,
                               const etlheap_diff_options *options, etlheap_diff **out,
                               etl_error *err);

void etlheap_diff_free(etlheap_diff *diff); /* NULL is allowed */

/* Keeps the first rows and only the frames and stacks that they refer to. */
void etlheap_diff_keep_top(etlheap_diff *diff, u32 rows);

/* An amount of so many nanoseconds in thousandths per second, rounded to the nearest,
 * halves away from zero; 0 unless ns > 0. Stops at the ends of i64. */
i64 etlheap_diff_rate(i64 amount, i64 ns);

/* now - base, at the ends of i64 when it does not fit. */
i64 etlheap_diff_subtract(i64 base, i64 now);

#ifdef __cplusplus
}
#endif

#endif
