/* diff_inside.h - a diff being made: shared by diff.c (groups and their order) and diff_rows.c
 * (output). */
#ifndef ETLHEAP_DIFF_INSIDE_H
#define ETLHEAP_DIFF_INSIDE_H

#include "picked_rows.h"

/* The sums of a group. */
typedef struct diff_group {
    i64 base[ETLHEAP_MEASURES_COUNT];
    i64 now[ETLHEAP_MEASURES_COUNT];
    i64 ns[2];             /* what amounts of the base and new side are per second of */
    u32 base_row, new_row; /* first row in each table; ETLHEAP_NO_INDEX: none */
} diff_group;

/* A group and its sort value. */
typedef struct diff_place {
    u8 unknown; /* sides whose lifetime is not known: those with more of them come later */
    u8 state;
    u64 order; /* ascending */
    u32 rank, group;
} diff_place;

typedef struct owned_diff {
    etlheap_diff diff;
    picked_rows rows;
    ETLHEAP_VECTOR(etlheap_change) changes; /* one per row */
    ETLHEAP_VECTOR(etlheap_lifetime_class) lifetimes;
    name_spellings rebuilt;
} owned_diff;

/* A diff being made. */
typedef struct diff_maker {
    const etlheap_table *base, *now;
    etlheap_diff_options options;
    etlheap_measure_set measures; /* bit per measure that both tables have and that adds up */
    row_identities identities;
    bool has_lifetimes; /* both tables keep them */
    u32 *ids;           /* identity of the rows of the base, and of the new rows behind them */
    diff_group *groups; /* by identity - 1 */
    u32 *next; /* as ids: the next row of the same group and side; ETLHEAP_NO_INDEX: none */
    diff_place *places;
    u32 place_count;
    owned_diff *out;
} diff_maker;

/* A measure to compare, and the one that decides if it is equal. */
typedef struct diff_pair {
    etlheap_measure measure, partner;
} diff_pair;

#define DIFF_PAIRS 15
extern const diff_pair diff_comparable[DIFF_PAIRS];

/* Refuses tables, at least one, that cannot be compared by the measure. ETL_ERR_ARGUMENT. */
etl_status diff_check_tables(const etlheap_table *const *tables, u32 count, etlheap_measure measure,
                             etl_error *err);

/* The state of a group: by the chosen measure, but a side that has nothing of its partner either
 * lacks the group. Amounts of the sides are per second of `ns`. */
etlheap_diff_state diff_state_of(const diff_maker *maker, const i64 *base, const i64 *now,
                                 const i64 ns[2]);

/* What amounts of a side are per second of, for rows and totals that state `rates_ns`; 0:
 * unknown. */
i64 diff_ns_of(const diff_maker *maker, i64 rates_ns, bool is_new);

/* The value that counts: as it is, or per 1000 seconds of its time. */
i64 diff_amount_of(const diff_maker *maker, i64 value, i64 ns);

/* Is it a lifetime that the side does not have? */
bool diff_is_unknown(etlheap_measure measure, i64 amount);

/* now - base; ETLHEAP_NOT_KNOWN if the measure is a lifetime that one side does not have. */
i64 diff_change_of(etlheap_measure measure, i64 base, i64 now);

/* Computes LIFETIME_* of the groups. False if memory runs out. */
bool diff_lifetimes_of_groups(diff_maker *maker);

/* Computes LIFETIME_* and the lifetime classes of each kind, into maker->out. False if memory runs
 * out. */
bool diff_lifetimes_of_kinds(diff_maker *maker);

/* Writes the rows and everything else to maker->out. False if memory runs out. */
bool diff_put(diff_maker *maker);

#endif
