/*
 * tabular.c - collects the cells of a text table and writes them aligned.
 *
 * In: columns, rows and cells in order. Out: lines. All cells are kept until the widths are known;
 * tabular_plan.c decides them, and what is left out.
 *
 *     Handle    Size  Count        right-aligned numbers, left-aligned text
 *     0x1f0000   24K      3
 *     a_function_with_a_long_name  a name that does not fit stands above the numbers of its row
 *                 24K      3
 *
 * Invariant: spaces are owed until a cell follows, so no line ends in spaces.
 */
#include "tabular.h"

#include "formats/io/text_buffer.h"
#include "formats/io/units.h"
#include "display.h"
#include "layout_read.h"
#include "short_names.h"
#include "tabular_plan.h"

#include <stdlib.h>

#define GRID_FIRST_ROWS 64

/* Everything that write_line needs besides the line. */
typedef struct grid_writer {
    const etlheap_grid *grid;
    const etlheap_grid_plan *plan;
    bool ascii;
    etlheap_text *scratch;
    etlheap_sink *sink;
} grid_writer;

static void write_titles(const etlheap_grid *grid, const etlheap_grid_plan *plan,
                         etlheap_sink *sink);
static void write_line(const grid_writer *w, const struct etlheap_grid_line *line);
static void write_cells(const grid_writer *w, const struct etlheap_grid_line *line, u32 first);
static u32 room_of(const etlheap_grid_plan *plan, const struct etlheap_grid_line *line, u32 c);
static void write_cell(const grid_writer *w, const struct etlheap_grid_line *line, u32 c,
                       u32 width);

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
        void *const rows = capacity > grid->row_capacity
                               ? realloc(grid->rows, capacity * etlheap_grid_line_bytes(grid))
                               : NULL;
        if (!rows) {
            grid->text.failed = true;
            return;
        }
        grid->rows = rows;
        grid->row_capacity = capacity;
    }
    struct etlheap_grid_line *const line = etlheap_grid_line_at(grid, grid->row_count);
    memset(line, 0, etlheap_grid_line_bytes(grid));
    line->emphasis = emphasis;
    grid->row_count++;
}

void etlheap_grid_cell(etlheap_grid *grid, const char *text)
{
    if (grid->text.failed)
        return;
    assert(grid->row_count > 0 && grid->cell_count < grid->column_count);
    struct etlheap_grid_line *const line = etlheap_grid_line_at(grid, grid->row_count - 1);
    etlheap_grid_cell_text *const cell = &line->cells[grid->cell_count];
    grid->cell_count++;
    cell->at = grid->text.size;
    etlheap_display_add(&grid->text, text);
    cell->size = grid->text.size - cell->at;
    cell->columns = etlheap_display_width(etlheap_text_of(&grid->text) + cell->at, cell->size);
}

void etlheap_grid_name(etlheap_grid *grid, const char *text)
{
    const u32 index = grid->cell_count;
    etlheap_grid_cell(grid, text);
    if (!grid->text.failed)
        etlheap_grid_line_at(grid, grid->row_count - 1)->cells[index].is_name = true;
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
    const etlheap_column *const columns = grid->columns;
    const u32 count = grid->column_count;
    u32 shown = count;
    const etl_status status = etlheap_grid_write_part(grid, layout, sink, &shown);
    etlheap_grid_note(columns, shown, count, layout, sink);
    return status;
}

etl_status etlheap_grid_write_part(etlheap_grid *grid, const etlheap_layout *layout,
                                   etlheap_sink *sink, u32 *shown)
{
    etlheap_text scratch = { 0 };
    bool failed = grid->text.failed;
    if (!failed && grid->row_count > 0) {
        const etlheap_grid_plan plan = etlheap_grid_plan_of(grid, layout->width, layout->whole);
        const grid_writer writer = { grid, &plan, layout->ascii, &scratch, sink };
        *shown = (u32)etl_min_u64(*shown, plan.count);
        etlheap_emphasis_on(sink, layout, ETLHEAP_EMPHASIS_STRONG);
        write_titles(grid, &plan, sink);
        etlheap_emphasis_off(sink, layout, ETLHEAP_EMPHASIS_STRONG);
        for (u32 i = 0; i < grid->row_count; i++) {
            const struct etlheap_grid_line *const line = etlheap_grid_line_at(grid, i);
            etlheap_emphasis_on(sink, layout, line->emphasis);
            write_line(&writer, line);
            etlheap_emphasis_off(sink, layout, line->emphasis);
        }
    }
    failed |= scratch.failed;
    etlheap_text_free(&scratch);
    free(grid->rows);
    etlheap_text_free(&grid->text);
    *grid = (etlheap_grid){ 0 };
    return failed ? ETL_ERR_MEMORY : ETL_OK;
}

void etlheap_grid_note(const etlheap_column *columns, u32 shown, u32 count,
                       const etlheap_layout *layout, etlheap_sink *sink)
{
    etlheap_text text = { 0 };
    if (shown >= count)
        return;
    etlheap_text_add_string(&text, "Columns that do not fit: ");
    for (u32 c = shown; c < count; c++) {
        etlheap_text_add_string(&text, c > shown ? ", " : "");
        etlheap_text_add_string(&text, columns[c].title);
    }
    etlheap_text_add_string(&text, etlheap_hint_words(layout->hint, ETL_HINT_MORE_COLUMNS));
    etlheap_sink_text(sink, "\n");
    etlheap_emphasis_on(sink, layout, ETLHEAP_EMPHASIS_WEAK);
    etlheap_display_wrap(sink, etlheap_text_of(&text), 0, 0, layout->width);
    etlheap_emphasis_off(sink, layout, ETLHEAP_EMPHASIS_WEAK);
    etlheap_text_free(&text);
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

/* Writes titles, aligned at the bottom, so that a title of one line is next to its cells. */
static void write_titles(const etlheap_grid *grid, const etlheap_grid_plan *plan,
                         etlheap_sink *sink)
{
    for (u32 t = 0; t < plan->title_lines; t++) {
        u32 owed = 0; /* spaces before the next text: none are left at the end */
        for (u32 c = 0; c < plan->count; c++) {
            const etlheap_grid_title *const title = &plan->titles[c];
            const u32 above = plan->title_lines - title->count;
            const size_t size =
                t < above ? 0 : etl_min_u64(title->sizes[t - above], plan->widths[c]);
            const u32 padding = plan->widths[c] - (u32)size;
            const bool right = grid->columns[c].right;
            owed += right ? padding : 0;
            if (size > 0) {
                etlheap_sink_fill(sink, ' ', owed);
                etlheap_sink_write(sink, title->lines[t - above], size);
                owed = 0;
            }
            owed += ETLHEAP_GRID_GAP + (right ? 0 : padding);
        }
        etlheap_sink_text(sink, "\n");
    }
}

/* Writes a line. A first cell that does not fit beside the others goes above them. */
static void write_line(const grid_writer *w, const struct etlheap_grid_line *line)
{
    if (!etlheap_grid_is_apart(w->grid, w->plan, line)) {
        write_cells(w, line, 0);
        return;
    }
    write_cell(w, line, 0, w->plan->line_width);
    etlheap_sink_text(w->sink, "\n");
    write_cells(w, line, 1);
}

/* Spaces are owed until a cell follows, so that no line ends in them. */
static void write_cells(const grid_writer *w, const struct etlheap_grid_line *line, u32 first)
{
    const etlheap_grid_plan *const plan = w->plan;
    u32 owed = first > 0 ? plan->widths[0] + ETLHEAP_GRID_GAP : 0;
    for (u32 c = first; c < plan->count; c++) {
        const etlheap_grid_cell_text *const cell = &line->cells[c];
        const u32 columns = (u32)etl_min_u64(cell->columns, plan->widths[c]);
        const u32 padding = plan->widths[c] - columns;
        const bool right = w->grid->columns[c].right;
        owed += right ? padding : 0;
        if (cell->size > 0) {
            etlheap_sink_fill(w->sink, ' ', owed);
            write_cell(w, line, c, right ? plan->widths[c] : room_of(plan, line, c));
            owed = 0;
        }
        owed += ETLHEAP_GRID_GAP + (right ? 0 : padding);
    }
    etlheap_sink_text(w->sink, "\n");
}

/* A cell with no cells after it may use the rest of the line, as the stack frames below a
 * row do. */
static u32 room_of(const etlheap_grid_plan *plan, const struct etlheap_grid_line *line, u32 c)
{
    u32 start = 0;
    for (u32 i = 0; i < plan->count; i++) {
        if (i > c && line->cells[i].size > 0)
            return plan->widths[c];
        start += i < c ? plan->widths[i] + ETLHEAP_GRID_GAP : 0;
    }
    const u32 rest = plan->line_width > start ? plan->line_width - start : 0;
    return plan->line_width == 0 ? 0 : (u32)etl_max_u64(rest, plan->widths[c]);
}

/* Writes a cell. With width 0, anything fits. A name in the first column that does not fit has
 * lines of its own. */
static void write_cell(const grid_writer *w, const struct etlheap_grid_line *line, u32 c, u32 width)
{
    const etlheap_grid_cell_text *const cell = &line->cells[c];
    const char *const text = etlheap_text_of(&w->grid->text) + cell->at;
    const etlheap_fit fit = { width, cell->is_name, c == 0, w->ascii };
    if (width == 0 || cell->columns <= width) {
        etlheap_sink_write(w->sink, text, cell->size);
        return;
    }
    etlheap_text_clear(w->scratch);
    etlheap_display_add_fitted(w->scratch, text, cell->size, &fit);
    etlheap_sink_write(w->sink, etlheap_text_of(w->scratch), w->scratch->size);
}
