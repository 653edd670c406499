/*
 * markdown_diff.c - what changed, as tables for a pull request or the summary of a job: totals
 * of each kind, then the groups that changed most.
 *
 * In: a diff, and the layout. Out, to a sink: Markdown. Invariant: names come from traces, so they
 * are escaped before they stand in a table.
 */
#include "formats/io/units.h"
#include "formats/parts/diff_parts.h"
#include "formats/parts/layout_read.h"
#include "formats/parts/text_parts.h"
#include "formats/writers.h"
#include "markdown.h"

/* Rates are in thousandths per second; their whole part is told. */
static void write_amount(etlheap_measure measure, i64 value, bool is_rate, bool is_change,
                         etlheap_sink *sink)
{
    char number[ETLHEAP_UNITS_SIZE];
    const i64 whole = is_rate ? value / 1000 : value;
    etlheap_measure_words(measure, whole, number);
    etlheap_sink_format(sink, "%s%s%s | ", is_change && whole > 0 ? "+" : "", number,
                        is_rate ? "/s" : "");
}

/* "change | base | new | " */
static void write_change(const etlheap_diff *diff, const etlheap_change *change, etlheap_sink *sink)
{
    const etlheap_measure measure = diff->measure;
    i64 base = change->base[measure], now = change->now[measure];
    if (diff->per_second) {
        base = etlheap_diff_rate(base, change->base_ns);
        now = etlheap_diff_rate(now, change->new_ns);
    }
    write_amount(measure, etlheap_diff_subtract(base, now), diff->per_second, true, sink);
    write_amount(measure, base, diff->per_second, false, sink);
    write_amount(measure, now, diff->per_second, false, sink);
}

static void write_totals(const etlheap_diff *diff, etlheap_sink *sink)
{
    static const etlheap_markdown_column columns[] = {
        { "Kind", false }, { "Change", true }, { "Base", true }, { "New", true }
    };
    etlheap_markdown_columns(sink, columns, (u32)ETL_COUNT_OF(columns));
    for (int kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        if (!diff->table.totals[kind].present)
            continue;
        etlheap_sink_format(sink, "| %s | ", etlheap_kind_name((etlheap_kind)kind));
        write_change(diff, &diff->totals[kind], sink);
        etlheap_sink_text(sink, "\n");
    }
    etlheap_sink_text(sink, "\n");
}

static void write_cell(etlheap_measure measure, i64 value, bool is_change, etlheap_sink *sink)
{
    char words[ETLHEAP_UNITS_SIZE];
    etlheap_diff_words(measure, value, is_change, words);
    etlheap_sink_format(sink, "%s | ", words);
}

/* Of lifetimes there is more to tell than one number. */
static void write_lifetime_totals(const etlheap_diff *diff, etlheap_sink *sink)
{
    static const etlheap_markdown_column columns[] = { { "Kind", false },
                                                       { "Measure", false },
                                                       { "Change", true },
                                                       { "Base", true },
                                                       { "New", true } };
    etlheap_markdown_columns(sink, columns, (u32)ETL_COUNT_OF(columns));
    for (int kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        const u32 count = diff->table.totals[kind].present ? ETLHEAP_DIFF_LIFETIME_MEASURES : 0;
        for (u32 i = 0; i < count; i++) {
            const etlheap_measure m = etlheap_diff_lifetime_measures[i];
            etlheap_sink_format(sink, "| %s | %s | ", etlheap_kind_name((etlheap_kind)kind),
                                etlheap_measure_title(m));
            write_cell(m, diff->table.totals[kind].measures[m], true, sink);
            write_cell(m, diff->totals[kind].base[m], false, sink);
            write_cell(m, diff->totals[kind].now[m], false, sink);
            etlheap_sink_text(sink, "\n");
        }
    }
    etlheap_sink_text(sink, "\n");
}

static void write_lifetimes(const etlheap_diff *diff, u32 row, etlheap_sink *sink)
{
    const etlheap_change *const change = &diff->changes[row];
    const etlheap_measure measure = diff->measure;
    write_cell(measure, diff->table.rows[row].measures[measure], true, sink);
    write_cell(measure, change->base[measure], false, sink);
    write_cell(measure, change->now[measure], false, sink);
    for (u32 i = 0; i < ETLHEAP_DIFF_LIFETIME_COUNTS; i++) {
        const etlheap_measure m = etlheap_diff_lifetime_counts[i];
        write_cell(m, change->base[m], false, sink);
        write_cell(m, change->now[m], false, sink);
    }
}

void etlheap_markdown_compared_keys(const etlheap_table *table, const etlheap_row *row,
                                    u32 frames_max, etlheap_text *text, etlheap_sink *sink)
{
    const etlheap_indices frames = etlheap_row_frames(table, row);
    for (u32 k = 0; k < table->group_by_count; k++) {
        const etlheap_key key = table->group_by[k];
        etlheap_text_clear(text);
        if (key != ETLHEAP_KEY_STACK || frames.count == 0)
            etlheap_text_add_key_source(text, table, row, key);
        if (key == ETLHEAP_KEY_STACK && frames.count > 0)
            etlheap_markdown_frames(sink, table, frames, frames_max);
        else
            etlheap_markdown_code(sink, etlheap_text_of(text));
        etlheap_sink_text(sink, " | ");
    }
}

static void write_rows(const etlheap_diff *diff, const etlheap_layout *layout, etlheap_text *text,
                       etlheap_sink *sink)
{
    const etlheap_table *const table = &diff->table;
    const u32 shown = layout->rows_max == 0 ? table->row_count
                                            : (u32)etl_min_u64(table->row_count, layout->rows_max);
    const u32 numbers = diff->has_lifetimes ? 8 : 4; /* columns before the keys */
    etlheap_markdown_column columns[ETLHEAP_GROUP_BY_MAX + 8] = { { "State", false },
                                                                  { "Change", true },
                                                                  { "Base", true },
                                                                  { "New", true },
                                                                  { "Base Freed", true },
                                                                  { "New Freed", true },
                                                                  { "Base Outstanding", true },
                                                                  { "New Outstanding", true } };
    for (u32 k = 0; k < table->group_by_count; k++)
        columns[numbers + k] =
            (etlheap_markdown_column){ etlheap_key_title(table->group_by[k]), false };
    etlheap_markdown_columns(sink, columns, numbers + table->group_by_count);
    for (u32 i = 0; i < shown; i++) {
        const etlheap_diff_state state = (etlheap_diff_state)diff->changes[i].state;
        etlheap_sink_format(sink, "| %s | ", etlheap_diff_state_word(state));
        if (diff->has_lifetimes)
            write_lifetimes(diff, i, sink);
        else
            write_change(diff, &diff->changes[i], sink);
        etlheap_markdown_compared_keys(table, &table->rows[i], layout->frames_max, text, sink);
        etlheap_sink_text(sink, "\n");
    }
    etlheap_sink_text(sink, "\n");
    etlheap_markdown_more(sink, table->row_count - shown, shown, "smaller change", layout->hint);
}

etl_status etlheap_write_diff_markdown(const etlheap_diff_answer *answer,
                                       const etlheap_layout *given, etlheap_sink *sink)
{
    etlheap_layout layout;
    const etl_status layout_status = etlheap_layout_read(given, &layout);
    if (layout_status != ETL_OK)
        return layout_status;
    etlheap_text text = { 0 };
    const char *name;
    etlheap_text_add_string(&text, etlheap_measure_title(answer->diff->measure));
    etlheap_text_add_string(&text, answer->diff->per_second ? " per second, from " : ", from ");
    etlheap_text_add_string(&text, answer->base.name);
    etlheap_text_add_string(&text, " to ");
    etlheap_text_add_string(&text, answer->now.name);
    etlheap_markdown_heading(sink, etlheap_text_of(&text));
    for (u32 i = 0; i < etlheap_diff_hint_count(); i++) {
        if (etlheap_diff_hint(answer, i, layout.hint, &text, &name))
            etlheap_markdown_paragraph(sink, etlheap_text_of(&text));
    }
    if (answer->diff->has_lifetimes)
        write_lifetime_totals(answer->diff, sink);
    else
        write_totals(answer->diff, sink);
    if (answer->diff->table.row_count == 0)
        etlheap_markdown_paragraph(sink, "Nothing changed.");
    else
        write_rows(answer->diff, &layout, &text, sink);
    etlheap_markdown_excluded(sink, &layout, etlheap_excluded_sides);
    if (answer->base.table && !answer->base.log)
        etlheap_markdown_losses(sink, "base: ", &answer->base.table->diagnostics, layout.hint);
    if (answer->now.table && !answer->now.log)
        etlheap_markdown_losses(sink, "new: ", &answer->now.table->diagnostics, layout.hint);
    const bool failed = text.failed;
    etlheap_text_free(&text);
    return failed ? ETL_ERR_MEMORY : ETL_OK;
}
