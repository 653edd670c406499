/*
 * markdown_report.c - a report as tables for a pull request or the summary of a job: totals of
 * each kind, and the rows that the text report would list, each with the first frames of its
 * stack.
 */
#include "formats/parts/layout_read.h"
#include "formats/parts/report_columns.h"
#include "formats/parts/sessions.h"
#include "formats/writers.h"
#include "markdown.h"

#include <stdlib.h>

static void write_value(u8 column, u32 kind, const i64 *measures, i64 rates_ns, etlheap_sink *sink)
{
    char words[ETLHEAP_UNITS_SIZE];
    report_column_words(column, 1u << kind, measures, rates_ns, words);
    etlheap_sink_text(sink, words);
    etlheap_sink_text(sink, " | ");
}

static void write_totals(const etlheap_table *table, etlheap_sink *sink)
{
    etlheap_markdown_column columns[REPORT_SHOWN + 1] = { { "Kind", false } };
    for (size_t i = 0; i < REPORT_SHOWN; i++)
        columns[i + 1] = (etlheap_markdown_column){ report_column_title(report_shown[i]), true };
    etlheap_markdown_columns(sink, columns, (u32)ETL_COUNT_OF(columns));
    for (int kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        const etlheap_total *const total = &table->totals[kind];
        if (!total->present)
            continue;
        etlheap_sink_format(sink, "| %s | ", etlheap_kind_name((etlheap_kind)kind));
        for (size_t i = 0; i < REPORT_SHOWN; i++)
            write_value(report_shown[i], (u32)kind, total->measures, total->rates_ns, sink);
        etlheap_sink_text(sink, "\n");
    }
    etlheap_sink_text(sink, "\n");
}

static void write_head(const etlheap_table *table, const report_columns *shown, etlheap_sink *sink)
{
    etlheap_markdown_column columns[ETLHEAP_GROUP_BY_MAX + REPORT_COLUMNS_MAX];
    u32 used = 0;
    for (u32 i = 0; i < shown->count; i++)
        columns[used++] = (etlheap_markdown_column){ report_column_title(shown->at[i]), true };
    for (u32 k = 0; k < table->group_by_count; k++)
        columns[used++] = (etlheap_markdown_column){ etlheap_key_title(table->group_by[k]), false };
    etlheap_markdown_columns(sink, columns, used);
}

/* Returns false without memory. */
static bool write_rows(const etlheap_table *table, const etlheap_layout *layout, etlheap_text *text,
                       etlheap_sink *sink)
{
    static const u8 list[] = { ETLHEAP_MEASURE_OUTSTANDING_SIZE,
                               ETLHEAP_MEASURE_OUTSTANDING_COUNT };
    const report_columns columns = etlheap_rows_share_blocks(table)
                                       ? report_columns_of(table, layout)
                                       : report_columns_with(list, ETL_COUNT_OF(list), layout);
    bool *const listed = calloc((size_t)table->row_count + 1, sizeof *listed);
    if (!listed)
        return false;
    etlheap_layout_choose(layout, table, listed);
    write_head(table, &columns, sink);
    for (u32 i = 0; i < table->row_count; i++) {
        const etlheap_row *const row = &table->rows[i];
        if (!listed[i])
            continue;
        etlheap_sink_text(sink, "| ");
        for (u32 c = 0; c < columns.count; c++)
            write_value(columns.at[c], row->kind, row->measures, row->rates_ns, sink);
        for (u32 k = 0; k < table->group_by_count; k++) {
            etlheap_markdown_key(sink, table, row, table->group_by[k], layout->frames_max, text);
            etlheap_sink_text(sink, " | ");
        }
        etlheap_sink_text(sink, "\n");
    }
    const etlheap_more_rows more = etlheap_more_rows_of(table, layout, listed);
    free(listed);
    etlheap_sink_text(sink, "\n");
    if (etlheap_rows_share_blocks(table))
        etlheap_markdown_paragraph(sink, etlheap_shared_words);
    etlheap_markdown_more_rows(sink, &more, layout->hint, text);
    return true;
}

/* Trees have no form of their own in Markdown: they are the text, as code. No line of them begins
 * with a fence, because lines begin with numbers or words of ours. Returns false without memory. */
static bool write_tree(const etlheap_table *table, const etlheap_layout *layout, etlheap_sink *sink)
{
    etlheap_layout whole = *layout;
    whole.whole = true;
    whole.width = 0;
    whole.colour = false;
    etlheap_sink_text(sink, "```text");
    const etl_status status = etlheap_write_tree_text(table, &whole, sink);
    etlheap_sink_text(sink, "```\n\n");
    return status == ETL_OK;
}

etl_status etlheap_write_report_markdown(const etlheap_result *result, const etlheap_table *table,
                                         const etlheap_layout *given, etlheap_sink *sink)
{
    etlheap_layout layout;
    const etl_status layout_status = etlheap_layout_read(given, &layout);
    if (layout_status != ETL_OK)
        return layout_status;
    etlheap_text text = { 0 };
    bool ok = true;
    etlheap_markdown_trace(sink, "Memory in ", etlheap_result_trace(result), &text);
    if (table->at_end) {
        etlheap_text_clear(&text);
        etlheap_text_add_moment(&text, &layout, table);
        etlheap_text_add_string(&text, ".");
        etlheap_markdown_paragraph(sink, etlheap_text_of(&text));
    }
    write_totals(table, sink);
    if (table->row_count == 0)
        etlheap_markdown_paragraph(
            sink, etlheap_empty_words(result, "Nothing matches the window and the filters."));
    else
        ok = layout.tree == ETLHEAP_TREE_NONE ? write_rows(table, &layout, &text, sink)
                                              : write_tree(table, &layout, sink);
    etlheap_markdown_excluded(sink, &layout, NULL);
    etlheap_markdown_losses(sink, "", &table->diagnostics, layout.hint);
    ok = ok && !text.failed;
    etlheap_text_free(&text);
    return ok ? ETL_OK : ETL_ERR_MEMORY;
}
