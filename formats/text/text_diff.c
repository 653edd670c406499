/*
 * text_diff.c - writes what changed, for people.
 *
 * In: the answer to a diff. Out: text: the two sides and what to know before believing the numbers;
 * totals of each kind; then the groups that changed most, kind by kind, with the innermost frames
 * of their stacks. Rows of two logs of one process are written as UMDH writes them. Invariant:
 * kinds are never added up.
 */
#include "formats/parts/field_units.h"
#include "formats/io/units.h"
#include "formats/parts/diff_parts.h"
#include "formats/parts/text_parts.h"
#include "formats/writers.h"
#include "formats/parts/layout_read.h"
#include "text_compared.h"
#include "text_diff_lifetimes.h"

#include <inttypes.h>

#define INDENT 2

static void write_sides(const etlheap_diff_answer *answer, const etlheap_layout *layout,
                        etlheap_text *text, etlheap_sink *sink);
static void write_log(const etlheap_diff_side *side, const etlheap_layout *layout,
                      const char *label, etlheap_text *text, etlheap_sink *sink);
static void write_hints(const etlheap_diff_answer *answer, const etlheap_layout *layout,
                        etlheap_text *text, etlheap_sink *sink);
static etl_status write_totals(const etlheap_diff *diff, const etlheap_layout *layout,
                               etlheap_text *text, etlheap_sink *sink);
static etl_status write_kinds(const etlheap_diff *diff, const etlheap_layout *layout,
                              etlheap_text *text, etlheap_sink *sink);
static etl_status write_rows(const etlheap_diff *diff, const etlheap_layout *layout, u8 kind,
                             etlheap_text *text, etlheap_sink *sink);
static void add_lifetimes(const etlheap_diff *diff, u32 row, etlheap_grid *grid);
static void add_amounts(const etlheap_diff *diff, u32 kind, const etlheap_change *change,
                        etlheap_measure measure, etlheap_text *text, etlheap_grid *grid);
static void add_change(const etlheap_diff *diff, u32 kind, const etlheap_change *change,
                       etlheap_measure measure, etlheap_text *text, etlheap_grid *grid);
static void add_amount(u32 kind, etlheap_measure measure, i64 value, bool is_rate,
                       etlheap_text *text);
static void write_unchanged(const etlheap_diff *diff, const etlheap_layout *layout,
                            etlheap_sink *sink);

etl_status etlheap_write_diff_text(const etlheap_diff_answer *answer, const etlheap_layout *given,
                                   etlheap_sink *sink)
{
    etlheap_layout own;
    const etlheap_layout *const layout = &own;
    const etl_status layout_status = etlheap_layout_read(given, &own);
    if (layout_status != ETL_OK)
        return layout_status;
    const etlheap_diff *const diff = answer->diff;
    const bool is_log = answer->base.log != NULL;
    etlheap_text text = { 0 };
    etl_status status = ETL_OK;
    write_sides(answer, layout, &text, sink);
    write_hints(answer, layout, &text, sink);
    if (is_log && etlheap_umdh_same_process(answer->base.log, answer->now.log)) {
        etlheap_write_umdh_text(answer, layout, &text, sink);
    } else {
        status = diff->has_lifetimes ? text_diff_write_lifetimes(diff, layout, sink)
                                     : write_totals(diff, layout, &text, sink);
        if (status == ETL_OK && diff->table.row_count == 0)
            etlheap_text_heading(sink, layout, "Nothing changed.");
        else if (status == ETL_OK)
            status = write_kinds(diff, layout, &text, sink);
        write_unchanged(diff, layout, sink);
    }
    if (!is_log) {
        etlheap_text_diagnostics_of(sink, layout, "In the base", &answer->base.table->diagnostics);
        etlheap_text_diagnostics_of(sink, layout, "On the new side",
                                    &answer->now.table->diagnostics);
    }
    if (text.failed)
        status = ETL_ERR_MEMORY;
    etlheap_text_free(&text);
    return status;
}

/* ", 60.000 s" of a whole recording, ", 5.000 s to 10.000 s" of a part. */
static void add_window(const etlheap_diff_side *side, etlheap_text *text)
{
    const etlheap_table *const table = side->table;
    const etlheap_trace_info *const trace = etlheap_result_trace(side->result);
    char from[ETLHEAP_UNITS_SIZE];
    char to[ETLHEAP_UNITS_SIZE];
    if (table->from_ns <= 0 && table->to_ns >= trace->end_ns) {
        etlheap_units_duration(table->to_ns, to);
        etlheap_text_add_format(text, ", %s", to);
        return;
    }
    etlheap_units_moment(table->from_ns, from);
    etlheap_units_moment(table->to_ns, to);
    etlheap_text_add_format(text, ", %s s to %s s", from, to);
}

/* "Base  base.etl, 60.000 s" */
static void write_sides(const etlheap_diff_answer *answer, const etlheap_layout *layout,
                        etlheap_text *text, etlheap_sink *sink)
{
    const etlheap_diff_side *const sides[] = { &answer->base, &answer->now };
    static const char *const labels[] = { "Base", "New" };
    for (size_t i = 0; i < ETL_COUNT_OF(sides); i++) {
        if (sides[i]->log) {
            write_log(sides[i], layout, labels[i], text, sink);
            continue;
        }
        etlheap_text_clear(text);
        etlheap_text_add_string(text, sides[i]->name);
        add_window(sides[i], text);
        etlheap_text_label(sink, layout, labels[i], etlheap_text_of(text));
    }
    etlheap_text_excluded(sink, layout, etlheap_excluded_sides);
}

static void write_log(const etlheap_diff_side *side, const etlheap_layout *layout,
                      const char *label, etlheap_text *text, etlheap_sink *sink)
{
    const etlheap_umdh_info *const info = etlheap_umdh_info_of(side->log);
    etlheap_text_clear(text);
    etlheap_text_add_string(text, side->name);
    etlheap_text_add_string(text, ", ");
    etlheap_text_add_string(text, info->process);
    if (info->pid != ETL_NO_ID)
        etlheap_text_add_format(text, " (%" PRIu32 ")", info->pid);
    if (info->time[0] != '\0') {
        etlheap_text_add_string(text, " at ");
        etlheap_text_add_string(text, info->time);
    }
    etlheap_text_label(sink, layout, label, etlheap_text_of(text));
}

static void write_hints(const etlheap_diff_answer *answer, const etlheap_layout *layout,
                        etlheap_text *text, etlheap_sink *sink)
{
    const char *name;
    for (u32 i = 0; i < etlheap_diff_hint_count(); i++) {
        if (etlheap_diff_hint(answer, i, layout->hint, text, &name))
            etlheap_text_label(sink, layout, "Hint", etlheap_text_of(text));
    }
}

/* Writes each kind in its own line, never a sum over them. */
static etl_status write_totals(const etlheap_diff *diff, const etlheap_layout *layout,
                               etlheap_text *text, etlheap_sink *sink)
{
    const etlheap_measure partner = etlheap_diff_partner(diff->measure);
    const bool is_size = etlheap_measure_style_of(partner).is_size;
    const bool has_partner = partner != diff->measure;
    const etlheap_column columns[] = {
        { .title = "Kind" },
        { .title = "Change", .right = true },
        { .title = "Base", .right = true },
        { .title = "New", .right = true },
        { .title = is_size ? "Size Change" : "Count Change", .right = true },
        { .title = is_size ? "Base Size" : "Base Count", .right = true },
        { .title = is_size ? "New Size" : "New Count", .right = true },
    };
    const u32 column_count = (u32)ETL_COUNT_OF(columns) - (has_partner ? 0 : 3);
    etlheap_grid grid = etlheap_grid_begin(columns, column_count);
    for (int kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        if (!diff->table.totals[kind].present)
            continue;
        etlheap_grid_row(&grid, ETLHEAP_EMPHASIS_NONE);
        etlheap_grid_cell(&grid, etlheap_kind_name((etlheap_kind)kind));
        add_amounts(diff, (u32)kind, &diff->totals[kind], diff->measure, text, &grid);
        if (has_partner)
            add_amounts(diff, (u32)kind, &diff->totals[kind], partner, text, &grid);
    }
    etlheap_text_clear(text);
    etlheap_text_add_string(text, etlheap_measure_title(diff->measure));
    etlheap_text_add_string(text, diff->per_second ? " per second" : "");
    etlheap_text_heading(sink, layout, etlheap_text_of(text));
    return etlheap_grid_write(&grid, layout, sink);
}

static etl_status write_kinds(const etlheap_diff *diff, const etlheap_layout *layout,
                              etlheap_text *text, etlheap_sink *sink)
{
    etl_status status = ETL_OK;
    for (u8 kind = 0; kind < ETLHEAP_KIND_COUNT && status == ETL_OK; kind++) {
        if (text_compared_begin_kind(&diff->table, kind, layout, sink))
            status = write_rows(diff, layout, kind, text, sink);
    }
    return status;
}

#define COLUMNS_MAX 9u

/* Returns the number of columns. */
static u32 fill_columns(const etlheap_diff *diff, const char *title,
                        etlheap_column columns[COLUMNS_MAX])
{
    const etlheap_measure partner = etlheap_diff_partner(diff->measure);
    const bool is_size = etlheap_measure_style_of(partner).is_size;
    u32 count = 0;
    columns[count++] = (etlheap_column){ .title = title, .flexible = true };
    columns[count++] = (etlheap_column){ .title = "State" };
    columns[count++] = (etlheap_column){ .title = "Change", .right = true };
    columns[count++] = (etlheap_column){ .title = "Base", .right = true };
    columns[count++] = (etlheap_column){ .title = "New", .right = true };
    if (diff->has_lifetimes) {
        columns[count++] = (etlheap_column){ .title = "Base Freed", .right = true };
        columns[count++] = (etlheap_column){ .title = "New Freed", .right = true };
        columns[count++] = (etlheap_column){ .title = "Base Outstanding", .right = true };
        columns[count++] = (etlheap_column){ .title = "New Outstanding", .right = true };
    } else if (partner != diff->measure) {
        columns[count++] =
            (etlheap_column){ .title = is_size ? "Size Change" : "Count Change", .right = true };
    }
    return count;
}

static void add_numbers(const etlheap_diff *diff, u32 row, etlheap_text *text, etlheap_grid *grid)
{
    const etlheap_measure partner = etlheap_diff_partner(diff->measure);
    if (diff->has_lifetimes) {
        add_lifetimes(diff, row, grid);
        return;
    }
    add_amounts(diff, diff->table.rows[row].kind, &diff->changes[row], diff->measure, text, grid);
    if (partner != diff->measure)
        add_change(diff, diff->table.rows[row].kind, &diff->changes[row], partner, text, grid);
}

/* Writes the largest changes, and how many more there are. */
static etl_status write_rows(const etlheap_diff *diff, const etlheap_layout *layout, u8 kind,
                             etlheap_text *text, etlheap_sink *sink)
{
    const etlheap_table *const table = &diff->table;
    etlheap_text title = { 0 };
    etlheap_column columns[COLUMNS_MAX];
    text_compared_title(table, &title);
    const u32 column_count = fill_columns(diff, etlheap_text_of(&title), columns);
    u32 listed = 0, left_out = 0;
    etlheap_grid grid = etlheap_grid_begin(columns, column_count);
    for (u32 i = 0; i < table->row_count; i++) {
        const etlheap_row *const row = &table->rows[i];
        const etlheap_change *const change = &diff->changes[i];
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
        etlheap_grid_cell(&grid, etlheap_diff_state_word((etlheap_diff_state)change->state));
        add_numbers(diff, i, text, &grid);
        etlheap_grid_frames(&grid, table, row, layout->frames_max, INDENT);
    }
    etl_status status = etlheap_grid_write(&grid, layout, sink);
    etlheap_text_more(sink, layout, left_out, listed, "smaller change");
    if (title.failed)
        status = ETL_ERR_MEMORY;
    etlheap_text_free(&title);
    return status;
}

/* Adds the change and both sides of the measure, then the counts of freed and outstanding
 * blocks. */
static void add_lifetimes(const etlheap_diff *diff, u32 row, etlheap_grid *grid)
{
    const etlheap_change *const change = &diff->changes[row];
    const etlheap_measure measure = diff->measure;
    text_diff_add_cell(grid, measure, diff->table.rows[row].measures[measure], true);
    text_diff_add_cell(grid, measure, change->base[measure], false);
    text_diff_add_cell(grid, measure, change->now[measure], false);
    for (u32 i = 0; i < ETLHEAP_DIFF_LIFETIME_COUNTS; i++) {
        const etlheap_measure m = etlheap_diff_lifetime_counts[i];
        text_diff_add_cell(grid, m, change->base[m], false);
        text_diff_add_cell(grid, m, change->now[m], false);
    }
}

/* Has the kind no sizes, and is this one? */
static bool is_hidden(u32 kind, etlheap_measure measure)
{
    return etlheap_field_is_hidden(kind, etlheap_measure_field(measure));
}

/* Adds the change and both sides. */
static void add_amounts(const etlheap_diff *diff, u32 kind, const etlheap_change *change,
                        etlheap_measure measure, etlheap_text *text, etlheap_grid *grid)
{
    const i64 amounts[] = { change->base[measure], change->now[measure] };
    add_change(diff, kind, change, measure, text, grid);
    for (size_t i = 0; i < ETL_COUNT_OF(amounts); i++) {
        const i64 ns = i == 0 ? change->base_ns : change->new_ns;
        const i64 shown = diff->per_second ? etlheap_diff_rate(amounts[i], ns) : amounts[i];
        etlheap_text_clear(text);
        add_amount(kind, measure, shown, diff->per_second, text);
        etlheap_grid_cell(grid, etlheap_text_of(text));
    }
}

/* Adds a change with its sign. */
static void add_change(const etlheap_diff *diff, u32 kind, const etlheap_change *change,
                       etlheap_measure measure, etlheap_text *text, etlheap_grid *grid)
{
    i64 base = change->base[measure], now = change->now[measure];
    if (diff->per_second) {
        base = etlheap_diff_rate(base, change->base_ns);
        now = etlheap_diff_rate(now, change->new_ns);
    }
    const i64 delta = etlheap_diff_subtract(base, now);
    etlheap_text_clear(text);
    etlheap_text_add_string(text, delta > 0 && !is_hidden(kind, measure) ? "+" : "");
    add_amount(kind, measure, delta, diff->per_second, text);
    etlheap_grid_cell(grid, etlheap_text_of(text));
}

/* Adds an amount. Rates are in thousandths; small ones keep two digits after the point. */
static void add_amount(u32 kind, etlheap_measure measure, i64 value, bool is_rate,
                       etlheap_text *text)
{
    if (is_hidden(kind, measure)) {
        etlheap_text_add_string(text, "\xE2\x80\x93");
        return;
    }
    const bool is_size = etlheap_measure_style_of(measure).is_size;
    const i64 whole = is_rate ? value / 1000 : value;
    char number[ETLHEAP_UNITS_SIZE];
    if (is_rate && value > -100000 && value < 100000 && value % 1000 != 0) {
        const i64 hundredths = (value < 0 ? -value : value) / 10;
        etlheap_text_add_format(text, "%s%" PRId64 ".%02" PRId64 "%s", value < 0 ? "-" : "",
                                hundredths / 100, hundredths % 100, is_size ? " B" : "");
    } else {
        if (is_size)
            etlheap_units_size(whole, number);
        else
            etlheap_units_count(whole, number);
        etlheap_text_add_string(text, number);
    }
    etlheap_text_add_string(text, is_rate ? "/s" : "");
}

static void write_unchanged(const etlheap_diff *diff, const etlheap_layout *layout,
                            etlheap_sink *sink)
{
    char count[ETLHEAP_UNITS_SIZE];
    if (diff->unchanged_count == 0 || diff->table.row_count == 0)
        return;
    etlheap_units_count(diff->unchanged_count, count);
    etlheap_emphasis_on(sink, layout, ETLHEAP_EMPHASIS_WEAK);
    etlheap_sink_format(sink, "\n%s unchanged%s\n", count,
                        etlheap_hint_words(layout->hint, ETL_HINT_UNCHANGED_ROWS));
    etlheap_emphasis_off(sink, layout, ETLHEAP_EMPHASIS_WEAK);
}
