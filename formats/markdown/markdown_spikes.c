/*
 * markdown_spikes.c - spikes as a table for a pull request or the summary of a job, each with the
 * largest of its call stacks.
 */
#include "formats/io/units.h"
#include "formats/parts/layout_read.h"
#include "formats/parts/spike_parts.h"
#include "formats/writers.h"
#include "markdown.h"

static void write_head(const etlheap_table *groups, etlheap_sink *sink)
{
    etlheap_markdown_column columns[ETLHEAP_GROUP_BY_MAX + 5] = {
        { "At", true }, { "Height", true }, { "Size Peak", true }, { "Width", true }
    };
    u32 count = 4;
    for (u32 k = 0; k < groups->group_by_count; k++)
        columns[count++].title = etlheap_key_title(groups->group_by[k]);
    columns[count++].title = "Stack";
    etlheap_markdown_columns(sink, columns, count);
}

static void write_row(const etlheap_spikes *spikes, const etlheap_spike *spike,
                      const etlheap_layout *layout, etlheap_text *text, etlheap_sink *sink)
{
    const etlheap_table *const groups = spikes->groups;
    char words[4][ETLHEAP_UNITS_SIZE];
    etlheap_units_moment(spike->at_ns, words[0]);
    etlheap_units_size(spike->height_size, words[1]);
    etlheap_units_size(spike->peak_size, words[2]);
    etlheap_units_duration(etl_span_i64(spike->from_ns, spike->to_ns), words[3]);
    etlheap_sink_format(sink, "| %s | %s | %s | %s | ", words[0], words[1], words[2], words[3]);
    for (u32 k = 0; k < groups->group_by_count; k++) {
        etlheap_markdown_key(sink, groups, etlheap_table_row(groups, spike->row),
                             groups->group_by[k], layout->frames_max, text);
        etlheap_sink_text(sink, " | ");
    }
    if (spike->part_count > 0)
        etlheap_markdown_key(
            sink, spikes->stacks,
            etlheap_table_row(spikes->stacks, spikes->parts[spike->first_part].row),
            ETLHEAP_KEY_STACK, layout->frames_max, text);
    etlheap_sink_text(sink, " |\n");
}

static void write_rows(const etlheap_spikes *spikes, const etlheap_layout *layout,
                       etlheap_text *text, etlheap_sink *sink)
{
    const u32 count = spikes->count;
    const u32 shown = layout->rows_max == 0 ? count : (u32)etl_min_u64(count, layout->rows_max);
    write_head(spikes->groups, sink);
    for (u32 i = 0; i < shown; i++)
        write_row(spikes, &spikes->spikes[i], layout, text, sink);
    etlheap_sink_text(sink, "\n");
    etlheap_markdown_more(sink, count - shown + spikes->left_out_count, shown, "spike",
                          layout->hint);
}

etl_status etlheap_write_spikes_markdown(const etlheap_result *result, const etlheap_spikes *spikes,
                                         const etlheap_layout *given, etlheap_sink *sink)
{
    etlheap_layout layout;
    const etl_status layout_status = etlheap_layout_read(given, &layout);
    if (layout_status != ETL_OK)
        return layout_status;
    etlheap_text text = { 0 };
    etlheap_markdown_trace(sink, "Spikes in ", etlheap_result_trace(result), &text);
    etlheap_text_clear(&text);
    spikes_add_heading(spikes, &text);
    etlheap_text_add_string(&text, ".");
    etlheap_markdown_paragraph(sink, etlheap_text_of(&text));
    if (spikes->count > 0)
        write_rows(spikes, &layout, &text, sink);
    etlheap_markdown_excluded(sink, &layout, NULL);
    etlheap_markdown_losses(sink, "", &spikes->groups->diagnostics, layout.hint);
    const bool failed = text.failed;
    etlheap_text_free(&text);
    return failed ? ETL_ERR_MEMORY : ETL_OK;
}
