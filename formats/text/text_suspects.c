/*
 * text_suspects.c - which stacks probably leak, for people.
 *
 * A line of numbers a suspect, the likeliest first, then why it is one, then the first frames of
 * its stack. Without a suspect one sentence says so.
 */
#include "formats/parts/field_units.h"
#include "formats/io/text_buffer.h"
#include "formats/io/units.h"
#include "formats/parts/abilities.h"
#include "formats/parts/layout_read.h"
#include "formats/parts/suspect_parts.h"
#include "formats/parts/text_parts.h"
#include "formats/writers.h"

#include <inttypes.h>

#define INDENT 2

static void add_moment(etlheap_grid *grid, const etlheap_table *table, i64 ns)
{
    char words[ETLHEAP_UNITS_SIZE];
    etlheap_units_rounded_moment(ns, table->to_ns - table->from_ns, words);
    etlheap_grid_cell(grid, words);
}

/* Most suspects are blocks of heaps. */
static bool is_shown(const etlheap_table *table, const etlheap_row *row, etlheap_key key)
{
    return key == ETLHEAP_KEY_KIND ? row->kind != ETLHEAP_KIND_HEAP || table->group_by_count == 1
                                   : suspect_shows_key(table, key);
}

static void set_keys(const etlheap_table *table, const etlheap_row *row, etlheap_text *text)
{
    etlheap_text_clear(text);
    for (u32 k = 0; k < table->group_by_count; k++) {
        if (!is_shown(table, row, table->group_by[k]))
            continue;
        etlheap_text_add_string(text, text->size > 0 ? "  " : "");
        etlheap_text_add_key_source(text, table, row, table->group_by[k]);
    }
}

/* The sentence is what the name is about, so it stands below it, and is as long as it is. */
/* The size of what is outstanding, or its number if the kind has no sizes. */
static etlheap_measure size_of(const etlheap_row *row)
{
    return etlheap_kinds_are_counted(1u << row->kind) ? ETLHEAP_MEASURE_OUTSTANDING_COUNT
                                                      : ETLHEAP_MEASURE_OUTSTANDING_SIZE;
}

static void add_measure(etlheap_grid *grid, const etlheap_row *row, etlheap_measure measure)
{
    char words[ETLHEAP_UNITS_SIZE];
    etlheap_amount_words(measure, 1u << row->kind, row->measures[measure], words);
    etlheap_grid_cell(grid, words);
}

static void add_suspect(const etlheap_suspects *suspects, u32 at, const etlheap_layout *layout,
                        etlheap_text *text, etlheap_grid *grid)
{
    const etlheap_row *const row = &suspects->table->rows[at];
    const etlheap_suspect *const suspect = &suspects->rows[at];
    set_keys(suspects->table, row, text);
    etlheap_grid_row(grid, ETLHEAP_EMPHASIS_STRONG);
    etlheap_grid_name(grid, etlheap_text_of(text));
    etlheap_grid_count(grid, suspect->score);
    add_measure(grid, row, size_of(row));
    etlheap_text_clear(text);
    suspect_add_share(suspect, text);
    etlheap_grid_cell(grid, etlheap_text_of(text));
    add_measure(grid, row, ETLHEAP_MEASURE_GROWTH_RATE);
    etlheap_text_clear(text);
    suspect_add_never_freed(suspect, text);
    etlheap_grid_cell(grid, etlheap_text_of(text));
    add_moment(grid, suspects->table, suspect->first_ns);
    add_moment(grid, suspects->table, suspect->last_ns);
    etlheap_text_clear(text);
    suspect_add_threads(suspect, ", ", text);
    etlheap_grid_cell(grid, etlheap_text_of(text));
    etlheap_text_clear(text);
    etlheap_text_add_format(text, "%*s", INDENT, "");
    suspect_add_reason(row, suspect, text);
    etlheap_grid_row(grid, ETLHEAP_EMPHASIS_NONE);
    etlheap_grid_name(grid, etlheap_text_of(text));
    etlheap_grid_frames(grid, suspects->table, row, layout->frames_max, INDENT);
}

static etl_status write_rows(const etlheap_suspects *suspects, const etlheap_layout *layout,
                             etlheap_text *text, etlheap_sink *sink)
{
    static const etlheap_column columns[] = {
        { .title = "Suspect", .flexible = true },       { .title = "Score", .right = true },
        { .title = "Outstanding Size", .right = true }, { .title = "Share", .right = true },
        { .title = "Growth/s", .right = true },         { .title = "Never Freed", .right = true },
        { .title = "First (s)", .right = true },        { .title = "Last (s)", .right = true },
        { .title = "Threads", .right = true },
    };
    const u32 count = suspects->table->row_count;
    const u32 shown = layout->rows_max == 0 ? count : (u32)etl_min_u64(count, layout->rows_max);
    etlheap_grid grid = etlheap_grid_begin(columns, (u32)ETL_COUNT_OF(columns));
    for (u32 i = 0; i < shown; i++)
        add_suspect(suspects, i, layout, text, &grid);
    etlheap_sink_text(sink, "\n");
    const etl_status status = etlheap_grid_write(&grid, layout, sink);
    etlheap_text_more(sink, layout, count - shown, shown, "suspect");
    return status;
}

static etl_status write_body(const etlheap_result *result, const etlheap_suspects *suspects,
                             const etlheap_layout *layout, etlheap_text *text, etlheap_sink *sink)
{
    etlheap_text_window(sink, layout, result, suspects->table->from_ns, suspects->table->to_ns);
    etlheap_text_rates(sink, layout, result, suspects->table);
    etlheap_text_clear(text);
    suspect_add_verdict(suspects, text);
    etlheap_text_heading(sink, layout, etlheap_text_of(text));
    return suspects->table->row_count == 0 ? ETL_OK : write_rows(suspects, layout, text, sink);
}

etl_status etlheap_write_suspects_text(const etlheap_result *result,
                                       const etlheap_suspects *suspects,
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
        status = write_body(result, suspects, layout, &text, sink);
    etlheap_text_diagnostics(sink, layout, &suspects->table->diagnostics);
    if (text.failed)
        status = ETL_ERR_MEMORY;
    etlheap_text_free(&text);
    return status;
}
