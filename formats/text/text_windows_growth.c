/*
 * text_windows_growth.c - the largest lasting rise, for people.
 *
 * In: windows, the rise of one of their groups, the stacks in it, and smaller rises of other
 * groups. Out: from what level to which the group rises, when it rises the steepest, the stacks
 * whose memory it is, and a table of the other rises. Invariant: shares are parts of what the
 * stacks added that grew, so they add up to at most the whole.
 */
#include "formats/io/text_buffer.h"
#include "formats/io/units.h"
#include "text_windows.h"
#include "formats/parts/display.h"
#include "formats/parts/layout_read.h"

#include <inttypes.h>
#include <stdio.h>

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
    snprintf(line, sizeof line, "the largest: from %s to %s between %s s and %s s", before, after,
             from, to);
    etlheap_text_label(sink, view->layout, "Lasting rise", line);
}

/* The most bytes per second of any window, which a spike may have. */
static void write_steepest(const etlheap_windows_view *view, etlheap_sink *sink)
{
    const etlheap_windows_answer *const answer = view->answer;
    char from[ETLHEAP_UNITS_SIZE];
    char to[ETLHEAP_UNITS_SIZE];
    char size[ETLHEAP_UNITS_SIZE];
    char rate[ETLHEAP_UNITS_SIZE];
    char line[5 * ETLHEAP_UNITS_SIZE];
    etlheap_steepest rise;
    if (!etlheap_windows_find_steepest(answer->windows, answer->growth->row, &rise))
        return;
    etlheap_units_size(rise.size, size);
    etlheap_units_size(etlheap_steepest_rate(&rise), rate);
    etlheap_units_moment(rise.from_ns, from);
    etlheap_units_moment(rise.to_ns, to);
    snprintf(line, sizeof line, "%s/s: %s between %s s and %s s", rate, size, from, to);
    etlheap_text_label(sink, view->layout, "Steepest rise", line);
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

/* Says why the sizes of the stacks add up to more than the rise. */
static void write_shrunk(const etlheap_windows_view *view, const etlheap_window_moves *moves,
                         etlheap_sink *sink)
{
    char grown[ETLHEAP_UNITS_SIZE], shrunk[ETLHEAP_UNITS_SIZE];
    char line[4 * ETLHEAP_UNITS_SIZE];
    if (moves->shrunk_size == 0)
        return;
    etlheap_units_size(moves->grown_size, grown);
    etlheap_units_size(moves->shrunk_size, shrunk);
    snprintf(line, sizeof line, "Stacks grew by %s, which Share refers to; others shrank by %s.",
             grown, shrunk);
    etlheap_sink_text(sink, "\n");
    etlheap_display_wrap(sink, line, 0, 0, view->layout->width);
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
    const etlheap_window_moves moves = etlheap_windows_moves(answer);
    etlheap_grid grid = etlheap_grid_begin(columns, ETL_COUNT_OF(columns));
    for (u32 i = 0; i < answer->stacks->table->row_count; i++) {
        if (answer->explains[i])
            add_stack(view, i, moves.grown_size, &grid);
    }
    etlheap_sink_text(sink, "\n");
    const etl_status status = etlheap_grid_write(&grid, view->layout, sink);
    write_left_out(view, sink);
    write_shrunk(view, &moves, sink);
    return status;
}

static void add_group(const etlheap_windows_view *view, u32 row, etlheap_grid *grid)
{
    etlheap_text text = { 0 };
    etlheap_windows_add_name(view, row, &text);
    etlheap_grid_name(grid, etlheap_text_of(&text));
    grid->text.failed |= text.failed;
    etlheap_text_free(&text);
}

/* A step may hide a leak that is smaller, so the other groups that rise are named. */
static etl_status write_others(const etlheap_windows_view *view, etlheap_sink *sink)
{
    static const etlheap_column columns[] = {
        { .title = "Other lasting rises", .flexible = true },
        { .title = "Before", .right = true },
        { .title = "After", .right = true },
        { .title = "From (s)", .right = true },
        { .title = "To (s)", .right = true },
    };
    const etlheap_windows_answer *const answer = view->answer;
    if (answer->other_count == 0)
        return ETL_OK;
    etlheap_grid grid = etlheap_grid_begin(columns, ETL_COUNT_OF(columns));
    for (u32 i = 1; i <= answer->other_count; i++) {
        const etlheap_growth *const other = &answer->growth[i];
        char moment[ETLHEAP_UNITS_SIZE];
        etlheap_grid_row(&grid, ETLHEAP_EMPHASIS_NONE);
        add_group(view, other->row, &grid);
        etlheap_grid_size(&grid, other->before_size);
        etlheap_grid_size(&grid, other->after_size);
        etlheap_units_moment(other->from_ns, moment);
        etlheap_grid_cell(&grid, moment);
        etlheap_units_moment(other->to_ns, moment);
        etlheap_grid_cell(&grid, moment);
    }
    etlheap_sink_text(sink, "\n");
    return etlheap_grid_write(&grid, view->layout, sink);
}

etl_status etlheap_windows_write_growth(const etlheap_windows_view *view, etlheap_sink *sink)
{
    const etlheap_growth *const growth = view->answer->growth;
    if (!growth) {
        etlheap_text_heading(sink, view->layout, "No lasting growth found.");
        return ETL_OK;
    }
    etl_status status = etlheap_windows_write_head(view, growth->row, sink);
    if (status != ETL_OK)
        return status;
    write_levels(view, sink);
    write_steepest(view, sink);
    status = write_stacks(view, sink);
    return status == ETL_OK ? write_others(view, sink) : status;
}
