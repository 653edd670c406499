/*
 * tabular.c - aligned text tables.
 */
#include "tabular.h"

#include "formats/io/text_buffer.h"
#include "formats/io/units.h"
#include "display.h"

#include <stdlib.h>

#define COLUMN_GAP      2
#define FLEXIBLE_MIN    20
#define GRID_FIRST_ROWS 64
#define TITLE_LINES     2
#define MIDDLE_MIN      12 /* narrower cells lose their end */

static const char ellipsis[] = "\xE2\x80\xA6"; /* one column wide */

/* A cell's text is in grid->text, without a NUL of its own. */
typedef struct grid_cell {
    size_t at, size;
    u32 columns;
} grid_cell;

struct etlheap_grid_line {
    grid_cell cells[ETLHEAP_GRID_COLUMNS_MAX];
    etlheap_emphasis emphasis;
};

/* A title on two lines; the upper one is empty when it fits on one. */
typedef struct grid_title {
    const char *lines[TITLE_LINES];
    size_t sizes[TITLE_LINES];
} grid_title;

/* How the table is written; columns from `count` on are left out. */
typedef struct grid_plan {
    grid_title titles[ETLHEAP_GRID_COLUMNS_MAX];
    u32 widths[ETLHEAP_GRID_COLUMNS_MAX];
    u32 count;
    u32 line_width; /* 0: not limited */
    bool two_title_lines;
} grid_plan;

static grid_plan plan_of(const etlheap_grid *grid, u32 line_width);
static void plan_column(const etlheap_grid *grid, u32 c, grid_plan *plan);
static void plan_title(const char *title, u32 columns, bool breaks, grid_title *out);
static bool narrow(const etlheap_grid *grid, u32 surplus, grid_plan *plan);
static u32 width_of(const grid_plan *plan);
static void write_titles(const etlheap_grid *grid, const grid_plan *plan, etlheap_sink *sink);
static void write_line(const etlheap_grid *grid, const grid_plan *plan,
                       const struct etlheap_grid_line *line, etlheap_sink *sink);
static u32 room_of(const grid_plan *plan, const struct etlheap_grid_line *line, u32 c);
static void write_cell(etlheap_sink *sink, const char *text, size_t size, u32 width);
static size_t tail_of(const char *text, size_t size, u32 columns);

etlheap_grid etlheap_grid_begin(const etlheap_column *columns, u32 column_count)
{
    assert(column_count > 0 && column_count <= ETLHEAP_GRID_COLUMNS_MAX);
    return (etlheap_grid){ .columns = columns, .column_count = column_count };
}

void etlheap_grid_row(etlheap_grid *grid, etlheap_emphasis emphasis)
{
    grid->cell_count = 0;
    if (grid->row_count == grid->row_capacity) {
        const u32 capacity = grid->row_capacity ? grid->row_capacity * 2 : GRID_FIRST_ROWS;
        struct etlheap_grid_line *const rows =
            capacity > grid->row_capacity ? realloc(grid->rows, capacity * sizeof *rows) : NULL;
        if (!rows) {
            grid->text.failed = true;
            return;
        }
        grid->rows = rows;
        grid->row_capacity = capacity;
    }
    grid->rows[grid->row_count] = (struct etlheap_grid_line){ .emphasis = emphasis };
    grid->row_count++;
}

void etlheap_grid_cell(etlheap_grid *grid, const char *text)
{
    if (grid->text.failed)
        return;
    assert(grid->row_count > 0 && grid->cell_count < grid->column_count);
    grid_cell *const cell = &grid->rows[grid->row_count - 1].cells[grid->cell_count];
    grid->cell_count++;
    cell->at = grid->text.size;
    etlheap_display_add(&grid->text, text);
    cell->size = grid->text.size - cell->at;
    cell->columns = etlheap_display_width(etlheap_text_of(&grid->text) + cell->at, cell->size);
}

void etlheap_grid_count(etlheap_grid *grid, i64 value)
{
    char text[ETLHEAP_UNITS_SIZE];
    etlheap_units_count(value, text);
    etlheap_grid_cell(grid, text);
}

void etlheap_grid_size(etlheap_grid *grid, i64 size_bytes)
{
    char text[ETLHEAP_UNITS_SIZE];
    etlheap_units_size(size_bytes, text);
    etlheap_grid_cell(grid, text);
}

etl_status etlheap_grid_write(etlheap_grid *grid, const etlheap_layout *layout, etlheap_sink *sink)
{
    const bool failed = grid->text.failed;
    if (!failed && grid->row_count > 0) {
        const grid_plan plan = plan_of(grid, layout->width);
        etlheap_emphasis_on(sink, layout, ETLHEAP_EMPHASIS_STRONG);
        write_titles(grid, &plan, sink);
        etlheap_emphasis_off(sink, layout, ETLHEAP_EMPHASIS_STRONG);
        for (u32 i = 0; i < grid->row_count; i++) {
            etlheap_emphasis_on(sink, layout, grid->rows[i].emphasis);
            write_line(grid, &plan, &grid->rows[i], sink);
            etlheap_emphasis_off(sink, layout, grid->rows[i].emphasis);
        }
    }
    free(grid->rows);
    etlheap_text_free(&grid->text);
    *grid = (etlheap_grid){ 0 };
    return failed ? ETL_ERR_MEMORY : ETL_OK;
}

void etlheap_emphasis_on(etlheap_sink *sink, const etlheap_layout *layout,
                         etlheap_emphasis emphasis)
{
    if (layout->colour && emphasis != ETLHEAP_EMPHASIS_NONE)
        etlheap_sink_text(sink, emphasis == ETLHEAP_EMPHASIS_STRONG ? "\x1b[1m" : "\x1b[2m");
}

void etlheap_emphasis_off(etlheap_sink *sink, const etlheap_layout *layout,
                          etlheap_emphasis emphasis)
{
    if (layout->colour && emphasis != ETLHEAP_EMPHASIS_NONE)
        etlheap_sink_text(sink, "\x1b[0m");
}

/* Widths that hold everything, made narrower until the line fits. */
static grid_plan plan_of(const etlheap_grid *grid, u32 line_width)
{
    grid_plan plan = { .count = grid->column_count, .line_width = line_width };
    for (u32 c = 0; c < grid->column_count; c++)
        plan_column(grid, c, &plan);
    while (line_width > 0 && width_of(&plan) > line_width) {
        if (!narrow(grid, width_of(&plan) - line_width, &plan))
            break;
    }
    for (u32 c = 0; c < plan.count; c++) {
        if (plan.titles[c].sizes[0] > 0)
            plan.two_title_lines = true;
    }
    return plan;
}

/* As wide as its widest cell or word of its title. */
static void plan_column(const etlheap_grid *grid, u32 c, grid_plan *plan)
{
    u32 columns = 0;
    for (u32 i = 0; i < grid->row_count; i++)
        columns = (u32)etl_max_u64(columns, grid->rows[i].cells[c].columns);
    grid_title *const title = &plan->titles[c];
    plan_title(grid->columns[c].title, columns, grid->columns[c].right, title);
    plan->widths[c] = (u32)etl_max_u64(columns, etl_max_u64(title->sizes[0], title->sizes[1]));
}

/* Breaks a title that is wider than its cells at the last space. */
static void plan_title(const char *title, u32 columns, bool breaks, grid_title *out)
{
    const size_t size = strlen(title);
    const char *const space = breaks && size > columns ? strrchr(title, ' ') : NULL;
    *out = (grid_title){ { title, title }, { 0, size } };
    if (space) {
        out->lines[1] = space + 1;
        out->sizes[0] = (size_t)(space - title);
        out->sizes[1] = size - out->sizes[0] - 1;
    }
}

/*
 * Makes the table narrower: takes the surplus from the flexible column, or when
 * that would leave it too little, leaves out the last column. The first two
 * always stay, and a flexible column that is the last. False when nothing is
 * left to take.
 */
static bool narrow(const etlheap_grid *grid, u32 surplus, grid_plan *plan)
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

static u32 width_of(const grid_plan *plan)
{
    u32 width = (plan->count - 1) * COLUMN_GAP;
    for (u32 c = 0; c < plan->count; c++)
        width += plan->widths[c];
    return width;
}

/* Titles stand at the bottom: a title of one line is next to its cells. */
static void write_titles(const etlheap_grid *grid, const grid_plan *plan, etlheap_sink *sink)
{
    for (u32 t = plan->two_title_lines ? 0 : 1; t < TITLE_LINES; t++) {
        u32 owed = 0; /* spaces before the next text: none are left at the end */
        for (u32 c = 0; c < plan->count; c++) {
            const size_t size = etl_min_u64(plan->titles[c].sizes[t], plan->widths[c]);
            const u32 padding = plan->widths[c] - (u32)size;
            const bool right = grid->columns[c].right;
            owed += right ? padding : 0;
            if (size > 0) {
                etlheap_sink_fill(sink, ' ', owed);
                etlheap_sink_write(sink, plan->titles[c].lines[t], size);
                owed = 0;
            }
            owed += COLUMN_GAP + (right ? 0 : padding);
        }
        etlheap_sink_text(sink, "\n");
    }
}

/* Spaces are owed until a cell follows, so that no line ends in them. */
static void write_line(const etlheap_grid *grid, const grid_plan *plan,
                       const struct etlheap_grid_line *line, etlheap_sink *sink)
{
    const char *const text = etlheap_text_of(&grid->text);
    u32 owed = 0;
    for (u32 c = 0; c < plan->count; c++) {
        const grid_cell *const cell = &line->cells[c];
        const u32 columns = (u32)etl_min_u64(cell->columns, plan->widths[c]);
        const u32 padding = plan->widths[c] - columns;
        const bool right = grid->columns[c].right;
        owed += right ? padding : 0;
        if (cell->size > 0) {
            etlheap_sink_fill(sink, ' ', owed);
            write_cell(sink, text + cell->at, cell->size,
                       right ? plan->widths[c] : room_of(plan, line, c));
            owed = 0;
        }
        owed += COLUMN_GAP + (right ? 0 : padding);
    }
    etlheap_sink_text(sink, "\n");
}

/* A cell with no cells after it may use the rest of the line, as the stack frames below a
 * row do. */
static u32 room_of(const grid_plan *plan, const struct etlheap_grid_line *line, u32 c)
{
    u32 start = 0;
    for (u32 i = 0; i < plan->count; i++) {
        if (i > c && line->cells[i].size > 0)
            return plan->widths[c];
        start += i < c ? plan->widths[i] + COLUMN_GAP : 0;
    }
    const u32 rest = plan->line_width > start ? plan->line_width - start : 0;
    return plan->line_width == 0 ? line->cells[c].columns : (u32)etl_max_u64(rest, plan->widths[c]);
}

/*
 * Text that does not fit is cut in the middle and marked with an ellipsis. It keeps one
 * third from the start, which names the module, and two thirds from the end, which has the
 * function or the offset.
 */
static void write_cell(etlheap_sink *sink, const char *text, size_t size, u32 width)
{
    if (etlheap_display_fit(text, size, width) == size) {
        etlheap_sink_write(sink, text, size);
        return;
    }
    const u32 kept = width - 1;
    const u32 behind = width < MIDDLE_MIN ? 0 : kept - kept / 3;
    const size_t head = etlheap_display_fit(text, size, kept - behind);
    const size_t tail = tail_of(text, size, behind);
    etlheap_sink_write(sink, text, head);
    etlheap_sink_text(sink, ellipsis);
    etlheap_sink_write(sink, text + tail, size - tail);
    /* A wide character that did not fit leaves a column open. */
    etlheap_sink_fill(sink, ' ',
                      kept - etlheap_display_width(text, head) -
                          etlheap_display_width(text + tail, size - tail));
}

/* Where the longest end begins that takes at most `columns`. */
static size_t tail_of(const char *text, size_t size, u32 columns)
{
    u32 left = etlheap_display_width(text, size);
    size_t at = 0;
    while (at < size) {
        const etlheap_glyph glyph = etlheap_glyph_at(text + at, size - at);
        if (left <= columns && glyph.columns > 0)
            break;
        left -= glyph.columns;
        at += glyph.size;
    }
    return at;
}
