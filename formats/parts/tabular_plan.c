/*
 * tabular_plan.c - plans the layout of a text table: widths of columns, lines of titles, what is
 * left out.
 *
 * In: a grid, whose cells know their widths, and the width of a line. Out: an etlheap_grid_plan
 * that tabular.c writes by.
 *
 * The steps are at the top of tabular_plan.h. Columns are first as wide as their widest cell or
 * title. If the line is too narrow, names of functions move to lines of their own; then the
 * flexible column shrinks, and columns are dropped from the right. Invariant: each call of narrow()
 * takes columns away or returns false, so planning ends. The first two columns always stay.
 */
#include "tabular_plan.h"

#define FLEXIBLE_MIN 20

/* Which cells a column has room for. */
typedef enum plan_room {
    ROOM_FOR_ALL,
    ROOM_BESIDE_OTHERS, /* not for cells with nothing behind them */
    ROOM_BESIDE_NAMES   /* nor for names */
} plan_room;

static void plan_column(const etlheap_grid *grid, u32 c, plan_room room, etlheap_grid_plan *plan);
static u32 widest_cell(const etlheap_grid *grid, u32 c, plan_room room);
static bool has_others(const struct etlheap_grid_line *line, u32 count);
static void break_once(const char *title, u32 columns, etlheap_grid_title *out);
static void break_words(const char *title, u32 columns, etlheap_grid_title *out);
static bool has_names(const etlheap_grid *grid);
static bool narrow(const etlheap_grid *grid, u32 surplus, etlheap_grid_plan *plan);
static u32 width_of(const etlheap_grid_plan *plan);

etlheap_grid_plan etlheap_grid_plan_of(const etlheap_grid *grid, u32 line_width, bool whole)
{
    etlheap_grid_plan plan = { .count = grid->column_count };
    for (u32 c = 0; c < grid->column_count; c++)
        plan_column(grid, c, ROOM_FOR_ALL, &plan);
    if (line_width > 0 && width_of(&plan) > line_width && grid->columns[0].flexible)
        plan_column(grid, 0, ROOM_BESIDE_OTHERS, &plan);
    plan.names_apart = line_width > 0 && width_of(&plan) > line_width && has_names(grid);
    if (plan.names_apart)
        plan_column(grid, 0, ROOM_BESIDE_NAMES, &plan);
    plan.line_width = whole ? 0 : line_width;
    while (plan.line_width > 0 && width_of(&plan) > line_width) {
        if (!narrow(grid, width_of(&plan) - line_width, &plan))
            break;
    }
    for (u32 c = 0; c < plan.count; c++) {
        if (grid->columns[c].flexible)
            break_words(grid->columns[c].title, plan.widths[c], &plan.titles[c]);
        plan.title_lines = (u32)etl_max_u64(plan.title_lines, plan.titles[c].count);
    }
    return plan;
}

/* Does the first cell stand on a line of its own, with the row's numbers right below it? */
bool etlheap_grid_is_apart(const etlheap_grid *grid, const etlheap_grid_plan *plan,
                           const struct etlheap_grid_line *line)
{
    const etlheap_grid_cell_text *const first = &line->cells[0];
    return has_others(line, plan->count) && grid->columns[0].flexible &&
           ((first->is_name && plan->names_apart) || first->columns > plan->widths[0]);
}

/* Makes a column as wide as its widest cell or line of its title. */
static void plan_column(const etlheap_grid *grid, u32 c, plan_room room, etlheap_grid_plan *plan)
{
    const u32 columns = widest_cell(grid, c, room);
    etlheap_grid_title *const title = &plan->titles[c];
    break_once(grid->columns[c].title, grid->columns[c].right ? columns : UINT32_MAX, title);
    plan->widths[c] = columns;
    for (u32 i = 0; i < title->count; i++)
        plan->widths[c] = (u32)etl_max_u64(plan->widths[c], title->sizes[i]);
}

static u32 widest_cell(const etlheap_grid *grid, u32 c, plan_room room)
{
    u32 columns = 0;
    for (u32 i = 0; i < grid->row_count; i++) {
        const struct etlheap_grid_line *const line = etlheap_grid_line_at(grid, i);
        if ((room != ROOM_FOR_ALL && !has_others(line, grid->column_count)) ||
            (room == ROOM_BESIDE_NAMES && line->cells[c].is_name))
            continue;
        columns = (u32)etl_max_u64(columns, line->cells[c].columns);
    }
    return columns;
}

/* Has the line any cell besides the first? */
static bool has_others(const struct etlheap_grid_line *line, u32 count)
{
    for (u32 c = 1; c < count; c++) {
        if (line->cells[c].size > 0)
            return true;
    }
    return false;
}

/* Breaks a title that is wider than its cells at the last space. */
static void break_once(const char *title, u32 columns, etlheap_grid_title *out)
{
    const size_t size = strlen(title);
    const char *const space = size > columns ? strrchr(title, ' ') : NULL;
    *out = (etlheap_grid_title){ { title }, { size }, 1 };
    if (space) {
        out->sizes[0] = (size_t)(space - title);
        out->lines[1] = space + 1;
        out->sizes[1] = size - out->sizes[0] - 1;
        out->count = 2;
    }
}

/* Breaks a title at spaces so that no line is wider than the column. A slash stays behind
 * its word, as in "Process /". */
static void break_words(const char *title, u32 columns, etlheap_grid_title *out)
{
    *out = (etlheap_grid_title){ { title }, { 0 }, 1 };
    for (const char *word = title; *word != '\0';) {
        size_t size = strcspn(word, " ");
        if (strncmp(word + size, " /", 2) == 0)
            size += 2;
        const char *const line = out->lines[out->count - 1];
        const size_t joined = (size_t)(word - line) + size;
        const bool is_new = word > line && joined > columns;
        if (is_new && out->count < ETLHEAP_GRID_TITLE_LINES)
            out->lines[out->count++] = word;
        out->sizes[out->count - 1] = (size_t)(word + size - out->lines[out->count - 1]);
        word += size;
        word += strspn(word, " ");
    }
}

static bool has_names(const etlheap_grid *grid)
{
    for (u32 i = 0; i < grid->row_count; i++) {
        if (etlheap_grid_line_at(grid, i)->cells[0].is_name)
            return true;
    }
    return false;
}

/*
 * Makes the table narrower: takes the surplus from the flexible column, or when
 * that would leave it too little, leaves out the last column. The first two
 * always stay, and a flexible column that is the last. False when nothing is
 * left to take.
 */
static bool narrow(const etlheap_grid *grid, u32 surplus, etlheap_grid_plan *plan)
{
    const bool droppable = plan->count > 2 && !grid->columns[plan->count - 1].flexible;
    const u32 least = droppable ? FLEXIBLE_MIN : 1;
    for (u32 c = 0; c < plan->count; c++) {
        const u32 width = plan->widths[c];
        if (!grid->columns[c].flexible || width <= least)
            continue;
        if (droppable && width - least < surplus)
            continue;
        plan->widths[c] = width - (u32)etl_min_u64(surplus, width - least);
        return true;
    }
    plan->count -= droppable ? 1 : 0;
    return droppable;
}

static u32 width_of(const etlheap_grid_plan *plan)
{
    u32 width = (plan->count - 1) * ETLHEAP_GRID_GAP;
    for (u32 c = 0; c < plan->count; c++)
        width += plan->widths[c];
    return width;
}
