/*
 * text_windows_growth.c - the steepest rise, for people: which group rises, from
 * what level to which, and the stacks whose memory it is.
 */
#include "formats/io/text_buffer.h"
#include "formats/io/units.h"
#include "text_windows.h"
#include "formats/parts/layout_read.h"

#include <inttypes.h>
#include <stdio.h>

static void write_levels(const etlheap_windows_view *view, etlheap_sink *sink);
static etl_status write_stacks(const etlheap_windows_view *view, etlheap_sink *sink);
static void write_left_out(const etlheap_windows_view *view, etlheap_sink *sink);
static void add_stack(const etlheap_windows_view *view, u32 row, i64 growth, etlheap_grid *grid);

etl_status etlheap_windows_write_growth(const etlheap_windows_view *view, etlheap_sink *sink)
{
    const etlheap_growth *const growth = view->answer->growth;
    if (!growth) {
        etlheap_text_heading(sink, view->layout, "No lasting growth found.");
        return ETL_OK;
    }
    const etl_status status = etlheap_windows_write_head(view, growth->row, sink);
    if (status != ETL_OK)
        return status;
    write_levels(view, sink);
    return write_stacks(view, sink);
}

/* Exact times: they are what gets copied into the next command. */
static void write_levels(const etlheap_windows_view *view, etlheap_sink *sink)
{
    const etlheap_growth *const growth = view->answer->growth;
    char from[ETLHEAP_UNITS_SIZE];
    char to[ETLHEAP_UNITS_SIZE];
    char before[ETLHEAP_UNITS_SIZE];
    char after[ETLHEAP_UNITS_SIZE];
    char line[5 * ETLHEAP_UNITS_SIZE];
    etlheap_units_size(growth->before_size, before);
    etlheap_units_size(growth->after_size, after);
    etlheap_units_moment(growth->from_ns, from);
    etlheap_units_moment(growth->to_ns, to);
    snprintf(line, sizeof line, "from %s to %s between %s s and %s s", before, after, from, to);
    etlheap_text_label(sink, view->layout, "Steepest rise", line);
}

static etl_status write_stacks(const etlheap_windows_view *view, etlheap_sink *sink)
{
    static const etlheap_column columns[] = {
        { .title = "Stack", .flexible = true },
        { .title = "Impacting Size", .right = true },
        { .title = "Share", .right = true },
        { .title = "Outstanding Size", .right = true },
        { .title = "Outstanding Count", .right = true },
    };
    const etlheap_windows_answer *const answer = view->answer;
    const i64 growth = etlheap_windows_growth_size(answer);
    etlheap_grid grid = etlheap_grid_begin(columns, ETL_COUNT_OF(columns));
    for (u32 i = 0; i < answer->stacks->table->row_count; i++) {
        if (answer->explains[i])
            add_stack(view, i, growth, &grid);
    }
    etlheap_sink_text(sink, "\n");
    const etl_status status = etlheap_grid_write(&grid, view->layout, sink);
    write_left_out(view, sink);
    return status;
}

static void write_left_out(const etlheap_windows_view *view, etlheap_sink *sink)
{
    const u32 count = view->answer->unexplained, most = view->layout->rows_max;
    char text[ETLHEAP_UNITS_SIZE];
    if (count == 0)
        return;
    etlheap_units_count(count, text);
    etlheap_emphasis_on(sink, view->layout, ETLHEAP_EMPHASIS_WEAK);
    etlheap_sink_format(sink, "\n%s more %s grew less: only the first %" PRIu32 "%s %s listed%s\n",
                        text, count == 1 ? "stack" : "stacks", most,
                        view->layout->rows_of_each_kind ? " with at least 1 % of the rise" : "",
                        most == 1 ? "is" : "are",
                        etlheap_hint_words(view->layout->hint, ETL_HINT_MORE_ROWS));
    etlheap_emphasis_off(sink, view->layout, ETLHEAP_EMPHASIS_WEAK);
}

static void add_stack(const etlheap_windows_view *view, u32 row, i64 growth, etlheap_grid *grid)
{
    const etlheap_table *const table = view->answer->stacks->table;
    const i64 *const measures = table->rows[row].measures;
    char share[ETLHEAP_UNITS_SIZE];
    etlheap_text text = { 0 };
    etlheap_text_add_key_source(&text, table, &table->rows[row], ETLHEAP_KEY_STACK);
    etlheap_units_share(measures[ETLHEAP_MEASURE_IMPACTING_SIZE], growth, share);
    etlheap_grid_row(grid, ETLHEAP_EMPHASIS_NONE);
    etlheap_grid_name(grid, etlheap_text_of(&text));
    etlheap_grid_size(grid, measures[ETLHEAP_MEASURE_IMPACTING_SIZE]);
    etlheap_grid_cell(grid, share);
    etlheap_grid_size(grid, measures[ETLHEAP_MEASURE_OUTSTANDING_SIZE]);
    etlheap_grid_count(grid, measures[ETLHEAP_MEASURE_OUTSTANDING_COUNT]);
    grid->text.failed |= text.failed;
    etlheap_text_free(&text);
    etlheap_grid_frames(grid, table, &table->rows[row], view->layout->frames_max, 2);
}
