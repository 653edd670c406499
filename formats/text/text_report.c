/*
 * text_report.c - writes the report for people.
 *
 * In: a result and a table, or a histogram. Out: text: head, totals of each kind, then the outline
 * process > heap and type > stack with the largest first (outline.c), each stack as its innermost
 * frames, and last what was lost. The columns are those of report_columns.h. Invariant: subtotals
 * include rows that are not listed, and etlheap_text_more_rows says how much that is.
 */
#include "formats/io/text_buffer.h"
#include "formats/io/units.h"
#include "formats/parts/abilities.h"
#include "formats/parts/churn_parts.h"
#include "formats/parts/outline.h"
#include "formats/parts/report_columns.h"
#include "formats/parts/text_parts.h"
#include "formats/writers.h"
#include "formats/parts/layout_read.h"
#include "formats/parts/sessions.h"

#include <inttypes.h>
#include <stdio.h>

#define INDENT 2

/* The body of a report, between the head and the diagnostics. */
typedef struct report_body {
    const etlheap_result *result;
    const etlheap_table *table;
    const etlheap_histogram *histogram; /* in place of the rows; NULL: the rows */
} report_body;

static etl_status write_body(const report_body *body, const etlheap_layout *layout,
                             etlheap_text *text, etlheap_sink *sink);
static etl_status write_totals(const etlheap_table *table, const etlheap_layout *layout,
                               etlheap_sink *sink);
static etl_status write_rows(const etlheap_table *table, const etlheap_layout *layout,
                             etlheap_text *text, etlheap_sink *sink);
static void add_title(const etlheap_table *table, const etlheap_outline *outline,
                      etlheap_text *title);
static bool has_churn(const etlheap_table *table, const etlheap_layout *layout);
static void add_entry(const etlheap_table *table, const etlheap_outline *outline, u32 index,
                      etlheap_text *text, etlheap_grid *grid);
static void add_measures(const report_columns *columns, const etlheap_outline_entry *entry,
                         i64 rates_ns, const etlheap_table *of, etlheap_grid *grid);

etl_status etlheap_write_report_text(const etlheap_result *result, const etlheap_table *table,
                                     const etlheap_layout *layout, etlheap_sink *sink)
{
    return etlheap_write_histogram_text(result, table, NULL, layout, sink);
}

etl_status etlheap_write_histogram_text(const etlheap_result *result, const etlheap_table *table,
                                        const etlheap_histogram *histogram,
                                        const etlheap_layout *given, etlheap_sink *sink)
{
    etlheap_layout own;
    const etlheap_layout *const layout = &own;
    const etl_status layout_status = etlheap_layout_read(given, &own);
    if (layout_status != ETL_OK)
        return layout_status;
    const etlheap_abilities abilities = etlheap_result_abilities(result);
    const report_body body = { result, table, histogram };
    etlheap_text text = { 0 };
    etl_status status = ETL_OK;
    etlheap_text_trace(sink, layout, etlheap_result_trace(result), &text);
    if (etlheap_abilities_lack_memory(&abilities))
        etlheap_text_missing(sink, layout, result, &text);
    else
        status = write_body(&body, layout, &text, sink);
    etlheap_text_diagnostics(sink, layout, &table->diagnostics);
    if (text.failed)
        status = ETL_ERR_MEMORY;
    etlheap_text_free(&text);
    return status;
}

static const u32 rate_measures = ETLHEAP_MEASURE_BIT(GROWTH_RATE) | ETLHEAP_MEASURE_BIT(ALLOC_RATE);

/* Writes the body. A table without rows becomes a sentence, because an empty table looks like a
 * defect. */
static etl_status write_body(const report_body *body, const etlheap_layout *layout,
                             etlheap_text *text, etlheap_sink *sink)
{
    const etlheap_table *const table = body->table;
    etlheap_text_window(sink, layout, body->result, table->from_ns, table->to_ns);
    etlheap_text_moment(sink, layout, table, text);
    if ((table->measures & rate_measures) != 0)
        etlheap_text_rates(sink, layout, body->result, table);
    const bool has_totals = table->measures != ETLHEAP_MEASURE_BIT(COUNT);
    etl_status status = has_totals ? write_totals(table, layout, sink) : ETL_OK;
    if (status != ETL_OK)
        return status;
    if (table->row_count == 0) {
        etlheap_text_heading(
            sink, layout,
            etlheap_empty_words(body->result, "Nothing matches the window and the filters."));
        return ETL_OK;
    }
    if (body->histogram)
        return etlheap_write_buckets_text(body->histogram, layout, sink);
    if (layout->tree != ETLHEAP_TREE_NONE)
        return etlheap_write_tree_text(table, layout, sink);
    return write_rows(table, layout, text, sink);
}

static void add_total(etlheap_grid *grid, u32 kind, u8 column, const etlheap_total *total)
{
    char words[ETLHEAP_UNITS_SIZE];
    report_column_words(column, 1u << kind, total->measures, total->rates_ns, words);
    etlheap_grid_cell(grid, words);
}

/* Writes each kind in its own line, never a sum over them. */
static etl_status write_totals(const etlheap_table *table, const etlheap_layout *layout,
                               etlheap_sink *sink)
{
    etlheap_column columns[REPORT_SHOWN + 2] = { { .title = "Kind" } };
    u32 count = 1;
    for (size_t i = 0; i < REPORT_SHOWN; i++)
        columns[count++] =
            (etlheap_column){ .title = report_column_title(report_shown[i]), .right = true };
    columns[count++] = (etlheap_column){ .title = "Unknown Frees", .right = true };

    etlheap_grid grid = etlheap_grid_begin(columns, count);
    for (int kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        const etlheap_total *const total = &table->totals[kind];
        if (!total->present)
            continue;
        etlheap_grid_row(&grid, ETLHEAP_EMPHASIS_NONE);
        etlheap_grid_cell(&grid, etlheap_kind_name((etlheap_kind)kind));
        for (size_t i = 0; i < REPORT_SHOWN; i++)
            add_total(&grid, (u32)kind, report_shown[i], total);
        etlheap_grid_count(&grid, (i64)etl_min_u64(total->free_without_alloc, INT64_MAX));
    }
    etlheap_sink_text(sink, "\n");
    return etlheap_grid_write(&grid, layout, sink);
}

/* Adds the row's stack, or the freeing stack if there is no other. */
static void add_frames(etlheap_grid *grid, const etlheap_table *table, const etlheap_row *row,
                       u32 frames_max, u32 level)
{
    etlheap_row own = *row;
    if (row->stack == ETLHEAP_NO_INDEX)
        own.stack = row->free_stack;
    etlheap_grid_frames(grid, table, &own, frames_max, level * INDENT);
}

/* What the rates of a group at this level are per second of: if it is of one process, the same as
 * those of its rows. */
static i64 rates_ns_of(const etlheap_table *table, const etlheap_outline *outline,
                       const etlheap_outline_entry *entry)
{
    const etlheap_outline_level *const keys = &outline->levels[entry->level];
    const etlheap_row *const row = &table->rows[entry->row];
    bool by_process = entry->level + 1 == outline->level_count, by_kind = false;
    for (u32 i = 0; i < keys->key_first + keys->key_count; i++) {
        by_process |= table->group_by[i] == ETLHEAP_KEY_PROCESS;
        by_kind |= table->group_by[i] == ETLHEAP_KEY_KIND;
    }
    if (by_process)
        return row->rates_ns;
    return by_kind ? table->totals[row->kind].rates_ns : table->rates_ns;
}

/* All cells first, then the widths: see tabular.h. */
static etl_status write_rows(const etlheap_table *table, const etlheap_layout *layout,
                             etlheap_text *text, etlheap_sink *sink)
{
    etlheap_outline outline;
    etl_status status = etlheap_outline_build(table, layout, &outline);
    if (status != ETL_OK)
        return status;
    etlheap_text title = { 0 };
    add_title(table, &outline, &title);
    const report_columns columns = report_columns_of(table, layout);
    etlheap_column titles[REPORT_COLUMNS_MAX + 1] = { { .title = etlheap_text_of(&title),
                                                        .flexible = true } };
    for (u32 i = 0; i < columns.count; i++)
        titles[i + 1] =
            (etlheap_column){ .title = report_column_title(columns.at[i]), .right = true };
    etlheap_grid grid = etlheap_grid_begin(titles, columns.count + 1);
    for (u32 i = 0; i < outline.entry_count; i++) {
        const etlheap_outline_entry *const entry = &outline.entries[i];
        const bool is_row = entry->level + 1 == outline.level_count;
        add_entry(table, &outline, i, text, &grid);
        const i64 rates_ns = rates_ns_of(table, &outline, entry);
        add_measures(&columns, entry, rates_ns, is_row ? NULL : table, &grid);
        if (is_row)
            add_frames(&grid, table, &table->rows[entry->row], layout->frames_max,
                       entry->level + 1);
    }
    etlheap_sink_text(sink, "\n");
    status = etlheap_grid_write(&grid, layout, sink);
    if (etlheap_rows_share_blocks(table))
        etlheap_text_heading(sink, layout, etlheap_shared_words);
    etlheap_text_more_rows(sink, layout, &outline.more, text);
    if (status == ETL_OK && has_churn(table, layout))
        status = etlheap_write_churn_text(table, layout, sink);
    if (title.failed)
        status = ETL_ERR_MEMORY;
    etlheap_text_free(&title);
    etlheap_outline_free(&outline);
    return status;
}

/* "Kind / Process / Handle, Type / Stack" */
static void add_title(const etlheap_table *table, const etlheap_outline *outline,
                      etlheap_text *title)
{
    for (u32 level = 0; level < outline->level_count; level++) {
        const etlheap_outline_level *const keys = &outline->levels[level];
        for (u32 k = 0; k < keys->key_count; k++) {
            const char *const separator = k > 0 ? ", " : (level > 0 ? " / " : "");
            etlheap_text_add_string(title, separator);
            etlheap_text_add_string(title, etlheap_key_title(table->group_by[keys->key_first + k]));
        }
    }
}

static bool has_churn(const etlheap_table *table, const etlheap_layout *layout)
{
    return (report_measures_of(table, layout) >> ETLHEAP_MEASURE_TEMPORARY_COUNT & 1) != 0;
}

/* Adds an entry. Indentation is part of the cell. A function has a line of its own if it does not
 * fit beside its numbers. */
static void add_entry(const etlheap_table *table, const etlheap_outline *outline, u32 index,
                      etlheap_text *text, etlheap_grid *grid)
{
    const etlheap_outline_entry *const entry = &outline->entries[index];
    const etlheap_outline_level *const keys = &outline->levels[entry->level];
    const bool strong = table->group_by[keys->key_first] == ETLHEAP_KEY_PROCESS;
    etlheap_text_clear(text);
    etlheap_text_add_format(text, "%*s", (int)entry->level * INDENT, "");
    etlheap_text_add_keys(text, table, &table->rows[entry->row], table->group_by + keys->key_first,
                          keys->key_count);
    bool is_name = false;
    for (u32 k = 0; k < keys->key_count; k++)
        is_name |= etlheap_key_is_name(table->group_by[keys->key_first + k]);
    const bool is_row = entry->level + 1 == outline->level_count;
    if (is_row && table->rows[entry->row].grows_most)
        etlheap_text_add_string(text, "  grows most");
    etlheap_grid_row(grid, strong ? ETLHEAP_EMPHASIS_STRONG : ETLHEAP_EMPHASIS_NONE);
    if (is_name)
        etlheap_grid_name(grid, etlheap_text_of(text));
    else
        etlheap_grid_cell(grid, etlheap_text_of(text));
}

/* A peak of a group is not the sum of its rows' peaks: those cells stay empty. `of`: the table of a
 * group; NULL: the entry is a row. */
static void add_measures(const report_columns *columns, const etlheap_outline_entry *entry,
                         i64 rates_ns, const etlheap_table *of, etlheap_grid *grid)
{
    for (u32 i = 0; i < columns->count; i++) {
        const u8 column = columns->at[i];
        char words[ETLHEAP_UNITS_SIZE] = "";
        if (of == NULL || report_column_adds_up(of, column))
            report_column_words(column, entry->kinds, entry->measures, rates_ns, words);
        etlheap_grid_cell(grid, words);
    }
}
