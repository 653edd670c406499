/*
 * text_windows.c - writes time windows for people.
 *
 * In: an etlheap_windows. Out: a block of lines for each group:
 *
 *     heap / app.exe (4321)
 *     Outstanding   ▁▂▂▃▄▅▆▇█ 640 KiB at the end
 *     Peak          ▁▂▂▃▄▅▆▇█ 1.02 MiB in 19..20 s
 *                 Outstanding  Size  Impacting   AIFO  AIFO   AIFI  AIFI ...
 *     Window (s)         Size  Peak       Size  Count  Size  Count  Size
 *     0..1                35K   52K        35K      8   32K    205  411K
 *     1..4                35K   35K          -      -     -      -     -
 *
 * There are many columns, so numbers are short: 411K stands for 411 KiB. Invariant: windows are
 * joined into one line only if they follow each other without a gap, nothing is allocated or freed
 * in them, and no mark names them (quiet_until).
 */
#include "formats/io/text_buffer.h"
#include "formats/io/units.h"
#include "formats/parts/abilities.h"
#include "formats/writers.h"
#include "formats/parts/layout_read.h"
#include "formats/parts/sessions.h"
#include "text_windows.h"

#include <stdio.h>
#include <stdlib.h>

#define BLOCK_COLUMNS (ETL_COUNT_OF(shown_columns) + 1)
#define TITLE_SIZE    24

/* The columns beside the window. The last ones are left out first if the line is short; AOFO
 * follows from outstanding memory and AIFO. */
static const etlheap_cell_column shown_columns[] = {
    ETLHEAP_CELL_OUTSTANDING_SIZE, ETLHEAP_CELL_PEAK_SIZE,  ETLHEAP_CELL_IMPACTING_SIZE,
    ETLHEAP_CELL_AIFO_COUNT,       ETLHEAP_CELL_AIFO_SIZE,  ETLHEAP_CELL_AIFI_COUNT,
    ETLHEAP_CELL_AIFI_SIZE,        ETLHEAP_CELL_AOFI_COUNT, ETLHEAP_CELL_AOFI_SIZE,
    ETLHEAP_CELL_AOFO_COUNT,       ETLHEAP_CELL_AOFO_SIZE,
};

/* Those of kinds without sizes. */
static const etlheap_cell_column counted_columns[] = {
    ETLHEAP_CELL_OUTSTANDING_COUNT, ETLHEAP_CELL_PEAK_COUNT, ETLHEAP_CELL_AIFO_COUNT,
    ETLHEAP_CELL_AIFI_COUNT,        ETLHEAP_CELL_AOFI_COUNT, ETLHEAP_CELL_AOFO_COUNT,
};

/* The columns of a block, and how many of them fit if that is less. */
typedef struct block_columns {
    const etlheap_cell_column *cells;
    etlheap_column at[BLOCK_COLUMNS];
    u32 count, shown;
} block_columns;

static etl_status write_body(const etlheap_windows_view *view, etlheap_sink *sink);
static etl_status write_blocks(const etlheap_windows_view *view, etlheap_sink *sink);
static etl_status write_block(const etlheap_windows_view *view, block_columns *columns, u32 row,
                              etlheap_sink *sink);
static void add_span(const etlheap_windows_view *view, u32 window, u32 end, u32 width,
                     etlheap_text *text, etlheap_grid *grid);
static u32 spans_width(const etlheap_windows_view *view);
static u32 line_end(const etlheap_windows_answer *answer, u32 row, u32 window);
static bool is_quiet(const etlheap_windows *windows, u32 row, u32 window);

etl_status etlheap_write_windows_text(const etlheap_result *result,
                                      const etlheap_windows_answer *answer,
                                      const etlheap_layout *given, etlheap_sink *sink)
{
    etlheap_layout own;
    const etlheap_layout *const layout = &own;
    const etl_status layout_status = etlheap_layout_read(given, &own);
    if (layout_status != ETL_OK)
        return layout_status;
    const etlheap_abilities abilities = etlheap_result_abilities(result);
    const etlheap_table *const table = answer->windows->table;
    const etlheap_table *const whole = answer->spikes ? answer->spikes->groups : table;
    const etlheap_windows_view view = etlheap_windows_view_of(result, answer, layout);
    etlheap_text text = { 0 };
    etlheap_text_trace(sink, layout, etlheap_result_trace(result), &text);
    etlheap_text_window(sink, layout, result, whole->from_ns, whole->to_ns);
    etl_status status = answer->spikes ? ETL_OK : etlheap_windows_write_memory(&view, sink);
    if (etlheap_abilities_lack_memory(&abilities))
        etlheap_text_missing(sink, layout, result, &text);
    else if (status == ETL_OK)
        status = write_body(&view, sink);
    etlheap_text_diagnostics(sink, layout, &table->diagnostics);
    if (text.failed)
        status = ETL_ERR_MEMORY;
    etlheap_text_free(&text);
    return status;
}

/* Writes the body. If a rise is asked for, that is the answer, not the other groups. */
static etl_status write_body(const etlheap_windows_view *view, etlheap_sink *sink)
{
    if (view->answer->windows->table->row_count == 0) {
        etlheap_text_heading(
            sink, view->layout,
            etlheap_empty_words(view->result, "Nothing matches the windows and the filters."));
        return ETL_OK;
    }
    if (view->answer->growth_wanted)
        return etlheap_windows_write_growth(view, sink);
    if (view->answer->spikes)
        return etlheap_windows_write_spikes(view, sink);
    return write_blocks(view, sink);
}

/* Writes how many groups are not listed, and why. */
static etl_status write_omitted(const etlheap_windows_view *view, const bool *listed,
                                etlheap_sink *sink)
{
    etlheap_text text = { 0 };
    etlheap_more_rows more =
        etlheap_more_rows_of(view->answer->windows->table, view->layout, listed);
    more.noun = "group";
    etlheap_text_more_rows(sink, view->layout, &more, &text);
    const etl_status status = text.failed ? ETL_ERR_MEMORY : ETL_OK;
    etlheap_text_free(&text);
    return status;
}

static block_columns columns_of(const etlheap_cell_column *cells, size_t count,
                                const etlheap_column *title)
{
    block_columns out = { .cells = cells, .count = (u32)count + 1, .shown = (u32)count + 1 };
    out.at[0] = *title;
    for (size_t c = 0; c < count; c++)
        out.at[c + 1] =
            (etlheap_column){ .title = etlheap_field_title(etlheap_cell_columns.fields[cells[c]]),
                              .right = true };
    return out;
}

static etl_status write_blocks(const etlheap_windows_view *view, etlheap_sink *sink)
{
    const etlheap_table *const table = view->answer->windows->table;
    bool *const listed = calloc((size_t)table->row_count + 1, sizeof *listed);
    etl_status status = listed ? ETL_OK : ETL_ERR_MEMORY;
    char title[TITLE_SIZE];
    const bool is_named = view->answer->marks != NULL;
    const etlheap_column first = { .title = title, .flexible = is_named };
    block_columns all = columns_of(shown_columns, ETL_COUNT_OF(shown_columns), &first);
    block_columns counted = columns_of(counted_columns, ETL_COUNT_OF(counted_columns), &first);
    snprintf(title, sizeof title, "Window (%s)%s", view->unit, is_named ? ", mark" : "");
    if (listed)
        etlheap_layout_choose(view->layout, table, listed);
    for (u32 i = 0; i < table->row_count && status == ETL_OK; i++) {
        const bool is_counted = etlheap_kinds_are_counted(1u << table->rows[i].kind);
        if (listed[i])
            status = write_block(view, is_counted ? &counted : &all, i, sink);
    }
    etlheap_grid_note(all.at, all.shown, all.count, view->layout, sink);
    if (status == ETL_OK)
        status = write_omitted(view, listed, sink);
    free(listed);
    return status;
}

/* Writes a block. `shown` of its columns becomes the number that fit, if that is smaller, because
 * one note about missing columns is for all blocks. */
static etl_status write_block(const etlheap_windows_view *view, block_columns *columns, u32 row,
                              etlheap_sink *sink)
{
    const etlheap_windows *const windows = view->answer->windows;
    const etl_status status = etlheap_windows_write_head(view, row, sink);
    if (status != ETL_OK)
        return status;
    etlheap_sink_text(sink, "\n");
    etlheap_grid grid = etlheap_grid_begin(columns->at, columns->count);
    etlheap_text text = { 0 };
    const u32 width = spans_width(view);
    for (u32 w = 0; w < windows->window_count;) {
        const u32 end = line_end(view->answer, row, w);
        etlheap_cell cell;
        (void)etlheap_windows_cell(windows, row, w, &cell);
        etlheap_grid_row(&grid, ETLHEAP_EMPHASIS_NONE);
        add_span(view, w, end, width, &text, &grid);
        etlheap_windows_add_cell(&cell, windows->table->rows[row].kind, columns->cells,
                                 columns->count - 1, &grid);
        w = end;
    }
    grid.text.failed |= text.failed;
    etlheap_text_free(&text);
    return etlheap_grid_write_part(&grid, view->layout, sink, &columns->shown);
}

/* "1..2  Parser.reads_empty_files": the windows before `end`, and the mark at which they begin. */
static void add_span(const etlheap_windows_view *view, u32 window, u32 end, u32 width,
                     etlheap_text *text, etlheap_grid *grid)
{
    const etlheap_time_range *const windows = view->answer->windows->windows;
    const etlheap_mark *const mark = etlheap_windows_mark(view->answer, windows[window].from_ns);
    char span[ETLHEAP_SPAN_SIZE];
    etlheap_windows_span_text(view, windows[window].from_ns, windows[end - 1].to_ns, span);
    etlheap_text_clear(text);
    etlheap_text_add_format(text, "%-*s", mark ? (int)width : 0, span);
    if (mark) {
        etlheap_text_add_string(text, "  ");
        etlheap_text_add_mark(text, mark->name, mark->number);
        etlheap_grid_name(grid, etlheap_text_of(text));
    } else {
        etlheap_grid_cell(grid, etlheap_text_of(text));
    }
}

/* Characters of the longest window, so that the names of marks stand in a column. 0: no names. */
static u32 spans_width(const etlheap_windows_view *view)
{
    const etlheap_windows *const windows = view->answer->windows;
    size_t width = 0;
    for (u32 w = 0; view->answer->marks && w < windows->window_count; w++) {
        char span[ETLHEAP_SPAN_SIZE];
        etlheap_windows_span_text(view, windows->windows[w].from_ns, windows->windows[w].to_ns,
                                  span);
        width = etl_max_u64(width, strlen(span));
    }
    return (u32)width;
}

/* Does a window follow the one before without a gap and a mark, with nothing allocated or freed in
 * it? */
static bool goes_on(const etlheap_windows_answer *answer, u32 row, u32 window)
{
    const etlheap_time_range *const windows = answer->windows->windows;
    return is_quiet(answer->windows, row, window) &&
           windows[window - 1].to_ns == windows[window].from_ns &&
           !etlheap_windows_mark(answer, windows[window].from_ns);
}

/* Is it the rest that windows of equal length leave at the end, far shorter than they are? */
static bool is_rest(const etlheap_windows *windows, u32 window)
{
    const etlheap_time_range at = windows->windows[window];
    return window + 1 == windows->window_count && windows->every_ns > 0 &&
           (u64)at.to_ns - (u64)at.from_ns <= (u64)windows->every_ns / ETLHEAP_REST_PART;
}

/* The window after the ones that one line shows: those that follow each other while nothing
 * happens, and a rest in which nothing happens. */
static u32 line_end(const etlheap_windows_answer *answer, u32 row, u32 window)
{
    const etlheap_windows *const windows = answer->windows;
    u32 end = window + 1;
    const bool quiet = is_quiet(windows, row, window);
    while (end < windows->window_count && (quiet || is_rest(windows, end)) &&
           goes_on(answer, row, end))
        end++;
    return end;
}

static bool is_quiet(const etlheap_windows *windows, u32 row, u32 window)
{
    etlheap_cell cell;
    (void)etlheap_windows_cell(windows, row, window, &cell);
    return cell.count[ETLHEAP_TYPE_AIFO] == 0 && cell.count[ETLHEAP_TYPE_AIFI] == 0 &&
           cell.count[ETLHEAP_TYPE_AOFI] == 0;
}
