/*
 * picked_rows.h - a table made of rows of several runs' tables.
 *
 *     tables ──▶ picked_rows_add(run, row) ──▶ rows with frames and stacks numbered
 *                                              in order of first use
 *
 * So what the first rows need are the first frames and stacks, and cutting rows off is
 * cutting arrays off.
 */
#ifndef ETLHEAP_PICKED_ROWS_H
#define ETLHEAP_PICKED_ROWS_H

#include "row_identity.h"

/* Numbers that were given to frames and stacks of a table, + 1; 0: none yet. */
typedef struct picked_numbers {
    u32 *frames, *stacks;
} picked_numbers;

/* Start from {0}. */
typedef struct picked_rows {
    row_identities *identities; /* how names are written; borrowed, as tables are, until settled */
    const etlheap_table *const *tables;
    picked_numbers *numbers; /* of each table */
    u32 table_count;
    etlheap_key group_by[ETLHEAP_GROUP_BY_MAX];
    u32 group_by_count;
    ETLHEAP_VECTOR(etlheap_row) rows;
    ETLHEAP_VECTOR(etlheap_frame) frames;
    ETLHEAP_VECTOR(u32) stack_starts;
    ETLHEAP_VECTOR(u32) frame_indices;
} picked_rows;

/* For at least `expected` rows of these tables, at least one, all grouped alike. False without
 * memory. */
bool picked_rows_open(picked_rows *picked, row_identities *identities,
                      const etlheap_table *const *tables, u32 table_count, size_t expected);
void picked_rows_settle(picked_rows *picked); /* frees what adding needs */
void picked_rows_free(picked_rows *picked);

/* Adds a row of a table, without what means something in one run alone: ids of process and
 * thread, and the heap. Measures stay. The row, until the next is added; NULL without memory. */
etlheap_row *picked_rows_add(picked_rows *picked, u32 table, u32 row);

/* Keeps the first rows and only the frames and stacks that they refer to. */
void picked_rows_keep(picked_rows *picked, u32 rows);

/* Keys, rows, frames and stacks into the table, which borrows them. */
void picked_rows_publish(const picked_rows *picked, etlheap_table *table);

#endif
