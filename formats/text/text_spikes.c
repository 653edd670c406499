/*
 * text_spikes.c - memory that came and went, for people: a line of numbers for each spike, and
 * below it the call stacks whose memory it was.
 */
#include "formats/io/text_buffer.h"
#include "formats/io/units.h"
#include "formats/parts/abilities.h"
#include "formats/parts/layout_read.h"
#include "formats/parts/spike_parts.h"
#include "formats/parts/text_parts.h"
#include "formats/writers.h"

#include <inttypes.h>

#define INDENT      2
#define PARTS_SHOWN 3u

static void add_duration(etlheap_grid *grid, i64 ns)
{
    char words[ETLHEAP_UNITS_SIZE];
    etlheap_units_duration(ns, words);
    etlheap_grid_cell(grid, words);
}

static void add_part(const etlheap_spikes *spikes, const etlheap_spike_part *part,
                     const etlheap_layout *layout, etlheap_text *text, etlheap_grid *grid)
{
    const etlheap_row *const row = etlheap_table_row(spikes->stacks, part->row);
    etlheap_text_clear(text);
    etlheap_text_add_format(text, "%*s", INDENT, "");
    etlheap_text_add_key_source(text, spikes->stacks, row, ETLHEAP_KEY_STACK);
    etlheap_grid_row(grid, ETLHEAP_EMPHASIS_NONE);
    etlheap_grid_name(grid, etlheap_text_of(text));
    etlheap_grid_cell(grid, "");
    etlheap_grid_size(grid, part->size);
    etlheap_grid_frames(grid, spikes->stacks, row, layout->frames_max, INDENT);
}

static void add_spike(const etlheap_spikes *spikes, const etlheap_spike *spike,
                      const etlheap_layout *layout, etlheap_text *text, etlheap_grid *grid)
{
    const etlheap_table *const groups = spikes->groups;
    const u32 shown = (u32)etl_min_u64(spike->part_count, PARTS_SHOWN);
    char words[ETLHEAP_UNITS_SIZE];
    etlheap_text_clear(text);
    etlheap_text_add_keys(text, groups, etlheap_table_row(groups, spike->row), groups->group_by,
                          groups->group_by_count);
    etlheap_grid_row(grid, ETLHEAP_EMPHASIS_STRONG);
    etlheap_grid_name(grid, etlheap_text_of(text));
    etlheap_units_moment(spike->at_ns, words);
    etlheap_grid_cell(grid, words);
    etlheap_grid_size(grid, spike->height_size);
    etlheap_grid_size(grid, spike->peak_size);
    add_duration(grid, etl_span_i64(spike->from_ns, spike->to_ns));
    for (u32 i = 0; i < shown; i++)
        add_part(spikes, &spikes->parts[spike->first_part + i], layout, text, grid);
    if (shown == spike->part_count)
        return;
    etlheap_text_clear(text);
    const u32 more = spike->part_count - shown;
    etlheap_text_add_format(text, "%*sand %" PRIu32 " more call stack%s", INDENT, "", more,
                            more == 1 ? "" : "s");
    etlheap_grid_row(grid, ETLHEAP_EMPHASIS_NONE);
    etlheap_grid_name(grid, etlheap_text_of(text));
}

static etl_status write_rows(const etlheap_spikes *spikes, const etlheap_layout *layout,
                             etlheap_text *text, etlheap_sink *sink)
{
    static const etlheap_column columns[] = {
        { .title = "Spike", .flexible = true }, { .title = "At (s)", .right = true },
        { .title = "Height", .right = true },   { .title = "Size Peak", .right = true },
        { .title = "Width", .right = true },
    };
    const u32 count = spikes->count;
    const u32 shown = layout->rows_max == 0 ? count : (u32)etl_min_u64(count, layout->rows_max);
    etlheap_grid grid = etlheap_grid_begin(columns, (u32)ETL_COUNT_OF(columns));
    for (u32 i = 0; i < shown; i++)
        add_spike(spikes, &spikes->spikes[i], layout, text, &grid);
    etlheap_sink_text(sink, "\n");
    const etl_status status = etlheap_grid_write(&grid, layout, sink);
    etlheap_text_more(sink, layout, (u64)count - shown + spikes->left_out_count, shown, "spike");
    return status;
}

static etl_status write_body(const etlheap_result *result, const etlheap_spikes *spikes,
                             const etlheap_layout *layout, etlheap_text *text, etlheap_sink *sink)
{
    etlheap_text_window(sink, layout, result, spikes->groups->from_ns, spikes->groups->to_ns);
    etlheap_text_clear(text);
    spikes_add_heading(spikes, text);
    etlheap_text_heading(sink, layout, etlheap_text_of(text));
    return spikes->count == 0 ? ETL_OK : write_rows(spikes, layout, text, sink);
}

etl_status etlheap_write_spikes_text(const etlheap_result *result, const etlheap_spikes *spikes,
                                     const etlheap_layout *given, etlheap_sink *sink)
{
    etlheap_layout own;
    const etlheap_layout *const layout = &own;
    etl_status status = etlheap_layout_read(given, &own);
    if (status != ETL_OK)
        return status;
    const etlheap_abilities abilities = etlheap_result_abilities(result);
    etlheap_text text = { 0 };
    etlheap_text_trace(sink, layout, etlheap_result_trace(result), &text);
    if (etlheap_abilities_lack_memory(&abilities))
        etlheap_text_missing(sink, layout, result, &text);
    else
        status = write_body(result, spikes, layout, &text, sink);
    etlheap_text_diagnostics(sink, layout, &spikes->groups->diagnostics);
    if (text.failed)
        status = ETL_ERR_MEMORY;
    etlheap_text_free(&text);
    return status;
}
