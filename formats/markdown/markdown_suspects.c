/*
 * markdown_suspects.c - suspects as a table for a pull request or the summary of a job.
 */
#include "formats/io/units.h"
#include "formats/parts/layout_read.h"
#include "formats/parts/suspect_parts.h"
#include "formats/parts/text_parts.h"
#include "formats/writers.h"
#include "markdown.h"

#include <inttypes.h>

static void write_head(const etlheap_table *table, etlheap_sink *sink)
{
    etlheap_markdown_column columns[ETLHEAP_GROUP_BY_MAX + 6] = {
        { "Score", true }, { "Outstanding Size", true }, { "Share", true }, { "Growth/s", true },
        { "Why", false },
    };
    u32 count = 5;
    for (u32 k = 0; k < table->group_by_count; k++) {
        if (suspect_shows_key(table, table->group_by[k]))
            columns[count++].title = etlheap_key_title(table->group_by[k]);
    }
    etlheap_markdown_columns(sink, columns, count);
}

static void write_row(const etlheap_suspects *suspects, u32 at, const etlheap_layout *layout,
                      etlheap_text *text, etlheap_sink *sink)
{
    const etlheap_table *const table = suspects->table;
    const i64 *const measures = table->rows[at].measures;
    char size[ETLHEAP_UNITS_SIZE], rate[ETLHEAP_UNITS_SIZE];
    const u32 kinds = 1u << table->rows[at].kind;
    const etlheap_measure amount = etlheap_kinds_are_counted(kinds)
                                       ? ETLHEAP_MEASURE_OUTSTANDING_COUNT
                                       : ETLHEAP_MEASURE_OUTSTANDING_SIZE;
    etlheap_measure_words(amount, measures[amount], size);
    etlheap_amount_words(ETLHEAP_MEASURE_GROWTH_RATE, kinds, measures[ETLHEAP_MEASURE_GROWTH_RATE],
                         rate);
    etlheap_text_clear(text);
    suspect_add_share(&suspects->rows[at], text);
    etlheap_sink_format(sink, "| %" PRIu32 " | %s | %s | %s | ", suspects->rows[at].score, size,
                        etlheap_text_of(text), rate);
    etlheap_text_clear(text);
    suspect_add_reason(&table->rows[at], &suspects->rows[at], text);
    etlheap_sink_format(sink, "%s | ", etlheap_text_of(text));
    for (u32 k = 0; k < table->group_by_count; k++) {
        if (!suspect_shows_key(table, table->group_by[k]))
            continue;
        etlheap_markdown_key(sink, table, &table->rows[at], table->group_by[k], layout->frames_max,
                             text);
        etlheap_sink_text(sink, " | ");
    }
    etlheap_sink_text(sink, "\n");
}

static void write_rows(const etlheap_suspects *suspects, const etlheap_layout *layout,
                       etlheap_text *text, etlheap_sink *sink)
{
    const u32 count = suspects->table->row_count;
    const u32 shown = layout->rows_max == 0 ? count : (u32)etl_min_u64(count, layout->rows_max);
    write_head(suspects->table, sink);
    for (u32 i = 0; i < shown; i++)
        write_row(suspects, i, layout, text, sink);
    etlheap_sink_text(sink, "\n");
    etlheap_markdown_more(sink, count - shown, shown, "suspect", layout->hint);
}

etl_status etlheap_write_suspects_markdown(const etlheap_result *result,
                                           const etlheap_suspects *suspects,
                                           const etlheap_layout *given, etlheap_sink *sink)
{
    etlheap_layout layout;
    const etl_status layout_status = etlheap_layout_read(given, &layout);
    if (layout_status != ETL_OK)
        return layout_status;
    etlheap_text text = { 0 };
    etlheap_markdown_trace(sink, "Leak suspects in ", etlheap_result_trace(result), &text);
    etlheap_text_clear(&text);
    suspect_add_verdict(suspects, &text);
    etlheap_markdown_paragraph(sink, etlheap_text_of(&text));
    if (suspects->table->row_count > 0)
        write_rows(suspects, &layout, &text, sink);
    etlheap_markdown_excluded(sink, &layout, NULL);
    etlheap_markdown_losses(sink, "", &suspects->table->diagnostics, layout.hint);
    const bool failed = text.failed;
    etlheap_text_free(&text);
    return failed ? ETL_ERR_MEMORY : ETL_OK;
}
