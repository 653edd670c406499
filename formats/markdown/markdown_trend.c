/*
 * markdown_trend.c - how runs develop, as tables for the summary of a job: totals of each kind,
 * then the groups that changed most.
 */
#include "formats/parts/layout_read.h"
#include "formats/parts/text_parts.h"
#include "formats/parts/trend_parts.h"
#include "formats/writers.h"
#include "markdown.h"

#include <inttypes.h>

static const trend_column shown[] = { TREND_PATTERN, TREND_SLOPE, TREND_FIRST, TREND_LAST,
                                      TREND_CHANGE,  TREND_SINCE, TREND_RUNS };

/* Adds the columns of a curve. Returns the number of columns with these. */
static u32 add_columns(etlheap_markdown_column *columns, u32 count)
{
    static const etlheap_markdown_column all[TREND_COLUMN_COUNT] = {
#define CURVE_COLUMN(name, title, is_number) { title, is_number },
        TREND_COLUMNS(CURVE_COLUMN)
#undef CURVE_COLUMN
    };
    for (size_t i = 0; i < ETL_COUNT_OF(shown); i++)
        columns[count++] = all[shown[i]];
    return count;
}

/* "pattern | slope | first | last | change | since | curve | " */
static void write_curve(const etlheap_trend *trend, const etlheap_trend_curve *curve,
                        const i64 *values, const etlheap_layout *layout, etlheap_text *text,
                        etlheap_sink *sink)
{
    for (size_t i = 0; i < ETL_COUNT_OF(shown); i++) {
        trend_set_cell(trend, curve, values, shown[i], layout->ascii, text);
        if (shown[i] == TREND_RUNS)
            etlheap_markdown_code(sink, etlheap_text_of(text));
        else
            etlheap_sink_text(sink, etlheap_text_of(text));
        etlheap_sink_text(sink, " | ");
    }
}

static void write_totals(const etlheap_trend *trend, const etlheap_layout *layout,
                         etlheap_text *text, etlheap_sink *sink)
{
    etlheap_markdown_column columns[1 + TREND_COLUMN_COUNT] = { { "Kind", false } };
    etlheap_markdown_columns(sink, columns, add_columns(columns, 1));
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
    const u32 listed = layout->rows_max == 0 ? table->row_count
                                             : (u32)etl_min_u64(table->row_count, layout->rows_max);
    etlheap_markdown_column columns[ETLHEAP_GROUP_BY_MAX + TREND_COLUMN_COUNT] = { 0 };
    u32 count = add_columns(columns, 0);
    for (u32 k = 0; k < table->group_by_count; k++)
        columns[count++].title = etlheap_key_title(table->group_by[k]);
    etlheap_markdown_columns(sink, columns, count);
    for (u32 i = 0; i < listed; i++) {
        etlheap_sink_text(sink, "| ");
        write_curve(trend, &trend->curves[i], &trend->values[(size_t)i * trend->run_count], layout,
                    text, sink);
        etlheap_markdown_compared_keys(table, &table->rows[i], layout->frames_max, text, sink);
        etlheap_sink_text(sink, "\n");
    }
    etlheap_sink_text(sink, "\n");
    etlheap_markdown_more(sink, table->row_count - listed, listed, "row", layout->hint);
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
    etlheap_markdown_excluded(sink, &layout, NULL);
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
