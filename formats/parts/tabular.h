/*
 * tabular.h - aligned text tables.
 *
 * Cells are collected, and written when all widths are known. If a table is wider than the line
 * (tabular_plan.h), names and long texts of the first column get separate lines. If that is not
 * enough, the last columns are left out, and a note below the table names them. Numbers are never
 * cut.
 */
#ifndef ETLHEAP_TABULAR_H
#define ETLHEAP_TABULAR_H

#include "formats/formats.h"

#include "parser/base.h"

#define ETLHEAP_GRID_COLUMNS_MAX 40

typedef struct etlheap_column {
    /* ASCII. Titles of numbers are split at the last space if the cells are narrower, that of the
     * flexible column at any space. */
    const char *title;
    bool right;    /* numbers */
    bool flexible; /* may be cut; at most one column per table */
} etlheap_column;

typedef enum etlheap_emphasis {
    ETLHEAP_EMPHASIS_NONE,
    ETLHEAP_EMPHASIS_STRONG,
    ETLHEAP_EMPHASIS_WEAK
} etlheap_emphasis;

/* A table being made. Running out of memory is sticky and reported by write. */
typedef struct etlheap_grid {
    const etlheap_column *columns; /* borrowed */
    u32 column_count;
    u32 cell_count; /* of the row being filled */
    u32 row_count;
    u32 row_capacity;
    void *rows; /* lines with their cells: tabular_plan.h */
    etlheap_text text;
} etlheap_grid;

etlheap_grid etlheap_grid_begin(const etlheap_column *columns, u32 column_count);

/* Starts a row. Cells that are not filled stay empty. */
void etlheap_grid_row(etlheap_grid *grid, etlheap_emphasis emphasis);

/* Fills the next cell of the row; characters that cannot be printed are replaced. */
void etlheap_grid_cell(etlheap_grid *grid, const char *text);

/* Fills the first cell of a row with the name of a function. If the names do not all fit next to
 * their numbers, each gets a line of its own. */
void etlheap_grid_name(etlheap_grid *grid, const char *text);

void etlheap_grid_count(etlheap_grid *grid, i64 value);     /* "1,234" */
void etlheap_grid_size(etlheap_grid *grid, i64 size_bytes); /* "1.21 KiB" */

/* Writes the titles, the rows and a note about columns that do not fit, or nothing if there are no
 * rows. Frees the grid in every case. */
etl_status etlheap_grid_write(etlheap_grid *grid, const etlheap_layout *layout, etlheap_sink *sink);

/* Like etlheap_grid_write, without the note, for one of several tables with the same columns:
 * lowers *shown to the number of columns shown. The note is written once, after the last table. */
etl_status etlheap_grid_write_part(etlheap_grid *grid, const etlheap_layout *layout,
                                   etlheap_sink *sink, u32 *shown);
void etlheap_grid_note(const etlheap_column *columns, u32 shown, u32 count,
                       const etlheap_layout *layout, etlheap_sink *sink);

/* Begin and end an emphasis with terminal codes, if colour is on. */
void etlheap_emphasis_on(etlheap_sink *sink, const etlheap_layout *layout,
                         etlheap_emphasis emphasis);
void etlheap_emphasis_off(etlheap_sink *sink, const etlheap_layout *layout,
                          etlheap_emphasis emphasis);

#endif
