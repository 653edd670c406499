/*
 * etlheap_diff.h - what changed between two tables. Part of engine.h.
 *
 *     base table, new table ──▶ etlheap_diff_tables ──▶ one row for each group
 *                                                       that changed
 *
 * The tables may come from different runs, boots and computers, where process ids and addresses
 * differ. Two rows are the same group if their keys are equal:
 *
 *     process        the name, ignoring case; processes with one name are one group. A process
 *                    without a name: its id, unless it is the only process of its side
 *     stack          frame by frame: module name, ignoring case, and function if it is known,
 *                    else module and offset; all frames outside modules are equal
 *     frame, site    as a frame of a stack
 *     type, tag      the name
 *     other keys     the value itself
 *
 * Names of functions, types and tags are compared without what changes from build to build: the
 * position, number or hash of a lambda, hashes of Rust, numbers of parts and copies of functions,
 * and spellings of namespaces without a name. Rows whose names differ only in this are added up.
 *
 * An offset is valid only within one build of a module. If the two sides have different builds,
 * frames of the module without a name match nothing on the other side, and etlheap_diff.rebuilt
 * lists the module. In such modules, and only there, a guessed name (the nearest symbol) counts as
 * a name. Rows of one table that are the same group are added up.
 *
 * Heap handles and thread ids differ from run to run, so tables grouped by them cannot be compared,
 * nor can tables with different keys. Any thread may read a diff.
 */
#ifndef ETLHEAP_DIFF_H
#define ETLHEAP_DIFF_H

#include "engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* X(enumerator, word): how a group changed in the measure asked for. */
#define ETLHEAP_DIFF_STATES(X)                                                                     \
    X(UNCHANGED, "unchanged")                                                                      \
    X(ADDED, "added")     /* nothing before */                                                     \
    X(REMOVED, "removed") /* nothing now */                                                        \
    X(GROWN, "grown")                                                                              \
    X(SHRUNK, "shrunk")                                                                            \
    X(UNKNOWN, "unknown") /* of lifetimes: both sides have blocks, and only one freed some */

typedef enum etlheap_diff_state {
#define ETLHEAP_DIFF_STATE_ENUM(name, word) ETLHEAP_DIFF_##name,
    ETLHEAP_DIFF_STATES(ETLHEAP_DIFF_STATE_ENUM)
#undef ETLHEAP_DIFF_STATE_ENUM
        ETLHEAP_DIFF_STATE_COUNT
} etlheap_diff_state;

const char *etlheap_diff_state_word(etlheap_diff_state state); /* "" if out of range */

/* Options of etlheap_diff_tables. Start from etlheap_diff_options_default(). */
typedef struct etlheap_diff_options {
    size_t size; /* sizeof(etlheap_diff_options) */
    /* The measure whose change decides state and order. Must add up over rows, so no peaks, or be a
     * LIFETIME_* of tables that keep lifetimes. A size is paired with its count, a count with its
     * size, the median lifetime with the mean: a group is added or removed if one side has neither.
     * Apart from that, the measure alone decides. */
    etlheap_measure measure;
    bool ascending;      /* smallest change first */
    bool by_direction;   /* from the largest increase to the largest decrease, not by magnitude */
    bool keep_unchanged; /* include groups that are equal on both sides */
    /* Compare amounts per second of the recorded part of each side's window. A thousandth is not a
     * change, because windows do not end at exactly the same place. */
    bool per_second;
    /* The results of the tables, to compare the builds of modules; NULL: assume the same builds.
     * Borrowed for the call. */
    const etlheap_result *base_result, *new_result;
    uint32_t jobs; /* threads for lifetimes; 0: one for each processor */
} etlheap_diff_options;

/* True if tables can be compared by the measure: it adds up over rows. */
bool etlheap_diff_compares(etlheap_measure measure);

/* True for the measures LIFETIME_*. Tables can be compared by them if both keep lifetimes
 * (etlheap_query.keep_lifetimes): they are computed from the lifetimes of all rows of a group. */
bool etlheap_diff_compares_lifetimes(etlheap_measure measure);

/* True if tables grouped by the key can be compared: all keys except handles and threads, which
 * differ from run to run, and keys of who freed. */
bool etlheap_diff_compares_key(etlheap_key key);

/* The count that belongs to a size, the mean that belongs to a median, and so on; else the measure
 * itself. */
etlheap_measure etlheap_diff_partner(etlheap_measure measure);

/* [stable] Fills options of `size` bytes with the defaults: by outstanding size, absolute, only
 * changed groups. Does nothing if the size is impossible. */
void etlheap_diff_options_init(etlheap_diff_options *options, size_t size);

/* The default options, inline, so that `size` is that of the caller's structure. */
static inline etlheap_diff_options etlheap_diff_options_default(void)
{
    etlheap_diff_options options;
    etlheap_diff_options_init(&options, sizeof options);
    return options;
}

/* The amounts of both sides. Sums stay within int64_t. LIFETIME_* are ETLHEAP_NOT_KNOWN on a side
 * that freed nothing, and so is their change. PEAK_* are those of the tables on a side with one
 * row, and ETLHEAP_NOT_KNOWN on one that adds up rows. */
typedef struct etlheap_change {
    uint8_t state; /* etlheap_diff_state */
    int64_t base[ETLHEAP_MEASURES_CAPACITY];
    int64_t now[ETLHEAP_MEASURES_CAPACITY]; /* on the new side */
    int64_t base_ns, new_ns; /* what its amounts per second are divided by, at least 1 ns */
} etlheap_change;

/* How many blocks lived for at least from_ns and less than to_ns, of those that were freed in the
 * windows. Bounds are 1, 2 or 5 times a power of ten; the highest to_ns is UINT64_MAX. */
typedef struct etlheap_lifetime_class {
    uint8_t kind; /* etlheap_kind */
    uint64_t from_ns, to_ns;
    int64_t base_count, new_count;
} etlheap_lifetime_class;

/* The result of a comparison. Freed with etlheap_diff_free. */
typedef struct etlheap_diff {
    /*
     * One row per group, with the keys of the new side, or of the base if the new side lacks the
     * group. Names that differ only in case are spelled as in the base if it has them, and so are
     * names of functions, types and tags in groups of both sides. pid and
     * thread are ETL_NO_ID, and there is no heap. Measures and totals are now less base;
     * table.measures are those that both sides have. Sorted by magnitude, ties by keys. Frames and
     * stacks are numbered in order of first use. Window and diagnostics are those of the new table.
     */
    etlheap_table table;
    const etlheap_change *changes;                /* changes[i] belongs to row i */
    etlheap_change totals[ETLHEAP_KIND_CAPACITY]; /* of everything that was selected */
    uint32_t unchanged_count;                     /* groups, included or not */
    uint32_t matched_count;                       /* groups on both sides */
    etlheap_measure measure;                      /* decides state and order */
    bool per_second;                              /* by its amount per second */
    int64_t base_ns, new_ns; /* lengths of the recorded parts of the windows, at least 1 ns */
    /* Modules that differ in build and have frames without a name: groups with such frames match
     * nothing. Ordered by name. */
    const char *const *rebuilt;
    uint32_t rebuilt_count;
    bool has_lifetimes; /* both tables keep them */
    /* By kind, from the first class with blocks on either side to the last. Covers all groups,
     * included or not. */
    const etlheap_lifetime_class *lifetimes;
    uint32_t lifetime_count;
    /* Groups that add up rows of one side whose names differ only in what changes from build to
     * build. */
    uint32_t merged_count;
} etlheap_diff;

/*
 * [stable] Compares two tables. The tables, and what they borrow from, must outlive the diff. Call
 * etlheap_table_name on both first, because names decide which groups are equal. options may be
 * NULL. The caller owns *out (etlheap_diff_free). ETL_ERR_ARGUMENT (different or unsuitable keys, a
 * measure that does not add up or that a table lacks, lifetimes per second; the message says why),
 * ETL_ERR_MEMORY.
 */
etl_status etlheap_diff_tables(const etlheap_table *base, const etlheap_table *now,
                               const etlheap_diff_options *options, etlheap_diff **out,
                               etl_error *err);

/* [stable] NULL is allowed. */
void etlheap_diff_free(etlheap_diff *diff);

/* [stable] Keeps the first `rows` rows, and only the frames and stacks they refer to. */
void etlheap_diff_keep_top(etlheap_diff *diff, uint32_t rows);

/* Converts an amount over `ns` nanoseconds to thousandths per second, rounded to the nearest,
 * halves away from zero. 0 unless ns > 0. The result stays within int64_t. */
int64_t etlheap_diff_rate(int64_t amount, int64_t ns);

/* now - base, limited to the range of int64_t. */
int64_t etlheap_diff_subtract(int64_t base, int64_t now);

#ifdef __cplusplus
}
#endif

#endif
