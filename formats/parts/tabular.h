/*
 * tabular.h - aligned text tables.
 *
 * Cells are collected, then written once all widths are known. tabular_plan.h says how a
 * table that is wider than the line is made to fit: names and long texts of the first
 * column get lines of their own, then the last columns are left out, which a note below
 * the table names. Half a number is worse than none.
 */
#ifndef ETLHEAP_TABULAR_H
#define ETLHEAP_TABULAR_H

#include "formats/formats.h"

#define ETLHEAP_GRID_COLUMNS_MAX 12

typedef struct etlheap_column {
    const char *title; /* ASCII; of numbers split at its last space when the cells are narrower,
                        * of the flexible column at any space */
    bool right;        /* numbers */
    bool flexible;     /* may be cut; at most one column of a table */
} etlheap_column;

typedef enum etlheap_emphasis {
    ETLHEAP_EMPHASIS_NONE,
    ETLHEAP_EMPHASIS_STRONG,
    ETLHEAP_EMPHASIS_WEAK
} etlheap_emphasis;

/* A table in the making. Out of memory is sticky and told by write. */
typedef struct etlheap_grid {
    const etlheap_column *columns; /* borrowed */
    u32 column_count;
    u32 cell_count; /* of the row being filled */
    u32 row_count;
    u32 row_capacity;
    struct etlheap_grid_line *rows;
    etlheap_text text;
} etlheap_grid;

etlheap_grid etlheap_grid_begin(const etlheap_column *columns, u32 column_count);

/* Starts a row; its cells not filled stay empty. */
void etlheap_grid_row(etlheap_grid *grid, etlheap_emphasis emphasis);

/* Fills the next cell of the row; characters that cannot be printed are replaced. */
void etlheap_grid_cell(etlheap_grid *grid, const char *text);

/* The same for the name of a function in the first column. If the names do not all fit
 * beside their numbers, each gets a line of its own. */
void etlheap_grid_name(etlheap_grid *grid, const char *text);

void etlheap_grid_count(etlheap_grid *grid, i64 value);     /* "1,234" */
void etlheap_grid_size(etlheap_grid *grid, i64 size_bytes); /* "1.21 KiB" */

/* Writes the titles, the rows and a note of the columns that do not fit, nothing when
 * there are no rows, and frees the grid in every case. */
etl_status etlheap_grid_write(etlheap_grid *grid, const etlheap_layout *layout, etlheap_sink *sink);

/* The same without the note, for one of several tables with the same columns: *shown
 * becomes the number of columns shown if that is smaller. The note then follows once. */
etl_status etlheap_grid_write_part(etlheap_grid *grid, const etlheap_layout *layout,
                                   etlheap_sink *sink, u32 *shown);
void etlheap_grid_note(const etlheap_column *columns, u32 shown, u32 count,
                       const etlheap_layout *layout, etlheap_sink *sink);

/* Writes text between the terminal's codes of an emphasis, if colour is on. */
void etlheap_emphasis_on(etlheap_sink *sink, const etlheap_layout *layout,
                         etlheap_emphasis emphasis);
void etlheap_emphasis_off(etlheap_sink *sink, const etlheap_layout *layout,
                          etlheap_emphasis emphasis);

#endif
