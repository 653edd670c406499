/*
 * tabular_plan.h - decides the widths of a table's columns, and what is left out.
 *
 * The first column may have names of functions, which are longer than any line. A plan tries these
 * in order, until the table fits the line:
 *
 *     1. everything side by side
 *     2. names on separate lines, with their numbers on the line below
 *     3. a narrower flexible column: texts that do not fit get separate lines, too
 *     4. without the last column, and so on from 3
 *
 * A whole table (etlheap_layout.whole) stops at 2.
 */
#ifndef ETLHEAP_TABULAR_PLAN_H
#define ETLHEAP_TABULAR_PLAN_H

#include "tabular.h"

#define ETLHEAP_GRID_GAP         2
#define ETLHEAP_GRID_TITLE_LINES 12

/* A cell; its text is in grid->text, without a NUL. */
typedef struct etlheap_grid_cell_text {
    size_t at, size;
    u32 columns;
    bool is_name; /* name of a function: may have a separate line */
} etlheap_grid_cell_text;

/* A row has as many cells as the table has columns. */
struct etlheap_grid_line {
    etlheap_emphasis emphasis;
    etlheap_grid_cell_text cells[];
};

static inline size_t etlheap_grid_line_bytes(const etlheap_grid *grid)
{
    return sizeof(struct etlheap_grid_line) + grid->column_count * sizeof(etlheap_grid_cell_text);
}

static inline struct etlheap_grid_line *etlheap_grid_line_at(const etlheap_grid *grid, u32 row)
{
    return (void *)((char *)grid->rows + row * etlheap_grid_line_bytes(grid));
}

/* A title, split into as many lines as needed. */
typedef struct etlheap_grid_title {
    const char *lines[ETLHEAP_GRID_TITLE_LINES];
    size_t sizes[ETLHEAP_GRID_TITLE_LINES];
    u32 count;
} etlheap_grid_title;

/* The plan of a table. Columns from `count` on are left out. */
typedef struct etlheap_grid_plan {
    etlheap_grid_title titles[ETLHEAP_GRID_COLUMNS_MAX];
    u32 widths[ETLHEAP_GRID_COLUMNS_MAX];
    u32 count;
    u32 line_width; /* 0: no limit */
    u32 title_lines;
    bool names_apart;
} etlheap_grid_plan;

etlheap_grid_plan etlheap_grid_plan_of(const etlheap_grid *grid, u32 line_width, bool whole);

/* True if the first cell of a line is on a separate line, above the others. */
bool etlheap_grid_is_apart(const etlheap_grid *grid, const etlheap_grid_plan *plan,
                           const struct etlheap_grid_line *line);

#endif
