/*
 * picked_rows.h - a table made of rows from the tables of several runs.
 *
 *     tables ──▶ picked_rows_add(run, row) ──▶ rows with frames and stacks numbered
 *                                              in order of first use
 *
 * So the first rows use the first frames and stacks, and removing rows at the end only shortens
 * arrays.
 */
#ifndef ETLHEAP_PICKED_ROWS_H
#define ETLHEAP_PICKED_ROWS_H

#include "row_identity.h"

/* Numbers given to the frames and stacks of a table, + 1; 0: none yet. The second ones are of those
 * that rows of several runs spell otherwise than the table does. */
typedef struct picked_numbers {
    u32 *frames[2], *stacks[2];
} picked_numbers;

/* Start from {0}. */
typedef struct picked_rows {
    row_identities *identities; /* spellings of names; borrowed until it is closed, as tables are */
    const etlheap_table *const *tables;
    picked_numbers *numbers; /* one per table */
    u32 table_count;
    etlheap_key group_by[ETLHEAP_GROUP_BY_MAX];
    u32 group_by_count;
    ETLHEAP_VECTOR(etlheap_row) rows;
    ETLHEAP_VECTOR(etlheap_frame) frames;
    ETLHEAP_VECTOR(u32) stack_starts;
    ETLHEAP_VECTOR(u32) frame_indices;
    ETLHEAP_VECTOR(etlheap_source_line) lines; /* of one frame, while it is made */
    ETLHEAP_VECTOR(etlheap_source_line *) line_lists;
} picked_rows;

/* The rows of one table that are one group. They differ only in ids and in source lines. */
typedef struct picked_group {
    u32 table, row;  /* the first one */
    const u32 *next; /* by row: the next one of its group; ETLHEAP_NO_INDEX: none */
    /* Another run has the group too, so functions, types and tags are spelled as in the first run
     * that has them. */
    bool is_shared;
} picked_group;

/* Opens it for about `expected` rows of these tables: at least one, all with the same keys. False
 * if memory runs out. */
bool picked_rows_open(picked_rows *picked, row_identities *identities,
                      const etlheap_table *const *tables, u32 table_count, size_t expected);
void picked_rows_close(picked_rows *picked); /* frees what only adding needs */
void picked_rows_free(picked_rows *picked);

/* Adds the first row of a group, without what is valid only within one run: ids of process (unless
 * rows are compared by it) and thread, and the heap. Keeps measures. Its frames have the source
 * lines of all rows of the group. Returns the row, valid until the next one is added; NULL if
 * memory runs out. */
etlheap_row *picked_rows_add(picked_rows *picked, const picked_group *group);

/* Keeps the first rows, and only the frames and stacks they refer to. */
void picked_rows_keep(picked_rows *picked, u32 rows);

/* Sets keys, rows, frames and stacks of the table, which borrows them. */
void picked_rows_publish(const picked_rows *picked, etlheap_table *table);

#endif
