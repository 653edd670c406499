/*
 * tabular_plan.h - how wide the columns of a table are, and what is left out.
 *
 * The first column may hold names of functions, which are longer than any line. A plan
 * tries in this order, until the table fits the line:
 *
 *     1. everything side by side
 *     2. names on lines of their own, their numbers on the line below
 *     3. a narrower flexible column: texts that do not fit get lines of their own, too
 *     4. without the last column, and so on from 3
 *
 * A whole table (etlheap_layout.whole) never goes beyond 2.
 */
#ifndef ETLHEAP_TABULAR_PLAN_H
#define ETLHEAP_TABULAR_PLAN_H

#include "tabular.h"

#define ETLHEAP_GRID_GAP         2
#define ETLHEAP_GRID_TITLE_LINES 12

/* A cell's text is in grid->text, without a NUL of its own. */
typedef struct etlheap_grid_cell_text {
    size_t at, size;
    u32 columns;
    bool is_name; /* of a function: may stand on a line of its own */
} etlheap_grid_cell_text;

struct etlheap_grid_line {
    etlheap_grid_cell_text cells[ETLHEAP_GRID_COLUMNS_MAX];
    etlheap_emphasis emphasis;
};

/* A title on as many lines as it needs. */
typedef struct etlheap_grid_title {
    const char *lines[ETLHEAP_GRID_TITLE_LINES];
    size_t sizes[ETLHEAP_GRID_TITLE_LINES];
    u32 count;
} etlheap_grid_title;

/* How the table is written; columns from `count` on are left out. */
typedef struct etlheap_grid_plan {
    etlheap_grid_title titles[ETLHEAP_GRID_COLUMNS_MAX];
    u32 widths[ETLHEAP_GRID_COLUMNS_MAX];
    u32 count;
    u32 line_width; /* 0: not limited */
    u32 title_lines;
    bool names_apart;
} etlheap_grid_plan;

etlheap_grid_plan etlheap_grid_plan_of(const etlheap_grid *grid, u32 line_width, bool whole);

/* Whether the first cell of a line stands on a line of its own, above the others. */
bool etlheap_grid_is_apart(const etlheap_grid *grid, const etlheap_grid_plan *plan,
                           const struct etlheap_grid_line *line);

#endif
