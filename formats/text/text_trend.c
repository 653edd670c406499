/*
 * text_trend.c - writes how memory develops over several runs, for people.
 *
 * In: the answer to a trend. Out: text: the runs and what to know before believing the numbers;
 * totals of each kind; then the groups that changed most, kind by kind, each with pattern, slope
 * and curve. Invariant: runs are numbered from 1 in the order of the trend, which need not be that
 * of the command line.
 */
#include "formats/io/units.h"
#include "formats/parts/layout_read.h"
#include "formats/parts/text_parts.h"
#include "formats/parts/trend_parts.h"
#include "formats/writers.h"
#include "text_compared.h"

#include <inttypes.h>
#include <stdio.h>

#define INDENT 2

/* Writes "Run 1 monday.etl, 2020-07-29T00:07:00Z, 20.000 s". */
static void write_runs(const etlheap_trend_answer *answer, const etlheap_layout *layout,
                       etlheap_text *text, etlheap_sink *sink)
{
    char label[32], start[ETLHEAP_UNITS_SIZE], length[ETLHEAP_UNITS_SIZE];
    for (u32 i = 0; i < answer->trend->run_count; i++) {
        const etlheap_trend_run *const run = &answer->runs[i];
        snprintf(label, sizeof label, "Run %" PRIu32, i + 1);
        const i64 started = etlheap_result_trace(run->result)->start_time_filetime;
        etlheap_units_start_date(etlheap_result_trace(run->result), start);
        etlheap_units_duration(etl_span_i64(run->table->from_ns, run->table->to_ns), length);
        etlheap_text_clear(text);
        etlheap_text_add_string(text, run->name);
        etlheap_text_add_format(text, "%s%s", started > 0 ? ", " : "", started > 0 ? start : "");
        etlheap_text_add_string(text, ", ");
        etlheap_text_add_string(text, length);
        etlheap_text_label(sink, layout, label, etlheap_text_of(text));
    }
    etlheap_text_excluded(sink, layout, NULL);
}

static void write_hints(const etlheap_trend_answer *answer, const etlheap_layout *layout,
                        etlheap_text *text, etlheap_sink *sink)
{
    const char *name;
    for (u32 i = 0; i < TREND_HINTS; i++) {
        if (trend_hint(answer, i, layout->hint, text, &name))
            etlheap_text_label(sink, layout, "Hint", etlheap_text_of(text));
    }
}

static void add_curve(const etlheap_trend *trend, const etlheap_layout *layout,
                      const etlheap_trend_curve *curve, const i64 *values, etlheap_text *text,
                      etlheap_grid *grid)
{
    for (int c = 0; c < TREND_COLUMN_COUNT; c++) {
        trend_set_cell(trend, curve, values, (trend_column)c, layout->ascii, text);
        etlheap_grid_cell(grid, etlheap_text_of(text));
    }
}

static const etlheap_column curve_columns[TREND_COLUMN_COUNT] = {
#define CURVE_COLUMN(name, words, is_number) { .title = words, .right = is_number },
    TREND_COLUMNS(CURVE_COLUMN)
#undef CURVE_COLUMN
};

static etl_status write_totals(const etlheap_trend *trend, const etlheap_layout *layout,
                               etlheap_text *text, etlheap_sink *sink)
{
    etlheap_column columns[1 + TREND_COLUMN_COUNT] = { { .title = "Kind" } };
    memcpy(columns + 1, curve_columns, sizeof curve_columns);
    etlheap_grid grid = etlheap_grid_begin(columns, 1 + TREND_COLUMN_COUNT);
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        if (!trend->table.totals[kind].present)
            continue;
        etlheap_grid_row(&grid, ETLHEAP_EMPHASIS_NONE);
        etlheap_grid_cell(&grid, etlheap_kind_name((etlheap_kind)kind));
        add_curve(trend, layout, &trend->totals[kind],
                  &trend->total_values[(size_t)kind * trend->run_count], text, &grid);
    }
    etlheap_text_heading(sink, layout, etlheap_measure_title(trend->measure));
    return etlheap_grid_write(&grid, layout, sink);
}

/* Writes the largest changes of a kind, and how many more there are. */
static etl_status write_rows(const etlheap_trend *trend, const etlheap_layout *layout, u8 kind,
                             etlheap_text *text, etlheap_sink *sink)
{
    const etlheap_table *const table = &trend->table;
    etlheap_text title = { 0 };
    text_compared_title(table, &title);
    etlheap_column columns[1 + TREND_COLUMN_COUNT] = { { .title = etlheap_text_of(&title),
                                                         .flexible = true } };
    memcpy(columns + 1, curve_columns, sizeof curve_columns);
    etlheap_grid grid = etlheap_grid_begin(columns, 1 + TREND_COLUMN_COUNT);
    u32 listed = 0, left_out = 0;
    for (u32 i = 0; i < table->row_count; i++) {
        const etlheap_row *const row = &table->rows[i];
        if (row->kind != kind)
            continue;
        if (layout->rows_max != 0 && listed >= layout->rows_max) {
            left_out++;
            continue;
        }
        listed++;
        text_compared_keys(table, row, text);
        etlheap_grid_row(&grid, ETLHEAP_EMPHASIS_NONE);
        etlheap_grid_name(&grid, etlheap_text_of(text));
        add_curve(trend, layout, &trend->curves[i], &trend->values[(size_t)i * trend->run_count],
                  text, &grid);
        etlheap_grid_frames(&grid, table, row, layout->frames_max, INDENT);
    }
    etl_status status = etlheap_grid_write(&grid, layout, sink);
    etlheap_text_more(sink, layout, left_out, listed, "row");
    if (title.failed)
        status = ETL_ERR_MEMORY;
    etlheap_text_free(&title);
    return status;
}

static etl_status write_kinds(const etlheap_trend *trend, const etlheap_layout *layout,
                              etlheap_text *text, etlheap_sink *sink)
{
    etl_status status = ETL_OK;
    for (u8 kind = 0; kind < ETLHEAP_KIND_COUNT && status == ETL_OK; kind++) {
        if (text_compared_begin_kind(&trend->table, kind, layout, sink))
            status = write_rows(trend, layout, kind, text, sink);
    }
    return status;
}

static void write_steady(const etlheap_trend *trend, const etlheap_layout *layout,
                         etlheap_sink *sink)
{
    char count[ETLHEAP_UNITS_SIZE];
    if (trend->steady_count == 0 || trend->table.row_count == 0)
        return;
    etlheap_units_count(trend->steady_count, count);
    etlheap_emphasis_on(sink, layout, ETLHEAP_EMPHASIS_WEAK);
    etlheap_sink_format(sink, "\n%s steady%s\n", count,
                        etlheap_hint_words(layout->hint, ETL_HINT_STEADY_ROWS));
    etlheap_emphasis_off(sink, layout, ETLHEAP_EMPHASIS_WEAK);
}

etl_status etlheap_write_trend_text(const etlheap_trend_answer *answer, const etlheap_layout *given,
                                    etlheap_sink *sink)
{
    etlheap_layout own;
    const etlheap_layout *const layout = &own;
    const etlheap_trend *const trend = answer->trend;
    char whose[32];
    etl_status status = etlheap_layout_read(given, &own);
    if (status != ETL_OK)
        return status;
    etlheap_text text = { 0 };
    write_runs(answer, layout, &text, sink);
    write_hints(answer, layout, &text, sink);
    status = write_totals(trend, layout, &text, sink);
    if (status == ETL_OK && trend->table.row_count == 0)
        etlheap_text_heading(sink, layout, "Everything is steady.");
    else if (status == ETL_OK)
        status = write_kinds(trend, layout, &text, sink);
    write_steady(trend, layout, sink);
    for (u32 i = 0; i < trend->run_count; i++) {
        snprintf(whose, sizeof whose, "In run %" PRIu32, i + 1);
        etlheap_text_diagnostics_of(sink, layout, whose, &answer->runs[i].table->diagnostics);
    }
    if (text.failed)
        status = ETL_ERR_MEMORY;
    etlheap_text_free(&text);
    return status;
}
