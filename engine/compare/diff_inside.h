/*
 * diff_inside.h - a diff in the making: shared by diff.c (groups and their order) and
 * diff_rows.c (what comes out).
 */
#ifndef ETLHEAP_DIFF_INSIDE_H
#define ETLHEAP_DIFF_INSIDE_H

#include "row_identity.h"

/* The sums of a group. */
typedef struct diff_group {
    i64 base[ETLHEAP_MEASURES_COUNT];
    i64 now[ETLHEAP_MEASURES_COUNT];
    u32 base_row, new_row; /* the first of each table; ETLHEAP_NO_INDEX: none */
} diff_group;

/* A group on its way to a place among the rows. */
typedef struct diff_place {
    u64 order; /* ascending */
    u32 rank, group;
    u8 state;
} diff_place;

typedef struct owned_diff {
    etlheap_diff diff;
    etlheap_key group_by[ETLHEAP_GROUP_BY_MAX];
    ETLHEAP_VECTOR(etlheap_row) rows;
    ETLHEAP_VECTOR(etlheap_change) changes;
    ETLHEAP_VECTOR(etlheap_frame) frames;
    ETLHEAP_VECTOR(u32) stack_starts;
    ETLHEAP_VECTOR(u32) frame_indices;
    ETLHEAP_VECTOR(const char *) rebuilt;
} owned_diff;

/* Numbers that the diff gave to frames and stacks of a table, + 1; 0: none yet. */
typedef struct diff_numbers {
    u32 *frames, *stacks;
} diff_numbers;

/* A diff in the making. */
typedef struct diff_maker {
    const etlheap_table *base, *now;
    etlheap_diff_options options;
    u32 measures; /* bits of those that both tables have and that add up */
    row_identities identities;
    diff_group *groups; /* by identity - 1 */
    diff_place *places;
    u32 place_count;
    diff_numbers base_numbers, new_numbers;
    owned_diff *out;
} diff_maker;

/* A measure that may be compared, and the one that decides when it is equal. */
typedef struct diff_pair {
    etlheap_measure measure, partner;
} diff_pair;

#define DIFF_PAIRS 7
extern const diff_pair diff_comparable[DIFF_PAIRS];

/* What came of a group, by the measure that was asked for and its partner. */
etlheap_diff_state diff_state_of(const diff_maker *maker, const i64 *base, const i64 *now);

/* Writes the rows of the places, and all else, to maker->out. False without memory. */
bool diff_put(diff_maker *maker);

#endif
