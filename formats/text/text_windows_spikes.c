/*
 * text_windows_spikes.c - a window around each spike, for people: whose memory it is, and below it
 * a line with the window, the moment, height and width, and the types of that group in the window.
 */
#include "formats/io/text_buffer.h"
#include "formats/io/units.h"
#include "formats/parts/spike_parts.h"
#include "text_windows.h"

#include <stdio.h>

#define BEFORE_CELLS 5u

/* The columns of the window. The last ones are left out first if the line is short. */
static const etlheap_cell_column cell_columns[] = {
    ETLHEAP_CELL_AIFI_COUNT, ETLHEAP_CELL_AIFI_SIZE,  ETLHEAP_CELL_AIFO_COUNT,
    ETLHEAP_CELL_AIFO_SIZE,  ETLHEAP_CELL_AOFI_COUNT, ETLHEAP_CELL_AOFI_SIZE,
    ETLHEAP_CELL_AOFO_COUNT, ETLHEAP_CELL_AOFO_SIZE,
};

#define COLUMNS (BEFORE_CELLS + ETL_COUNT_OF(cell_columns))

static void add_spike(const etlheap_windows_view *view, u32 window, etlheap_text *text,
                      etlheap_grid *grid)
{
    const etlheap_windows_answer *const answer = view->answer;
    const etlheap_spike *const spike = &answer->spikes->spikes[window];
    const etlheap_table *const groups = answer->spikes->groups;
    char words[ETLHEAP_UNITS_SIZE], span[ETLHEAP_SPAN_SIZE];
    etlheap_cell cell;
    etlheap_text_clear(text);
    etlheap_text_add_keys(text, groups, etlheap_table_row(groups, spike->row), groups->group_by,
                          groups->group_by_count);
    etlheap_grid_row(grid, ETLHEAP_EMPHASIS_NONE);
    etlheap_grid_name(grid, etlheap_text_of(text));
    etlheap_windows_span_text(view, spike->from_ns, spike->to_ns, span);
    etlheap_grid_cell(grid, span);
    etlheap_units_moment(spike->at_ns, words);
    etlheap_grid_cell(grid, words);
    etlheap_grid_size(grid, spike->height_size);
    etlheap_units_duration(etl_span_i64(spike->from_ns, spike->to_ns), words);
    etlheap_grid_cell(grid, words);
    (void)etlheap_windows_cell(answer->windows, etlheap_windows_spike_row(answer, window), window,
                               &cell);
    etlheap_windows_add_cell(&cell, ETLHEAP_KIND_HEAP, cell_columns, ETL_COUNT_OF(cell_columns),
                             grid);
}

etl_status etlheap_windows_write_spikes(const etlheap_windows_view *view, etlheap_sink *sink)
{
    const etlheap_spikes *const spikes = view->answer->spikes;
    const etlheap_field *const fields = etlheap_cell_columns.fields;
    char title[sizeof "Window (us)"];
    etlheap_text text = { 0 };
    etlheap_column columns[COLUMNS] = { { .title = "Spike", .flexible = true },
                                        { .title = title, .right = true },
                                        { .title = "At (s)", .right = true },
                                        { .title = "Height", .right = true },
                                        { .title = "Width", .right = true } };
    snprintf(title, sizeof title, "Window (%.2s)", view->unit);
    for (size_t c = 0; c < ETL_COUNT_OF(cell_columns); c++)
        columns[BEFORE_CELLS + c] =
            (etlheap_column){ .title = etlheap_field_title(fields[cell_columns[c]]),
                              .right = true };
    spikes_add_heading(spikes, &text);
    etlheap_text_heading(sink, view->layout, etlheap_text_of(&text));
    etlheap_grid grid = etlheap_grid_begin(columns, COLUMNS);
    for (u32 i = 0; i < spikes->count; i++)
        add_spike(view, i, &text, &grid);
    grid.text.failed |= text.failed;
    etlheap_text_free(&text);
    if (spikes->count > 0)
        etlheap_sink_text(sink, "\n");
    const etl_status status = etlheap_grid_write(&grid, view->layout, sink);
    etlheap_text_more(sink, view->layout, spikes->left_out_count, spikes->count, "spike");
    return status;
}
