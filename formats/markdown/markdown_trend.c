/*
 * markdown_trend.c - how runs develop, as tables for the summary of a job: totals of each kind,
 * then the groups that changed most.
 */
#include "formats/parts/layout_read.h"
#include "formats/parts/sparkline.h"
#include "formats/parts/text_parts.h"
#include "formats/parts/trend_parts.h"
#include "formats/writers.h"
#include "markdown.h"

#include <inttypes.h>

#define CURVE_COLUMNS 24

static void write_amount(etlheap_measure measure, i64 value, bool is_change, etlheap_sink *sink)
{
    char number[ETLHEAP_UNITS_SIZE];
    etlheap_measure_words(measure, value, number);
    etlheap_sink_format(sink, "%s%s | ", is_change && value > 0 ? "+" : "", number);
}

/* "pattern | slope | first | last | curve | " */
static void write_curve(const etlheap_trend *trend, const etlheap_trend_curve *curve,
                        const i64 *values, const etlheap_layout *layout, etlheap_text *text,
                        etlheap_sink *sink)
{
    const etlheap_sparkline how = { .columns = CURVE_COLUMNS, .ascii = layout->ascii };
    etlheap_text_clear(text);
    trend_add_pattern(curve, text);
    etlheap_sink_format(sink, "%s | ", etlheap_text_of(text));
    const char *const below_one = trend_slope_below_one(curve);
    if (below_one != NULL)
        etlheap_sink_format(sink, "%s | ", below_one);
    else
        write_amount(trend->measure, curve->slope, true, sink);
    write_amount(trend->measure, values[0], false, sink);
    write_amount(trend->measure, values[trend->run_count - 1], false, sink);
    etlheap_text_clear(text);
    etlheap_sparkline_add(text, values, trend->run_count, &how);
    etlheap_markdown_code(sink, etlheap_text_of(text));
    etlheap_sink_text(sink, " | ");
}

static void write_totals(const etlheap_trend *trend, const etlheap_layout *layout,
                         etlheap_text *text, etlheap_sink *sink)
{
    static const etlheap_markdown_column columns[] = {
        { "Kind", false }, { "Pattern", false }, { "Slope/Run", true },
        { "First", true }, { "Last", true },     { "Runs", false },
    };
    etlheap_markdown_columns(sink, columns, (u32)ETL_COUNT_OF(columns));
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        if (!trend->table.totals[kind].present)
            continue;
        etlheap_sink_format(sink, "| %s | ", etlheap_kind_name((etlheap_kind)kind));
        write_curve(trend, &trend->totals[kind],
                    &trend->total_values[(size_t)kind * trend->run_count], layout, text, sink);
        etlheap_sink_text(sink, "\n");
    }
    etlheap_sink_text(sink, "\n");
}

static void write_rows(const etlheap_trend *trend, const etlheap_layout *layout, etlheap_text *text,
                       etlheap_sink *sink)
{
    const etlheap_table *const table = &trend->table;
    const u32 shown = layout->rows_max == 0 ? table->row_count
                                            : (u32)etl_min_u64(table->row_count, layout->rows_max);
    etlheap_markdown_column columns[ETLHEAP_GROUP_BY_MAX + 5] = {
        { "Pattern", false }, { "Slope/Run", true }, { "First", true },
        { "Last", true },     { "Runs", false },
    };
    for (u32 k = 0; k < table->group_by_count; k++)
        columns[5 + k].title = etlheap_key_title(table->group_by[k]);
    etlheap_markdown_columns(sink, columns, 5 + table->group_by_count);
    for (u32 i = 0; i < shown; i++) {
        etlheap_sink_text(sink, "| ");
        write_curve(trend, &trend->curves[i], &trend->values[(size_t)i * trend->run_count], layout,
                    text, sink);
        etlheap_markdown_compared_keys(table, &table->rows[i], layout->frames_max, text, sink);
        etlheap_sink_text(sink, "\n");
    }
    etlheap_sink_text(sink, "\n");
    etlheap_markdown_more(sink, table->row_count - shown, shown, "row", layout->hint);
}

etl_status etlheap_write_trend_markdown(const etlheap_trend_answer *answer,
                                        const etlheap_layout *given, etlheap_sink *sink)
{
    etlheap_layout layout;
    const etl_status layout_status = etlheap_layout_read(given, &layout);
    if (layout_status != ETL_OK)
        return layout_status;
    const etlheap_trend *const trend = answer->trend;
    etlheap_text text = { 0 };
    const char *name;
    etlheap_text_add_string(&text, etlheap_measure_title(trend->measure));
    etlheap_text_add_format(&text, " over %" PRIu32 " runs, from ", trend->run_count);
    etlheap_text_add_string(&text, answer->runs[0].name);
    etlheap_text_add_string(&text, " to ");
    etlheap_text_add_string(&text, answer->runs[trend->run_count - 1].name);
    etlheap_markdown_heading(sink, etlheap_text_of(&text));
    for (u32 i = 0; i < TREND_HINTS; i++) {
        if (trend_hint(answer, i, layout.hint, &text, &name))
            etlheap_markdown_paragraph(sink, etlheap_text_of(&text));
    }
    write_totals(trend, &layout, &text, sink);
    if (trend->table.row_count == 0)
        etlheap_markdown_paragraph(sink, "Everything is steady.");
    else
        write_rows(trend, &layout, &text, sink);
    for (u32 i = 0; i < trend->run_count; i++) {
        etlheap_text_clear(&text);
        etlheap_text_add_format(&text, "run %" PRIu32 ": ", i + 1);
        etlheap_markdown_losses(sink, etlheap_text_of(&text), &answer->runs[i].table->diagnostics,
                                layout.hint);
    }
    const bool failed = text.failed;
    etlheap_text_free(&text);
    return failed ? ETL_ERR_MEMORY : ETL_OK;
}
