/*
 * markdown_report.c - a report as tables for a pull request or the summary of a job: totals of
 * each kind, and the rows that the text report would list, each with the first frames of its
 * stack.
 */
#include "formats/io/units.h"
#include "formats/parts/layout_read.h"
#include "formats/parts/text_parts.h"
#include "formats/parts/sessions.h"
#include "formats/writers.h"
#include "markdown.h"

#include <stdlib.h>

static void write_value(etlheap_measure measure, i64 value, etlheap_sink *sink)
{
    char words[ETLHEAP_UNITS_SIZE];
    etlheap_measure_words(measure, value, words);
    etlheap_sink_text(sink, words);
    etlheap_sink_text(sink, " | ");
}

static void write_totals(const etlheap_table *table, etlheap_sink *sink)
{
    etlheap_markdown_column columns[ETLHEAP_SHOWN_MEASURES + 1] = { { "Kind", false } };
    for (size_t i = 0; i < ETLHEAP_SHOWN_MEASURES; i++)
        columns[i + 1] =
            (etlheap_markdown_column){ etlheap_measure_title(etlheap_shown_measures[i]), true };
    etlheap_markdown_columns(sink, columns, (u32)ETL_COUNT_OF(columns));
    for (int kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        if (!table->totals[kind].present)
            continue;
        etlheap_sink_format(sink, "| %s | ", etlheap_kind_name((etlheap_kind)kind));
        for (size_t i = 0; i < ETLHEAP_SHOWN_MEASURES; i++)
            write_value(etlheap_shown_measures[i],
                        table->totals[kind].measures[etlheap_shown_measures[i]], sink);
        etlheap_sink_text(sink, "\n");
    }
    etlheap_sink_text(sink, "\n");
}

/* The measure that rows are sorted by comes first if it is none of the two. */
static u32 row_measures(const etlheap_layout *layout, etlheap_measure out[3])
{
    u32 count = 0;
    if (layout->sort != ETLHEAP_MEASURE_OUTSTANDING_SIZE &&
        layout->sort != ETLHEAP_MEASURE_OUTSTANDING_COUNT)
        out[count++] = layout->sort;
    out[count++] = ETLHEAP_MEASURE_OUTSTANDING_SIZE;
    out[count++] = ETLHEAP_MEASURE_OUTSTANDING_COUNT;
    return count;
}

static void write_head(const etlheap_table *table, const etlheap_measure *measures, u32 count,
                       etlheap_sink *sink)
{
    etlheap_markdown_column columns[ETLHEAP_GROUP_BY_MAX + 3];
    u32 used = 0;
    for (u32 i = 0; i < count; i++)
        columns[used++] = (etlheap_markdown_column){ etlheap_measure_title(measures[i]), true };
    for (u32 k = 0; k < table->group_by_count; k++)
        columns[used++] = (etlheap_markdown_column){ etlheap_key_title(table->group_by[k]), false };
    etlheap_markdown_columns(sink, columns, used);
}

/* Returns false without memory. */
static bool write_rows(const etlheap_table *table, const etlheap_layout *layout, etlheap_text *text,
                       etlheap_sink *sink)
{
    etlheap_measure measures[3];
    const u32 count = row_measures(layout, measures);
    bool *const listed = calloc((size_t)table->row_count + 1, sizeof *listed);
    if (!listed)
        return false;
    etlheap_layout_choose(layout, table, listed);
    write_head(table, measures, count, sink);
    for (u32 i = 0; i < table->row_count; i++) {
        if (!listed[i])
            continue;
        etlheap_sink_text(sink, "| ");
        for (u32 m = 0; m < count; m++)
            write_value(measures[m], table->rows[i].measures[measures[m]], sink);
        for (u32 k = 0; k < table->group_by_count; k++) {
            etlheap_markdown_key(sink, table, &table->rows[i], table->group_by[k],
                                 layout->frames_max, text);
            etlheap_sink_text(sink, " | ");
        }
        etlheap_sink_text(sink, "\n");
    }
    const etlheap_more_rows more = etlheap_more_rows_of(table, layout, listed);
    free(listed);
    etlheap_sink_text(sink, "\n");
    etlheap_markdown_more_rows(sink, &more, layout->hint, text);
    return true;
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
    write_totals(table, sink);
    if (table->row_count == 0)
        etlheap_markdown_paragraph(
            sink, etlheap_empty_words(result, "Nothing matches the window and the filters."));
    else
        ok = write_rows(table, &layout, &text, sink);
    etlheap_markdown_losses(sink, "", &table->diagnostics, layout.hint);
    ok = ok && !text.failed;
    etlheap_text_free(&text);
    return ok ? ETL_OK : ETL_ERR_MEMORY;
}
